package simulation

import (
	"slices"

	"github.com/postbag/postbag/internal/core"
	"github.com/postbag/postbag/store"
)

// beating is a heartbeat under way.
type beating struct {
	asking

	beat *core.Heartbeat
	seen seen
}

// seen is what a heartbeat saw, in memory that is used again.
type seen struct {
	store.View

	of [2]store.SubscriptionState
}

// beat sends a heartbeat.
func (r *relay) beat(b *core.Heartbeat) {
	w := r.w
	w.beats++
	c := w.rooms.beats.take()
	b.Conditions = r.conditions()
	c.beat = b
	c.seen.View = store.View{Relays: c.seen.Relays[:0]}
	r.ask(&c.asking, c, min(storeTimeout, w.plan.ttl))
}

func (c *beating) act() error {
	if err := c.r.adopt(); err != nil {
		return err
	}
	s := c.r.w.server
	for _, b := range c.beat.Farewells() {
		s.beat(c.r, &b, &seen{})
	}
	s.beat(c.r, &c.beat.Beat, &c.seen)
	return nil
}

func (c *beating) answered(err error) {
	r := c.r
	r.w.tell(eventBeat, r.number, bit(c.seen.Alive), c.seen.Epoch)
	had := r.flow.Leases()
	if r.core.Beaten(r.now(), c.beat, r.fault(err), &c.seen.View) && err == nil {
		r.heard(&c.seen.View)
	}
	r.lose(had)
	r.carryOut()
}

func (c *beating) over() { c.r.w.rooms.beats.give(c) }

// lose notes which of the shards that the flow had it has no more.
func (r *relay) lose(had []store.Lease) {
	for _, l := range had {
		if has := r.flow.LeaseOf(l.Lo); has.Lo != l.Lo || has.Hi != l.Hi {
			r.w.tell(eventLost, r.number, int64(l.Lo), 0)
			r.otherShare()
			r.let(l.Lo, l.Hi)
		}
	}
}

// load fetches the blocked keys of shards that were just taken.
func (r *relay) load(o *core.Loading) {
	c := &loading{load: o, blocked: make([]store.Blocks, len(o.Shards))}
	r.ask(&c.asking, c, storeTimeout)
}

// loading fetches the blocked keys of shards.
type loading struct {
	asking

	load    *core.Loading
	blocked []store.Blocks
}

func (c *loading) act() error {
	if err := c.r.adopt(); err != nil {
		return err
	}
	if c.r.w.server.gone {
		return store.ErrNoSubscription
	}
	for i := range c.load.Shards {
		c.blocked[i] = c.r.w.server.blocked(c.load.Shards[i].Lo, c.load.Shards[i].Hi)
	}
	return nil
}

func (c *loading) answered(err error) {
	r := c.r
	r.fault(err)
	r.core.LoadEnded(r.now(), c.load, c.blocked, slices.Repeat([]error{err}, len(c.load.Shards)))
	r.took(c.load.Shards)
	r.carryOut()
}

func (c *loading) over() {}

// took notes which of some shards the flow has now.
func (r *relay) took(shards []store.ShardState) {
	for i := range shards {
		sh := &shards[i]
		if r.flow.LeaseOf(sh.Lo).Token == sh.Token {
			r.w.tell(eventTake, r.number, int64(sh.Lo), sh.Token)
			r.otherShare()
			r.w.tookOver(sh)
		}
	}
}
