package simulation

import (
	"slices"
	"strconv"
	"time"

	"github.com/postbag/postbag/broker"
	"github.com/postbag/postbag/internal/engine"
	"github.com/postbag/postbag/store"
)

// Under ScopedHolds operators hold messages of a key, a topic or a type, or a destination or
// the subscription with an end. Some of these pauses end by the database's clock, and others
// by hand.

// destinationName is what relays call their destination.
const destinationName = "d"

// drawPauses has messages be held, if operators may hold some.
func (w *world) drawPauses(c *engine.Config) {
	if w.plan.faults.has(ScopedHolds) && !c.HoldTopics {
		c.HoldTopics = true
		c.MaxHeld = w.of(0, 20, 3)
	}
}

// keyName is the key of messages that have one.
func keyName(key int) string {
	if key == 0 {
		return ""
	}
	return strconv.FormatInt(int64(key), 36) // two bytes at most: see smallest
}

// drawPause draws what is to be held.
func (w *world) drawPause() store.Pause {
	p := store.Pause{Ref: w.ref, Scope: store.PauseKey, Value: keyName(1 + w.below(w.plan.keys)), Who: "an operator", Why: "a fault"}
	switch w.below(6) {
	case 1, 2:
		p.Scope, p.Value = store.PauseTopic, topicNames[w.below(max(w.plan.topics, 1))]
	case 3:
		p.Scope, p.Value = store.PauseType, typeNames[w.below(len(typeNames))]
	case 4:
		p = store.Pause{Scope: store.PauseDestination, Value: destinationName}
	case 5:
		p.Scope, p.Value = store.PauseSubscription, ""
	}
	return p
}

// holdSome sets a pause, which ends by itself or by hand.
func (w *world) holdSome() {
	p := w.drawPause()
	d := time.Duration(1+w.below(3000)) * time.Millisecond
	if w.coin() {
		w.server.setPause(p, d)
		return
	}
	w.server.setPause(p, 0)
	w.after(d, nil, func() { w.server.endPause(p) })
}

// setPause sets a pause in the store.
func (s *server) setPause(p store.Pause, d time.Duration) {
	p.Since = wallClock.Add(s.now())
	if d > 0 {
		p.Until = p.Since.Add(d)
	}
	s.endPause(p)
	s.pauses = append(s.pauses, p)
	s.epoch++
	if s.w.everPaused == nil {
		s.w.everPaused = make(map[string]store.Pause)
	}
	s.w.everPaused[p.HeldAs()] = p
}

// paused says that a name of what a row is held for is that of a pause which holds the message.
func (w *world) paused(name string, m *message) bool {
	p, ok := w.everPaused[name]
	r := m.record()
	return ok && p.Holds(&r.Message)
}

// endPause removes a pause. Copies of the store have the slice, too.
func (s *server) endPause(p store.Pause) {
	s.keepPauses(func(o *store.Pause) bool { return !o.Same(&p) })
}

// keepPauses keeps some pauses, in an array of their own.
func (s *server) keepPauses(which func(*store.Pause) bool) {
	n := len(s.pauses)
	s.pauses = slices.DeleteFunc(slices.Clone(s.pauses), func(p store.Pause) bool { return !which(&p) })
	if len(s.pauses) < n {
		s.epoch++
	}
}

// endPauses ends those whose time is over.
func (s *server) endPauses() {
	now := wallClock.Add(s.now())
	if len(s.pauses) > 0 {
		s.keepPauses(func(p *store.Pause) bool { return !p.Over(now) })
	}
}

// pausedFor is how long the last of those still lasts that end by themselves. A clock that was set back puts off the end.
func (s *server) pausedFor() (longest time.Duration) {
	for i := range s.pauses {
		if p := &s.pauses[i]; !p.Until.IsZero() {
			longest = max(longest, p.Until.Sub(wallClock.Add(s.now())), 1)
		}
	}
	return longest
}

// whole says that all of the subscription is held.
func (s *server) whole() bool {
	return slices.ContainsFunc(s.pauses, func(p store.Pause) bool { return p.Scope == store.PauseSubscription })
}

// heard notes what a relay was told of pauses, whether it can read the filter, and whether there is a subscription.
func (r *relay) heard(v *store.View) {
	if v.Alive {
		r.ended = !slices.ContainsFunc(v.Subscriptions, func(s store.SubscriptionState) bool { return s.Ref == r.w.ref })
		r.pauses = slices.Clone(v.Pauses)
		r.blind = slices.ContainsFunc(v.Subscriptions, func(s store.SubscriptionState) bool { return s.Ref == r.w.ref && s.Unreadable != nil })
		r.blinded = r.blinded || r.blind
	}
}

// checkPauses: a relay sends nothing that it knows to be held.
func (r *relay) checkPauses(items []engine.Item) {
	for i := range r.pauses {
		p := &r.pauses[i]
		for _, item := range items {
			if !p.Messages() || p.Holds(&item.Message) {
				r.w.failf("P3", "relay %d sends message %d although it knows that the %s is paused", r.number, r.w.message(item.Record).id, p.Scope)
				return
			}
		}
	}
}

// passPause has one key held and nothing else, until all that does not wait for it is
// delivered. Then the pause ends by itself.
func (w *world) passPause() {
	if !w.plan.faults.has(ScopedHolds) || w.plan.cfg.MaxHeld < 1000 || w.mixed || w.plan.cfg.Order == engine.ByShard {
		return // nothing is read beyond some held messages, or nothing is left that could go on
	}
	w.broker.topics = [maxTopics]broker.Outcome{}
	key := 1 + w.below(w.plan.keys)
	p := store.Pause{Ref: w.ref, Scope: store.PauseKey, Value: keyName(key)}
	w.server.setPause(p, 0)
	w.run("going on without a key", deliverLimit+w.lingering(), w.sometimes(func() bool { return w.passedKey(key) }))
	w.server.setPause(p, time.Second)
}

// passedKey says that all messages are delivered but those of a key, and what passedTopic
// leaves out.
func (w *world) passedKey(key int) bool {
	w.heldKey = key
	defer func() { w.heldKey = 0 }()
	return w.passedTopic(-1)
}
