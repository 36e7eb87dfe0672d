package relay

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/broker"
)

// Render makes what is sent of a message, at delivery: its payload, and its headers in
// place of those that it has. See Subscription.Render.
type Render func(ctx context.Context, m broker.Delivery) (payload []byte, headers map[string]string, err error)

// renderWith returns middleware that renders each message. Nil gives nil middleware.
func renderWith(render Render) broker.Middleware {
	if render == nil {
		return nil
	}
	return func(next broker.Destination) broker.Destination { return rendered{next, render} }
}

// rendered is a destination behind a Render.
type rendered struct {
	broker.Destination

	render Render
}

// Features implements broker.Destination. Nobody knows beforehand how large a rendered
// payload is.
func (r rendered) Features() broker.Features {
	f := r.Destination.Features()
	f.MaxBytes = 0
	return f
}

// Publish implements broker.Destination. Later messages of the key of one that was not
// rendered are not sent, except in a transaction, which is aborted anyway: there each
// message is tried, so that all at fault are found at once.
func (r rendered) Publish(ctx context.Context, msgs []broker.Delivery, report func(i int, r broker.Result)) {
	spell, cancel := newSpell(ctx)
	defer cancel()
	together := broker.InTransaction(ctx)
	ready, places := make([]broker.Delivery, 0, len(msgs)), make([]int, 0, len(msgs))
	stopped := map[string]bool{}
	for i := range msgs {
		m := msgs[i]
		result := broker.Result{Outcome: broker.NotSent, Err: errBehindRendering}
		if together || m.Key == "" || !stopped[m.Key] {
			result = spell.one(r.render, &m)
		}
		if result.Err != nil {
			stopped[m.Key] = true
			report(i, result)
			continue
		}
		ready, places = append(ready, m), append(places, i)
	}
	if len(ready) > 0 || len(msgs) == 0 {
		r.Destination.Publish(ctx, ready, func(i int, r broker.Result) { report(places[i], r) })
	}
}

// spell is the time that a call has to render its messages: half of what the call has, so
// that those which are ready can be sent, however long another one takes.
type spell struct {
	ctx  context.Context //nolint:containedctx // of one call
	most time.Duration   // zero: the call has no end
}

func newSpell(ctx context.Context) (s spell, cancel context.CancelFunc) {
	end, bounded := ctx.Deadline()
	if !bounded {
		return spell{ctx: ctx}, func() {}
	}
	s.most = time.Until(end) / 2
	s.ctx, cancel = context.WithTimeout(ctx, s.most)
	return s, cancel
}

// one renders m. The zero Result says that it did.
func (s spell) one(render Render, m *broker.Delivery) broker.Result {
	if s.ctx.Err() != nil {
		return broker.Result{Outcome: broker.NotSent, Err: errNoTimeToRender}
	}
	began := time.Now()
	payload, headers, err := guarded(s.ctx, render, *m)
	switch over := s.ctx.Err(); {
	case err == nil:
	case errors.Is(over, context.Canceled):
		return broker.Result{Outcome: broker.NotSent, Err: errNoTimeToRender}
	case over != nil && time.Since(began) < s.most/2:
		// Those before it took the time. It is among the first of a later call.
		return broker.Result{Outcome: broker.NotSent, Err: errNoTimeToRender}
	default:
		return broker.Result{Outcome: broker.Rejected, Err: err}
	}
	if len(payload) > postbag.MaxPayload {
		return broker.Result{Outcome: broker.Rejected, Err: fmt.Errorf("relay: Render made a payload of %d bytes, %d allowed; have it make less", len(payload), postbag.MaxPayload)}
	}
	if err := postbag.ValidHeaders(headers); err != nil {
		return broker.Result{Outcome: broker.Rejected, Err: fmt.Errorf("relay: Render made headers that are wrong: %w", err)}
	}
	m.Payload, m.Headers = payload, headers
	return broker.Result{}
}

// guarded calls render, and makes an error of a panic. The panic's value may hold anything.
func guarded(ctx context.Context, render Render, m broker.Delivery) (payload []byte, headers map[string]string, err error) {
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("relay: Render panicked (%T); fix it, then retry the message", v)
		}
	}()
	if payload, headers, err = render(ctx, m); err != nil {
		err = fmt.Errorf("relay: the message cannot be rendered: %w; fix Render or what it reads, then retry the message", err)
	}
	return payload, headers, err
}

var (
	errBehindRendering = errors.New("relay: an earlier message of its key was not rendered; it is sent after that one")
	errNoTimeToRender  = errors.New("relay: no time was left to render the message; it is tried again")
)
