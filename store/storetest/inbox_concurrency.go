package storetest

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"github.com/postbag/postbag/store"
)

// inboxConcurrencyCases are about transactions that mark one id at a time.
func inboxConcurrencyCases() []scenario {
	return []scenario{
		{name: "A mark waits for the transaction that marked its id, and is known when that commits", run: markWaitsForCommit},
		{name: "A mark waits for the transaction that marked its id, and is fresh when that rolls back", run: markWaitsForRollback},
		{name: "Transactions that mark other ids, or for other consumers, do not wait", needs: concurrentWriters, run: markApart},
		{name: "A mark stops waiting when its context ends", run: markCancelled},
		{name: "Many mark the same ids and some roll back: each id is committed as fresh once", run: markMany},
		{name: "Calls that mark the same ids in opposite sequence do not deadlock", run: markOpposite},
		{name: "Of two transactions that mark in a circle, one gets ErrAgain", needs: concurrentWriters, run: markCircle},
		{name: "A mark is never fresh because its transaction reads an old snapshot", run: markSnapshot},
		{name: "A prepared transaction holds its marks until it is committed", needs: prepared, run: markPreparedCommit},
		{name: "A prepared transaction that is rolled back frees its marks", needs: prepared, run: markPreparedRollback},
		{name: "After a crash what was committed is known, and what was open is fresh", run: markCrash},
		{name: "After a crash a prepared transaction holds its marks", needs: prepared, run: markCrashPrepared},
	}
}

// attempt is a call of Mark in a transaction of its own, in a goroutine.
type attempt struct {
	tx    any
	fresh []bool
	err   error
	done  chan struct{} // closed after all above is written
}

// attempt begins and marks aside.
func (e *env) attempt(ctx context.Context, ids ...store.MessageID) *attempt {
	ctx, cancel := context.WithCancel(ctx)
	a := &attempt{done: make(chan struct{})}
	go func() {
		defer close(a.done)
		tx, err := e.Begin(ctx)
		if a.err = err; err != nil {
			return
		}
		a.tx = tx
		a.fresh, a.err = e.Inbox.Mark(ctx, tx, consumer, marksOf(ids...))
	}()
	e.Cleanup(func() {
		cancel()
		<-a.done
		if e.Failed() && a.tx != nil {
			e.undo(a.tx)
		}
	})
	return a
}

// undo rolls back a transaction that may have ended.
func (e *env) undo(tx any) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(e.ctx), e.patience)
	defer cancel()
	_ = e.Rollback(ctx, tx)
}

// waits asserts that an attempt is not over soon.
func (e *env) waits(a *attempt) {
	e.Helper()
	select {
	case <-a.done:
		e.Fatalf("a mark did not wait for a transaction that marked its id: fresh %v, error %v", a.fresh, a.err)
	case <-time.After(100 * time.Millisecond):
	}
}

// ends waits for the end of an attempt, and holds it to what is wanted.
func (e *env) ends(a *attempt, want bool) {
	e.Helper()
	select {
	case <-a.done:
	case <-time.After(e.patience):
		e.Fatalf("a mark still waits after %s, and nothing holds its id", e.patience)
	}
	e.check(a.err, "mark after waiting")
	for _, fresh := range a.fresh {
		if fresh != want {
			e.Errorf("after waiting, a mark is fresh: %v, want %v", fresh, want)
		}
	}
}

func markWaitsForCommit(e *env) {
	e.needInbox()
	tx := e.begin()
	e.marked(tx, true, "a")
	late := e.attempt(e.ctx, "a")
	e.waits(late)
	e.commit(tx)
	e.ends(late, false)
	e.rollback(late.tx)
	e.commitMarks(false, "a")
}

func markWaitsForRollback(e *env) {
	e.needInbox()
	tx := e.begin()
	e.marked(tx, true, "a")
	late := e.attempt(e.ctx, "a")
	e.waits(late)
	e.rollback(tx)
	e.ends(late, true)
	e.commit(late.tx)
	e.commitMarks(false, "a")
}

func markApart(e *env) {
	e.needInbox()
	tx := e.begin()
	e.marked(tx, true, "b", "d")
	for _, id := range []store.MessageID{"a", "c", "e", "B", "b\x00"} {
		other := e.attempt(e.ctx, id)
		e.ends(other, true)
		e.commit(other.tx)
	}
	other := e.begin()
	if fresh := e.mark(other, "shipping", marksOf("b")...); !fresh[0] {
		e.Error("the id that another consumer marked is not fresh")
	}
	e.commit(other)
	e.commit(tx)
}

func markCancelled(e *env) {
	e.needInbox()
	tx := e.begin()
	e.marked(tx, true, "b")
	ctx, cancel := context.WithCancel(e.ctx)
	defer cancel()
	late := e.attempt(ctx, "a", "b", "c")
	e.waits(late)
	cancel()
	select {
	case <-late.done:
	case <-time.After(e.patience):
		e.Fatal("a mark still waits although its context has ended")
	}
	if !errors.Is(late.err, context.Canceled) {
		e.Errorf("a mark whose context ends while it waits: %v, not context.Canceled", late.err)
	}
	if late.tx != nil {
		e.undo(late.tx)
	}
	e.rollback(tx)
	e.commitMarks(true, "a", "b", "c")
}

// applied counts how often each id was committed as fresh.
type applied struct {
	mu    sync.Mutex
	times map[store.MessageID]int
}

func (a *applied) add(ids []store.MessageID, fresh []bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for i, id := range ids {
		if fresh[i] {
			a.times[id]++
		}
	}
}

// apply marks ids in a transaction and commits or rolls back. Where the database wants
// it, it tries again. It may be called by any goroutine.
func (e *env) apply(ids []store.MessageID, commit bool, done *applied) error {
	for {
		tx, err := e.Begin(e.ctx)
		if err != nil {
			return fmt.Errorf("begin: %w", err)
		}
		fresh, err := e.Inbox.Mark(e.ctx, tx, consumer, marksOf(ids...))
		switch {
		case errors.Is(err, store.ErrAgain):
			_ = e.Rollback(e.ctx, tx) // the database may have done it
			continue
		case err != nil:
			e.undo(tx)
			return fmt.Errorf("mark: %w", err)
		case len(fresh) != len(ids):
			e.undo(tx)
			return fmt.Errorf("%d marks have %d answers", len(ids), len(fresh))
		case !commit:
			return e.Rollback(e.ctx, tx)
		}
		if err := e.Commit(e.ctx, tx); err != nil {
			return fmt.Errorf("commit: %w", err)
		}
		done.add(ids, fresh)
		return nil
	}
}

func markMany(e *env) {
	e.needInbox()
	ids := numbered("m", e.rounds)
	done := &applied{times: map[store.MessageID]int{}}
	var all sync.WaitGroup
	for n := range e.writers {
		r := rand.New(rand.NewPCG(uint64(n), 17))
		all.Go(func() {
			for i := range ids {
				mine := slices.Clone(ids[i:min(i+1+r.IntN(3), len(ids))])
				r.Shuffle(len(mine), func(a, b int) { mine[a], mine[b] = mine[b], mine[a] })
				if err := e.apply(mine, r.IntN(3) > 0, done); err != nil {
					e.Errorf("writer %d: %v", n, err)
					return
				}
			}
		})
	}
	all.Wait()
	if err := e.apply(ids, true, done); err != nil {
		e.Fatalf("mark all: %v", err)
	}
	for _, id := range ids {
		if n := done.times[id]; n != 1 {
			e.Errorf("id %.10q was committed as fresh %d times", id, n)
		}
	}
	e.commitMarks(false, ids...)
}

func markOpposite(e *env) {
	e.needInbox()
	done := &applied{times: map[store.MessageID]int{}}
	for round := range e.rounds {
		ids := numbered(fmt.Sprintf("r%d-", round), 50)
		back := slices.Clone(ids)
		slices.Reverse(back)
		a, b := e.attemptCommit(ids, done), e.attemptCommit(back, done)
		for _, err := range []error{<-a, <-b} {
			if err != nil {
				e.Fatalf("of two calls with the same ids in opposite sequence, one failed: %v", err)
			}
		}
		for _, id := range ids {
			if n := done.times[id]; n != 1 {
				e.Fatalf("id %.10q was committed as fresh %d times", id, n)
			}
		}
	}
}

// attemptCommit marks and commits aside. With concurrent writers it takes no ErrAgain;
// one that waits for the only writer may wait too long.
func (e *env) attemptCommit(ids []store.MessageID, done *applied) <-chan error {
	result := make(chan error, 1)
	go func() {
		if !e.features.ConcurrentWriters {
			result <- e.apply(ids, true, done)
			return
		}
		tx, err := e.Begin(e.ctx)
		if err != nil {
			result <- err
			return
		}
		fresh, err := e.Inbox.Mark(e.ctx, tx, consumer, marksOf(ids...))
		if err != nil {
			e.undo(tx)
			result <- err
			return
		}
		if err = e.Commit(e.ctx, tx); err == nil {
			done.add(ids, fresh)
		}
		result <- err
	}()
	return result
}

func markCircle(e *env) {
	e.needInbox()
	ids := []store.MessageID{"a", "b"}
	txs := []any{e.begin(), e.begin()}
	for i, tx := range txs {
		e.marked(tx, true, ids[i])
	}
	var again, fresh int
	var mu sync.Mutex
	var all sync.WaitGroup
	ctx, cancel := context.WithTimeout(e.ctx, e.patience)
	defer cancel()
	for i, tx := range txs {
		all.Go(func() {
			got, err := e.Inbox.Mark(ctx, tx, consumer, marksOf(ids[1-i]))
			mu.Lock()
			defer mu.Unlock()
			switch {
			case errors.Is(err, store.ErrAgain):
				again++
				e.undo(tx)
			case err != nil:
				e.Errorf("mark in a circle: %v", err)
				e.undo(tx)
			default:
				if got[0] {
					fresh++
				}
				if err := e.Commit(e.ctx, tx); err != nil {
					e.Errorf("commit: %v", err)
				}
			}
		})
	}
	all.Wait()
	if again == 0 || again+fresh != 2 {
		e.Errorf("of two transactions that wait for each other %d got ErrAgain and %d went on", again, fresh)
	}
}

func markSnapshot(e *env) {
	e.needInbox()
	if e.Snapshot == nil {
		e.Skip("the harness has no transactions that read an old snapshot")
	}
	tx, err := e.Snapshot(e.ctx)
	e.check(err, "begin a transaction with a snapshot")
	e.commitMarks(true, "a")
	fresh, err := e.Inbox.Mark(e.ctx, tx, consumer, marksOf("a"))
	switch {
	case errors.Is(err, store.ErrAgain):
	case err != nil:
		e.Errorf("mark after an old snapshot: %v; want ErrAgain or no error", err)
	case fresh[0]:
		e.Error("a mark is fresh in an old snapshot, although another transaction has committed it")
	}
	e.undo(tx)
	e.commitMarks(false, "a")
}

func markPreparedCommit(e *env) {
	e.needInbox()
	late := e.prepareMark("inbox-one")
	e.check(e.CommitPrepared(e.ctx, "inbox-one"), "commit the prepared transaction")
	e.ends(late, false)
	e.rollback(late.tx)
	e.commitMarks(false, "a")
}

func markPreparedRollback(e *env) {
	e.needInbox()
	late := e.prepareMark("inbox-two")
	e.check(e.RollbackPrepared(e.ctx, "inbox-two"), "roll back the prepared transaction")
	e.ends(late, true)
	e.commit(late.tx)
	e.commitMarks(false, "a")
}

// prepareMark prepares a transaction with a mark, and lets another wait for it.
func (e *env) prepareMark(name string) *attempt {
	e.Helper()
	tx := e.begin()
	e.marked(tx, true, "a")
	e.check(e.Prepare(e.ctx, tx, name), "prepare")
	late := e.attempt(e.ctx, "a")
	e.waits(late)
	return late
}

func markCrash(e *env) {
	e.needInbox()
	e.needCrash()
	e.commitMarks(true, "committed")
	tx := e.begin()
	e.marked(tx, true, "open")
	e.crash()
	e.undo(tx)
	e.commitMarks(false, "committed")
	e.commitMarks(true, "open")
}

func markCrashPrepared(e *env) {
	e.needInbox()
	e.needCrash()
	tx := e.begin()
	e.marked(tx, true, "a")
	e.check(e.Prepare(e.ctx, tx, "inbox-three"), "prepare")
	e.crash()
	late := e.attempt(e.ctx, "a")
	e.waits(late)
	e.check(e.CommitPrepared(e.ctx, "inbox-three"), "commit the prepared transaction")
	e.ends(late, false)
	e.rollback(late.tx)
}
