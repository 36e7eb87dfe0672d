package engine

import (
	"slices"
	"time"

	"github.com/postbag/postbag/store"
)

// mostTopics bounds the topics in one request for Held messages.
const mostTopics = 50

// dueTopics returns the request for Held messages to make now, if any. lot says that
// other parked messages are due, too: they take turns.
func (f *Flow) dueTopics(now time.Duration, lot bool) (store.Due, bool) {
	ts := &f.topics
	if len(ts.list) == 0 || now < ts.next || !f.canAsk() || lot && ts.last {
		return store.Due{}, false
	}
	limit := f.chooseTopics(now)
	if len(ts.asked) == 0 {
		return store.Due{}, false
	}
	r := store.Due{Ref: f.cfg.Ref, Limit: limit, Bytes: f.lotRoom()}
	for _, t := range ts.asked {
		r.Topics = append(r.Topics, t.name)
	}
	n, from := len(f.shards), ts.asked[0].from
	for i := range n {
		at := (from + i) % n
		s := f.shards[at]
		if s.leaving != nil || !f.keeps(s) {
			continue
		}
		s.asked = true
		r.Slots = append(r.Slots, s.slots())
		r.Skip = s.skip(r.Skip)
		if f.strict() { // one Hash for all: a shard at a time
			for _, t := range ts.asked { // each by itself: two that take turns could miss the same shards for ever
				t.from = (at + 1) % n
			}
			break
		}
	}
	if len(r.Slots) == 0 { // all of them leave
		f.topicsFailed(now)
		return store.Due{}, false
	}
	if ts.tried {
		r.Skip = append(r.Skip, ts.asked[0].over...)
	}
	r.Skip = f.skipHand(r.Skip)
	f.due.asking, ts.last = true, true
	return r, true
}

// chooseTopics chooses what to ask for: the topics that work again; or the one that
// has waited longest since its pause was over, of which one message is tried.
func (f *Flow) chooseTopics(now time.Duration) (limit int) {
	ts := &f.topics
	ts.asked, ts.next = ts.asked[:0], never
	var first *topic
	working := 0
	for i := 0; i < len(ts.list); i++ {
		t := ts.list[i]
		if t.state == Probing && !t.testing() { // the message was left to its row, or parked otherwise
			t.state, t.trial, t.until = Open, nil, now
		}
		switch {
		case t.held <= 0 && !t.testing():
			f.dropTopic(t)
			i--
			continue
		case t.state == Probing, t.paused && !t.works():
			continue
		case now < t.until:
		case t.works():
			working++
			if len(ts.asked) < mostTopics {
				ts.asked = append(ts.asked, t)
			}
		case first == nil || t.until < first.until:
			first = t
		}
		ts.next = min(ts.next, t.until)
	}
	if first != nil && now >= ts.pace && (working == 0 || !ts.tried) {
		if first.held <= len(first.over) {
			first.over = first.over[:0]
		}
		ts.asked, ts.tried = append(ts.asked[:0], first), true
		return 1
	}
	ts.tried = false
	if working == 0 && first != nil {
		ts.next = max(ts.next, ts.pace)
	}
	return f.handRoom()
}

// never is a time that does not come.
const never = time.Duration(1<<63 - 1)

// keeps says that messages of s are held for a topic that is asked for.
func (f *Flow) keeps(s *shard) bool {
	return slices.ContainsFunc(f.topics.asked, func(t *topic) bool { return s.held[t] > 0 })
}

// mayTry has a message that was just fetched find out whether its topic works, if it
// was fetched for that, or an operator has it retried.
func (f *Flow) mayTry(e *entry) {
	if _, urged := e.shard.urged[e.Seq]; urged {
		delete(e.shard.urged, e.Seq)
		e.try = true
	}
	t := f.topics.byName[e.Topic]
	if t == nil || t.state != Open || e.held != t.name || !f.topics.tried || !slices.Contains(f.topics.asked, t) {
		return
	}
	e.try = true
	t.state, t.trial = Probing, e
}

// topicsLanded ends a request for topics, and says whether it was one.
func (f *Flow) topicsLanded(now time.Duration, taken int) bool {
	return f.topicsAsked(func(t *topic) {
		switch {
		case t.state == Probing:
		case taken > 0:
			t.empty = 0
			f.wakeTopic(t, now)
		case len(t.over) > 0: // all that can be tried are among those
			t.over = t.over[:0]
			f.wakeTopic(t, now)
		default: // they wait for others of their keys, or are not written yet
			t.missed = true
			shards := 1
			if f.strict() { // each was asked before the pause grows
				shards = max(len(f.shards), 1)
			}
			t.empty = min(t.empty+1, 8*shards)
			f.wakeTopic(t, now+f.cfg.TopicMin<<(t.empty/shards))
		}
	})
}

// topicsFailed ends a request for topics that could not be answered, and says whether
// it was one.
func (f *Flow) topicsFailed(now time.Duration) bool {
	return f.topicsAsked(func(t *topic) { f.wakeTopic(t, now+time.Second) })
}

// topicsAsked ends a request for topics, and says whether it was one.
func (f *Flow) topicsAsked(do func(*topic)) bool {
	asked := f.topics.asked
	for _, t := range asked {
		if f.topics.byName[t.name] == t {
			do(t)
		}
	}
	f.topics.asked = asked[:0]
	return len(asked) > 0
}

// unheld notes that an operator's command ends a Held row.
func (f *Flow) unheld(s *shard, c *store.Command) {
	if c.Park.State == store.ParkHeld {
		f.countHeld(s, c.Park.Topic, -1)
	}
}

// tryThoughHeld has a Held message that an operator wants retried be tried although its topic
// does not work.
func (f *Flow) tryThoughHeld(s *shard, c *store.Command) {
	if c.Park.State != store.ParkHeld {
		return
	}
	f.unheld(s, c)
	if s.urged == nil {
		s.urged = make(map[int64]struct{})
	}
	s.urged[c.Park.Seq] = struct{}{}
}
