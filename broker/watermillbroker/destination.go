package watermillbroker

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/ThreeDotsLabs/watermill/message"

	"github.com/postbag/postbag/broker"
	"github.com/postbag/postbag/internal/gate"
)

// Destination delivers through a Watermill publisher. It is safe for concurrent
// use.
type Destination struct {
	to      message.Publisher
	options Options
	invalid error // why it cannot be used
	turns   chan struct{}
	gate    gate.Gate // calls, and what they left with the publisher
}

var _ broker.Destination = (*Destination)(nil)

// New returns a destination over p, which stays the caller's: Close leaves it open.
// Options that cannot be used, and no publisher, make every message Misconfigured.
func New(p message.Publisher, o Options) *Destination {
	d := &Destination{to: p, invalid: o.Validate()}
	if p == nil {
		d.invalid = errors.Join(d.invalid, errors.New("watermillbroker: the publisher is nil; give New one"))
	}
	if d.invalid != nil {
		o = Options{}
	}
	d.options = o.withDefaults()
	d.turns = make(chan struct{}, d.options.Concurrency)
	return d
}

// Features says that nothing keeps a repeated message out, nor an order within a
// call: Watermill promises neither of a publisher.
func (d *Destination) Features() broker.Features {
	return broker.Features{MaxBatch: d.options.Batch, Binding: d.options.Binding}
}

// Close implements broker.Destination. It waits for calls of the publisher that
// have not returned, also those that nobody waits for any more. The publisher stays
// open; while it is stuck only closing it helps.
func (d *Destination) Close(ctx context.Context) error {
	if err := d.gate.Shut(ctx); err != nil {
		return fmt.Errorf("watermillbroker: close: the publisher has not returned: %w; close it, or give Close more time", err)
	}
	return nil
}

// Publish implements broker.Destination. The calls of the publisher run side by
// side, unless a key is there twice: then one after another, and what is behind a
// message of its key that was not accepted is NotSent. The context of each message
// is ctx.
func (d *Destination) Publish(ctx context.Context, msgs []broker.Delivery, report func(i int, r broker.Result)) {
	switch {
	case len(msgs) == 0:
		return
	case !d.gate.Enter():
		all(msgs, report, broker.Result{Outcome: broker.NotSent, Err: broker.ErrClosed})
		return
	}
	defer d.gate.Leave()
	if d.invalid != nil {
		all(msgs, report, broker.Result{Outcome: broker.Misconfigured, Err: d.invalid})
		return
	}
	calls := d.plan(ctx, msgs)
	switch {
	case len(calls) == 1:
		calls[0].give(report, d.send(ctx, calls[0]))
	case repeatsKey(msgs):
		d.inOrder(ctx, calls, msgs, report)
	default:
		var running sync.WaitGroup
		for _, c := range calls {
			running.Go(func() { c.give(report, d.send(ctx, c)) })
		}
		running.Wait()
	}
}

// all reports one fate of all messages.
func all(msgs []broker.Delivery, report func(i int, r broker.Result), r broker.Result) {
	for i := range msgs {
		report(i, r)
	}
}

// call is one of the publisher: messages of one topic, with their places.
type call struct {
	topic  string
	msgs   []*message.Message
	places []int
}

// give reports the fate of all its messages.
func (c *call) give(report func(i int, r broker.Result), r broker.Result) {
	for _, i := range c.places {
		report(i, r)
	}
}

// plan makes the calls, in the order of their first messages.
func (d *Destination) plan(ctx context.Context, msgs []broker.Delivery) []*call {
	var calls []*call
	open := map[string]*call{}
	for i := range msgs {
		topic := msgs[i].Topic
		if d.options.Topic != nil {
			topic = d.options.Topic(msgs[i])
		}
		c := open[topic]
		if c == nil || len(c.msgs) == d.options.Batch {
			c = &call{topic: topic}
			open[topic] = c
			calls = append(calls, c)
		}
		m := d.options.encode(&msgs[i])
		m.SetContext(ctx)
		c.msgs, c.places = append(c.msgs, m), append(c.places, i)
	}
	return calls
}

func repeatsKey(msgs []broker.Delivery) bool {
	seen := make(map[string]bool, len(msgs))
	for i := range msgs {
		if key := msgs[i].Key; key != "" && seen[key] {
			return true
		}
		seen[msgs[i].Key] = true
	}
	return false
}

// inOrder makes one call after another.
func (d *Destination) inOrder(ctx context.Context, calls []*call, msgs []broker.Delivery, report func(i int, r broker.Result)) {
	failed := map[string]bool{}
	for _, c := range calls {
		kept := &call{topic: c.topic}
		for n, i := range c.places {
			if failed[msgs[i].Key] {
				report(i, broker.Result{Outcome: broker.NotSent, Err: errBehind})
				continue
			}
			kept.msgs, kept.places = append(kept.msgs, c.msgs[n]), append(kept.places, i)
		}
		if len(kept.msgs) == 0 {
			continue
		}
		r := d.send(ctx, kept)
		kept.give(report, r)
		for _, i := range kept.places {
			if r.Outcome != broker.Accepted && msgs[i].Key != "" {
				failed[msgs[i].Key] = true
			}
		}
	}
}

// send waits for a turn, makes a call and returns the fate of its messages. The
// publisher may take longer than ctx: then it is left alone with the call.
func (d *Destination) send(ctx context.Context, c *call) broker.Result {
	if !d.turn(ctx) {
		return broker.Result{Outcome: broker.NotSent, Err: errLate}
	}
	done := make(chan error, 1)
	d.gate.Again()
	go func() {
		defer d.gate.Leave()
		err := publish(d.to, c)
		<-d.turns
		done <- err
	}()
	select {
	case err := <-done:
		return d.judge(err, len(c.msgs))
	case <-ctx.Done():
		select {
		case err := <-done:
			return d.judge(err, len(c.msgs))
		default:
			return broker.Result{Outcome: broker.Unknown, Err: errNoAnswer}
		}
	}
}

func (d *Destination) turn(ctx context.Context) bool {
	if ctx.Err() != nil {
		return false
	}
	select {
	case d.turns <- struct{}{}:
		return true
	case <-ctx.Done():
		return false
	}
}

// publish makes the call. A panic is an error.
func publish(to message.Publisher, c *call) (err error) {
	defer func() {
		if v := recover(); v != nil { // its value may hold anything
			err = fmt.Errorf("it panicked (%T)", v)
		}
	}()
	return to.Publish(c.topic, c.msgs...)
}

// judge is the fate of all messages of a call.
func (d *Destination) judge(err error, messages int) broker.Result {
	if err == nil {
		return broker.Result{Outcome: broker.Accepted}
	}
	r := broker.Result{Outcome: broker.OutcomeOf(err)}
	if r.Outcome == broker.Misconfigured || r.Outcome == broker.Unavailable {
		r.Scope = broker.ScopeOf(err)
	}
	if d.options.Classify != nil {
		d.options.Classify(err).Apply(&r)
	}
	if r.Outcome == broker.Rejected && messages > 1 {
		r.Outcome = broker.Unknown
	}
	r.Err = fmt.Errorf("watermillbroker: the publisher: %w; look at what it publishes to", err)
	return r
}

var (
	errBehind   = errors.New("watermillbroker: an earlier message of the key was not accepted; send this one after it")
	errLate     = errors.New("watermillbroker: the context ended before the publisher was free; send the message again")
	errNoAnswer = errors.New("watermillbroker: the publisher did not return before the context ended; send the message again")
)
