package relay

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/postbag/postbag/broker"
	"github.com/postbag/postbag/internal/core"
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
	lane.Lifecycle

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

// enter opens the lane for shards that a view says are ours, which are all there are.
func (l *loop) enter(o *core.Loading) {
	f := l.flowOf(o.Flow)
	x := f.exactly
	if x.cancel == nil {
		x.ctx, x.cancel = context.WithCancel(l.ctx)
	}
	e, life := x.entry(l.store, o.Shards)
	l.start(func() func() {
		err := e.enter()
		return func() {
			now := l.now()
			l.reclaim(f, life, e)
			if o.Generation == l.core.Generation() {
				l.entered(now, o, e, err)
			}
			l.carryOut(now)
		}
	})
}

// entry begins a try to enter the lane, with the lane in hand.
func (x *exactly) entry(s store.Store, shards []store.ShardState) (e *entry, life int) {
	e = &entry{store: s, to: x.to, name: x.name, ctx: x.ctx, lane: x.lane, shards: shards, trouble: &x.trouble}
	e.way.Held = x.lane != nil
	for i := range shards {
		e.way.Leases = append(e.way.Leases, shards[i].Lease)
	}
	e.way.Known, life = x.Take()
	x.lane = nil
	return e, life
}

// reclaim takes the lane back from a call or an opening that is over.
func (l *loop) reclaim(f *flow, life int, e *entry) {
	if l.core.Reclaim(f.Flow, e.way.Known, life) {
		f.exactly.lane = e.lane
		return
	}
	l.closeLane(e.lane)
}

// entered tells the core what came of an entry.
func (l *loop) entered(now time.Duration, o *core.Loading, e *entry, err error) {
	f := l.flowOf(o.Flow)
	if err != nil {
		l.notEntered(now, o, err, gaveUp(e.ctx))
		return
	}
	l.log.laneOpen(f)
	if e.way.Behind {
		l.log.behind(f.Ref)
	}
	l.core.Entered(now, o, e.blocked)
}

func (l *loop) notEntered(now time.Duration, o *core.Loading, err error, givenUp bool) {
	f := l.flowOf(o.Flow)
	switch {
	case givenUp:
		l.core.NotEntered(now, o, core.GivenUp)
	case errors.Is(err, store.ErrLeaseLost):
		l.core.NotEntered(now, o, core.NoLease)
		l.heard(err)
	case errors.Is(err, errStore):
		l.core.NotEntered(now, o, core.NoStore)
		l.storeFailed(fmt.Errorf("relay: reading blocked keys failed: %w", err))
	default:
		l.core.NotEntered(now, o, core.NoLane)
		l.destinationFailed(f, err)
		l.log.noLane(f, err)
	}
}

// dropLane ends what is under way in a lane, and closes it.
func (l *loop) dropLane(f *flow) {
	x := f.exactly
	if x.cancel != nil {
		x.cancel()
		x.cancel = nil
	}
	l.closeLane(x.lane)
	x.lane = nil
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

// watchLanes says what keeps calls from their lanes.
func (l *loop) watchLanes() {
	for _, f := range l.flows {
		if f.exactly != nil {
			l.noteTrouble(f)
		}
	}
}

// transact makes one call to the destination, as a transaction.
func (l *loop) transact(f *flow, c *engine.Call) {
	x := f.exactly
	leases := f.Engine.Leases()
	shards := make([]store.ShardState, len(leases))
	for i := range leases {
		shards[i].Lease = leases[i]
	}
	e, life := x.entry(l.store, shards)
	t := newTransaction(e, c.Items, f.subscription.Timeout)
	room := newCallRoom(f, c.Items, l.core.Life())
	l.start(func() func() {
		lost := t.run(room)
		answers, failed := f.judge(room.results, gaveUp(e.ctx))
		return func() {
			l.noteTrouble(f)
			if e.lane != nil {
				l.log.laneOpen(f)
			}
			l.reclaim(f, life, e)
			if lost {
				l.core.Disowned(f.Flow, life)
			}
			l.answered(f, c, answers, failed, false)
			l.carryOut(l.now())
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
