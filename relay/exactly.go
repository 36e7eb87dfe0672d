package relay

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/postbag/postbag/broker"
	"github.com/postbag/postbag/internal/engine"
	"github.com/postbag/postbag/internal/lane"
	"github.com/postbag/postbag/store"
)

// exactly is what the flow of an ExactlyOnce subscription has beside others: its
// lane. docs/design/030-exactly-once.md has the protocol, package lane its course.
//
// A call, or the opening of the lane, has lane and Known in hand while it is at work;
// the loop touches them otherwise.
type exactly struct {
	lane.Keeper

	to   broker.Transactional
	name broker.LaneName
	lane broker.Lane // nil: to be opened

	ctx    context.Context //nolint:containedctx // of this life of the lane: until forget
	cancel context.CancelFunc

	trouble atomic.Pointer[error] // of a call that goes on
}

func newExactly(s *Subscription) *exactly {
	if !s.ExactlyOnce {
		return nil
	}
	ref := s.ref()
	to, _ := broker.TransactionalOf(s.To) // validated
	return &exactly{
		to:   to,
		name: broker.LaneName{Box: ref.Box, Subscription: ref.Subscription, Lane: "0"},
	}
}

// gain opens the lane for shards that a view says are ours, once all of them are.
func (l *loop) gain(f *flow, s *store.SubscriptionState, gained []store.ShardState) {
	x := f.exactly
	switch x.Gain(len(gained), len(s.Shards), l.now(), l.dying) {
	case lane.Stay:
		return
	case lane.Forget:
		l.forgetLane(f)
		return
	case lane.Later:
		l.nextBeat = min(l.nextBeat, x.RetryAt)
		return
	case lane.Enter:
	}
	for i := range gained {
		f.owner.Load(leaseOf(&gained[i]))
	}
	if x.cancel == nil {
		x.ctx, x.cancel = context.WithCancel(l.ctx)
	}
	generation := l.generation
	e, life := x.entry(l.store, gained)
	l.start(func() func() {
		err := e.enter()
		return func() {
			l.reclaim(x, life, e)
			if generation == l.generation {
				l.entered(f, gained, e, err)
			}
		}
	})
}

// entry begins a try to enter the lane, with the lane in hand.
func (x *exactly) entry(s store.Store, shards []store.ShardState) (e *entry, life int) {
	e = &entry{store: s, to: x.to, name: x.name, ctx: x.ctx, lane: x.lane, shards: shards, trouble: &x.trouble}
	e.way.Held = x.lane != nil
	for i := range shards {
		e.way.Leases = append(e.way.Leases, leaseOf(&shards[i]))
	}
	e.way.Known, life = x.Take()
	x.lane = nil
	return e, life
}

// reclaim takes the lane back from a call or an opening that is over.
func (l *loop) reclaim(x *exactly, life int, e *entry) {
	if x.Reclaim(e.way.Known, life) {
		x.lane = e.lane
		return
	}
	l.closeLane(e.lane)
	l.nextBeat = 0
}

// entered gives the shards to the flow, or says why not.
func (l *loop) entered(f *flow, gained []store.ShardState, e *entry, err error) {
	x := f.exactly
	if err != nil {
		for i := range gained {
			f.owner.Loaded(leaseOf(&gained[i]))
		}
		l.notEntered(f, err, gaveUp(e.ctx))
		return
	}
	x.Entered(len(gained))
	l.log.laneOpen(f)
	if e.way.Behind {
		l.log.behind(f.ref)
	}
	for i := range gained {
		if f.owner.Unwanted(gained[i].Lo) {
			x.Leave()
		}
		l.loaded(f, &gained[i], e.blocked[i], nil)
	}
	if !x.Whole(len(f.core.Leases())) { // the heartbeat expired
		l.forgetLane(f)
	}
}

func (l *loop) notEntered(f *flow, err error, givenUp bool) {
	x := f.exactly
	l.forgetLane(f)
	switch {
	case givenUp:
		l.nextBeat = 0
	case errors.Is(err, store.ErrLeaseLost):
		l.nextBeat = 0
	case errors.Is(err, errStore):
		l.storeFailed(askMore, fmt.Errorf("relay: reading blocked keys failed: %w", err))
		l.nextBeat = 0
	default:
		x.Failures++
		x.RetryAt = l.now() + storeBackoff(x.Failures)
		l.destinationFailed(f, err)
		l.log.noLane(f, err)
	}
}

// forgetLane drops all that the flow has in hand, and the lane. The shards come
// back with a heartbeat, if they are still ours.
func (l *loop) forgetLane(f *flow) {
	x := f.exactly
	f.core.Reset()
	f.core.Quiesce(false)
	f.gathering = false
	if x.cancel != nil {
		x.cancel()
		x.cancel = nil
	}
	l.closeLane(x.lane)
	x.lane = nil
	x.Forget()
}

func (l *loop) closeLane(held broker.Lane) {
	if held == nil {
		return
	}
	l.start(func() func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(l.ctx), laneCloseTimeout)
		defer cancel()
		err := held.Close(ctx)
		return func() {
			if err != nil {
				l.log.report(fmt.Errorf("relay: closing an exactly-once lane: %w", err))
			}
		}
	})
}

// laneCloseTimeout bounds the end of a lane: nothing hangs on it.
const laneCloseTimeout = 2 * time.Second

// watchLanes sees to lanes whose shards were lost or handed over.
func (l *loop) watchLanes() {
	for _, f := range l.flows {
		x := f.exactly
		if x == nil {
			continue
		}
		l.noteTrouble(f)
		if x.Lost(len(f.core.Leases()), l.stopping) {
			l.forgetLane(f)
			l.nextBeat = 0
		}
		if x.Look(!l.turning.out && l.turning.repeat == nil && !l.beating) {
			l.nextBeat = 0
		}
		x.Unlearn(l.turns, f.core.Settled)
	}
}

// transact makes one call to the destination, as a transaction.
func (l *loop) transact(f *flow, c *engine.Call) {
	x := f.exactly
	leases := f.core.Leases()
	shards := make([]store.ShardState, len(leases))
	for i := range leases {
		shards[i].Lease = lease(f.ref, leases[i])
	}
	e, life := x.entry(l.store, shards)
	t := newTransaction(e, c.Items, f.subscription.Timeout)
	room := newCallRoom(f, c.Items, l.life)
	l.start(func() func() {
		lost := t.run(room)
		answers, failed := f.judge(room.results, gaveUp(e.ctx))
		return func() {
			l.noteTrouble(f)
			if e.lane != nil {
				l.log.laneOpen(f)
			}
			l.reclaim(x, life, e)
			if lost && x.Lives(life) {
				l.forgetLane(f)
				l.nextBeat = 0
			}
			l.answered(f, c, answers, failed)
		}
	})
}

// noteTrouble says what keeps a call from its lane.
func (l *loop) noteTrouble(f *flow) {
	if err := f.exactly.trouble.Swap(nil); err != nil {
		l.destinationFailed(f, *err)
		l.log.noLane(f, *err)
	}
}

// closeLanes ends the lanes that are open when the run ends.
func (l *loop) closeLanes() {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(l.ctx), laneCloseTimeout)
	defer cancel()
	for _, f := range l.flows {
		if x := f.exactly; x != nil && x.lane != nil {
			_ = x.lane.Close(ctx) // the next owner ends it
		}
	}
}
