package core

import (
	"slices"
	"time"

	"github.com/postbag/postbag/store"
)

// vanished looks which flows have no subscription in a view that can be worked: an operator removed
// it, and the store does not declare it again, or its filter cannot be read. Such a flow has nothing to do until a view has its subscription again,
// which is a new one then.
func (c *Core) vanished(now time.Duration, v *store.View) {
	for _, f := range c.Flows {
		i := slices.IndexFunc(v.Subscriptions, func(s store.SubscriptionState) bool { return s.Ref == f.Ref })
		f.unreadable = nil
		if i >= 0 {
			f.unreadable = v.Subscriptions[i].Unreadable
		}
		there := i >= 0 && f.unreadable == nil
		switch {
		case there && f.gone:
			f.gone = false
			c.say(Operation{Kind: Returned, Flow: f})
		case !there && !f.gone:
			c.vanish(f)
		}
		switch knew := f.calmAt > 0; { // others are to know at once of a change
		case f.unreadable == nil && knew:
			f.calmAt, c.nextBeat = 0, 0
		case f.unreadable != nil && !knew:
			f.calmAt, c.nextBeat = now+c.options.TTL/5, 0
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

// letGo gives back what the relay still owns of a subscription that it cannot work: another one may. Its calls were
// ended, and what they carry may still arrive. So it waits as long as there is between the end of calls and that of a
// lease which was not renewed.
func (c *Core) letGo(now time.Duration, f *Flow, s *store.SubscriptionState) {
	if now < f.calmAt {
		c.nextBeat = min(c.nextBeat, f.calmAt)
		return
	}
	for i := range s.Shards {
		if sh := &s.Shards[i]; sh.Owner == c.id && !c.gives(f, &sh.Lease) {
			c.give = append(c.give, sh.Lease)
			c.nextBeat = 0
		}
	}
}

// Gone says that the last view did not have the subscription, or that its filter cannot be read.
func (f *Flow) Gone() bool { return f.gone }

// Unreadable says why the filter cannot be read, by the last view. Nil: it can.
func (f *Flow) Unreadable() error { return f.unreadable }
