package relay

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/postbag/postbag/broker"
	"github.com/postbag/postbag/internal/engine"
	"github.com/postbag/postbag/store"
)

// exactly is what the flow of an ExactlyOnce subscription has beside others: its
// lane. docs/design/030-exactly-once.md has the protocol.
//
// A call, or the opening of the lane, has lane and known in hand while busy; the
// loop touches them otherwise.
type exactly struct {
	to   broker.Transactional
	name broker.LaneName

	lane  broker.Lane // nil: to be opened
	known marks       // in the broker, and not settled for sure
	busy  bool

	ctx    context.Context //nolint:containedctx // of this life of the lane: until forget
	cancel context.CancelFunc
	life   int // grows with forget

	held     int  // shards, when they were given to the flow; zero: none were
	leaving  bool // they are to be given back
	waiting  bool // all shards are ours, and the lane is not open
	stale    bool // versions in a view may be old: a turn with settlements may be out
	failures int  // openings in a row that failed
	retryAt  time.Duration
	dry      int64 // turns when the flow was first seen drained, to forget what is known

	trouble atomic.Pointer[error] // of a call that goes on
}

func newExactly(s *Subscription) *exactly {
	if !s.ExactlyOnce {
		return nil
	}
	ref := s.ref()
	return &exactly{
		to:   s.To.(broker.Transactional), //nolint:forcetypeassert,errcheck // validated
		name: broker.LaneName{Box: ref.Box, Subscription: ref.Subscription, Lane: "0"},
	}
}

// gain opens the lane for shards that a view says are ours, once all of them are.
func (l *loop) gain(f *flow, s *store.SubscriptionState, gained []store.ShardState) {
	x := f.exactly
	x.waiting = false
	if len(gained) == 0 {
		return
	}
	if x.held > 0 { // one came back that was lost: begin anew with all of them
		l.forgetLane(f)
	}
	all := len(gained) == len(s.Shards)
	x.waiting = all
	if !all || x.busy || x.stale || l.dying {
		return
	}
	if l.now() < x.retryAt {
		l.nextBeat = min(l.nextBeat, x.retryAt)
		return
	}
	for i := range gained {
		f.loading[gained[i].Lo] = gained[i].Token
	}
	if x.cancel == nil {
		x.ctx, x.cancel = context.WithCancel(l.ctx)
	}
	x.busy = true
	life, generation := x.life, l.generation
	e := x.entry(l.store, gained)
	l.start(func() func() {
		err := e.enter(nil)
		return func() {
			l.reclaim(x, life, e)
			if generation == l.generation {
				l.entered(f, gained, e, err)
			}
		}
	})
}

// entry begins a try to enter the lane, with the lane in hand.
func (x *exactly) entry(s store.Store, shards []store.ShardState) *entry {
	e := &entry{
		store: s, to: x.to, name: x.name, ctx: x.ctx, lane: x.lane, known: x.known, shards: shards, trouble: &x.trouble,
	}
	x.lane, x.known = nil, nil
	return e
}

// reclaim takes the lane back from a call or an opening that is over.
func (l *loop) reclaim(x *exactly, life int, e *entry) {
	x.busy = false
	if x.life == life {
		x.lane, x.known = e.lane, e.known
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
			delete(f.loading, gained[i].Lo)
		}
		l.notEntered(f, err)
		return
	}
	x.failures, x.waiting, x.held, x.leaving = 0, false, len(gained), false
	if e.behind {
		l.log.behind(f.ref)
	}
	for i := range gained {
		if f.unwanted[gained[i].Lo] {
			x.leaving = true
		}
		l.loaded(f, &gained[i], e.blocked[i], nil)
	}
	if len(f.core.Leases()) < x.held { // the heartbeat expired
		l.forgetLane(f)
	}
}

func (l *loop) notEntered(f *flow, err error) {
	x := f.exactly
	l.forgetLane(f)
	switch {
	case errors.Is(err, store.ErrLeaseLost):
		l.nextBeat = 0
	case errors.Is(err, errStore):
		l.storeFailed(askMore, fmt.Errorf("relay: reading blocked keys failed: %w", err))
		l.nextBeat = 0
	default:
		x.failures++
		x.retryAt = l.now() + storeBackoff(x.failures)
		l.destinationFailed(f, err)
		l.log.noLane(f.ref, err)
	}
}

// forgetLane drops all that the flow has in hand, and the lane. The shards come
// back with a heartbeat, if they are still ours.
func (l *loop) forgetLane(f *flow) {
	x := f.exactly
	f.core.Reset()
	f.core.Quiesce(false)
	f.gathering = false
	x.life++
	if x.cancel != nil {
		x.cancel()
		x.cancel = nil
	}
	l.closeLane(x.lane)
	x.lane, x.known, x.held, x.leaving, x.stale = nil, nil, 0, false, true
}

func (l *loop) closeLane(lane broker.Lane) {
	if lane == nil {
		return
	}
	l.start(func() func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(l.ctx), laneCloseTimeout)
		defer cancel()
		err := lane.Close(ctx)
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
func (l *loop) watchLanes(now time.Duration) {
	for _, f := range l.flows {
		x := f.exactly
		if x == nil {
			continue
		}
		if err := x.trouble.Swap(nil); err != nil {
			l.destinationFailed(f, *err)
			l.log.noLane(f.ref, *err)
		}
		if n := len(f.core.Leases()); n < x.held && (n == 0 || !x.leaving && !l.stopping) {
			l.forgetLane(f)
			l.nextBeat = 0
		}
		if x.stale && !l.turning.out && l.turning.repeat == nil && !l.beating && !x.busy {
			x.stale = false
			l.nextBeat = 0
		}
		l.unlearn(f, now)
	}
}

// unlearn forgets what is known to be in the broker once all there is was read
// and settled: it was settled before.
func (l *loop) unlearn(f *flow, now time.Duration) {
	x := f.exactly
	switch {
	case x.busy || len(x.known) == 0 || x.held == 0 || !f.core.Drained(now):
		x.dry = 0
	case x.dry == 0:
		x.dry = l.turns + 1
	case l.turns > x.dry+2:
		x.known = nil
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
	t := &transaction{entry: x.entry(l.store, shards), leases: leases, items: c.Items, timeout: f.subscription.Timeout}
	x.busy = true
	life := x.life
	room := newCallRoom(f, c.Items, l.life)
	l.start(func() func() {
		lost := t.run(room)
		answers, failed := f.judge(room.results)
		return func() {
			l.reclaim(x, life, t.entry)
			if lost != nil && life == x.life {
				l.forgetLane(f)
				l.nextBeat = 0
			}
			l.answered(f, c, answers, failed)
		}
	})
}

// closeLanes ends the lanes that are open when the run ends.
func (l *loop) closeLanes() {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(l.ctx), laneCloseTimeout)
	defer cancel()
	for _, f := range l.flows {
		if x := f.exactly; x != nil && x.lane != nil {
			_ = x.lane.Close(ctx) // whoever comes next ends it
		}
	}
}
