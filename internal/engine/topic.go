package engine

import (
	"cmp"
	"slices"
	"time"

	"github.com/postbag/postbag/broker"
	"github.com/postbag/postbag/store"
)

// A failure may hold for one topic alone. Its messages are then parked Held, which
// counts no attempt, and all others go on. After a pause the store is asked for one
// Held message of the topic, the first, which is tried; when it is accepted or
// rejected the topic works, and the others are fetched, page by page, until the
// store has none left. docs/design/060-failures-with-a-scope.md says why so.

// topic is one that failed, as long as messages are held for it.
type topic struct {
	name     string
	state    CircuitState // Closed: it works again, and its messages are being fetched
	failures int          // in a row
	until    time.Duration
	since    time.Duration // when it failed first; negative: before the flow had it
	reason   string
	said     bool    // Events told of it
	missed   bool    // a request brought nothing, perhaps since a row was not written yet
	empty    int     // requests in a row that brought nothing
	from     int     // the first shard of the next one
	trial    *entry  // of a topic that is Probing
	over     []int64 // answers to these got lost: the next to be tried is another
	heard    int64   // Flow.accepted at the last of them
	lost     bool    // it failed last by an answer that got lost
	held     int     // messages, of all shards
	at       int     // its place in topics.list
	unswept  bool    // what could be sent of it is still to be held
	paused   bool    // it is no topic, but a pause, see pause.go
}

// works: its messages may be sent.
func (t *topic) works() bool { return t.state == Closed }

// testing: a message of it is being tried.
func (t *topic) testing() bool { return t.trial != nil && !t.trial.drafted() }

// topics are those of a flow.
type topics struct {
	list    []*topic
	byName  map[string]*topic
	next    time.Duration // no topic has anything to do before it
	pace    time.Duration // no topic is tried before it
	held    int           // messages
	barred  queue         // ready, and of a topic that does not work
	unswept bool          // some topic is
	asked   []*topic      // by the request under way
	last    bool          // the last request for parked messages was for topics
	tried   bool          // and the last of those was to find out whether one works
	events  []TopicEvent
}

// TopicState is a topic that does not work.
type TopicState struct {
	Topic string
	// Since is when it failed first, or when the flow was told of it.
	Since time.Duration
	// Reason is its last failure; empty: none since the flow was told of it.
	Reason string
	// Held is how many messages wait for it.
	Held int
}

// TopicEvent says that a topic failed, or that it works again.
type TopicEvent struct {
	Topic  string
	Works  bool
	Reason string
	// After is for how long it had failed, if that is known.
	After time.Duration
}

// mostEvents bounds the events that are kept for the caller.
const mostEvents = 100

// Topics returns the topics that do not work, those that most messages wait for
// first, at most so many.
func (f *Flow) Topics(most int) []TopicState {
	var out []TopicState
	for _, t := range f.topics.list {
		if !t.works() && !t.paused {
			out = append(out, TopicState{Topic: t.name, Since: max(t.since, 0), Reason: t.reason, Held: t.held})
		}
	}
	slices.SortFunc(out, func(a, b TopicState) int {
		return cmp.Or(cmp.Compare(b.Held, a.Held), cmp.Compare(a.Topic, b.Topic))
	})
	return out[:min(len(out), most)]
}

// Events returns what became of topics since it was last called.
func (f *Flow) Events() []TopicEvent {
	out := f.topics.events
	f.topics.events = nil
	return out
}

// HoldTopics says whether messages can be held, see Config. It is told before the
// first shard comes.
func (f *Flow) HoldTopics(can bool) { f.cfg.HoldTopics = can }

// Overfull says that nothing is read, since too many messages are held for topics that
// do not work. Those of one that works again are on their way, or wait behind a dead
// message of their key, which holds up no other; nor do those of a topic of which all
// wait so, of which nothing can tell whether it works.
func (f *Flow) Overfull() bool {
	if f.topics.held < f.cfg.MaxHeld {
		return false
	}
	held := 0
	for _, t := range f.topics.list {
		if !t.works() && !t.missed {
			held += t.held
		}
	}
	return held >= f.cfg.MaxHeld
}

// tell keeps an event for the caller.
func (f *Flow) tell(t *topic, now time.Duration) {
	e := TopicEvent{Topic: t.name, Works: t.works(), Reason: t.reason}
	if t.since >= 0 {
		e.After = now - t.since
	}
	if len(f.topics.events) < mostEvents {
		f.topics.events = append(f.topics.events, e)
	}
}

// topicOf returns the topic of a name, which is made if needed.
func (f *Flow) topicOf(name string) *topic {
	ts := &f.topics
	t := ts.byName[name]
	if t == nil {
		t = &topic{name: name, state: Open, since: -1, at: len(ts.list)}
		if ts.byName == nil {
			ts.byName = make(map[string]*topic)
		}
		ts.byName[name] = t
		ts.list = append(ts.list, t)
		ts.next = 0
		f.asPause(t)
	}
	return t
}

// dropTopic forgets a topic that nothing is held for.
func (f *Flow) dropTopic(t *topic) {
	ts := &f.topics
	last := len(ts.list) - 1
	ts.list[t.at] = ts.list[last]
	ts.list[t.at].at = t.at
	ts.list[last] = nil
	ts.list = ts.list[:last]
	delete(ts.byName, t.name)
}

// wakeTopic has the topic looked at, at a time.
func (f *Flow) wakeTopic(t *topic, at time.Duration) {
	t.until = at
	f.topics.next = min(f.topics.next, at)
}

// wakeTopics has topics asked for again whose rows may be there now.
func (f *Flow) wakeTopics() {
	for _, t := range f.topics.list {
		if t.missed || t.works() {
			t.missed, t.empty = false, 0
			f.wakeTopic(t, 0)
		}
	}
}

// isBarred says that e must not be sent: an operator holds it, or its topic does not work,
// and e is not the message that finds out.
func (f *Flow) isBarred(e *entry) bool {
	if f.pausing.of(e.Record) != "" {
		return true
	}
	if len(f.topics.list) == 0 || e.try {
		return false
	}
	t := f.topics.byName[e.Topic]
	return t != nil && !t.works()
}

// ofTopic says that an answer is about the message's topic alone.
func (f *Flow) ofTopic(a *Answer) bool {
	return a.Scope == broker.ScopeTopic && f.cfg.HoldTopics && (a.Outcome == broker.Misconfigured || a.Outcome == broker.Unavailable)
}

// topicFailed holds e, which was just answered, and all that could be sent of its
// topic.
func (f *Flow) topicFailed(e *entry, a Answer, now time.Duration) {
	t := f.topicOf(e.Topic)
	opens := t.works() || t.since < 0
	t.reason = a.Reason
	if opens {
		t.since = now
	}
	if e.try || t.works() || t.state == Open && now >= t.until {
		t.state, t.trial = Open, nil
		t.failures++
		f.wakeTopic(t, now+max(backoff(f.cfg.TopicMin, f.cfg.TopicMax, 2, t.failures, f.cfg.Rand()), min(a.After, f.cfg.AfterMax)))
	}
	if e.try {
		f.topics.pace = now + f.cfg.TopicMin/4
	}
	if !t.said {
		t.said = true
		f.tell(t, now)
	}
	f.hold(e, t, now)
	if opens {
		f.sweep(t, now)
	}
}

// mostOver bounds the messages of a topic that are skipped when one is tried.
const mostOver = 64

// topicLost holds e, whose answer got lost, and its topic, see apart. The fault may be
// its own yet: another message is the next to find out.
func (f *Flow) topicLost(e *entry, a Answer, now time.Duration) {
	e.doubt.apart = 0
	t := f.topicOf(e.Topic)
	if len(t.over) >= mostOver {
		t.over = t.over[:0]
	}
	t.over, t.lost, t.heard = append(t.over, e.Seq), true, f.accepted
	f.topicFailed(e, Answer{Outcome: broker.Unavailable, Scope: broker.ScopeTopic, Reason: a.Reason}, now)
}

// topicWorks notes that e, which was to find out whether its topic works, was accepted or
// rejected.
func (f *Flow) topicWorks(e *entry, now time.Duration) {
	t := f.topics.byName[e.Topic]
	if t == nil || t.works() {
		return
	}
	t.state, t.failures, t.trial, t.empty, t.missed, t.over, t.lost = Closed, 0, nil, 0, false, nil, false
	f.wakeTopic(t, 0)
	f.topics.pace = 0
	f.tell(t, now)
	t.said = false
	f.recount(t, 0) // where attempts are counted first, the row of e was Held until it was called
}

// hold parks e until its topic works, or its pause is over. A row that says so already is
// left as it is.
func (f *Flow) hold(e *entry, t *topic, now time.Duration) {
	if e.held == t.name {
		c := e.chain
		f.remember(e)
		f.leaveAlone(e)
		if c != nil {
			f.leaveToRows(c)
			c.cut = c.out > 0
		}
		return
	}
	reason := t.reason
	switch {
	case e.retried:
		reason = retriedHeld(reason)
	case e.alone:
		reason = suspectHeld(reason)
	}
	f.park(e, store.Park{State: store.ParkHeld, Blocking: true, Topic: t.name, Reason: reason}, now)
}

// untried has topics looked at soon: the message that was to find out whether one
// works is not in hand any more.
func (f *Flow) untried(e *entry) {
	if e.try {
		f.topics.next = 0
	}
}

// sweep holds what could be sent of a topic that has just failed.
func (f *Flow) sweep(t *topic, now time.Duration) {
	for _, e := range f.sendable(func(e *entry) bool { return e.Topic == t.name && !e.try }) {
		if e.ready() { // or it was banked behind another
			f.hold(e, t, now)
			f.resume(e, now)
		}
	}
}

// bar holds what became ready while its topic does not work.
func (f *Flow) bar(now time.Duration) {
	if f.topics.unswept {
		f.topics.unswept = false
		for _, t := range slices.Clone(f.topics.list) {
			if t.unswept && !t.works() {
				f.sweep(t, now)
			}
			t.unswept = false
		}
	}
	for e := f.topics.barred.pop(); e != nil; e = f.topics.barred.pop() {
		if !f.isBarred(e) {
			f.enqueue(e, false)
			continue
		}
		f.hold(e, f.barrier(e), now)
		f.resume(e, now)
	}
}

// countHeld counts messages of a shard that are held for a topic, or are not any more.
func (f *Flow) countHeld(s *shard, name string, n int) {
	t := f.topics.byName[name]
	if s.lost || n < 0 && s.held[t] == 0 {
		return
	}
	if t == nil {
		t = f.topicOf(name)
	}
	if s.held == nil {
		s.held = make(map[*topic]int)
	}
	if s.held[t] += n; s.held[t] == 0 {
		delete(s.held, t)
	}
	f.recount(t, n)
}

// recount adds n to what is held for a topic, which is forgotten with the last.
func (f *Flow) recount(t *topic, n int) {
	t.held += n
	f.topics.held += n
	if t.held <= 0 && !t.testing() {
		f.dropTopic(t)
	}
}

// unhold notes that the row of e is not Held any more.
func (f *Flow) unhold(e *entry) {
	if e.held != "" {
		f.countHeld(e.shard, e.held, -1)
	}
}

// dropHeld forgets what is held of a shard that is lost or left.
func (f *Flow) dropHeld(s *shard) {
	for t, n := range s.held {
		f.recount(t, -n)
	}
	s.held = nil
	for _, t := range slices.Clone(f.topics.list) {
		if t.trial != nil && t.trial.shard == s {
			t.trial = nil
			f.recount(t, 0)
		}
	}
}
