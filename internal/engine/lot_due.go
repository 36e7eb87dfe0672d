package engine

import (
	"slices"
	"time"

	"github.com/postbag/postbag/store"
)

// parking is what a flow knows of the parking lot's clock.
type parking struct {
	asking bool
	known  bool          // next says when to ask
	next   time.Duration // when a parked message is, or may be, due
	empty  int           // rounds of answers in a row that brought nothing
	round  int           // shards asked in this one
	from   int           // the first shard of the next request
}

// wake has the lot asked at a time, if nothing says sooner.
func (p *parking) wake(at time.Duration) {
	if p.empty > 0 || !p.known || at < p.next {
		p.known, p.next = true, at
	}
	p.empty, p.round = 0, 0
}

// dueNow says that a settlement has rows that are to be tried as soon as it is made: such as those of a command, or that were
// claimed. Where messages supersede each other, a row that does not block is to be claimed first.
func (f *Flow) dueNow(parks []store.Park) bool {
	return slices.ContainsFunc(parks, func(p store.Park) bool {
		return p.State == store.ParkRetrying && p.Delay == 0 && (p.Blocking || !f.supersedes())
	})
}

// NextDue takes what the turn that just landed said: how long until a parked
// message is due; negative when none is.
func (f *Flow) NextDue(now, wait time.Duration) {
	p := &f.due
	switch {
	case wait < 0 && !f.round.heard:
	case wait < 0:
		p.known, p.empty, p.round = false, 0, 0
	case wait == 0 && p.empty > 0 && p.known:
		// What is due may be what we have in hand: keep to the pause.
	case !p.known || f.round.heard || now+wait < p.next:
		p.known, p.next = true, now+wait
		if wait > 0 && f.round.heard { // nothing is due: this is no pause, and what is due sooner is asked for then
			p.empty, p.round = 0, 0
		}
	}
}

// Due returns the request for parked messages to make now, if any; it is answered
// with DueLanded, or DueFailed.
func (f *Flow) Due(now time.Duration) (store.Due, bool) {
	p := &f.due
	lot := f.mayAsk() && now >= p.next
	if r, ok := f.dueTopics(now, lot); ok {
		return r, true
	}
	if !lot {
		return store.Due{}, false
	}
	p.asking, f.topics.last = true, false
	r := store.Due{Ref: f.cfg.Ref, Limit: f.handRoom(), Bytes: f.lotRoom(), Followers: f.cfg.RetryBatch}
	n := len(f.shards)
	for i := range n {
		at := (p.from + i) % n
		s := f.shards[at]
		if s.leaving != nil {
			continue
		}
		s.asked = true
		p.round++
		r.Slots = append(r.Slots, s.slots())
		r.Skip = s.skip(r.Skip)
		if f.strict() { // one Hash for all: a shard at a time
			p.from = (at + 1) % n
			break
		}
	}
	r.Skip = f.skipHand(r.Skip)
	return r, true
}

// skipHand adds what is in hand of the shards that are asked.
func (f *Flow) skipHand(to []int64) []int64 {
	for seq, e := range f.hand {
		if e.shard.asked {
			to = append(to, seq)
		}
	}
	slices.Sort(to)
	return to
}

// skip adds the rows that the store has otherwise than they will be.
func (s *shard) skip(to []int64) []int64 {
	for seq := range s.changing {
		to = append(to, seq)
	}
	if s.withheld != 0 {
		to = append(to, s.withheld)
	}
	return to
}

// mayAsk says that parked messages can be asked for once they are due.
func (f *Flow) mayAsk() bool {
	return f.due.known && f.canAsk()
}

// canAsk says that a request for parked messages can be made.
func (f *Flow) canAsk() bool {
	return !f.due.asking && !f.paused && !f.quiet &&
		f.mayTake() && f.handRoom() > 0 && f.lotRoom() > 0 && f.staying() > 0
}

func (f *Flow) handRoom() int { return 2*f.cfg.RetryBatch - len(f.hand) }

// staying counts the shards that are not leaving.
func (f *Flow) staying() int {
	n := 0
	for _, s := range f.shards {
		if s.leaving == nil {
			n++
		}
	}
	return n
}

func (f *Flow) strict() bool {
	for _, s := range f.shards {
		if s.strict {
			return true
		}
	}
	return false
}

// DueFailed says that the request could not be answered.
func (f *Flow) DueFailed(now time.Duration) {
	f.dueEnded()
	if f.topicsFailed(now) {
		return
	}
	f.due.known, f.due.next, f.due.round = true, now+time.Second, 0
}

// DueLanded takes the parked messages that can be tried.
func (f *Flow) DueLanded(now time.Duration, messages []store.Parked) {
	p := &f.due
	taken := 0
	f.lot.fade()
	var refused []behind
	for i := range messages {
		m := &messages[i]
		s := f.bySlot[m.Park.Slot]
		if s == nil || !s.asked || s.leaving != nil || f.quiet {
			continue
		}
		line := behind{s, m.Park.Hash}
		switch {
		case m.Blocking && slices.Contains(refused, line):
		case f.waits(&m.Park):
			if f.claim(s, m, now) {
				taken++
			}
		case f.wanted(s, m):
			taken++
			if f.takeParked(s, m, now) && m.Blocking { // those behind it wait again
				refused = append(refused, line)
			}
		case m.Blocking:
			refused = append(refused, line)
		}
	}
	f.dueEnded()
	if f.topicsLanded(now, taken) {
		return
	}
	p.known, p.next = true, now
	switch {
	case taken > 0:
		p.empty, p.round = 0, 0
	case p.round >= f.staying():
		// What is due may be what we have in hand: ask less and less.
		p.empty, p.round = min(p.empty+1, 6), 0
		p.next = now + 100*time.Millisecond<<p.empty
	}
}

// behind names the rows that stand behind one another.
type behind struct {
	shard *shard
	hash  uint64
}

// takeParked takes a message into the flow's hand. It says whether the message had to be
// accused, and is not there.
func (f *Flow) takeParked(s *shard, m *store.Parked, now time.Duration) (accused bool) {
	r := &m.Record
	r.Seq, r.Slot, r.Hash, r.Filtered = m.Park.Seq, m.Park.Slot, m.Park.Hash, false
	e := &entry{Record: r, size: r.Size(), shard: s, parked: true, attempts: m.Attempts}
	if m.State == store.ParkHeld {
		e.held = m.Park.Topic
	}
	e.retried = isRetried(&m.Park)
	f.recall(e)
	f.lot.bear(e.size)
	f.hand[e.Seq] = e
	f.mayTry(e)
	c := f.chainOf(s, m.Park.Hash)
	if c == nil {
		if accused = f.accuse(e, m.Reason, now); !accused {
			f.enqueue(e, false)
		}
		return accused
	}
	if m.Blocking {
		f.stored(s, m.Park.Hash)
		f.parkBehind(c, now)
	}
	c.push(e)
	if accused = f.accuse(e, m.Reason, now); accused && c.blocked() { // the row blocks now, if it did not before
		f.parkBehind(c, now)
	}
	f.advance(c)
	return accused
}

// wanted: the row will stay as it is, and its turn has come.
func (f *Flow) wanted(s *shard, m *store.Parked) bool {
	if _, changing := s.changing[m.Park.Seq]; changing || f.hand[m.Park.Seq] != nil {
		return false
	}
	if c := f.chainFor(s, m.Park.Hash); c != nil && (c.cut || m.Blocking && c.passed(m.Park.Seq)) {
		return false
	}
	if !m.Blocking || m.Park.Hash != strictHash || f.cfg.Order == Unordered {
		return true
	}
	if !s.strict { // another owner parked it, under ByShard, after we loaded what is blocked
		return false
	}
	if len(s.foreign) > 0 {
		s.withheld = m.Park.Seq
		return false
	}
	return true
}

// passed: a parked message of the chain that comes after seq is in hand. One before it
// is seen only now when the store was set back to when that was parked, or when a
// transaction that was not ordered with the other's committed late.
func (c *chain) passed(seq int64) bool {
	return !c.strict && c.tail != nil && c.tail.parked && c.tail.Seq > seq
}

// dueEnded ends the changing of rows that were settled while the answer was under
// way.
func (f *Flow) dueEnded() {
	f.due.asking = false
	for _, s := range f.shards {
		if s.asked {
			s.asked = false
			s.endChanging()
		}
	}
}

// endChanging lets go of rows whose change is settled, unless an answer that shows
// them as they were is under way.
func (s *shard) endChanging() {
	if s.asked {
		return
	}
	s.endWaiting()
	for seq, draft := range s.changing {
		if draft < s.drafts {
			delete(s.changing, seq)
		}
	}
}
