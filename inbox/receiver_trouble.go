package inbox

import (
	"context"
	"log/slog"
	"time"
)

// trouble is a state in which something fails. It says when it begins and when it ends, and
// waits longer each time. One goroutine uses it.
type trouble struct {
	log          *slog.Logger
	onError      func(error)
	began, ended string // lines of the log

	since time.Time // zero: all is well
	wait  time.Duration
}

// met notes an error, and waits before the next attempt, or until ctx ends.
func (t *trouble) met(ctx context.Context, err error) {
	t.onError(err)
	if t.since.IsZero() {
		t.since, t.wait = time.Now(), firstReceive
		t.log.Warn(t.began, "error", err)
	}
	pause(ctx, t.wait)
	t.wait = min(2*t.wait, maxReceive)
}

// over notes that it works.
func (t *trouble) over() {
	if t.since.IsZero() {
		return
	}
	t.log.Info(t.ended, "after", time.Since(t.since).Round(time.Millisecond))
	t.since = time.Time{}
}

// How long a Receiver rests after an error, at first and at most.
const (
	firstReceive = 50 * time.Millisecond
	maxReceive   = 5 * time.Second
)
