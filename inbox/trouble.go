package inbox

import (
	"context"
	"log/slog"
	"strings"
	"sync"
	"time"
)

// trouble is a state in which something fails. It says when it begins, why it lasts, and when
// it ends, and lets those who try again wait longer each time. It is safe for concurrent use.
type trouble struct {
	log                  *slog.Logger
	onError              func(error)
	began, lasting, done string // lines of the log

	mu    sync.Mutex
	since time.Time // zero: all is well
	last  time.Time // when wait began
	wait  time.Duration
	ended time.Time // when it was over last
	quiet bool      // what lasts now was told shortly before

	told  time.Time           // when kinds began
	kinds map[string]struct{} // of the errors that were told since
}

// An outage is told of again each tellAgain, with the error of that time. In between an error
// of another kind is told of at once, up to maxKinds of them: what stops a source or a store
// may change while it lasts, and so does what ends it.
//
// Where a database fails for some messages and works for others, an outage ends and begins with
// every other message. So one that begins again within flicker, for a reason that was told
// within tellAgain, is told of only if it lasts that long.
const (
	tellAgain = time.Minute
	maxKinds  = 8
	flicker   = 2 * maxReceive
)

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
	now := time.Now()
	t.tell(now, err)
	switch {
	case t.since.IsZero():
		t.since, t.wait = now, firstReceive
	case now.Sub(t.last) >= t.wait:
		t.wait = min(2*t.wait, maxReceive)
	default:
		return t.wait
	}
	t.last = now
	return t.wait
}

// tell writes an error to the log, if it says something new or was not said for long.
func (t *trouble) tell(now time.Time, err error) {
	kind, first := kindOf(err), t.since.IsZero()
	_, known := t.kinds[kind]
	lately := known && now.Sub(t.told) < tellAgain
	switch {
	case first:
		t.quiet = lately && now.Sub(t.ended) < flicker
	case t.quiet && (!lately || now.Sub(t.since) >= flicker):
		first, t.quiet = true, false
	}
	if t.quiet {
		return
	}
	// A new kind within flicker is noted beside those that were told: kinds that take turns are
	// told of once each.
	if now.Sub(t.told) >= tellAgain || first && (known || now.Sub(t.ended) >= flicker) {
		t.told, t.kinds = now, map[string]struct{}{}
	}
	if _, known := t.kinds[kind]; known || len(t.kinds) >= maxKinds {
		t.quiet = first // then its end is not told either
		return
	}
	t.kinds[kind] = struct{}{}
	if first {
		t.log.Warn(t.began, "error", err)
		return
	}
	t.log.Warn(t.lasting, "for", now.Sub(t.since).Round(time.Millisecond), "error", err)
}

// kindOf is the text of an error without the words that have a digit: ports, addresses, ids and
// times change from one attempt to the next, and say nothing new.
func kindOf(err error) string {
	words := strings.Fields(err.Error())
	for i, w := range words {
		if strings.ContainsAny(w, "0123456789") {
			words[i] = "#"
		}
	}
	return strings.Join(words, " ")
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
	if !t.quiet {
		t.log.Info(t.done, "after", time.Since(t.since).Round(time.Millisecond))
	}
	t.since, t.ended = time.Time{}, time.Now()
}

// How long a Receiver or a Consumer rests after an error, at first and at most.
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
