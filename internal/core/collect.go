package core

import (
	"slices"
	"time"

	"github.com/postbag/postbag/internal/engine"
)

// collectEvery is how often the answers of a call that goes on are collected.
const collectEvery = 50 * time.Millisecond

// Ongoing is a call to the destination of a flow, whose answers come one by one. Most calls
// are over before anyone looks. Of one that is slow, what has come so far is handed to the
// flow now and then, so that one late answer holds up nothing.
type Ongoing struct {
	Flow *Flow
	Call int64

	next time.Duration // when its answers are collected
}

// collecting is the calls that go on.
type collecting struct {
	ongoing   []Ongoing
	collected []Ongoing // the answer of Collect
}

// Ongoing notes that the answers of a call come one by one, until Answered.
func (c *Core) Ongoing(now time.Duration, f *Flow, call int64) {
	c.ongoing = append(c.ongoing, Ongoing{Flow: f, Call: call, next: now + collectEvery})
}

// Collect returns the calls whose answers are to be collected now, and handed in with
// Reported, before Step. It is good until the next call of Collect.
func (c *Core) Collect(now time.Duration) []Ongoing {
	c.collected = c.collected[:0]
	for i := range c.ongoing {
		if o := &c.ongoing[i]; now >= o.next {
			o.next = now + collectEvery
			c.collected = append(c.collected, *o)
		}
	}
	return c.collected
}

// Reported takes answers to some messages of a call that goes on: those at places in it.
func (o *Ongoing) Reported(now time.Duration, places []int, answers []engine.Answer) {
	for k, i := range places {
		o.Flow.Engine.Reported(now, o.Call, i, answers[k])
	}
}

// Answered takes the answers to a call, and ends it.
func (c *Core) Answered(now time.Duration, f *Flow, call int64, answers []engine.Answer) {
	c.ongoing = slices.DeleteFunc(c.ongoing, func(o Ongoing) bool { return o.Flow == f && o.Call == call })
	f.Engine.Answered(now, call, answers)
}

// collectWakes is when answers are collected next.
func (c *Core) collectWakes(at time.Duration) time.Duration {
	for i := range c.ongoing {
		at = min(at, c.ongoing[i].next)
	}
	return at
}
