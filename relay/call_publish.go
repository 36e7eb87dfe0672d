package relay

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/postbag/postbag/broker"
	"github.com/postbag/postbag/internal/engine"
	"github.com/postbag/postbag/internal/failpoint"
)

// probe asks a destination that failed whether it works again.
func (l *loop) probe(f *flow) {
	prober, _ := broker.ProberOf(f.subscription.To) // the engine was told that it is one
	timeout := f.timeout                            // an operator may change it
	l.start(func() func() {
		ctx, cancel := context.WithTimeout(l.ctx, timeout)
		defer cancel()
		err := probe(ctx, prober)
		givenUp := gaveUp(ctx)
		return func() {
			if err != nil && !givenUp {
				l.destinationFailed(f, err)
			}
			f.Engine.Probed(l.now(), broker.OutcomeOf(err))
		}
	})
}

func probe(ctx context.Context, p broker.Prober) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = errPanic(v)
		}
	}()
	return p.Probe(ctx)
}

// call makes one call to the destination in a goroutine of its own.
func (l *loop) call(f *flow, c *engine.Call) {
	if f.exactly != nil {
		l.transact(f, c)
		return
	}
	s := l.stream(f, c)
	l.start(func() func() {
		defer s.cancel()
		panicked := s.publish(f.subscription.To)
		results := s.end()
		if panicked != nil {
			blame(results, panicked)
		}
		answers, failed := f.judge(results, func(i int) string { return c.Items[i].Type }, gaveUp(s.ctx))
		if panicked == nil {
			s.room.free()
		}
		return func() {
			l.tellCall(f, c, answers, failed, &s.spent)
			l.answered(f, c, answers, failed, s.told)
		}
	})
}

// publish makes the call, with points at which tests of faults end it: what such a point
// fails is neither sent nor answered. It returns an error if the destination panicked.
func (s *streaming) publish(to broker.Destination) (panicked error) {
	defer func() {
		if v := recover(); v != nil {
			panicked = errPanic(v)
		}
	}()
	if failpoint.Hit("relay/publish/before") != nil {
		return nil
	}
	to.Publish(s.ctx, s.room.msgs, s.report)
	_ = failpoint.Hit("relay/publish/after") // the answers are there, whatever it says
	return nil
}

// blame makes of a panic a failed attempt of the message that was not answered; of
// several, nobody knows which it was, and they are sent again apart.
func blame(results []broker.Result, panicked error) {
	outcome := broker.Rejected
	if len(results) > 1 {
		outcome = broker.Unknown
	}
	for i := range results {
		if results[i].Outcome == broker.Unknown {
			results[i] = broker.Result{Outcome: outcome, Err: panicked}
		}
	}
}

// errPanic names the type of a panic's value and not the value, which may hold
// anything.
func errPanic(v any) error { return &panicError{kind: fmt.Sprintf("%T", v)} }

// panicError says that a destination panicked.
type panicError struct{ kind string }

func (e *panicError) Error() string {
	return "the destination panicked (" + e.kind + "); fix it, then retry the message"
}

// gaveUp says that a call was given up by the relay itself. What it failed with then says
// nothing of whom was called.
func gaveUp(ctx context.Context) bool { return errors.Is(ctx.Err(), context.Canceled) }

// judge translates results for the engine and picks an error to report: none that there
// is only since the call was given up, and that of a rejected message only if there is
// no other, which tells why the destination is left alone. typeOf returns the types of the
// messages.
func (f *flow) judge(results []broker.Result, typeOf func(int) string, givenUp bool) (answers []engine.Answer, failed error) {
	answers = make([]engine.Answer, len(results))
	rejected := false // failed is of a message that was rejected
	for i := range results {
		r := &results[i]
		if r.Outcome == broker.Accepted {
			answers[i].Outcome = broker.Accepted
			continue
		}
		_, panicked := errors.AsType[*panicError](r.Err)
		if f.subscription.Classify != nil && r.Err != nil && !panicked {
			f.classify(r)
		}
		scope := scopeOf(r)
		answers[i] = engine.Answer{
			Outcome: r.Outcome, Scope: scope, After: r.After, Reason: reason(r),
			Broken: panicked && r.Outcome == broker.Unknown,
			Rule:   f.rules.of(typeOf(i), r.Err), Dead: r.Dead && r.Outcome == broker.Rejected,
		}
		if givenUp && (r.Outcome == broker.Unknown || errors.Is(r.Err, context.Canceled)) {
			continue
		}
		if r.Outcome == broker.NotSent || scope == broker.ScopeTopic && f.holds {
			continue
		}
		if failed == nil || rejected && r.Outcome != broker.Rejected {
			failed, rejected = cmp.Or(r.Err, errors.New(r.Outcome.String())), r.Outcome == broker.Rejected
		}
	}
	return answers, failed
}

// classify has Classify change a result. If that panics the result stays, and its error says so.
func (f *flow) classify(r *broker.Result) {
	defer func() {
		if v := recover(); v != nil {
			r.Err = fmt.Errorf("%w (and Classify panicked: %T)", r.Err, v)
		}
	}()
	f.subscription.Classify(r.Err).Apply(r)
}

// scopeOf is for how much of the destination a result holds: its adapter says so, or
// its error does.
func scopeOf(r *broker.Result) broker.Scope {
	switch {
	case r.Outcome != broker.Misconfigured && r.Outcome != broker.Unavailable:
		return broker.ScopeDestination
	case r.Scope != broker.ScopeDestination:
		return r.Scope
	default:
		return broker.ScopeOf(r.Err)
	}
}

// reason is what is kept with a parked message.
func reason(r *broker.Result) string {
	if r.Err == nil {
		return r.Outcome.String()
	}
	return reasonOf(r.Err.Error())
}

// reasonOf bounds what is kept of an error.
func reasonOf(text string) string { return text[:min(len(text), 1024)] }

// answered takes the answers of a call that is over. told: OnError has heard of it.
func (l *loop) answered(f *flow, c *engine.Call, answers []engine.Answer, failed error, told bool) {
	_ = failpoint.Hit("relay/acknowledge/before") // an answer that came is not undone by an error
	delete(f.calls, c.ID)
	before := f.Engine.Stats().Accepted
	l.core.Answered(l.now(), f.Flow, c.ID, answers)
	_ = failpoint.Hit("relay/acknowledge/after")
	dead := l.noteDeaths(f)
	if failed != nil {
		l.noteRejected(f, c, answers, dead)
	}
	if f.Engine.Stats().Accepted > before {
		f.acceptedAt = time.Now()
		if failed == nil {
			f.lastError = ""
		}
	}
	switch {
	case failed == nil:
	case told:
		f.noteFailure(failed)
	default:
		l.destinationFailed(f, failed)
	}
}

func (l *loop) destinationFailed(f *flow, err error) {
	f.noteFailure(err)
	l.log.report(fmt.Errorf("relay: %s: %w", f.Ref, err))
}

func (f *flow) noteFailure(err error) { f.lastError, f.failed = err.Error(), true }
