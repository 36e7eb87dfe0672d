package core

import (
	"slices"
	"time"

	"github.com/postbag/postbag/internal/engine"
	"github.com/postbag/postbag/store"
)

// Upkeep is the housekeeping of one box, done by the relay that holds its lease.
type Upkeep struct {
	// Ref is the box's Maintenance, Lease the right to it.
	Ref   store.Ref
	Lease store.Lease

	held bool
	busy bool
	next time.Duration
	// failed is how many rounds in a row failed.
	failed int
}

// upkeepPause is the time between two rounds that found nothing to do. Rounds that fail come more and more seldom, but not at once:
// scheduled messages wait for the next one.
const upkeepPause = 2 * time.Second

func (c *Core) addUpkeep() {
	if !c.options.Upkeep {
		return
	}
	for _, f := range c.Flows {
		ref := store.Ref{Box: f.Ref.Box, Subscription: store.Maintenance}
		if !slices.Contains(c.works, ref) {
			c.works = append(c.works, ref)
			c.keeps = append(c.keeps, &Upkeep{Ref: ref})
		}
	}
}

// viewUpkeep learns whether the box is ours to keep, and plans.
func (c *Core) viewUpkeep(now time.Duration, u *Upkeep, s *store.SubscriptionState, relays []store.RelayState) {
	u.held = false
	for i := range s.Shards {
		if s.Shards[i].Owner == c.id {
			u.held, u.Lease = true, s.Shards[i].Lease
		}
	}
	if c.stops {
		return
	}
	take, give := engine.Plan(c.id, able(relays, u.Ref), u.Ref.String(), holdings(s), false)
	if len(take) > 0 && len(s.Shards) > 0 {
		c.take = append(c.take, s.Shards[0].Shard)
		c.nextBeat = min(c.nextBeat, now+takePause)
	}
	if len(give) > 0 && u.held && !u.busy {
		c.give = append(c.give, u.Lease)
		u.held = false
		c.nextBeat = 0
	}
}

// canMaintain says that housekeeping may be done once its time has come.
func (c *Core) canMaintain(u *Upkeep) bool {
	return u.held && !u.busy && !c.stops && !c.dying && c.faults == 0
}

// maintain does a round of housekeeping when it is time.
func (c *Core) maintain(u *Upkeep, now time.Duration) {
	if c.canMaintain(u) && now >= u.next {
		u.busy = true
		c.say(Operation{Kind: Maintain, Upkeep: u})
	}
}

// Maintained takes what came of a round of housekeeping. It says whether that counts: a
// round that a stop ended has not failed.
func (c *Core) Maintained(now time.Duration, u *Upkeep, fault Fault, r *store.Report) bool {
	u.busy = false
	u.next = now + upkeepPause
	switch {
	case fault == Fine:
		c.kept(now, u, r)
	case fault == LeaseLost:
		u.held = false
		c.nextBeat = 0
	case c.stops:
		return false
	case fault == Moved: // the check sees to it
		u.held = false
		c.restart(now)
		c.storeMoved(askBeat, now)
	default:
		u.next = now + upkeepPause*time.Duration(min(u.failed, 4)+1)
		u.failed++
	}
	return true
}

func (c *Core) kept(now time.Duration, u *Upkeep, r *store.Report) {
	u.failed = 0
	if r.More {
		u.next = now
	}
	if r.NextDue >= 0 {
		u.next = min(u.next, now+max(r.NextDue, time.Millisecond))
	}
	if r.Promoted > 0 {
		for _, f := range c.Flows {
			f.Engine.Woken()
		}
	}
}
