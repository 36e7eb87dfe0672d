package relay

import (
	"context"
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
	w := x.work(l.store, core.NewAcquisition(o, x.lane != nil))
	l.start(func() func() {
		w.run()
		return func() {
			now := l.now()
			keeps, why := l.core.AcquisitionEnded(now, w.course, gaveUp(w.ctx), w.blocked)
			l.keepLane(f, w, keeps)
			l.noteAcquisition(f, w, why)
			l.carryOut(now)
		}
	})
}

// work begins the work of a course, with the lane in hand.
func (x *exactly) work(s store.Store, c *core.Course) *laneWork {
	w := &laneWork{course: c, store: s, to: x.to, name: x.name, ctx: x.ctx, lane: x.lane, trouble: &x.trouble}
	x.lane = nil
	return w
}

// keepLane takes the lane back from a course that is over, or closes it.
func (l *loop) keepLane(f *flow, w *laneWork, keeps bool) {
	if keeps {
		f.exactly.lane = w.lane
		return
	}
	l.closeLane(w.lane)
}

// noteAcquisition says what came of an acquisition.
func (l *loop) noteAcquisition(f *flow, w *laneWork, why core.Obstacle) {
	switch why {
	case core.NoObstacle:
		l.log.laneOpen(f)
		if w.course.Behind() {
			l.log.behind(f.Ref)
		}
	case core.NoStore:
		l.storeFailed(fmt.Errorf("relay: reading blocked keys failed: %w", w.err))
	case core.NoLane:
		err := w.course.Why(w.err)
		l.destinationFailed(f, err)
		l.log.noLane(f, err)
	case core.NoLease:
		l.heard(w.err)
	case core.Stale, core.GivenUp:
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
	w := x.work(l.store, core.NewTransaction(f.Flow, c, x.lane != nil))
	w.timeout, w.room, w.spent = f.timeout, newCallRoom(f, c.Items, l.core.Life()), l.timed(len(c.Items))
	l.start(func() func() {
		w.run()
		w.answer()
		w.spent.end()
		answers, failed := f.judge(w.room.results, func(i int) string { return c.Items[i].Type }, gaveUp(w.ctx))
		return func() {
			l.noteTrouble(f)
			if w.lane != nil {
				l.log.laneOpen(f)
			}
			l.keepLane(f, w, l.core.TransactionEnded(w.course))
			l.tellCall(f, c, answers, failed, &w.spent)
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
