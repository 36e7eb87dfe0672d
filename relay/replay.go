package relay

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/postbag/postbag/broker"
	"github.com/postbag/postbag/internal/core"
	"github.com/postbag/postbag/store"
)

// replays fills in what a replay says itself, and returns what stands against it.
func (s *Subscription) replays() []error {
	r := s.Replay
	if r == nil {
		return nil
	}
	s.Box, s.Name = r.Ref.Box, r.Ref.Subscription
	errs := []error{r.Validate()}
	if s.ExactlyOnce {
		errs = append(errs, errors.New("ExactlyOnce is not for a replay, which delivers at least once; leave it out"))
	}
	if r.Rate > 0 {
		s.Rate.Messages, s.Rate.Shared = r.Rate, true
	}
	s.Retry.MaxAge, s.Retries = 0, slices.Clone(s.Retries) // messages come again with the time of their first storing
	for i := range s.Retries {
		s.Retries[i].Retry.MaxAge = 0
	}
	return errs
}

// replayer returns the store as one that keeps replays, if a subscription is one.
func (o *Options) replayer(s store.Store) (store.Replayer, error) {
	for i := range o.Subscriptions {
		if o.Subscriptions[i].Replay == nil || s == nil {
			continue
		}
		if r, ok := s.(store.Replayer); ok {
			return r, nil
		}
		return nil, fmt.Errorf("relay: subscription %s is a replay, and the store keeps none; use another store, or leave it out", o.Subscriptions[i].ref())
	}
	return nil, nil //nolint:nilnil // there is no replay, and no error
}

// bounded makes the round trip of a turn. Of replays it reads nothing behind their end, and has what is outside of
// their bounds come as filtered.
func (l *loop) bounded(ctx context.Context, t *store.Turn) (store.TurnResult, error) {
	if l.relay.replayer == nil {
		return l.store.Turn(ctx, *t)
	}
	bound := *t
	bound.Read = slices.Clone(t.Read)
	for i := range bound.Read {
		if r := l.replayOf(t.Read[i].Ref); r != nil {
			bound.Read[i] = core.ReadReplay(r, t.Read[i], l.relay.replayer.Floor)
		}
	}
	result, err := l.store.Turn(ctx, bound)
	for i := range result.Batches {
		if r := l.replayOf(t.Read[i].Ref); r != nil {
			core.FilterReplay(r, result.Batches[i].Records)
		}
	}
	return result, err
}

// replayOf returns what a subscription sends again, nil if it is no replay.
func (l *loop) replayOf(ref store.Ref) *store.Replay {
	if f := l.byRef[ref]; f != nil {
		return f.subscription.Replay
	}
	return nil
}

// markReplay returns middleware that adds the header of replayed messages. A replay that is not to be marked gives nil
// middleware.
func markReplay(r *store.Replay) broker.Middleware {
	if r == nil || r.Unmarked {
		return nil
	}
	return func(next broker.Destination) broker.Destination { return marked{next, r.Ref.Subscription} }
}

// marked is a destination behind the header of a replay.
type marked struct {
	broker.Destination

	name string
}

// Publish implements broker.Destination.
func (d marked) Publish(ctx context.Context, msgs []broker.Delivery, report func(i int, r broker.Result)) {
	all := make([]broker.Delivery, len(msgs))
	for i := range msgs {
		all[i] = msgs[i]
		headers := maps.Clone(msgs[i].Headers)
		if headers == nil {
			headers = make(map[string]string, 1)
		}
		headers[broker.HeaderReplay] = d.name
		all[i].Headers = headers
	}
	d.Destination.Publish(ctx, all, report)
}
