package core

import (
	"slices"

	"github.com/postbag/postbag/store"
)

// vanished looks which flows have no subscription in a view: an operator removed it, and the store
// does not declare it again. Such a flow has nothing to do until a view has its subscription again,
// which is a new one then.
func (c *Core) vanished(v *store.View) {
	for _, f := range c.Flows {
		there := slices.ContainsFunc(v.Subscriptions, func(s store.SubscriptionState) bool { return s.Ref == f.Ref })
		switch {
		case there && f.gone:
			f.gone = false
			c.say(Operation{Kind: Returned, Flow: f})
		case !there && !f.gone:
			c.vanish(f)
		}
	}
}

// vanish drops all that a flow has in hand. Its leases are worth nothing, and nobody waits for the
// answers to its calls.
func (c *Core) vanish(f *Flow) {
	c.say(Operation{Kind: Vanished, Flow: f, Unanswered: f.Engine.Stats().Unsettled})
	c.say(Operation{Kind: EndCalls, Flow: f})
	f.gone = true
	f.wanted, f.reshapePause, f.reshapeAfter = 0, 0, 0
	f.drop()
	f.Pauses, f.Paused = nil, false
	f.Engine.Pause(false)
	f.Engine.Calm()
	c.forgetLane(f)
	f.Owner.Forget()
	c.take = slices.DeleteFunc(c.take, func(s store.Shard) bool { return s.Ref == f.Ref })
	c.give = slices.DeleteFunc(c.give, func(l store.Lease) bool { return l.Ref == f.Ref })
	c.reshape = slices.DeleteFunc(c.reshape, func(r store.Reshape) bool { return r.Ref == f.Ref })
}

// Gone says that the last view did not have the subscription.
func (f *Flow) Gone() bool { return f.gone }
