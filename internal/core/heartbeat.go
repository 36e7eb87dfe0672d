package core

import (
	"slices"
	"time"

	"github.com/postbag/postbag/store"
)

// ownership is the relay's identity and what it knows of who owns what.
type ownership struct {
	id    string
	fresh bool // no heartbeat of this id was made yet
	// former are ids that are given up: a relay that waited for their leases to run out would
	// wait for a ghost.
	former   []string
	beating  bool
	nextBeat time.Duration
	beatenAt time.Duration // the last heartbeat was sent then
	viewed   bool
	epoch    int64
	life     int64 // of the database, see store.TurnResult
	relays   int
	beats    int64
	// take, give and reshape go with the next heartbeat.
	take    []store.Shard
	give    []store.Lease
	reshape []store.Reshape
	// wanting: the last plan wanted shards that are free.
	wanting bool
	// expecting: another relay has shards to give. They are looked for often
	// until expectUntil.
	expecting   bool
	expectUntil time.Duration
	left        bool // said goodbye
	dying       bool // the heartbeat expired: settle what can be, then begin again
}

// Heartbeat is one to be sent. The caller adds the conditions of destinations.
type Heartbeat struct {
	store.Beat

	// Former are ids that are given up, each by a heartbeat of its own with Leave before
	// this one.
	Former     []string
	Generation int

	sent time.Duration
	gave int // how much of what is to be given back goes with it
}

// Farewells are the heartbeats to be sent before this one: those of Former.
func (b *Heartbeat) Farewells() []store.Beat {
	all := make([]store.Beat, len(b.Former))
	for i, id := range b.Former {
		all[i] = store.Beat{Relay: id, Name: b.Name, Leave: true, TTL: b.TTL}
	}
	return all
}

// ID is the relay's id in the store.
func (c *Core) ID() string { return c.id }

// Beats is how many heartbeats were made.
func (c *Core) Beats() int64 { return c.beats }

// Relays is how many relays are live, by the last view.
func (c *Core) Relays() int { return c.relays }

// Viewed says that the store was seen by a heartbeat of this identity.
func (c *Core) Viewed() bool { return c.viewed }

// Left says that all is given back.
func (c *Core) Left() bool { return c.left }

// Expecting says that another relay has shards to give.
func (c *Core) Expecting(now time.Duration) bool { return c.expecting && now < c.expectUntil }

// newIdentity gives the relay an id that no other has ever had. The leases of the one
// that it had are given up with the first heartbeat of the new one.
func (c *Core) newIdentity() {
	former := c.former
	if c.id != "" && !c.fresh {
		former = append(former, c.id)
	}
	c.ownership = ownership{id: c.options.NewID(), fresh: true, beats: c.beats, former: former}
}

// canBeat says that a heartbeat may be made once its time has come.
func (c *Core) canBeat() bool { return !c.beating && !c.checking && !c.dying && !c.left }

// beat renews the heartbeat when it is time, and changes who owns what.
func (c *Core) beat(now time.Duration) {
	if !c.canBeat() || now < c.nextBeat || now < c.retry {
		return
	}
	if c.Doubted() {
		c.recheck()
		return
	}
	b := &Heartbeat{
		Beat: store.Beat{
			Relay: c.id, Name: c.options.Name, New: c.fresh, TTL: c.options.TTL, Works: c.works,
			Give: c.give, Take: c.take, Reshape: c.reshape,
		},
		Former: slices.Clone(c.former), Generation: c.generation, sent: now, gave: len(c.give),
	}
	if c.stops {
		b.Take, b.Reshape = nil, nil
		b.Leave = c.allLeft(now)
	}
	c.claim(b)
	c.reshaping(now, b)
	c.beating = true
	c.beats++
	c.beatenAt = now
	c.nextBeat = now + c.options.TTL/3
	c.say(Operation{Kind: Beat, Beat: b})
}

// claim notes what the flows have as a heartbeat is sent, and what it takes for them.
func (c *Core) claim(b *Heartbeat) {
	for _, f := range c.Flows {
		f.Owner.Asks(f.Engine.Leases())
	}
	for i := range b.Take {
		if f := c.flowOf(b.Take[i].Ref); f != nil {
			f.Owner.Claim(b.Take[i].Lo)
		}
	}
}

// Beaten takes what came of a heartbeat, and says whether it was still waited for. v is
// what it saw.
func (c *Core) Beaten(now time.Duration, b *Heartbeat, fault Fault, v *store.View) bool {
	if b.Generation != c.generation {
		return false // another identity's, which may have a heartbeat of its own out
	}
	c.beating = false
	if fault != Fine {
		c.beatFailed(now, fault)
		return true
	}
	c.give = append([]store.Lease(nil), c.give[b.gave:]...)
	c.take, c.reshape, c.fresh, c.former = nil, nil, false, c.former[len(b.Former):]
	c.left = b.Leave
	if !b.Leave {
		c.view(now, b, v)
	}
	return true
}

func (c *Core) beatFailed(now time.Duration, fault Fault) {
	if fault == Moved {
		c.restart(now)
		c.storeMoved(askBeat, now)
		return
	}
	if fault == TimedOut {
		c.reshape = nil // the next one only renews; its view shows what came of this one
	}
	c.nextBeat = 0 // as soon as the store is asked again
	c.storeFailed(askBeat, now)
}

// TellSoon has a heartbeat made soon, which tells the store how destinations are.
func (c *Core) TellSoon(now time.Duration) {
	c.nextBeat = min(c.nextBeat, max(now, c.beatenAt+conditionPause))
}

// conditionPause is the shortest time between two heartbeats that are made to say
// that a destination's state changed.
const conditionPause = time.Second

// restart drops all leases and begins with a new identity: what was read is
// worthless.
func (c *Core) restart(now time.Duration) {
	for _, f := range c.Flows {
		f.drop()
		f.Engine.Landed(now, nil, nil)
		f.Owner.Forget()
		c.forgetLane(f)
		c.say(Operation{Kind: EndCalls, Flow: f}) // nobody hears their answers
	}
	for _, u := range c.keeps {
		u.held = false
	}
	c.turning.repeat = nil
	c.generation++
	c.newIdentity()
	c.say(Operation{Kind: NewIdentity})
}

// leasesExpired: others may own our shards by now. What was accepted can still be
// settled where they do not.
func (c *Core) leasesExpired() {
	c.dying = true
	for _, f := range c.Flows {
		f.Engine.Expire(0)
		f.Engine.Hurry()
	}
	c.say(Operation{Kind: Expired})
}
