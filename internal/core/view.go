package core

import (
	"cmp"
	"slices"
	"time"

	"github.com/postbag/postbag/store"
)

// view takes what a heartbeat saw. The leases are good from when it was sent, by this
// process's own clock, less a margin.
func (c *Core) view(now time.Duration, b *Heartbeat, v *store.View) {
	if !v.Alive {
		c.leasesExpired()
		return
	}
	c.storeWorks(askBeat, now)
	c.viewed = true
	c.epoch, c.relays = v.Epoch, len(v.Relays)
	c.wanting = false
	expected := c.expecting
	c.expecting = false
	for _, f := range c.Flows {
		f.Engine.Expire(b.sent + c.options.TTL*4/5)
		f.Engine.PollMax(cmp.Or(f.PollMax, c.pollMax()))
		if !v.Now.IsZero() {
			f.Engine.Clock(now, v.Now)
		}
	}
	c.vanished(now, v)
	for i := range v.Subscriptions {
		s := &v.Subscriptions[i]
		switch f := c.flowOf(s.Ref); {
		case f == nil:
		case f.gone:
			c.letGo(now, f, s)
		default:
			c.viewFlow(now, f, s, v, b)
		}
		for _, u := range c.keeps {
			if u.Ref == s.Ref {
				c.viewUpkeep(now, u, s, v.Relays)
			}
		}
	}
	if c.expecting && !expected {
		c.expectUntil = now + expectFor
	}
	c.nextLook = min(c.nextLook, now+c.lookPause(now))
	for i := range v.Relays {
		if o := &v.Relays[i]; o.ID != c.id { // look again just when another one's time is out
			c.nextBeat = min(c.nextBeat, now+max(o.Expires+50*time.Millisecond, 50*time.Millisecond))
		}
	}
}

// viewFlow brings a flow's shards in line with the view, and plans its share.
func (c *Core) viewFlow(now time.Duration, f *Flow, s *store.SubscriptionState, v *store.View, b *Heartbeat) {
	f.wanted = s.Wanted
	c.viewSettings(now, f, s)
	c.viewPauses(now, f, s, v)
	if asksFor(b, f) {
		f.reshapePause, f.reshapeAfter = 0, 0
		if len(s.Shards) == s.Wanted {
			c.reshaped(f, s)
		}
	}
	sight := f.Owner.Look(c.id, s.Shards, f.Engine.Leases(), func(l *store.Lease) bool { return c.gives(f, l) })
	for _, lost := range sight.Lost {
		f.Engine.Lost(lost.Lo)
		c.nextBeat = 0
	}
	for _, i := range sight.Disowned {
		c.disown(&s.Shards[i])
	}
	var gained []store.ShardState
	for _, i := range sight.Gained {
		gained = append(gained, s.Shards[i])
	}
	c.gain(now, f, s, gained)
	for _, old := range sight.Old {
		f.Engine.Lost(old.Lo)
	}
	if !c.stops {
		c.plan(now, f, s, v.Relays)
	}
}

// disown gives back a shard that is ours, though we did not take it, see engine.Sight.
// The flow of an exactly-once subscription begins again with all its shards instead.
func (c *Core) disown(sh *store.ShardState) {
	c.give = append(c.give, sh.Lease)
	c.nextBeat = 0
	c.wanting = true
}

// gives says that the shard is ours only until the next heartbeat gives it back.
func (c *Core) gives(f *Flow, l *store.Lease) bool {
	return c.stops || slices.ContainsFunc(c.give, func(g store.Lease) bool { return g.Ref == f.Ref && g.Lo == l.Lo && g.Token == l.Token })
}
