package inbox

import (
	"context"
	"log/slog"
	"sync"
	"time"
)

// trouble is a state in which something fails. It says when it begins and when it ends, and
// lets those who try again wait longer each time. It is safe for concurrent use.
type trouble struct {
	log          *slog.Logger
	onError      func(error)
	began, ended string // lines of the log

	mu    sync.Mutex
	since time.Time // zero: all is well
	last  time.Time // when wait began
	wait  time.Duration
}

// met notes an error, and waits before the next attempt, or until ctx ends.
func (t *trouble) met(ctx context.Context, err error) {
	t.onError(err)
	pause(ctx, t.note(err))
}

// note returns how long to wait. Several that fail side by side are one step.
func (t *trouble) note(err error) time.Duration {
	t.mu.Lock()
	defer t.mu.Unlock()
	now := time.Now()
	switch {
	case t.since.IsZero():
		t.since, t.wait = now, firstReceive
		t.log.Warn(t.began, "error", err)
	case now.Sub(t.last) >= t.wait:
		t.wait = min(2*t.wait, maxReceive)
	default:
		return t.wait
	}
	t.last = now
	return t.wait
}

// lasts says whether it fails now.
func (t *trouble) lasts() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return !t.since.IsZero()
}

// over notes that it works.
func (t *trouble) over() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.since.IsZero() {
		return
	}
	t.log.Info(t.ended, "after", time.Since(t.since).Round(time.Millisecond))
	t.since = time.Time{}
}

// How long a Receiver or a Consumer rests after an error, at first and at most.
const (
	firstReceive = 50 * time.Millisecond
	maxReceive   = 5 * time.Second
)

// sourceTrouble and storeTrouble are the states that a Receiver and a Consumer know both.
func sourceTrouble(log *slog.Logger, onError func(error)) *trouble {
	return &trouble{log: log, onError: onError, began: "the source fails", ended: "the source works again"}
}

func storeTrouble(log *slog.Logger, onError func(error)) *trouble {
	return &trouble{log: log, onError: onError, began: "the store of an inbox fails", ended: "the store of an inbox works again"}
}
