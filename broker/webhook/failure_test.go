package webhook

import (
	"context"
	"errors"
	"syscall"
	"testing"

	"github.com/postbag/postbag/broker"
)

// How far a request got decides what can be said of it. Some of these moments
// are too short to be met on the network.
func TestTheOutcomeDependsOnHowFarTheRequestGot(t *testing.T) {
	t.Parallel()
	var (
		idle     = func(*progress) {}
		dialled  = func(p *progress) { p.connected.Store(true) }
		over2    = func(p *progress) { p.connected.Store(true); p.multiplexed.Store(true) }
		written  = func(p *progress) { p.connected.Store(true); p.headed.Store(true) }
		canceled = context.Canceled
		closed   = broker.ErrClosed
		broken   = syscall.ECONNRESET
	)
	for _, c := range []struct {
		at         func(*progress)
		err, ended error
		outcome    broker.Outcome
	}{
		{idle, broken, nil, broker.Unavailable},
		{idle, broken, errTimeout, broker.Unavailable},
		{idle, broken, canceled, broker.NotSent},
		{idle, broken, closed, broker.NotSent},
		{dialled, broken, nil, broker.NotSent},
		{dialled, broken, errTimeout, broker.NotSent},
		{dialled, broken, canceled, broker.NotSent},
		{over2, broken, nil, broker.Unknown},
		{over2, broken, errTimeout, broker.Unknown},
		{over2, broken, canceled, broker.Unknown},
		{written, broken, nil, broker.Unknown},
		{written, broken, errTimeout, broker.Unknown},
		{written, broken, canceled, broker.Unknown},
		{written, broken, closed, broker.Unknown},
	} {
		var p progress
		c.at(&p)
		r := p.failure(c.err, c.ended).result("https://receiver.test")
		if r.Outcome != c.outcome {
			t.Errorf("%v, ended by %v: %v (%v), want %v", c.err, c.ended, r.Outcome, r.Err, c.outcome)
		}
		if c.ended != nil && !errors.Is(c.ended, errTimeout) && !errors.Is(r.Err, c.ended) {
			t.Errorf("%v does not wrap %v", r.Err, c.ended)
		}
	}
}
