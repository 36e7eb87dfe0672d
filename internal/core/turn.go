package core

import (
	"time"

	"github.com/postbag/postbag/store"
)

// turning is the round of settling and reading under way.
type turning struct {
	out      bool
	round    Round         // the one that is out, or the last one
	repeat   *Round        // failed, and to be made again as it was
	nextLook time.Duration // when to look at the store's epoch if nothing else does
	turns    int64
}

// Round is a turn of all flows together: they share the round trip. One is out at a time,
// and its memory is used again for the next.
type Round struct {
	Parts      []Part
	Generation int
	// Life is that of the database as the flows know it.
	Life int64
}

// Part is one flow's share of a round.
type Part struct {
	Flow *Flow
	Turn store.Turn
}

// Turn is what all parts of a round have to settle and to read, one behind the other.
func (r *Round) Turn() store.Turn {
	t := store.Turn{Life: r.Life}
	for i := range r.Parts {
		t.Settle = append(t.Settle, r.Parts[i].Turn.Settle...)
		t.Read = append(t.Read, r.Parts[i].Turn.Read...)
	}
	return t
}

// Turns is how many turns were made.
func (c *Core) Turns() int64 { return c.turns }

// Life is that of the database by the last turn. Zero: not known yet.
func (c *Core) Life() int64 { return c.life }

// canTurn says that a turn may be made.
func (c *Core) canTurn(now time.Duration) bool {
	return !c.turning.out && !c.checking && now >= c.retry
}

// turn makes a round if a flow has something for it, or it is time to look.
func (c *Core) turn(now time.Duration) {
	if !c.canTurn(now) {
		return
	}
	if c.Doubted() {
		c.recheck()
		return
	}
	r := c.turning.repeat
	c.turning.repeat = nil
	if r == nil {
		r = c.compose(now)
	}
	if r == nil {
		return
	}
	c.turning.out = true
	c.turns++
	c.say(Operation{Kind: Turn, Round: r})
}

// compose collects what the flows have to settle and to read.
func (c *Core) compose(now time.Duration) *Round {
	r := &c.turning.round
	*r = Round{Generation: c.generation, Life: c.life, Parts: r.Parts[:0]}
	for _, f := range c.Flows {
		if t := f.Engine.Turn(now); !t.Empty() {
			r.Parts = append(r.Parts, Part{Flow: f, Turn: t})
		}
	}
	if len(r.Parts) == 0 && now < c.nextLook {
		return nil
	}
	return r
}

// Landed takes the answer to the turn of a round and hands it to the flows. It says
// whether it did.
func (c *Core) Landed(now time.Duration, r *Round, fault Fault, a *store.TurnResult) bool {
	c.turning.out = false
	// From now on, as the flows count their pauses: a look of its own just before a read would be a turn for nothing.
	c.nextLook = now + c.lookPause(now)
	if r.Generation != c.generation {
		return false
	}
	if fault != Fine {
		c.turnFailed(now, r, fault)
		return false
	}
	c.storeWorks(askTurn, now)
	if c.life != 0 && a.Life != 0 && a.Life != c.life { // what was read of another life may have a seq that is given out again
		c.restart(now)
		return false
	}
	c.life = a.Life
	if a.Epoch != c.epoch {
		c.nextBeat = 0
	}
	for i := range a.Verdicts {
		if !a.Verdicts[i].Applied && !a.Verdicts[i].More {
			c.nextBeat = 0 // nothing is sent until a heartbeat has told what is still ours
		}
	}
	settled, read := 0, 0
	for i := range r.Parts {
		p := &r.Parts[i]
		settle, ask := settled+len(p.Turn.Settle), read+len(p.Turn.Read)
		p.Flow.Engine.Landed(now, a.Verdicts[settled:settle], a.Batches[read:ask])
		p.Flow.Engine.NextDue(now, a.NextDue)
		settled, read = settle, ask
	}
	for i := range a.Commands {
		if f := c.flowOf(a.Commands[i].Ref); f != nil {
			f.Engine.Commands(now, a.Commands[i:i+1])
		}
	}
	return true
}

func (c *Core) turnFailed(now time.Duration, r *Round, fault Fault) {
	if fault == Moved {
		c.storeMoved(askTurn, now)
		c.restart(now)
		return
	}
	c.turning.repeat = r
	c.storeFailed(askTurn, now)
}
