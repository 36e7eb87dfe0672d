package survival

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/proof/internal/record"
)

// writers commit messages, many at a time. Each key has one writer, so that its
// transactions are ordered.
type writers struct {
	w       *world
	count   int // how many at a time
	keys    int // of each writer
	delay   func() time.Duration
	outages bool                // failures of the database are part of the test: each transaction has a row in public.placed
	prepare bool                // some transactions are prepared
	waited  func(time.Duration) // told how long each insert took; optional

	mu        sync.Mutex
	committed map[string]int // by key
	rolled    int
	unsure    int // commits without an answer
	stood     int // those of them that stood
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
		ws.committed = map[string]int{}
	}
	if ws.outages {
		if _, err := ws.w.pool.Exec(ctx, `create table if not exists public.placed (name text primary key, stands boolean not null)`); err != nil {
			ws.w.t.Error(err)
			return
		}
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
					continue
				}
				done += k
			}
		})
	}
	wg.Wait()
}

// meanwhile writes, about 2,500 messages a second, until the function that it
// returns is called.
func (ws *writers) meanwhile(ctx context.Context) (finish func()) {
	if ws.delay == nil {
		ws.delay = func() time.Duration { return time.Duration(ws.count) * 2500 * time.Microsecond }
	}
	ctx, cancel := context.WithCancel(ctx)
	enough, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		for ctx.Err() == nil {
			select {
			case <-enough:
				return
			default:
				ws.write(ctx, 100*ws.count)
			}
		}
	}()
	ws.w.t.Cleanup(func() { cancel(); <-done })
	return sync.OnceFunc(func() { close(enough); <-done })
}

func (ws *writers) total() (n int) {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	for _, k := range ws.committed {
		n += k
	}
	return n
}

// order is one transaction of a writer.
type order struct {
	key      string
	first, n int
	phantom  bool   // it rolls back
	nested   bool   // it has a savepoint that rolls back
	name     string // of its row in public.placed; empty: it has none
}

func (ws *writers) order(r *rand.Rand, writer int) order {
	o := order{key: fmt.Sprintf("w%d-k%d", writer, r.IntN(ws.keys)), n: 1 + r.IntN(5)}
	ws.mu.Lock()
	o.first = ws.committed[o.key]
	ws.mu.Unlock()
	if r.IntN(50) == 0 {
		o.n = 200
	}
	o.phantom, o.nested = r.IntN(12) == 0, r.IntN(4) == 0
	if ws.outages {
		o.name = fmt.Sprintf("%s-%d-%d", o.key, o.first, rand.Uint64())
	}
	return o
}

// errRollback makes a transaction roll back.
var errRollback = errors.New("rolled back on purpose")

// transaction commits, rolls back or prepares one transaction of a few messages,
// and returns how many it committed.
func (ws *writers) transaction(ctx context.Context, r *rand.Rand, writer int) (int, error) {
	o := ws.order(r, writer)
	if ws.prepare && !o.phantom && r.IntN(20) == 0 {
		return o.n, ws.note(ctx, o, ws.prepared(ctx, r, o))
	}
	err := ws.w.pub.InTx(ctx, func(ctx context.Context, tx pgx.Tx) error { return ws.fill(ctx, tx, r, o) })
	if errors.Is(err, errRollback) {
		ws.mu.Lock()
		ws.rolled++
		ws.mu.Unlock()
		return 0, nil
	}
	return o.n, ws.note(ctx, o, err)
}

// fill does a transaction's work.
func (ws *writers) fill(ctx context.Context, tx pgx.Tx, r *rand.Rand, o order) error {
	if o.name != "" {
		if _, err := tx.Exec(ctx, `insert into public.placed values ($1, true)`, o.name); err != nil {
			return err
		}
	}
	if o.nested {
		if err := ws.savepoint(ctx, tx, o.key); err != nil {
			return err
		}
	}
	msgs := make([]postbag.Message, o.n)
	for i := range msgs {
		msgs[i] = ws.message(record.Event{Key: o.key, N: o.first + i, Phantom: o.phantom})
	}
	begun := time.Now()
	if err := ws.publish(ctx, tx, r, msgs); err != nil {
		return err
	}
	if ws.waited != nil {
		ws.waited(time.Since(begun))
	}
	if ws.delay != nil {
		pause(ws.delay())
	}
	if o.phantom {
		return errRollback
	}
	return nil
}

// note records what became of a commit. Where its answer was lost the database is
// asked, once it can be.
func (ws *writers) note(ctx context.Context, o order, err error) error {
	unknown := errors.Is(err, postbag.ErrCommitUnknown)
	if err != nil && !unknown {
		return err
	}
	stands := true
	if unknown {
		if stands, err = ws.stands(ctx, o.name); err != nil {
			return err
		}
	}
	ws.mu.Lock()
	defer ws.mu.Unlock()
	if unknown {
		ws.unsure++
	}
	if !stands {
		return errors.New("the commit did not stand")
	}
	if unknown {
		ws.stood++
	}
	ws.committed[o.key] = o.first + o.n
	return nil
}

// stands finds out whether a transaction stands whose commit got no answer: it
// writes the transaction's own unique row with another word. That waits for a
// commit that is still on its way, and keeps one from coming later.
func (ws *writers) stands(ctx context.Context, name string) (stands bool, err error) {
	for {
		_, err = ws.w.pool.Exec(ctx, `insert into public.placed values ($1, false) on conflict do nothing`, name)
		if err == nil {
			err = ws.w.pool.QueryRow(ctx, `select stands from public.placed where name = $1`, name).Scan(&stands)
		}
		if err == nil || ctx.Err() != nil {
			return stands, err
		}
		pause(50 * time.Millisecond)
	}
}

func (ws *writers) message(e record.Event) postbag.Message {
	return postbag.Message{Topic: "events.a", Key: e.Key, Type: "event", Payload: e.Payload(), Headers: map[string]string{"a": "b"}}
}

// payload is that of the N-th message of a key that was committed.
func (w *world) payload(key string, n int) []byte {
	return record.Event{Key: key, N: n, Note: w.pads[record.Event{Key: key, N: n}]}.Payload()
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
	if err := ws.w.pub.Publish(ctx, inner, ws.message(record.Event{Key: key, Phantom: true})); err != nil {
		return err
	}
	return inner.Rollback(ctx)
}

// prepared does a transaction in two phases.
func (ws *writers) prepared(ctx context.Context, r *rand.Rand, o order) error {
	tx, err := ws.w.pool.Begin(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback(context.WithoutCancel(ctx)) }()
	if err := ws.fill(ctx, tx, r, o); err != nil {
		return err
	}
	name := fmt.Sprintf("%s-%d-%d", o.key, o.first, rand.Uint32())
	if _, err := tx.Exec(ctx, fmt.Sprintf("prepare transaction '%s'", name)); err != nil {
		return err
	}
	pause(time.Duration(rand.IntN(100)) * time.Millisecond)
	_, err = ws.w.pool.Exec(ctx, fmt.Sprintf("commit prepared '%s'", name))
	return err
}
