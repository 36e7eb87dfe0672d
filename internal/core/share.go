package core

import (
	"slices"
	"time"

	"github.com/postbag/postbag/internal/engine"
	"github.com/postbag/postbag/store"
)

// SharedPollMax is the longest pause between looks at the store while other relays are there.
const SharedPollMax = 500 * time.Millisecond

// pollMax is the longest pause between looks at the store: shorter while there
// are others, from whom work may have to be taken over.
func (c *Core) pollMax() time.Duration {
	if c.relays > 1 {
		return min(c.options.PollMax, SharedPollMax)
	}
	return c.options.PollMax
}

// While another relay has shards to give, they are looked for as often as this,
// and for so long: they have no owner in between.
const (
	expectPause = 20 * time.Millisecond
	expectFor   = 2 * time.Second
)

// lookPause is the longest pause between two looks at the store's epoch.
func (c *Core) lookPause(now time.Duration) time.Duration {
	if c.Expecting(now) {
		return expectPause
	}
	return c.pollMax()
}

// takePause keeps relays that want the same shards from beating in a spin.
const takePause = 2 * time.Millisecond

// plan decides which shards to take and to give.
func (c *Core) plan(now time.Duration, f *Flow, s *store.SubscriptionState, relays []store.RelayState) {
	reshape := s.Wanted != len(s.Shards)
	gather := reshape || f.Lane != nil // a lane has all shards
	take, give, expect := engine.Share(c.id, able(relays, f.Ref), f.name, holdings(s), gather)
	c.expecting = c.expecting || expect
	for _, lo := range take {
		for i := range s.Shards {
			if s.Shards[i].Lo == lo {
				c.take = append(c.take, s.Shards[i].Shard)
			}
		}
	}
	if len(take) > 0 {
		c.wanting = true
		c.nextBeat = min(c.nextBeat, now+takePause)
	}
	f.Owner.Give(give, func(lo int) { c.giveBack(f, s, lo) })
	all := true
	for i := range s.Shards {
		all = all && s.Shards[i].Owner == c.id
	}
	f.gathering = reshape && all && len(give) == 0 && now >= f.reshapeAfter
	f.Engine.Quiesce(f.gathering)
}

// giveBack hands a shard over: at once if the flow never had it.
func (c *Core) giveBack(f *Flow, s *store.SubscriptionState, lo int) {
	if f.Lane == nil || f.Lane.Leave() {
		f.Engine.Leave(lo)
		return
	}
	for i := range s.Shards {
		if sh := &s.Shards[i]; sh.Lo == lo && !c.gives(f, &sh.Lease) {
			c.give = append(c.give, sh.Lease)
			c.nextBeat = 0
		}
	}
}

// able lists the live relays that can work ref.
func able(relays []store.RelayState, ref store.Ref) []string {
	out := make([]string, 0, len(relays))
	for i := range relays {
		unreadable := slices.ContainsFunc(relays[i].Conditions, func(c store.Condition) bool { return c.Ref == ref && c.State == store.ConditionUnreadable })
		if slices.Contains(relays[i].Works, ref) && !unreadable {
			out = append(out, relays[i].ID)
		}
	}
	return out
}

func holdings(s *store.SubscriptionState) []engine.Holding {
	out := make([]engine.Holding, len(s.Shards))
	for i := range s.Shards {
		sh := &s.Shards[i]
		out[i] = engine.Holding{Lo: sh.Lo, Hi: sh.Hi, Owner: sh.Owner}
	}
	return out
}
