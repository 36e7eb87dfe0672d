package chaos

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/postbag/postbag/relay"
	"github.com/postbag/postbag/store"
)

// mostReplayed is how many seqs a replay looks at, at most.
const mostReplayed = 2000

// replay sends again what was just sent, by a relay of its own, beside those that deliver. It is ended when its time is over, whether
// it is through or not.
func (o *operator) replay(ctx context.Context, s *Strike) (func(context.Context) error, error) {
	o.run.damage.numbered.RLock() // a replay names messages by their numbers
	last, err := o.last(ctx)
	if err != nil || last == 0 {
		o.run.damage.numbered.RUnlock()
		s.Idle("the log is empty")
		return nil, err
	}
	o.replays++
	p := store.Replay{
		Ref: store.Ref{Box: ref.Box, Subscription: fmt.Sprintf("replay-%d", o.replays)}, Of: ref.Subscription, Destination: destinationName,
		After: max(last-1-s.Rand.Int64N(mostReplayed), 0), Through: last, Shards: 1 + s.Rand.IntN(3),
	}
	if s.Rand.IntN(3) == 0 {
		p.Types = []string{usualType}
	}
	err = o.eventually(ctx, func(ctx context.Context, st orders) error {
		if err := st.StartReplay(ctx, audit, p); !errors.Is(err, store.ErrReplayExists) { // it may have been made without an answer
			return err
		}
		return nil
	})
	if err != nil {
		o.run.damage.numbered.RUnlock()
		return nil, err
	}
	stop, err := o.work(ctx, &p)
	return func(ctx context.Context) error {
		defer o.run.damage.numbered.RUnlock()
		return o.endReplay(ctx, s, &p, stop)
	}, err
}

// endReplay ends a replay while its relay works, or after that.
func (o *operator) endReplay(ctx context.Context, s *Strike, p *store.Replay, stop func() error) error {
	how := "cancelled"
	if through, err := o.through(ctx, p); err == nil && through {
		how = "through"
	}
	s.Note(how)
	var stopped error
	if s.Rand.IntN(2) == 0 {
		stopped = stop()
	}
	err := o.eventually(ctx, func(ctx context.Context, st orders) error {
		if err := st.EndReplay(ctx, audit, p.Ref, how); !errors.Is(err, store.ErrNoReplay) { // it may have ended without an answer
			return err
		}
		return nil
	})
	return errors.Join(stopped, stop(), err)
}

// work has a relay work a replay until it is told to stop, which may be said twice. Faults of the network hit it as they hit others.
func (o *operator) work(ctx context.Context, p *store.Replay) (stop func() error, err error) {
	none := func() error { return nil }
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	st, closeStore, err := o.opened(ctx)
	if err != nil {
		cancel()
		return none, err
	}
	to, err := o.run.Broker.Open(ctx, o.run.place.DSN())
	if err != nil {
		cancel()
		return none, errors.Join(err, closeStore())
	}
	log, err := os.OpenFile(filepath.Join(o.run.dir, "replays.log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		cancel()
		return none, errors.Join(err, to.Close(ctx), closeStore())
	}
	r, err := relay.New(st, relay.Options{
		Name: p.Ref.Subscription, TTL: ttl, Grace: 2 * time.Second, NoMaintenance: true, Logger: slog.New(slog.NewTextHandler(log, nil)),
		Subscriptions: []relay.Subscription{{
			To: to, ToName: destinationName, Replay: p, InFlight: inFlight / 10, Timeout: 10 * time.Second,
			Retry: relay.Retry{Min: time.Second, Max: 2 * time.Second, MaxAttempts: 3},
		}},
	})
	done := make(chan error, 1)
	if err == nil {
		go func() { done <- r.Run(ctx) }()
	} else {
		done <- err
	}
	return sync.OnceValue(func() error {
		cancel()
		err := <-done
		closing, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
		defer cancel()
		_ = to.Close(closing) // it may be cut off just now
		return errors.Join(err, closeStore(), log.Close())
	}), err
}

// opened is the store as relays open it, which is tried again while a fault keeps them from it.
func (o *operator) opened(ctx context.Context) (st store.Store, closing func() error, err error) {
	ctx, cancel := context.WithTimeout(ctx, storeAnswers)
	defer cancel()
	for {
		if st, closing, err = o.run.Store.Open(ctx, o.run.database.DSN(Relays)); err == nil {
			return st, closing, nil
		}
		if over := Pause(ctx, 200*time.Millisecond); over != nil {
			return nil, nil, err
		}
	}
}

// last is the highest seq of the box.
func (o *operator) last(ctx context.Context) (last int64, err error) {
	err = o.eventually(ctx, func(ctx context.Context, s orders) error {
		v, err := s.Overview(ctx)
		for i := range v.Boxes {
			last = v.Boxes[i].Last
		}
		return err
	})
	return last, err
}

// through says whether nothing of a replay is left to send.
func (o *operator) through(ctx context.Context, p *store.Replay) (through bool, err error) {
	err = o.do(ctx, func(ctx context.Context, s orders) error {
		v, err := s.Overview(ctx)
		if err != nil {
			return err
		}
		through = false
		for i := range v.Boxes {
			for j := range v.Boxes[i].Subscriptions {
				if sub := &v.Boxes[i].Subscriptions[j]; sub.Ref == p.Ref {
					through, err = passedThrough(s, sub, p.Through)
				}
			}
		}
		return err
	})
	return through, err
}

// passedThrough says whether all shards have passed a seq, and nothing is parked.
func passedThrough(s store.Replayer, v *store.SubscriptionView, seq int64) (bool, error) {
	for _, n := range v.Parked {
		if n > 0 {
			return false, nil
		}
	}
	for i := range v.Shards {
		if floor, err := s.Floor(v.Shards[i].Position); err != nil || floor < seq {
			return false, err
		}
	}
	return true, nil
}
