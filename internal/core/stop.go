package core

import "time"

// stopping is a stop, and what comes before one that a drain makes.
type stopping struct {
	stops    bool
	drained  bool
	graceEnd time.Duration
	gaveUp   bool // the grace is over
}

// handOverTime is how long a stop that waited for answers as long as it may takes to
// give back what it has.
const handOverTime = time.Second

// Stops says that the relay stops.
func (c *Core) Stops() bool { return c.stops }

// Drained says that it does since nothing was left.
func (c *Core) Drained() bool { return c.drained }

// Abandon ends it all when there is nothing to give back.
func (c *Core) Abandon() { c.left = true }

// Stop begins the shutdown.
func (c *Core) Stop(now time.Duration) {
	if c.stops {
		return
	}
	c.stops = true
	c.graceEnd = now + c.options.Grace
	c.say(Operation{Kind: Stopping})
	for _, f := range c.Flows {
		f.Engine.Stop()
		if f.Owner.Loading() {
			c.leaveLane(f)
		}
	}
	for _, u := range c.keeps {
		if u.busy {
			c.say(Operation{Kind: EndMaintain, Upkeep: u})
		}
	}
	c.nextBeat = 0
}

// handOver collects shards that are ready to be given back, and says goodbye
// when there are none left.
func (c *Core) handOver(now time.Duration) {
	for _, f := range c.Flows {
		for _, left := range f.Engine.Left() {
			c.give = append(c.give, left)
			c.nextBeat = 0
		}
		c.gathered(f)
	}
	if c.stops && !c.left && c.allLeft(now) {
		c.left = c.fresh && len(c.former) == 0 // no heartbeat was made that could be taken back
		c.nextBeat = 0
	}
	if c.dying && !c.turning.out && c.turning.repeat == nil && !c.unsettled() {
		c.restart(now)
	}
}

// unsettled says that a flow has something to settle that a turn could write now.
func (c *Core) unsettled() bool {
	for _, f := range c.Flows {
		if f.Engine.Urgent() {
			return true
		}
	}
	return false
}

func (c *Core) allLeft(now time.Duration) bool {
	for _, f := range c.Flows {
		if len(f.Engine.Leases()) > 0 || f.Owner.Loading() || now < f.calmAt {
			return false
		}
	}
	for _, u := range c.keeps {
		if u.busy {
			return false
		}
	}
	return !c.turning.out && c.turning.repeat == nil
}

// endHangingCalls ends calls that hang while the relay stops, and gives up all of them when the
// time for it is out: what was accepted is settled and the leases are given back
// nevertheless.
func (c *Core) endHangingCalls(now time.Duration) {
	if !c.stops {
		return
	}
	for _, f := range c.Flows {
		for _, id := range f.Engine.Hung(now) {
			c.say(Operation{Kind: EndCall, Flow: f, ID: id})
		}
	}
	if now < c.graceEnd || c.gaveUp {
		return
	}
	c.gaveUp = true
	for _, f := range c.Flows {
		c.say(Operation{Kind: EndCalls, Flow: f, Unanswered: f.Engine.GiveUp()})
		c.leaveLane(f)
		f.Owner.Forget() // of what is still being loaded nothing was sent
	}
}

// Over says that everything is given back, or that the time for it is out: then all that
// flows have is dropped.
func (c *Core) Over(now time.Duration) bool {
	switch {
	case !c.stops:
		return false
	case c.left:
		return true
	case now < c.graceEnd+handOverTime:
		return false
	}
	for _, f := range c.Flows {
		f.Engine.Reset()
	}
	return true
}

// stopWakes is when a stop has something to do.
func (c *Core) stopWakes(now time.Duration) time.Duration {
	if !c.stops {
		return now + time.Minute
	}
	end := c.graceEnd
	if c.gaveUp {
		end += handOverTime
	}
	return max(end, now+10*time.Millisecond)
}

// drain stops when nothing is left.
func (c *Core) drain(now time.Duration) {
	if c.options.Drain && !c.stops && c.nothingLeft(now) {
		c.drained = true
		c.Stop(now)
	}
}

// nothingLeft says that a drain is done.
func (c *Core) nothingLeft(now time.Duration) bool {
	if !c.viewed || c.beating || c.turning.out || c.wanting {
		return false
	}
	for _, f := range c.Flows {
		if f.gone {
			continue
		}
		if f.Owner.Loading() || !f.Engine.Drained(now) || f.waitsForLane() {
			return false
		}
	}
	return true
}
