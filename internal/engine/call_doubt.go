package engine

import "time"

// A message whose answer got lost is in doubt: the fault may be the destination's, or
// its own (a body for which a proxy cuts the connection, a handler that panics). It is
// sent again among fewer and fewer others that are in doubt too, so that the culprit
// ends alone. Only there can it be convicted, and only by comparison: its answer was
// lost again and again though other messages of its topic came through between. That
// counts as an attempt. In an outage nothing comes through, so it costs nobody one.
// docs/design/062-one-message-that-breaks-calls.md has the reasoning.

// doubtPause is the longest pause of a message in doubt while others come through.
const doubtPause = 2 * time.Second

// convictAfter is how many lost answers to calls of its own make an attempt.
const convictAfter = 3

// mostDoubts bounds the messages whose doubt outlasts their parking.
const mostDoubts = 1000

// doubt is what is held against a message.
type doubt struct {
	shard  *shard
	passed *passing
	lost   int   // answers
	alone  int   // of those, the ones that count: see against
	since  int64 // passed.count at the last of them
	others bool  // some were accepted between the last two
	// accepted is Flow.accepted at the first of them, heard at the last.
	accepted, heard int64
	apart           int // answers to calls of its own that got lost while only other topics came through
}

// passing counts what is accepted of a topic while some message of it is in doubt.
type passing struct {
	count  int64
	doubts int
}

// lost returns how many answers of e got lost.
func (e *entry) lost() int {
	if e.doubt == nil {
		return 0
	}
	return e.doubt.lost
}

// suspected: others of its topic came through since its last answer was lost.
func (e *entry) suspected() bool { return e.doubt != nil && e.doubt.passed.count > e.doubt.since }

// cramped: e is in doubt, and the windows have no room for rows, so that nobody else can be read
// who shows whether the fault is its own. All that came behind it may be refused by the filter.
func (f *Flow) cramped(e *entry) bool {
	return e.doubt != nil && !e.parked && !f.cfg.Transactions && f.rows >= f.cfg.Rows
}

// outlived: some message, of whatever topic, came through since the last answer of e was
// lost, or that of another which was to find out whether its topic works. The
// destination is there, then.
func (f *Flow) outlived(e *entry) bool {
	if t := f.topics.byName[e.Topic]; e.try && t != nil && t.lost && f.accepted > t.heard {
		return true
	}
	return e.doubt != nil && f.accepted > e.doubt.heard
}

// apart says that e's topic does not work, by the answer of e that got lost: it was
// alone in its call, again and again, and other topics came through between, and
// nothing of its own. The one that is to find out whether the topic works says so at
// once.
func (f *Flow) apart(e *entry, alone bool) bool {
	if !alone || !f.cfg.HoldTopics || e.Topic == "" || e.suspected() || !f.outlived(e) {
		return false
	}
	if e.try {
		return true
	}
	e.doubt.apart++
	return e.doubt.apart >= convictAfter
}

// lost applies an answer that got lost.
func (f *Flow) lost(e *entry, a Answer, alone bool, now time.Duration) {
	apart := f.apart(e, alone)
	switch attempt := f.suspect(e, alone); {
	case attempt:
		f.failed(e, a, now)
	case apart:
		f.topicLost(e, a, now)
	default:
		f.postpone(e, a, now)
	}
}

// suspect notes that an answer of e got lost, and says whether that is an attempt.
// alone: nothing else was in its call.
func (f *Flow) suspect(e *entry, alone bool) (attempt bool) {
	others := e.suspected()
	if e.doubt == nil {
		e.doubt = &doubt{shard: e.shard, passed: f.watchTopic(e.Topic), accepted: f.accepted}
	}
	d := e.doubt
	if alone && others {
		d.alone++
	}
	d.lost++
	d.since, d.others, d.heard = d.passed.count, others, f.accepted
	if d.alone < convictAfter {
		return false
	}
	d.alone = 0
	return true
}

// watchTopic has what is accepted of a topic counted.
func (f *Flow) watchTopic(name string) *passing {
	p := f.passing[name]
	if p == nil {
		if f.passing == nil {
			f.passing = make(map[string]*passing)
		}
		p = new(passing)
		f.passing[name] = p
	}
	p.doubts++
	return p
}

// pass counts an accepted message.
func (f *Flow) pass(e *entry) {
	if len(f.passing) == 0 {
		return
	}
	if p := f.passing[e.Topic]; p != nil {
		p.count++
	}
}

// trust ends the doubt of a message: what became of it is known.
func (f *Flow) trust(e *entry) {
	if e.doubt != nil {
		f.acquit(e)
	}
}

// acquit is trust for a message in doubt.
func (f *Flow) acquit(e *entry) {
	f.endDoubt(e.doubt, e.Topic)
	e.doubt = nil
	delete(f.doubts, e.Seq)
}

// doubted ends the doubt of a message that was resolved, unless it is parked and will
// be tried again.
func (f *Flow) doubted(e *entry, again bool) {
	if again {
		f.remember(e)
	} else {
		f.trust(e)
	}
}

func (f *Flow) endDoubt(d *doubt, topic string) {
	if d.passed.doubts--; d.passed.doubts == 0 && f.passing[topic] == d.passed {
		delete(f.passing, topic)
	}
}

// remember keeps the doubt of a message while it is parked, so that the search for the
// culprit goes on where it was.
func (f *Flow) remember(e *entry) {
	if e.doubt == nil {
		return
	}
	if _, kept := f.doubts[e.Seq]; !kept && len(f.doubts) >= mostDoubts {
		f.trust(e)
		return
	}
	if f.doubts == nil {
		f.doubts = make(map[int64]keptDoubt)
	}
	f.doubts[e.Seq] = keptDoubt{e.doubt, e.Topic}
}

// keptDoubt is the doubt of a parked message, with its topic.
type keptDoubt struct {
	*doubt

	topic string
}

// unremember ends the doubt of a row that is removed.
func (f *Flow) unremember(seq int64) {
	if d, ok := f.doubts[seq]; ok {
		f.endDoubt(d.doubt, d.topic)
		delete(f.doubts, seq)
	}
}

// recall gives a parked message its doubt back.
func (f *Flow) recall(e *entry) {
	if d, ok := f.doubts[e.Seq]; ok && d.shard == e.shard {
		e.doubt = d.doubt
	}
}

// forgetDoubts ends what is kept of a shard that left or was lost.
func (f *Flow) forgetDoubts(s *shard) {
	for seq, d := range f.doubts {
		if d.shard == s {
			f.unremember(seq)
		}
	}
}
