package operations

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/postbag/postbag/store"
)

const (
	// firstAgain is how long a worker waits after the first error until it tries again, and mostAgain how long it waits at most.
	firstAgain = 500 * time.Millisecond
	mostAgain  = 10 * time.Second
	// stuckAfter is how long a step may fail while the store answers otherwise. Then its error is none that passes by itself.
	stuckAfter = 10 * time.Minute
)

// trouble is what a worker knows of errors that may pass by themselves.
type trouble struct {
	delay time.Duration
	// since is when a step failed first, of those that failed one after another while the store answered otherwise.
	since time.Time
}

func (t *trouble) over() { *t = trouble{} }

// wait is how long to wait until the next try.
func (t *trouble) wait() time.Duration {
	t.delay = min(max(2*t.delay, firstAgain), mostAgain)
	return t.delay
}

// stuck notes that the store answers and the step fails, and says whether it did so for long.
func (t *trouble) stuck(now time.Time) bool {
	if t.since.IsZero() {
		t.since = now
	}
	return now.Sub(t.since) >= stuckAfter
}

// passes says whether an error may pass by itself: the store is away, or too busy, or another transaction came between. What is
// known to need somebody does not pass.
func passes(err error) bool {
	for _, stays := range []error{
		store.ErrNoOperation, store.ErrOperationLost, store.ErrOperationState, store.ErrOperationVersion, store.ErrOperationDamaged,
		store.ErrNoSubscription, store.ErrNoBox, store.ErrSchema, store.ErrDenied,
	} {
		if errors.Is(err, stays) {
			return false
		}
	}
	return true
}

// again waits after an error of a step, and then says how the operation is. An error that does not pass it returns.
func (w *Work) again(ctx context.Context, o store.Operation, err error) (store.Operation, error) {
	if ctx.Err() != nil || !passes(err) {
		return o, err
	}
	w.tellTrouble(err)
	if err := sleep(ctx, w.trouble.wait()); err != nil {
		return o, err
	}
	seen, away := w.give(ctx, o.At, 0, err.Error())
	switch {
	case away == nil && w.trouble.stuck(time.Now()):
		return seen, fmt.Errorf("for %s no step was made, although the store answers: %w", stuckAfter, err)
	case away == nil:
		return seen, nil
	case passes(away):
		w.trouble.since = time.Time{}
		return o, nil
	}
	return o, away
}

// take claims the operation. If the answer to that is lost, this worker may hold it, so it asks until such a lease is over.
func (w *Work) take(ctx context.Context) (store.Operation, error) {
	var lost time.Time // when an answer was lost last
	for {
		call, done := context.WithTimeout(ctx, callTime)
		o, err := w.store.Bookkeeper.ClaimOperation(call, w.id, w.worker, operationLease)
		done()
		held := errors.Is(err, store.ErrOperationHeld)
		switch {
		case err == nil:
			w.trouble.over()
			return o, nil
		case ctx.Err() != nil || !passes(err) || held && (lost.IsZero() || time.Since(lost) > operationLease+mostAgain):
			return o, err
		case !held:
			lost = time.Now()
		}
		w.tellTrouble(err)
		if err := sleep(ctx, w.trouble.wait()); err != nil {
			return o, err
		}
	}
}

// tellTrouble tells what keeps the worker from going on.
func (w *Work) tellTrouble(err error) {
	w.mu.Lock()
	at := w.at
	at.Trouble = err.Error()
	w.mu.Unlock()
	w.report(at)
}
