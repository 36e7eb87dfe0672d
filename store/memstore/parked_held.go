package memstore

import (
	"cmp"
	"slices"
	"time"

	"github.com/postbag/postbag/store"
)

// hold puts a Held row where a request for its topic finds it.
func (l *lot) hold(p *parked) {
	if p.park.State != store.ParkHeld {
		return
	}
	c := l.held[p.park.Topic]
	if c == nil {
		c = new(chain)
		l.held[p.park.Topic] = c
	}
	c.insert(p)
}

// unhold takes a Held row away from there.
func (l *lot) unhold(p *parked) {
	c := l.held[p.park.Topic]
	if p.park.State != store.ParkHeld || c == nil {
		return
	}
	c.remove(p.park.Seq)
	if len(c.rows) == 0 {
		delete(l.held, p.park.Topic)
	}
}

// heldFor returns the Held rows of the topics that d asks for, lowest seq first: of
// each hash only its first row, whatever that is, can be one.
func (l *lot) heldFor(d store.Due, _ time.Time) []*parked {
	skip := make(map[int64]bool, len(d.Skip))
	for _, seq := range d.Skip {
		skip[seq] = true
	}
	var found []*parked
	for i, topic := range d.Topics {
		c := l.held[topic]
		if c == nil || slices.Contains(d.Topics[:i], topic) {
			continue
		}
		n := 0
		for _, p := range c.rows {
			if n < d.Limit && !skip[p.park.Seq] && l.leads(p, d.Slots) {
				found = append(found, p)
				n++
			}
		}
	}
	slices.SortFunc(found, func(a, b *parked) int { return cmp.Compare(a.park.Seq, b.park.Seq) })
	found = found[:min(len(found), d.Limit)]
	bytes := d.Bytes
	for i, p := range found {
		if bytes <= 0 {
			return found[:i]
		}
		bytes -= len(p.row.Payload)
	}
	return found
}

// leads says whether p lies in one of the ranges and nothing there goes before it.
func (l *lot) leads(p *parked, ranges []store.Slots) bool {
	for _, r := range ranges {
		if !r.Contains(p.park.Slot) {
			continue
		}
		if !p.park.Blocking {
			return true
		}
		_, first := l.chains[p.park.Hash].in(r)
		return first == p
	}
	return false
}

// heldTopics counts the Held rows in r by topic, in the order of the topics.
func (l *lot) heldTopics(r store.Slots) []store.HeldTopic {
	var out []store.HeldTopic
	for topic, c := range l.held {
		t := store.HeldTopic{Topic: topic}
		for _, p := range c.rows {
			if r.Contains(p.park.Slot) {
				t.Messages++
			}
		}
		if t.Messages > 0 {
			out = append(out, t)
		}
	}
	slices.SortFunc(out, func(a, b store.HeldTopic) int { return cmp.Compare(a.Topic, b.Topic) })
	return out
}

// mostHeld returns the topics with most Held rows first, at most twenty.
func (l *lot) mostHeld() []store.HeldTopic {
	out := l.heldTopics(store.AllSlots)
	slices.SortStableFunc(out, func(a, b store.HeldTopic) int { return cmp.Compare(b.Messages, a.Messages) })
	out = out[:min(len(out), shownTopics)]
	for i := range out {
		for _, p := range l.held[out[i].Topic].rows {
			out[i].Reason = cmp.Or(out[i].Reason, p.park.Reason)
		}
	}
	return out
}

// shownTopics is how many topics an overview names.
const shownTopics = 20
