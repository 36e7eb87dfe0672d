package simulation

import (
	"slices"
	"time"

	"github.com/postbag/postbag/broker"
	"github.com/postbag/postbag/internal/engine"
	"github.com/postbag/postbag/store"
)

// maxTopics is how many topics a run may have.
const maxTopics = 5

var topicNames = [maxTopics]string{"a", "b", "c", "d", "e"}

// drawTopics draws the topics, if they can fail.
func (w *world) drawTopics(c *engine.Config) {
	if !w.plan.faults.has(Topics) {
		return
	}
	w.plan.topics = w.of(2, 1, 5)
	c.HoldTopics = true
	c.MaxHeld = w.of(0, 20, 3)
	c.TopicMin, c.TopicMax = 100*time.Millisecond, time.Duration(w.of(5, 30, 1))*time.Second
}

// topicOf is the topic of a message.
func (w *world) topicOf(m *message) int {
	if w.plan.topics == 0 {
		return 0
	}
	return int(m.sum / 16_000 % uint64(w.plan.topics))
}

// failTopic has one topic fail for a while.
func (w *world) failTopic() {
	b, t := w.broker, w.below(w.plan.topics)
	if b.topics[t] != broker.Unknown {
		return
	}
	b.topics[t] = broker.Misconfigured
	if w.coin() {
		b.topics[t] = broker.Unavailable
	}
	w.after(time.Duration(w.below(6000))*time.Millisecond, nil, func() { b.topics[t] = broker.Unknown })
}

// hold counts a message that is Held.
func hold(held []store.HeldTopic, topic string) []store.HeldTopic {
	for i := range held {
		if held[i].Topic == topic {
			held[i].Messages++
			return held
		}
	}
	return append(held, store.HeldTopic{Topic: topic, Messages: 1})
}

// heldFor answers a request for Held messages.
func (s *server) heldFor(d *store.Due) (out []store.Parked) {
	var found []int
	for _, slots := range d.Slots {
		s.firsts(slots, func(i int, r *parked) {
			if r.State == store.ParkHeld && slices.Contains(d.Topics, r.Topic) && !slices.Contains(d.Skip, r.Seq) {
				found = append(found, i)
			}
		})
	}
	slices.Sort(found)
	for _, i := range found[:min(len(found), d.Limit)] {
		out = append(out, dueMessage(&s.rows[i]))
	}
	return within(d, out)
}

// passTopics has one topic fail and nothing else, until all that does not wait for it
// is delivered; then it works again, and the rest is due.
func (w *world) passTopics() {
	if w.plan.topics == 0 {
		return
	}
	b := w.broker
	b.topics = [maxTopics]broker.Outcome{}
	if w.plan.cfg.MaxHeld < 1000 || w.plan.topics < 2 || w.mixed || w.plan.cfg.Order == engine.ByShard {
		return // nothing is read beyond some held messages, or nothing is left that could go on
	}
	t := w.below(w.plan.topics)
	b.topics[t] = broker.Misconfigured
	w.run("going on without a topic", deliverLimit+w.lingering(), w.sometimes(func() bool { return w.passedTopic(t) }))
	b.topics[t] = broker.Unknown
}

// sometimes looks at a condition now and then.
func (w *world) sometimes(ok func() bool) func() bool {
	next := 0
	return func() bool {
		if w.steps < next {
			return false
		}
		next = w.steps + 64
		return ok()
	}
}

// passedTopic says that all messages are delivered but those of a topic, those that
// were rejected or cannot be read, and those behind one of the two in their keys.
func (w *world) passedTopic(t int) bool {
	var waits [maxKeys + 1]bool
	for i := range w.server.rows {
		if r := &w.server.rows[i]; r.State == store.ParkDead || r.m.attempts() > 0 {
			waits[r.m.key] = r.m.key != 0
		}
	}
	for _, m := range w.producers.msgs {
		if (m.topic == t || m.damaged) && m.key != 0 || w.heldKey != 0 && m.key == w.heldKey {
			waits[m.key] = true
		}
	}
	for _, m := range w.producers.msgs {
		if m.state != committed || m.filtered || m.shifting || m.discarded || m.accepted > 0 || m.topic == t || waits[m.key] || m.attempts() > 0 || m.damaged || m.expired {
			continue
		}
		if m.unwanted || m.given || m.forgiven {
			continue
		}
		return false
	}
	return true
}
