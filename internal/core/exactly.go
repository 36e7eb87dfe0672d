package core

import (
	"time"

	"github.com/postbag/postbag/store"
)

// AcquisitionEnded takes back the course of an Enter, with the blocked keys that it read. If it
// was still waited for, the shards are given to their flow, or it says why not. givenUp: the
// caller gave the entry up. keeps says that the lane in hand, if any, is the flow's;
// otherwise it is to be closed.
func (c *Core) AcquisitionEnded(now time.Duration, w *Course, givenUp bool, blocked []store.Blocks) (keeps bool, why Obstacle) {
	keeps = c.reclaim(w)
	switch {
	case w.loading.Generation != c.generation:
		return keeps, Stale
	case w.Entered():
		c.entered(now, w.loading, blocked)
		return keeps, NoObstacle
	}
	why = w.obstacle(givenUp)
	c.notEntered(now, w.loading, why)
	return keeps, why
}

// TransactionEnded takes back the course of a transaction. If that found the lane another's,
// all in hand is dropped. keeps is that of AcquisitionEnded. Answered follows.
func (c *Core) TransactionEnded(w *Course) (keeps bool) {
	keeps = c.reclaim(w)
	if w.tx.Dropping() && w.flow.Lane.Lives(w.life) {
		c.forgetLane(w.flow)
		c.nextBeat = 0
	}
	return keeps
}

// reclaim takes back what a course had in hand, and says whether all was not dropped
// meanwhile.
func (c *Core) reclaim(w *Course) bool {
	if w.flow.Lane.Reclaim(w.way.Known, w.life) {
		return true
	}
	c.nextBeat = 0
	return false
}

// entered gives shards to their flow: the lane is open.
func (c *Core) entered(now time.Duration, o *Loading, blocked []store.Blocks) {
	f := o.Flow
	f.Lane.Entered(len(o.Shards))
	for i := range o.Shards {
		if f.Owner.Unwanted(o.Shards[i].Lo) {
			f.Lane.Leave()
		}
		c.loaded(now, f, &o.Shards[i], Fine, &blocked[i])
	}
	if !f.Lane.Whole(len(f.Engine.Leases())) { // the heartbeat expired
		c.forgetLane(f)
	}
}

// Obstacle is why a lane was not entered.
type Obstacle uint8

// The obstacles.
const (
	// NoObstacle: it was.
	NoObstacle Obstacle = iota
	// Stale: the relay has begun again meanwhile.
	Stale
	// GivenUp: nobody waited for it any more.
	GivenUp
	// NoLease: a lease is another's.
	NoLease
	// NoStore: the store failed.
	NoStore
	// NoLane: the destination did, or what its record says.
	NoLane
)

// notEntered notes that a lane was not entered.
func (c *Core) notEntered(now time.Duration, o *Loading, why Obstacle) {
	f := o.Flow
	for i := range o.Shards {
		f.Owner.Loaded(o.Shards[i].Lease)
	}
	c.forgetLane(f)
	switch why {
	case GivenUp, NoLease:
		c.nextBeat = 0
	case NoStore:
		c.storeFailed(askMore, now)
		c.nextBeat = 0
	case NoLane:
		f.Lane.Failures++
		f.Lane.RetryAt = now + c.backoff(f.Lane.Failures)
	case NoObstacle, Stale:
	}
}

// forgetLane drops all that a flow has in hand, and its lane. The shards come
// back with a heartbeat, if they are still ours.
func (c *Core) forgetLane(f *Flow) {
	if f.Lane == nil {
		return
	}
	f.drop()
	f.Lane.Forget()
	c.say(Operation{Kind: DropLane, Flow: f})
}

// leaveLane lets go of an exactly-once subscription's lane, whatever is under way: the
// next owner finds it out.
func (c *Core) leaveLane(f *Flow) {
	if f.Lane != nil {
		c.forgetLane(f)
		f.Owner.Forget()
	}
}

// watchLanes sees to lanes whose shards were lost or given back.
func (c *Core) watchLanes() {
	for _, f := range c.Flows {
		x := f.Lane
		if x == nil {
			continue
		}
		if x.Lost(len(f.Engine.Leases()), c.stops) {
			c.forgetLane(f)
			c.nextBeat = 0
		}
		if x.Look(!c.turning.out && c.turning.repeat == nil && !c.beating) {
			c.nextBeat = 0
		}
		x.Unlearn(c.turns, f.Engine.Settled)
	}
}

// waitsForLane says that a flow waits for its lane, which has not failed twice.
func (f *Flow) waitsForLane() bool {
	return f.Lane != nil && f.Lane.Waiting && f.Lane.Failures < 2
}
