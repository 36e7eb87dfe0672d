package kafkabroker

import (
	"context"
	"fmt"

	"github.com/postbag/postbag/broker"
)

// Probe implements broker.Prober: it asks a broker for a sign of life. What is wrong
// with a topic is told to its messages.
func (d *Destination) Probe(ctx context.Context) error {
	if !d.calls.Enter() {
		return &broker.Error{Outcome: broker.Unavailable, Err: broker.ErrClosed}
	}
	defer d.calls.Leave()
	if f := d.probe(ctx); f != nil {
		if ctx.Err() != nil && f.Outcome != broker.Misconfigured {
			return adapter.Failure(broker.Unavailable, "the probe had no answer in time", "wait, or look whether the brokers run")
		}
		return f
	}
	return nil
}

func (d *Destination) probe(ctx context.Context) *broker.Error {
	if err := d.seen.ping(ctx, d.control); err != nil {
		return unanswered(err)
	}
	return nil
}

// usable says why messages of a topic would not be stored now.
func (s *topics) usable(ctx context.Context, name string) *broker.Error {
	t, f := s.metadata(ctx, name)
	if f == nil {
		f = s.configure(ctx, t)
	}
	switch {
	case f != nil && s.create != nil && isMissing(f): // the next message creates it
		s.forget(name)
		return nil
	case f != nil:
		return f
	case t.leaderless:
		return adapter.TopicFailure(broker.Unavailable, fmt.Sprintf("a partition of topic %q has no leader", name), "wait, or look at its brokers")
	case t.inSync < t.minInSync:
		return adapter.TopicFailure(broker.Unavailable,
			fmt.Sprintf("a partition of topic %q has %d in-sync replicas, min.insync.replicas is %d", name, t.inSync, t.minInSync),
			"wait, or look at its brokers")
	}
	return nil
}
