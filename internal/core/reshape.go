package core

import (
	"slices"
	"time"

	"github.com/postbag/postbag/store"
)

// maxReshapePause is the longest pause after a change of shards that was not
// answered, in times of the heartbeat's TTL.
const maxReshapePause = 64

// gathered asks for the reshape of a flow that is ready for it.
func (c *Core) gathered(f *Flow) {
	if !f.gathering || f.Owner.Loading() || len(c.reshape) > 0 || c.beating || !f.Engine.Quiet() {
		return
	}
	c.reshape = append(c.reshape, store.Reshape{Ref: f.Ref, Shards: f.wanted, Leases: f.Engine.Leases()})
	c.nextBeat = 0
}

// asksFor says that a heartbeat asks for another number of a flow's shards.
func asksFor(b *Heartbeat, f *Flow) bool {
	return slices.ContainsFunc(b.Reshape, func(r store.Reshape) bool { return r.Ref == f.Ref })
}

// reshaping is called as a heartbeat is sent. What it asks for may take the store
// longer than a heartbeat may take, as where very many messages are parked: then
// the relay loses its leases, and nothing would ever be sent if it asked for the
// same again as soon as it had them back. So there is a pause behind each that is
// not answered, twice as long each time, in which all is delivered as before.
func (c *Core) reshaping(now time.Duration, b *Heartbeat) {
	for _, f := range c.Flows {
		if asksFor(b, f) {
			ttl := c.options.TTL
			f.reshapePause = min(max(2*f.reshapePause, 2*ttl), maxReshapePause*ttl)
			f.reshapeAfter = now + f.reshapePause
			f.gathering = false // until a view shows what came of it
		}
	}
}

// reshaped: the flow's shards were replaced; the new ones are loaded afresh.
func (c *Core) reshaped(f *Flow, s *store.SubscriptionState) {
	f.drop()
	if f.Lane != nil {
		f.Lane.Reshaped()
	}
	for i := range s.Shards {
		f.Owner.Claim(s.Shards[i].Lo)
	}
	c.say(Operation{Kind: Reshaped, Flow: f})
}
