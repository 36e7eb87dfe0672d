package watermillbroker

import (
	"context"
	"fmt"

	"github.com/ThreeDotsLabs/watermill/message"

	"github.com/postbag/postbag/broker"
)

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
	if !d.acquire(ctx) {
		return broker.Result{Outcome: broker.NotSent, Err: errLate}
	}
	done := make(chan error, 1)
	d.guard.Again()
	go func() {
		defer d.guard.Leave()
		err := publish(d.to, c)
		<-d.running
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

func (d *Destination) acquire(ctx context.Context) bool {
	if ctx.Err() != nil {
		return false
	}
	select {
	case d.running <- struct{}{}:
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
