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
type queue struct {
	place chan struct{}
	// left is when the last writer went, and since when writers have followed each
	// other without a pause. The goroutine that has the place may use them.
	left, since time.Time
}

// A process whose writers follow each other for greedy leaves the lock to those of
// others for modest, which is a hundredth of the time.
const (
	greedy = 50 * time.Millisecond
	modest = 500 * time.Microsecond
)

func newQueue() *queue { return &queue{place: make(chan struct{}, 1)} }

// enter waits for its turn, until ctx ends or the deadline is over.
func (q *queue) enter(ctx context.Context, deadline time.Time) error {
	select {
	case q.place <- struct{}{}:
		q.share(ctx)
		return nil
	default:
	}
	timer := time.NewTimer(time.Until(deadline))
	defer timer.Stop()
	select {
	case q.place <- struct{}{}:
		q.share(ctx)
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-timer.C:
		return fmt.Errorf("another write transaction of this process did not end: %w", ErrBusy)
	}
}

// share pauses where this process has had the lock for long. Between two writers of
// one process the lock is free for some ten microseconds, in which those of others
// hardly ever look.
func (q *queue) share(ctx context.Context) {
	switch now := time.Now(); {
	case now.Sub(q.left) > modest:
		q.since = now
	case now.Sub(q.since) > greedy:
		pause(ctx, modest)
		q.since = time.Now()
	}
}

func (q *queue) leave() {
	q.left = time.Now()
	<-q.place
}

// retryBusy calls try until it does not say that the database is locked, ctx
// ends or the deadline is over. try waits a little itself, so that the pauses
// here are short; they vary, so that two processes do not keep step.
func retryBusy(ctx context.Context, deadline time.Time, try func() error) error {
	return retryBusyAfter(ctx, deadline, 200*time.Microsecond, 2*time.Millisecond, try)
}

// retryWrite is the same for the store's own writes, which are short and which
// leases depend on, where try does not wait itself. Who looks every few
// milliseconds, as SQLite's own waiting does, may not find the lock free for seconds
// where others write one transaction after the other. A look costs about ten
// microseconds.
func retryWrite(ctx context.Context, deadline time.Time, try func() error) error {
	return retryBusyAfter(ctx, deadline, 50*time.Microsecond, 200*time.Microsecond, try)
}

func retryBusyAfter(ctx context.Context, deadline time.Time, least, vary time.Duration, try func() error) error {
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
		pause(ctx, least+rand.N(vary))
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
