package relay

import (
	"time"

	"github.com/postbag/postbag/internal/engine"
	"github.com/postbag/postbag/store"
)

// condition is how a flow's destination is, as people are told.
type condition struct {
	down     bool
	since    time.Duration // the state began
	last     time.Duration // its circuit was last seen open, while it is down
	accepted int64         // messages, when it began
}

// conditions are those of all flows, for the next heartbeat.
func (l *loop) conditions(now time.Duration) []store.Condition {
	out := make([]store.Condition, len(l.flows))
	for i, f := range l.flows {
		c := &f.condition
		out[i] = store.Condition{
			Ref: f.Ref, State: f.state(), Since: max(now-c.since, 0), Unsettled: f.Engine.Accepted(),
			Lease: l.options.TTL, Destination: f.Destination, Pauses: true,
		}
		if c.down {
			out[i].Error = reasonOf(f.lastError)
		}
		if why := f.Unreadable(); why != nil {
			out[i].State, out[i].Error = store.ConditionUnreadable, reasonOf(why.Error())
		}
		for _, t := range f.Engine.Topics(shownTopics) {
			out[i].Topics = append(out[i].Topics, store.TopicCondition{Topic: t.Topic, Since: max(now-t.Since, 0), Error: t.Reason})
		}
	}
	return out
}

// state names the state of the destination. It is not closed before a message was
// accepted: a destination may answer a probe and take nothing.
func (f *flow) state() string {
	s := f.Engine.Circuit()
	if s == engine.Closed && f.condition.down {
		s = engine.Probing
	}
	if s == engine.Closed && f.Engine.Overfull() {
		return "held"
	}
	return circuitName(s)
}

// noteCondition writes one line when a destination's state changed, and one a minute
// while it is down. The store is told soon, and not at once: one that flaps would cost
// a heartbeat each time.
func (l *loop) noteCondition(f *flow, now time.Duration) {
	c, state := &f.condition, f.Engine.Circuit()
	accepted := f.Engine.Stats().Accepted
	switch {
	case !c.down && state != engine.Open:
		return
	case !c.down && l.core.Stops() && !f.failed: // its calls were given up
		return
	case !c.down:
		*c = condition{down: true, since: now, last: now, accepted: accepted}
		l.log.down(f)
	case state != engine.Closed:
		c.last, c.accepted = now, accepted
		l.log.down(f)
		return
	case accepted > c.accepted:
		l.log.up(f)
		*c = condition{since: now}
	case f.Engine.Idle() && !f.comesBack(now):
		l.log.idle(f)
		*c = condition{since: now}
	default:
		l.log.down(f)
		return
	}
	l.core.TellSoon(now)
}

// comesBack says that messages may be in rows until their next attempt, so that none in hand
// does not show that none waits. That is so where attempts are counted first, for a while,
// unless the flow has no shard, or nothing is parked that waits for its time.
func (f *flow) comesBack(now time.Duration) bool {
	return f.subscription.To.Features().CountsFirst && now-f.condition.last < reminder && f.Engine.Groups() > 0 && !f.Engine.Settled()
}
