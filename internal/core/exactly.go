package core

import (
	"time"

	"github.com/postbag/postbag/internal/lane"
	"github.com/postbag/postbag/store"
)

// Reclaim takes back what an entry into a flow's lane, or a transaction, had in hand that
// is over. If all was dropped meanwhile, it says so: then the lane is to be closed.
func (c *Core) Reclaim(f *Flow, known lane.Marks, life int) bool {
	if f.Lane.Reclaim(known, life) {
		return true
	}
	c.nextBeat = 0
	return false
}

// Disowned notes that a transaction, begun in a life of the lane, found it another's: all
// in hand is dropped.
func (c *Core) Disowned(f *Flow, life int) {
	if f.Lane.Lives(life) {
		c.forgetLane(f)
		c.nextBeat = 0
	}
}

// Entered gives the shards of an Enter to their flow: the lane is open. It is not told of
// one of an earlier generation.
func (c *Core) Entered(now time.Duration, o *Loading, blocked []store.Blocks) {
	f := o.Flow
	f.Lane.Entered(len(o.Shards))
	for i := range o.Shards {
		if f.Owner.Unwanted(o.Shards[i].Lo) {
			f.Lane.Leave()
		}
		c.Loaded(now, f, &o.Shards[i], Fine, &blocked[i])
	}
	if !f.Lane.Whole(len(f.Engine.Leases())) { // the heartbeat expired
		c.forgetLane(f)
	}
}

// Obstacle is why a lane was not entered.
type Obstacle uint8

// The obstacles.
const (
	// GivenUp: nobody waited for it any more.
	GivenUp Obstacle = iota
	// NoLease: a lease is another's.
	NoLease
	// NoStore: the store failed.
	NoStore
	// NoLane: the destination did, or what its record says.
	NoLane
)

// NotEntered notes that the lane of an Enter was not entered. It is not told of one of an
// earlier generation.
func (c *Core) NotEntered(now time.Duration, o *Loading, why Obstacle) {
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

// watchLanes sees to lanes whose shards were lost or handed over.
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
