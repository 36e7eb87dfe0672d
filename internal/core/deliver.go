package core

import (
	"time"

	"github.com/postbag/postbag/internal/engine"
	"github.com/postbag/postbag/store"
)

// deliver has a flow take in what it has read, and send what can be sent.
func (c *Core) deliver(now time.Duration, f *Flow) {
	f.Engine.Absorb(now)
	f.Engine.Slow(now)
	c.try(now, f)
	for call := f.Engine.Next(now); call != nil; call = f.Engine.Next(now) {
		c.say(Operation{Kind: Send, Flow: f, Call: call})
	}
	c.due(now, f)
}

// try finds out whether a destination that failed works again.
func (c *Core) try(now time.Duration, f *Flow) {
	switch f.Engine.Check(now) {
	case engine.NoCheck:
	case engine.TryOne:
		if call := f.Engine.Trial(now); call != nil {
			c.say(Operation{Kind: Try, Flow: f, Call: call})
		}
	case engine.AskProber:
		c.say(Operation{Kind: Probe, Flow: f})
	}
}

// DueCall asks for parked messages of a flow.
type DueCall struct {
	store.Due

	Flow       *Flow
	Generation int
}

// due asks for parked messages of a flow that can be tried.
func (c *Core) due(now time.Duration, f *Flow) {
	if !c.canAskLot() {
		return
	}
	if r, ok := f.Engine.Due(now); ok {
		c.asking++
		c.say(Operation{Kind: Due, Flow: f, Due: &DueCall{Due: r, Flow: f, Generation: c.generation}})
	}
}

// DueCame takes the answer to a Due, and says whether it was still waited for.
func (c *Core) DueCame(now time.Duration, d *DueCall, fault Fault, found []store.Parked) bool {
	c.asking--
	waited := d.Generation == c.generation
	if fault != Fine || !waited {
		d.Flow.Engine.DueFailed(now)
		if fault == LeaseLost { // the next view shows that the subscription is gone
			c.nextBeat = 0
			return false
		}
		if waited {
			c.storeFailed(askMore, now)
		}
		return waited
	}
	c.storeWorks(askMore, now)
	d.Flow.Engine.DueLanded(now, found)
	return true
}
