package storetest

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"github.com/postbag/postbag"
)

// journal is what the writers of a case have committed.
type journal struct {
	mu      sync.Mutex
	entries []published
	lines   [4]int // how often each shared key was locked
}

// published is a committed message; those of one key are in the order of turn.
type published struct {
	m    postbag.Message
	turn int
}

func newJournal() *journal { return &journal{} }

// line draws the next turn of a shared key, whose lock the caller holds.
func (j *journal) line(i int) int {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.lines[i]++
	return j.lines[i]
}

func (j *journal) add(es []published) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.entries = append(j.entries, es...)
}

// committed returns all messages that were committed, those of one key in order.
func (j *journal) committed() []postbag.Message {
	j.mu.Lock()
	defer j.mu.Unlock()
	es := slices.Clone(j.entries)
	slices.SortStableFunc(es, func(a, b published) int {
		return cmp.Or(cmp.Compare(a.m.Key, b.m.Key), cmp.Compare(a.turn, b.turn))
	})
	out := make([]postbag.Message, len(es))
	for i := range es {
		out[i] = es[i].m
	}
	return out
}

// writer commits transactions of every kind, one after another. Its own key's
// messages are ordered by that; a shared key's by its lock.
type writer struct {
	*env
	journal *journal
	n       int
	turns   int
	rand    *rand.Rand
}

func (w *writer) run() {
	for round := range w.rounds {
		if err := w.transact(round); err != nil {
			w.Errorf("writer %d: %v", w.n, err)
			return
		}
	}
}

// transact runs one transaction.
func (w *writer) transact(round int) error {
	tx, err := w.Begin(w.ctx)
	if err != nil {
		return fmt.Errorf("begin: %w", err)
	}
	es, err := w.fill(tx)
	if err != nil {
		_ = w.Rollback(w.ctx, tx)
		return err
	}
	w.linger()
	switch w.rand.IntN(10) {
	case 0:
		return w.Rollback(w.ctx, tx)
	case 1:
		if w.Prepare != nil {
			return w.commitPrepared(tx, name(fmt.Sprintf("w%d-", w.n), round), es)
		}
	}
	if err := w.Commit(w.ctx, tx); err != nil {
		return fmt.Errorf("commit: %w", err)
	}
	w.journal.add(es)
	return nil
}

func (w *writer) commitPrepared(tx any, name string, es []published) error {
	if err := w.Prepare(w.ctx, tx, name); err != nil {
		return fmt.Errorf("prepare: %w", err)
	}
	w.linger()
	if err := w.CommitPrepared(w.ctx, name); err != nil {
		return fmt.Errorf("commit the prepared transaction: %w", err)
	}
	w.journal.add(es)
	return nil
}

// fill appends to tx: some of the writer's own key, some of a shared one under
// its lock, some of none; and some that a savepoint takes back.
func (w *writer) fill(tx any) ([]published, error) {
	var es []published
	add := func(key string, turn int) error {
		m := w.message(key)
		es = append(es, published{m, turn})
		return w.Appender.Append(w.ctx, tx, box, []postbag.Message{m})
	}
	for range 1 + w.rand.IntN(3) {
		w.turns++
		if err := add(name("own", w.n), w.turns); err != nil {
			return nil, fmt.Errorf("append: %w", err)
		}
		w.linger()
	}
	if w.RollbackTo != nil && w.rand.IntN(4) == 0 {
		if err := w.phantom(tx); err != nil {
			return nil, err
		}
	}
	if i := w.rand.IntN(8); i < len(w.journal.lines) {
		key := name("shared", i)
		if err := w.Appender.Lock(w.ctx, tx, box, []string{key}); err != nil {
			return nil, fmt.Errorf("lock: %w", err)
		}
		if err := add(key, w.journal.line(i)); err != nil {
			return nil, fmt.Errorf("append: %w", err)
		}
	}
	if err := add("", 0); err != nil {
		return nil, fmt.Errorf("append: %w", err)
	}
	return es, nil
}

// phantom appends what a savepoint takes back.
func (w *writer) phantom(tx any) error {
	if err := w.Savepoint(w.ctx, tx, "s"); err != nil {
		return fmt.Errorf("savepoint: %w", err)
	}
	if err := w.Appender.Append(w.ctx, tx, box, w.messages(2, name("own", w.n), "")); err != nil {
		return fmt.Errorf("append: %w", err)
	}
	if err := w.RollbackTo(w.ctx, tx, "s"); err != nil {
		return fmt.Errorf("roll back to the savepoint: %w", err)
	}
	return nil
}

// linger keeps a transaction open for a moment, so that others commit before it.
func (w *writer) linger() {
	if d := w.rand.IntN(6); d > 2 {
		select {
		case <-time.After(time.Duration(d) * 200 * time.Microsecond):
		case <-w.ctx.Done():
		}
	}
}
