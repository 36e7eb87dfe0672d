package inbox

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/postbag/postbag/internal/outagelog"
)

// trouble is a state in which something fails. It says when it begins, why it lasts, and when
// it ends, and lets those who try again wait longer each time. It is safe for concurrent use.
type trouble struct {
	log                  *slog.Logger
	onError              func(error)
	began, lasting, done string // lines of the log

	mu     sync.Mutex
	outage outagelog.Outage
	last   time.Time // when wait began
	wait   time.Duration
}

// met notes an error, and waits before the next attempt, or until ctx ends.
func (t *trouble) met(ctx context.Context, err error) {
	pause(ctx, t.note(err))
}

// note tells of an error, and returns how long to wait. Several that fail side by side are one
// step.
func (t *trouble) note(err error) time.Duration {
	t.onError(err)
	t.mu.Lock()
	defer t.mu.Unlock()
	now, first := time.Now(), !t.outage.Failing()
	t.tell(now, err)
	switch {
	case first:
		t.wait = firstReceive
	case now.Sub(t.last) >= t.wait:
		t.wait = min(2*t.wait, maxReceive)
	default:
		return t.wait
	}
	t.last = now
	return t.wait
}

// tell writes an error to the log, if it says something new or was not said for long. While it
// lasts, what stops a source or a store may change, and so does what ends it.
func (t *trouble) tell(now time.Time, err error) {
	line := t.outage.Fails(now, err.Error())
	switch {
	case line == outagelog.Begins:
		t.log.Warn(t.began, "error", err)
	case line == outagelog.Lasts || t.outage.Changes(now, err.Error()):
		t.log.Warn(t.lasting, "for", t.outage.For(now).Round(time.Millisecond), "error", err)
	}
}

// lasts says whether it fails now.
func (t *trouble) lasts() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.outage.Failing()
}

// over notes that it works.
func (t *trouble) over() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if after, tell := t.outage.Works(time.Now()); tell {
		t.log.Info(t.done, "after", after)
	}
}

// How long a Receiver or a Consumer rests after an error, at first and at most. It is at most
// half of outagelog.Flicker, so that an outage that lasts is seen to last.
const (
	firstReceive = 50 * time.Millisecond
	maxReceive   = 5 * time.Second
)

// sourceTrouble, storeTrouble, ackTrouble and extendTrouble are the states that a Receiver and
// a Consumer know.
func sourceTrouble(log *slog.Logger, onError func(error)) *trouble {
	return &trouble{log: log, onError: onError, began: "the source fails", lasting: "the source still fails", done: "the source works again"}
}

func storeTrouble(log *slog.Logger, onError func(error)) *trouble {
	return &trouble{
		log: log, onError: onError, began: "the store of an inbox fails", lasting: "the store of an inbox still fails",
		done: "the store of an inbox works again",
	}
}

func ackTrouble(log *slog.Logger, onError func(error)) *trouble {
	return &trouble{log: log, onError: onError, began: "acknowledgements fail", lasting: "acknowledgements still fail", done: "acknowledgements work again"}
}

func extendTrouble(log *slog.Logger, onError func(error)) *trouble {
	return &trouble{
		log: log, onError: onError, began: "the broker does not hear that messages are at work",
		lasting: "the broker still does not hear that messages are at work", done: "the broker hears again that messages are at work",
	}
}
