package membroker

import (
	"context"
	"errors"
	"time"

	"github.com/postbag/postbag/broker"
)

// Act is what the broker does with one message. The zero Act takes it and says
// so. Its parts happen in this order: Delay, Hold, then the message is stored or
// not, then Silence, then the answer.
type Act struct {
	// Delay passes first.
	Delay time.Duration
	// Hold, unless nil, is waited for next. A message whose context ends while it
	// is delayed or held is Unknown and not stored.
	Hold <-chan struct{}

	// Err refuses the message; its outcome is broker.OutcomeOf(Err).
	Err error
	// Store stores the message in spite of Err, as when an answer is lost.
	Store bool

	// Silence, unless nil, is waited for before the answer. A message whose
	// context ends in it is Unknown, and stored.
	Silence <-chan struct{}

	// After and Note go into the result.
	After time.Duration
	Note  string
}

// Fail is the Act that refuses a message, with this outcome and reason.
func Fail(outcome broker.Outcome, reason string) Act {
	return Act{Err: &broker.Error{Outcome: outcome, Err: errors.New("membroker: " + reason)}}
}

// Lose is the Act that stores a message and loses the answer: Unknown at once.
func Lose() Act {
	act := Fail(broker.Unknown, "the answer was lost; send the message again")
	act.Store = true
	return act
}

func (a Act) waits() bool { return a.Delay > 0 || a.Hold != nil || a.Silence != nil }

// before waits for what comes before the message is stored, and says whether
// ctx let it.
func (a Act) before(ctx context.Context) bool {
	if a.Delay > 0 {
		timer := time.NewTimer(a.Delay)
		defer timer.Stop()
		select {
		case <-ctx.Done():
			return false
		case <-timer.C:
		}
	}
	return await(ctx, a.Hold)
}

// await waits for a channel to close, nil for none, and says whether ctx let it.
func await(ctx context.Context, ch <-chan struct{}) bool {
	if ch == nil {
		return true
	}
	select {
	case <-ctx.Done():
		return false
	case <-ch:
		return true
	}
}
