package sqlitestore

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"
)

// queue is the line of this process's writers. SQLite has one writer lock and no
// line for it: those who wait poll, and the unlucky starve. Waiting here first
// is fair, costs nothing and ends with the context.
type queue chan struct{}

func newQueue() queue { return make(queue, 1) }

// enter waits for its turn, until ctx ends or the deadline is over.
func (q queue) enter(ctx context.Context, deadline time.Time) error {
	select {
	case q <- struct{}{}:
		return nil
	default:
	}
	timer := time.NewTimer(time.Until(deadline))
	defer timer.Stop()
	select {
	case q <- struct{}{}:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-timer.C:
		return fmt.Errorf("another write transaction of this process did not end: %w", ErrBusy)
	}
}

func (q queue) leave() { <-q }

// retryBusy calls try until it does not say that the database is locked, ctx
// ends or the deadline is over. try waits a little itself, so that the pauses
// here are short; they vary, so that two processes do not keep step.
func retryBusy(ctx context.Context, deadline time.Time, try func() error) error {
	for {
		err := try()
		if err == nil || !isBusy(err) {
			return err
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if !time.Now().Before(deadline) {
			return err
		}
		pause(ctx, 200*time.Microsecond+rand.N(2*time.Millisecond))
	}
}

func pause(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C:
	}
}
