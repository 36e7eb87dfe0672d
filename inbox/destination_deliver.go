package inbox

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"runtime/debug"
	"slices"
	"time"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/broker"
	"github.com/postbag/postbag/source"
	"github.com/postbag/postbag/store"
)

// handledID is the id by which a Destination marks a message. It is none that a Receiver
// makes: what a Receiver of the same name has stored is not applied. Each subscription
// applies a message once, as it would reach any other destination.
func handledID(m *broker.Delivery) MessageID {
	return MessageID("handled:"+m.Box+"/"+m.Subscription+":") + UUID(m.ID)
}

// minDerived is the least time of a call from which a bound of the handler is derived.
const minDerived = time.Second

// deliver calls the handler for a message until it is known what becomes of it, or ctx ends.
func (d *Destination[Tx]) deliver(ctx context.Context, m *broker.Delivery) broker.Result {
	if err := unfit(m); err != nil {
		return broker.Result{Outcome: broker.Rejected, Err: err}
	}
	if ctx.Err() != nil {
		return notSent(late(context.Cause(ctx)))
	}
	mark := Mark{ID: handledID(m)}
	if !d.o.SumOff {
		mark.Sum = Sum(m.Payload)
	}
	msg, limit := handed(m), d.limit(ctx)
	back := Retry{Min: firstAgain, Max: maxAgain, Factor: 2}
	open := false // an earlier transaction may have committed
	for n := 1; ; n++ {
		fresh, began, err := d.apply(ctx, mark, msg, limit)
		if err == nil {
			return accepted(fresh)
		}
		open = errors.Is(err, postbag.ErrCommitUnknown) || open && !began
		r, again := d.judge(ctx, began, err)
		switch {
		case ended(ctx) && (open || began):
			return broker.Result{Outcome: broker.Unknown, Err: late(err)}
		case ended(ctx):
			return notSent(late(err))
		case !again && open:
			return broker.Result{Outcome: broker.Unknown, Err: r.Err}
		case !again:
			return r
		}
		pause(ctx, back.after(n))
	}
}

// unfit says why a message must not reach a handler.
func unfit(m *broker.Delivery) error {
	if _, has := m.Headers[store.FaultHeader]; has {
		return errors.New("inbox: handle: the message has the header " + store.FaultHeader + ", which says why it is not whole; discard it")
	}
	if m.ID == (postbag.ID{}) {
		return errors.New("inbox: handle: the message has no id, and cannot be marked; keep middleware from changing it")
	}
	return nil
}

// limit bounds an attempt, so that the first one ends before the call does. Where the call
// ends first, that counts no attempt.
func (d *Destination[Tx]) limit(ctx context.Context) time.Duration {
	if end, has := ctx.Deadline(); has {
		if left := time.Until(end); left >= minDerived {
			return min(d.o.Timeout, left-left/10)
		}
	}
	return d.o.Timeout
}

// apply calls the handler in a transaction that marks the message. began says that it came
// to call it: no earlier transaction has committed then.
func (d *Destination[Tx]) apply(ctx context.Context, mark Mark, m *Message, limit time.Duration) (fresh, began bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	err = d.tx.InTx(ctx, func(ctx context.Context, tx Tx) error {
		marked, err := d.marks.OnceBatch(ctx, tx, d.o.Consumer, []Mark{mark})
		if err != nil {
			return err
		}
		if fresh = marked[0]; !fresh {
			return nil
		}
		began = true
		return d.handle(ctx, tx, m, limit)
	})
	return fresh, began, err
}

// handle calls the handler. A panic is an error, and so is an answer that comes too late.
func (d *Destination[Tx]) handle(ctx context.Context, tx Tx, m *Message, limit time.Duration) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = d.panicked("the handler", p)
		}
	}()
	err = d.call(ctx, tx, m)
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		err = fmt.Errorf("the handler took longer than %s: %w", limit, cmp.Or(err, ctx.Err()))
	}
	return err
}

// panicked logs a panic, and returns its error.
func (d *Destination[Tx]) panicked(who string, p any) error {
	err := panicError(who, p)
	d.o.Logger.Error("a handler panicked", "consumer", d.o.Consumer, "error", err, "stack", string(debug.Stack()))
	return err
}

// judge says what an error means. again: nothing is known against the message, and its
// transaction is to be run again.
func (d *Destination[Tx]) judge(ctx context.Context, began bool, err error) (r broker.Result, again bool) {
	err = fmt.Errorf("inbox: handle: %w", err)
	rejected := broker.Result{Outcome: broker.Rejected, Err: err, Dead: errors.Is(err, ErrRejected) && !errors.Is(err, context.DeadlineExceeded)}
	fails := storeFails(d.o.Store, err)
	if !fails && (meetsAnother(d.o.Store, err) || errors.Is(err, postbag.ErrCommitUnknown)) { // the mark tells
		return r, true
	}
	if !began && errors.Is(err, store.ErrOtherBytes) {
		return rejected, false
	}
	if e, is := errors.AsType[*broker.Error](err); is && began && (e.Outcome == broker.Unavailable || e.Outcome == broker.Misconfigured) {
		return broker.Result{Outcome: e.Outcome, Scope: e.Scope, Err: err}, false
	}
	if fails || !began && !errors.Is(err, context.DeadlineExceeded) {
		return broker.Result{Outcome: broker.Unavailable, Err: err}, false
	}
	if down := d.Probe(ctx); down != nil {
		return broker.Result{Outcome: broker.Unavailable, Err: down}, false
	}
	if !began { // somebody has held its mark for all that time
		return r, true
	}
	return rejected, false
}

func accepted(fresh bool) broker.Result {
	if fresh {
		return broker.Result{Outcome: broker.Accepted}
	}
	return broker.Result{Outcome: broker.Accepted, Note: "applied before"}
}

func notSent(err error) broker.Result { return broker.Result{Outcome: broker.NotSent, Err: err} }

// ended says whether a call is over. A store that looks at the clock itself can find its time
// used up a moment before the context ends. That is no outage.
func ended(ctx context.Context) bool {
	end, has := ctx.Deadline()
	return ctx.Err() != nil || has && !time.Now().Before(end)
}

// late is why nothing is known, or nothing was done, when a call ends.
func late(err error) error {
	return fmt.Errorf("inbox: handle: the call ended before the message was applied, and it is tried again: %w", err)
}

// handed is a message as a handler gets it. If an encoder was before the destination, it has
// what that made.
func handed(m *broker.Delivery) *Message {
	out := m.Message
	all := broker.WithoutProperties(m.Headers)
	from := &source.Message{Topic: m.Topic, Key: m.Key, MessageID: m.ID.String(), Payload: m.Payload, Time: m.At}
	if w := m.Wire; w != nil {
		all = w.Headers
		from.ContentType, from.Null = w.ContentType, w.Null
	}
	for _, name := range slices.Sorted(maps.Keys(all)) {
		from.Headers = append(from.Headers, source.Header{Name: name, Value: all[name]})
	}
	out.Headers = withoutReason(all)
	if m.Wire == nil {
		from.ContentType = out.Headers[contentTypeHeader]
		from.Null = out.Headers[nullHeader] == "true"
	}
	return &Message{Message: out, From: from, Attempt: m.Attempt}
}

// withoutReason leaves out why a Consumer parked the message: no publisher takes that header.
func withoutReason(headers map[string]string) map[string]string {
	if _, has := headers[FailedHeader]; !has {
		return headers
	}
	headers = maps.Clone(headers)
	delete(headers, FailedHeader)
	return headers
}
