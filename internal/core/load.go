package core

import (
	"time"

	"github.com/postbag/postbag/internal/lane"
	"github.com/postbag/postbag/store"
)

// gain has shards loaded that a view says are ours, or a lane entered for them. Shards
// that were taken together begin together, so that those at one position are read as one.
func (c *Core) gain(now time.Duration, f *Flow, s *store.SubscriptionState, gained []store.ShardState) {
	f.Gained = len(gained) > 0
	kind := Load
	if f.Lane != nil {
		switch f.Lane.Gain(len(gained), len(s.Shards), now, c.dying) {
		case lane.Stay:
			return
		case lane.Forget:
			c.forgetLane(f)
			return
		case lane.Later:
			c.nextBeat = min(c.nextBeat, f.Lane.RetryAt)
			return
		case lane.Enter:
			kind = Enter
		}
	}
	if len(gained) == 0 {
		return
	}
	for i := range gained {
		f.Owner.Load(gained[i].Lease)
	}
	if kind == Load {
		c.asking++
	}
	c.say(Operation{Kind: kind, Flow: f, Loading: &Loading{Flow: f, Shards: gained, Generation: c.generation}})
}

// Loading is some shards of a flow that a view said are ours: what is parked in them is
// read before they are worked.
type Loading struct {
	Flow   *Flow
	Shards []store.ShardState
	// Generation is the Core's when it began.
	Generation int
}

// LoadEnded takes what came of a Load: the blocked keys of each shard, or an error. It
// returns for each shard whether it was still waited for.
func (c *Core) LoadEnded(now time.Duration, o *Loading, blocked []store.Blocks, errs []error) (awaited []bool) {
	c.asking--
	awaited = make([]bool, len(o.Shards))
	if o.Generation != c.generation {
		return awaited
	}
	for i := range awaited {
		awaited[i] = c.loaded(now, o.Flow, &o.Shards[i], FaultOf(errs[i]), &blocked[i]) //nolint:gosec // each has an element for each shard
	}
	return awaited
}

// loaded gives a shard to its flow, unless it became another one's, or was replaced,
// while it was loaded. It says whether it is still waited for.
func (c *Core) loaded(now time.Duration, f *Flow, sh *store.ShardState, fault Fault, b *store.Blocks) bool {
	if !f.Owner.Loaded(sh.Lease) {
		return false
	}
	switch {
	case fault == LeaseLost:
		c.nextBeat = 0
		return false
	case fault != Fine:
		c.storeFailed(askMore, now)
		c.nextBeat = 0
		return true
	case c.dying:
		return true
	}
	c.storeWorks(askMore, now)
	f.Engine.Add(sh.Lease, sh.Position, *b)
	if leave := f.Owner.Got(sh.Lo); leave || c.stops {
		f.Engine.Leave(sh.Lo)
	}
	return true
}
