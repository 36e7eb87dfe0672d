package engine

import (
	"slices"
	"strings"
	"time"

	"github.com/postbag/postbag/store"
)

// An operator may hold the messages of a topic, a type or a key. They are parked Held, as
// those of a topic that does not work, for the name that store.Pause.HeldAs gives: no attempt
// counts, and their keys wait. Nothing finds out whether they can go. When the pause is
// over they are fetched as those of a topic that works again.

// pausing is what an operator holds of a flow.
type pausing struct {
	reasons             map[string]string // by name
	topics, types, keys map[string]string // the name, by value
	prefixes            []pausedPrefix    // of types
}

// pausedPrefix is a prefix of types that is held, such as "order.".
type pausedPrefix struct{ prefix, name string }

// newPausing makes what pauses of some messages hold.
func newPausing(pauses []store.Pause) (p pausing) {
	by := map[store.PauseScope]map[string]string{}
	for i := range pauses {
		one := &pauses[i]
		if !one.Messages() {
			continue
		}
		name := one.HeldAs()
		if p.reasons == nil {
			p.reasons = make(map[string]string)
		}
		p.reasons[name] = pauseReason(one)
		if prefix, ok := strings.CutSuffix(one.Value, "*"); ok && one.Scope == store.PauseType && strings.HasSuffix(prefix, ".") {
			p.prefixes = append(p.prefixes, pausedPrefix{prefix, name})
			continue
		}
		if by[one.Scope] == nil {
			by[one.Scope] = make(map[string]string)
		}
		by[one.Scope][one.Value] = name
	}
	p.topics, p.types, p.keys = by[store.PauseTopic], by[store.PauseType], by[store.PauseKey]
	return p
}

// mostPauseReason bounds the reason of rows that a pause holds. It has no key.
const mostPauseReason = 1024

func pauseReason(p *store.Pause) string {
	why := "paused by " + p.Who + ": " + p.Why
	return why[:min(len(why), mostPauseReason)]
}

// of returns the name of the pause that holds a message. Empty: none does.
func (p *pausing) of(m *store.Record) string {
	if len(p.reasons) == 0 || m.Err != nil {
		return ""
	}
	if name := p.keys[m.Key]; name != "" {
		return name
	}
	if name := p.types[m.Type]; name != "" {
		return name
	}
	for _, t := range p.prefixes {
		if strings.HasPrefix(m.Type, t.prefix) {
			return t.name
		}
	}
	return p.topics[m.Topic]
}

// holds says that a pause of this name is in force.
func (p *pausing) holds(name string) bool {
	_, ok := p.reasons[name]
	return ok
}

// Hold says which messages of the flow operators hold, in place of what it said before.
// What could be sent of them is parked at once. What is in a call is settled by its
// answer. A pause that is not there any more lets go of its messages, in their sequence.
func (f *Flow) Hold(now time.Duration, pauses []store.Pause) {
	before := f.pausing
	if len(before.reasons) == 0 && !slices.ContainsFunc(pauses, func(p store.Pause) bool { return p.Messages() }) {
		return
	}
	f.pausing = newPausing(pauses)
	f.callOff(now, func(e *entry) bool { return e != nil && f.pausing.of(e.Record) != "" })
	f.sweepPaused(now)
	for name := range before.reasons {
		if t := f.topics.byName[name]; t != nil && !f.pausing.holds(name) {
			t.state, t.missed, t.empty = Closed, false, 0
			f.wakeTopic(t, 0)
		}
	}
	for name, reason := range f.pausing.reasons {
		if t := f.topics.byName[name]; t != nil {
			t.state, t.reason, t.missed = Open, reason, false
		}
	}
}

// sweepPaused parks what could be sent and is held.
func (f *Flow) sweepPaused(now time.Duration) {
	for _, e := range f.sendable(func(e *entry) bool { return f.pausing.of(e.Record) != "" }) {
		if e.ready() { // or it was left to its row with another of its key
			f.hold(e, f.barrier(e), now)
			f.resume(e, now)
		}
	}
}

// asPause makes t a pause if its name is that of one. It is open while it is in force.
func (f *Flow) asPause(t *topic) {
	t.paused = store.HeldByPause(t.name)
	if !t.paused {
		return
	}
	t.reason = f.pausing.reasons[t.name]
	if !f.pausing.holds(t.name) {
		t.state = Closed
	}
}

// barrier returns what keeps e from being sent, or nil: the pause that holds it, or else
// its topic, which does not work.
func (f *Flow) barrier(e *entry) *topic {
	if name := f.pausing.of(e.Record); name != "" {
		return f.topicOf(name)
	}
	return f.topics.byName[e.Topic]
}

// retryPaused has the attempts of a message that is held by a pause count from zero, as an
// operator wants it retried. It waits for the end of the pause.
func (f *Flow) retryPaused(s *shard, c *store.Command) bool {
	if c.Park.State != store.ParkHeld || !f.pausing.holds(c.Park.Topic) {
		return false
	}
	f.unheld(s, c)
	p := c.Park
	p.Attempts = 0
	if !isRetried(&p) {
		p.Reason = retriedHeld(strings.TrimPrefix(p.Reason, suspectHeld("")))
	}
	f.draftRow(s, p)
	return true
}
