package survival

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/postbag/postbag"
)

// event is what writers publish: the N-th committed message of a key, or one that
// must never be seen.
type event struct {
	Key     string `json:"key"`
	N       int    `json:"n"`
	Phantom bool   `json:"phantom,omitempty"`
}

// writers commit messages, many at a time. Each key has one writer, so that its
// transactions are ordered.
type writers struct {
	w       *world
	count   int // how many at a time
	keys    int // of each writer
	delay   func() time.Duration
	outages bool // failures of the database are part of the test
	prepare bool // some transactions are prepared

	mu        sync.Mutex
	committed map[string]int   // by key
	unsure    map[string][]int // by key, the N of messages whose commit is unknown
	rolled    int
}

// delays is what the list of what must be survived asks for: up to 50 ms, and 2 s
// for one in a hundred.
func delays() time.Duration {
	if rand.IntN(100) == 0 {
		return 2 * time.Second
	}
	return time.Duration(rand.IntN(50)) * time.Millisecond
}

// write commits about n messages and returns when all writers are done.
func (ws *writers) write(ctx context.Context, n int) {
	ws.w.t.Helper()
	if ws.committed == nil {
		ws.committed, ws.unsure = map[string]int{}, map[string][]int{}
	}
	var wg sync.WaitGroup
	for i := range ws.count {
		wg.Go(func() {
			r := rand.New(rand.NewPCG(uint64(i), uint64(n)))
			for done := 0; done < n/ws.count && ctx.Err() == nil; {
				k, err := ws.transaction(ctx, r, i)
				if err != nil && !ws.outages && ctx.Err() == nil {
					ws.w.t.Errorf("a writer failed: %v", err)
					return
				}
				if err != nil {
					pause(20 * time.Millisecond)
				}
				done += k
			}
		})
	}
	wg.Wait()
}

func (ws *writers) total() (n int) {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	for _, k := range ws.committed {
		n += k
	}
	return n
}

// transaction commits, rolls back or prepares one transaction of a few messages,
// and returns how many it committed.
func (ws *writers) transaction(ctx context.Context, r *rand.Rand, writer int) (int, error) {
	key := fmt.Sprintf("w%d-k%d", writer, r.IntN(ws.keys))
	ws.mu.Lock()
	first := ws.committed[key]
	ws.mu.Unlock()
	n := 1 + r.IntN(5)
	if r.IntN(50) == 0 {
		n = 200
	}
	phantom := r.IntN(12) == 0
	tx, err := ws.w.pool.Begin(ctx)
	if err != nil {
		return 0, err
	}
	defer func() { _ = tx.Rollback(context.WithoutCancel(ctx)) }()
	if r.IntN(4) == 0 {
		if err := ws.savepoint(ctx, tx, key); err != nil {
			return 0, err
		}
	}
	msgs := make([]postbag.Message, n)
	for i := range msgs {
		msgs[i] = ws.message(event{Key: key, N: first + i, Phantom: phantom})
	}
	if err := ws.publish(ctx, tx, r, msgs); err != nil {
		return 0, err
	}
	if ws.delay != nil {
		pause(ws.delay())
	}
	if phantom {
		ws.mu.Lock()
		ws.rolled++
		ws.mu.Unlock()
		return 0, tx.Rollback(ctx)
	}
	if ws.prepare && r.IntN(20) == 0 {
		err = ws.commitPrepared(ctx, tx, fmt.Sprintf("%s-%d", key, first))
	} else {
		err = tx.Commit(ctx)
	}
	return n, ws.note(ctx, key, first, n, err)
}

// note records what became of a commit. Where its answer was lost the database is
// asked, once it can be: the log itself says whether the transaction stands.
func (ws *writers) note(ctx context.Context, key string, first, n int, err error) error {
	if err != nil {
		stands, askErr := ws.stands(ctx, key, first)
		if askErr != nil {
			return errors.Join(err, askErr)
		}
		if !stands {
			return err
		}
	}
	ws.mu.Lock()
	ws.committed[key] = first + n
	ws.mu.Unlock()
	return nil
}

func (ws *writers) stands(ctx context.Context, key string, n int) (bool, error) {
	want, err := json.Marshal(event{Key: key, N: n})
	if err != nil {
		return false, err
	}
	for {
		var stands bool
		err := ws.w.pool.QueryRow(ctx, `select exists (select from postbag.outbox where key = $1 and payload = $2)`, key, want).Scan(&stands)
		if err == nil {
			return stands, nil
		}
		if ctx.Err() != nil {
			return false, err
		}
		pause(50 * time.Millisecond)
	}
}

func (ws *writers) message(e event) postbag.Message {
	payload, err := json.Marshal(e)
	if err != nil {
		ws.w.t.Fatal(err)
	}
	return postbag.Message{Topic: "events.a", Key: e.Key, Type: "event", Payload: payload, Headers: map[string]string{"a": "b"}}
}

// publish writes msgs with the library, or by a plain INSERT of several rows.
func (ws *writers) publish(ctx context.Context, tx pgx.Tx, r *rand.Rand, msgs []postbag.Message) error {
	if len(msgs) > 10 || r.IntN(3) > 0 {
		return ws.w.pub.Publish(ctx, tx, msgs...)
	}
	sql, args := `insert into postbag.outbox (topic, key, payload) values `, []any{}
	for i := range msgs {
		if i > 0 {
			sql += ", "
		}
		sql += fmt.Sprintf("($%d, $%d, $%d)", 3*i+1, 3*i+2, 3*i+3)
		args = append(args, msgs[i].Topic, msgs[i].Key, msgs[i].Payload)
	}
	_, err := tx.Exec(ctx, sql, args...)
	return err
}

// savepoint publishes something that is rolled back inside the transaction.
func (ws *writers) savepoint(ctx context.Context, tx pgx.Tx, key string) error {
	inner, err := tx.Begin(ctx)
	if err != nil {
		return err
	}
	if err := ws.w.pub.Publish(ctx, inner, ws.message(event{Key: key, Phantom: true})); err != nil {
		return err
	}
	return inner.Rollback(ctx)
}

func (ws *writers) commitPrepared(ctx context.Context, tx pgx.Tx, name string) error {
	name = fmt.Sprintf("%s-%d", name, rand.Uint32())
	if _, err := tx.Exec(ctx, fmt.Sprintf("prepare transaction '%s'", name)); err != nil {
		return err
	}
	pause(time.Duration(rand.IntN(100)) * time.Millisecond)
	_, err := ws.w.pool.Exec(ctx, fmt.Sprintf("commit prepared '%s'", name))
	return err
}
