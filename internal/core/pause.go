package core

import (
	"time"

	"github.com/postbag/postbag/store"
)

// viewPauses takes what operators hold of a flow.
func (c *Core) viewPauses(now time.Duration, f *Flow, s *store.SubscriptionState, v *store.View) {
	f.Pauses = f.Pauses[:0]
	whole := s.Paused
	for i := range v.Pauses {
		p := &v.Pauses[i]
		if !f.concerns(p) {
			continue
		}
		f.Pauses = append(f.Pauses, *p)
		whole = whole || p.Scope == store.PauseDestination
		c.endSeen(now, p, v.Now)
	}
	f.Paused = whole
	f.Engine.Pause(whole)
	f.Engine.Hold(now, f.Pauses)
}

// concerns says that the pause is of the flow's subscription, or of its destination.
func (f *Flow) concerns(p *store.Pause) bool {
	if p.Scope == store.PauseDestination {
		return f.Destination != "" && p.Value == f.Destination
	}
	return p.Ref == f.Ref
}

// endSeen has a heartbeat made soon after a pause ends by the database's clock.
func (c *Core) endSeen(now time.Duration, p *store.Pause, at time.Time) {
	if !p.Until.IsZero() && !at.IsZero() {
		c.nextBeat = min(c.nextBeat, now+max(p.Until.Sub(at), 0)+endMargin)
	}
}

// endMargin is how long after the end of a pause the store is asked whether it has ended.
const endMargin = 50 * time.Millisecond
