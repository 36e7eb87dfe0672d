package pgstore_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/postbag/postbag"
)

const boxName = "outbox"

// writers commit messages in every way that an application can, and remember
// which. Each message's payload is its number within its key.
type writers struct {
	*fixture
	tb     testing.TB
	rounds int
	// pause is the longest wait before a commit; one in a hundred is fifty times
	// as long.
	pause time.Duration

	mu        sync.Mutex
	committed map[postbag.ID]bool
	numbers   map[string]int
	prepared  atomic.Int64
	over      atomic.Bool
}

func newWriters(tb testing.TB, f *fixture, rounds int, pause time.Duration) *writers {
	return &writers{fixture: f, tb: tb, rounds: rounds, pause: pause, committed: map[postbag.ID]bool{}, numbers: map[string]int{}}
}

// run runs n writers and strangers beside them, until all have ended.
func (w *writers) run(ctx context.Context, n int) {
	var all, strangers sync.WaitGroup
	for i := range 2 {
		strangers.Go(func() { w.strange(ctx, i == 0) })
	}
	for i := range n {
		all.Go(func() {
			r := rand.New(rand.NewPCG(uint64(i), uint64(w.rounds)))
			for range w.rounds {
				if err := w.round(ctx, r, i); err != nil {
					w.tb.Errorf("writer %d: %v", i, err)
					return
				}
			}
		})
	}
	all.Wait()
	w.over.Store(true)
	strangers.Wait()
}

// strange holds transactions open that write elsewhere.
func (w *writers) strange(ctx context.Context, sameDatabase bool) {
	for !w.over.Load() && ctx.Err() == nil {
		if !sameDatabase {
			end, err := w.stranger(ctx)
			if err != nil {
				w.tb.Error(err)
				return
			}
			w.wait(ctx, 300*time.Millisecond)
			_ = end(ctx)
			continue
		}
		tx, err := w.plain.Begin(ctx)
		if err != nil {
			w.tb.Error(err)
			return
		}
		_, _ = tx.Exec(ctx, "SELECT pg_current_xact_id()")
		w.wait(ctx, 200*time.Millisecond)
		_ = tx.Rollback(ctx)
	}
}

func (w *writers) wait(ctx context.Context, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-ctx.Done():
	}
}

// round is one transaction.
func (w *writers) round(ctx context.Context, r *rand.Rand, writer int) error {
	tx, err := w.plain.Begin(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback(context.WithoutCancel(ctx)) }()
	written, err := w.write(ctx, tx, r, writer)
	if err != nil {
		return err
	}
	if w.pause > 0 {
		d := time.Duration(r.Int64N(int64(w.pause)))
		if r.IntN(100) == 0 {
			d = 50 * w.pause
		}
		w.wait(ctx, d)
	}
	switch n := r.IntN(100); {
	case n < 10:
		return tx.Rollback(ctx)
	case n < 14:
		return w.endPrepared(ctx, tx, r, written)
	default:
		// Noted first: a reader that reads it has it in the set.
		w.note(written)
		return tx.Commit(ctx)
	}
}

// write fills a transaction: some messages, sometimes more behind a savepoint,
// sometimes rolled back to it.
func (w *writers) write(ctx context.Context, tx pgx.Tx, r *rand.Rand, writer int) ([]postbag.Message, error) {
	own := "w" + strconv.Itoa(writer)
	msgs := w.messages(own, 1+r.IntN(3))
	if r.IntN(4) == 0 {
		shared := "s" + strconv.Itoa(r.IntN(4))
		if err := w.Lock(ctx, tx, boxName, []string{shared}); err != nil {
			return nil, err
		}
		msgs = append(msgs, w.messages(shared, 1)...)
	}
	if err := w.put(ctx, tx, r, msgs); err != nil {
		return nil, err
	}
	if r.IntN(5) > 0 {
		return msgs, nil
	}
	if _, err := tx.Exec(ctx, "SAVEPOINT a"); err != nil {
		return nil, err
	}
	more := w.messages(own, 1+r.IntN(40))
	if err := w.put(ctx, tx, r, more); err != nil {
		return nil, err
	}
	if r.IntN(2) == 0 {
		_, err := tx.Exec(ctx, "ROLLBACK TO SAVEPOINT a")
		return msgs, err
	}
	return append(msgs, more...), nil
}

// messages makes n messages of a key, numbered on.
func (w *writers) messages(key string, n int) []postbag.Message {
	w.mu.Lock()
	defer w.mu.Unlock()
	out := make([]postbag.Message, n)
	for i := range out {
		w.numbers[key]++
		out[i] = postbag.Message{
			ID: postbag.NewID(), Topic: "t", Key: key, Type: "test", Payload: []byte(strconv.Itoa(w.numbers[key])),
			Headers: map[string]string{"number": strconv.Itoa(w.numbers[key])},
		}
	}
	return out
}

// put appends messages, by the library or as plain SQL does.
func (w *writers) put(ctx context.Context, tx pgx.Tx, r *rand.Rand, msgs []postbag.Message) error {
	if r.IntN(3) > 0 {
		return w.Append(ctx, tx, boxName, msgs)
	}
	for _, m := range msgs {
		_, err := tx.Exec(ctx, "INSERT INTO postbag.outbox (id, topic, key, payload) VALUES ($1, $2, $3, $4)", m.ID.String(), m.Topic, m.Key, m.Payload)
		if err != nil {
			return err
		}
	}
	return nil
}

func (w *writers) endPrepared(ctx context.Context, tx pgx.Tx, r *rand.Rand, written []postbag.Message) error {
	name := fmt.Sprintf("%s_%d", w.name, w.prepared.Add(1))
	if _, err := tx.Exec(ctx, "PREPARE TRANSACTION '"+name+"'"); err != nil {
		return err
	}
	if err := tx.Rollback(ctx); err != nil { // it is not in this session any more
		return err
	}
	if w.pause > 0 {
		w.wait(ctx, time.Duration(r.Int64N(int64(3*w.pause))))
	}
	if r.IntN(3) == 0 {
		_, err := w.plain.Exec(ctx, "ROLLBACK PREPARED '"+name+"'")
		return err
	}
	w.note(written)
	_, err := w.plain.Exec(ctx, "COMMIT PREPARED '"+name+"'")
	return err
}

func (w *writers) note(msgs []postbag.Message) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, m := range msgs {
		w.committed[m.ID] = true
	}
}

// count returns how many were committed so far.
func (w *writers) count() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.committed)
}
