package core

import (
	"time"

	"github.com/postbag/postbag/store"
)

// Options are what a Core is told about its relay. The caller sets all of them.
type Options struct {
	// Name is what the relay is called in heartbeats.
	Name string
	// TTL is how long a heartbeat is good for, PollMax the longest pause between two looks
	// at the store, Grace how long a stop waits for answers.
	TTL, PollMax, Grace time.Duration
	// Drain: stop when nothing is left that can be delivered now.
	Drain bool
	// Upkeep: keep house for the boxes of the flows.
	Upkeep bool
	// NewID returns an id that no relay has ever had.
	NewID func() string
	// Rand returns a number in [0, 1). It decides pauses and nothing else.
	Rand func() float64
}

// Core is what a relay knows of its store and of its leases. Make one with New.
type Core struct {
	options Options
	works   []store.Ref

	// Flows are those of New.
	Flows []*Flow

	keeps      []*Upkeep
	operations []Operation
	generation int // grows when what was read became worthless

	ownership
	turning
	collecting
	health
	stopping
}

// New returns the core of a relay that has these flows, and no lease yet.
func New(o Options, flows []*Flow) *Core {
	c := &Core{options: o, Flows: flows}
	for _, f := range flows {
		f.name = f.Ref.String()
		f.Owner.Whole = f.Lane != nil
		c.works = append(c.works, f.Ref)
	}
	c.addUpkeep()
	c.newIdentity()
	return c
}

// Step says what is to be done now.
func (c *Core) Step(now time.Duration) {
	c.endHangingCalls(now)
	c.handOver(now)
	c.watchLanes()
	c.beat(now)
	c.turn(now)
	for _, f := range c.Flows {
		c.deliver(now, f)
	}
	for _, u := range c.keeps {
		c.maintain(u, now)
	}
	c.drain(now)
}

// leastWait keeps a mistake from becoming a spin.
const leastWait = 200 * time.Microsecond

// Wait is how long nothing needs to be done unless something happens.
func (c *Core) Wait(now time.Duration) time.Duration {
	return max(c.collectWakes(c.wake(now))-now, leastWait)
}

// wake is when Step has something to do if nothing happens before.
func (c *Core) wake(now time.Duration) time.Duration {
	at := now + time.Minute
	if c.canBeat() {
		at = min(at, max(c.nextBeat, c.retry))
	}
	free := c.canTurn(now)
	if !free && !c.turning.out && !c.checking {
		at = min(at, c.retry)
	}
	if free {
		at = min(at, c.nextLook)
	}
	for _, f := range c.Flows {
		at = min(at, f.Engine.Wake(now, free, c.canAskLot()))
	}
	for _, u := range c.keeps {
		if c.canMaintain(u) {
			at = min(at, u.next)
		}
	}
	return min(at, c.stopWakes(now))
}

// Generation grows when all that is under way became worthless.
func (c *Core) Generation() int { return c.generation }

// Operations returns what is to be carried out, in this order. The answer is good until
// the next call of any other method.
func (c *Core) Operations() []Operation {
	all := c.operations
	c.operations = c.operations[:0]
	return all
}

func (c *Core) say(o Operation) { c.operations = append(c.operations, o) }
