package engine

import (
	"cmp"
	"slices"
	"time"

	"github.com/postbag/postbag/store"
)

// round is the turn under way, and what is kept of the last one.
type round struct {
	out      bool
	number   int64 // turns that have begun
	settling []*shard
	reads    []*group      // nil: asks for nothing but commands and the due time
	all      bool          // it covers every shard
	landed   int64         // the number of the last that landed
	heard    bool          // that one covered every shard
	askAt    time.Duration // when to ask if nothing was read
}

// Turn returns what to settle and read now. If it is not empty, the caller makes
// it and reports with Landed, and gets no other turn before. A turn whose answer
// is lost is repeated as it was: that is safe.
func (f *Flow) Turn(now time.Duration) store.Turn {
	r := &f.round
	if r.out || len(f.shards) == 0 {
		return store.Turn{}
	}
	f.bar(now)
	f.part(now)
	f.collect()
	f.join()
	f.meet(now)
	t := store.Turn{Settle: f.settle(now)}
	r.reads = r.reads[:0]
	t.Read = f.read(now)
	if len(t.Read) == 0 && now >= r.askAt {
		t.Read = append(t.Read, f.ask())
		r.reads = append(r.reads, nil)
	}
	if t.Empty() {
		return t
	}
	if len(t.Read) > 0 {
		r.askAt = now + f.pollMax*3/2 // a read that is due by then comes first
	}
	r.out, r.all = true, f.covers(r)
	r.number++
	return t
}

// read makes the requests of the groups whose time has come. When there is not room for
// the pages of all, those that have waited longest read first, so that none keeps
// another from reading.
func (f *Flow) read(now time.Duration) (out []store.Request) {
	r := &f.round
	for i, l := range f.groups {
		if f.wantsRead(i) && now >= l.next() {
			r.reads = append(r.reads, l)
		}
	}
	if len(r.reads) > 1 {
		slices.SortStableFunc(r.reads, func(a, b *group) int { return cmp.Compare(a.asked, b.asked) })
	}
	coming := 0
	for k, l := range r.reads {
		bytes := f.windowRoom(coming)
		if bytes == 0 {
			r.reads = r.reads[:k]
			break
		}
		coming += bytes + f.window.margin(f.cfg.windowMost())
		l.asked = now
		out = append(out, f.request(slices.Index(f.groups, l), bytes))
	}
	return out
}

// covers says that the turn brings the due time of every shard.
func (f *Flow) covers(r *round) bool {
	for _, l := range r.reads {
		if l == nil {
			return true
		}
	}
	for _, s := range f.shards {
		if s.turn == nil && !(s.group.reading && s.readable()) {
			return false
		}
	}
	return true
}

// next is when the group may read again.
func (l *group) next() time.Duration { return max(l.nextPoll, l.pace) }

// wantsRead says that group i is to be read as soon as its time has come. A quiet flow
// reads what brings its groups together although too many messages are held: it tries
// none of them before it has come to rest.
func (f *Flow) wantsRead(i int) bool {
	l := f.groups[i]
	return !f.paused && !l.reading && f.room() >= (f.cfg.Page+1)/2 && f.rows < f.cfg.Rows && f.windowRoom(0) > 0 &&
		f.mayTake() && (f.quiet || !f.Overfull()) && l.readable() && !f.holds(i) && !f.piledUp(l)
}

// piledUp says that many rows are drafted behind a settlement of which parts are left: those of messages
// that are parked unsent, which no other bound counts.
func (f *Flow) piledUp(l *group) bool {
	return slices.ContainsFunc(l.shards, func(s *shard) bool { return s.turn != nil && len(s.draft.park) >= 2*f.cfg.Page })
}

// mayTake says that more messages may be taken in hand: the destination takes some, or
// nothing is in hand that could show that it does. What is in doubt alone keeps the
// circuit open for as long as the fault is its own.
func (f *Flow) mayTake() bool {
	if f.circuit.state == Closed {
		return true
	}
	e := f.again.peek()
	return !f.cfg.Transactions && !f.quiet && e != nil && e.doubt != nil && f.unsent == 0 && f.retry.empty()
}

// room is how many more messages may be read: as one page is sent, another waits.
func (f *Flow) room() int { return 2*f.cfg.Page - f.unsent }

func (f *Flow) request(i, bytes int) store.Request {
	l := f.groups[i]
	l.reading, l.until = true, f.untilOf(i)
	l.hinted, l.hint = l.hint, false
	switch {
	case l.until != "":
		l.began = 0
	case l.whole:
		l.began = f.round.number + 1
	}
	r := store.Request{Ref: f.cfg.Ref, From: l.read, Until: l.until, Limit: min(f.cfg.Page, f.room()), Bytes: bytes}
	r.Slots = make([]store.Slots, 0, len(l.shards))
	for _, s := range l.shards {
		if s.readable() {
			r.Slots = append(r.Slots, s.slots())
		}
	}
	return r
}

// ask requests nothing but the commands and the due time of all shards: what a
// flow that cannot read now still has to hear.
func (f *Flow) ask() store.Request {
	r := store.Request{Ref: f.cfg.Ref, From: f.groups[0].read, Slots: make([]store.Slots, 0, len(f.shards))}
	for _, s := range f.shards {
		r.Slots = append(r.Slots, s.slots())
	}
	return r
}

// Landed takes the answer to the last turn: a verdict for each settlement and a
// batch for each request, in their order. NextDue and Order, with the rest of the
// answer, follow it. The records are taken in by Absorb, so that the next turn may
// be made first. After Reset the answer may be empty.
func (f *Flow) Landed(now time.Duration, verdicts []store.Verdict, batches []store.Batch) {
	r := &f.round
	if !r.out {
		return
	}
	f.forgetDiscards()
	r.out, r.landed, r.heard = false, r.number, r.all
	for i, s := range r.settling {
		if s.turn != nil && i < len(verdicts) {
			f.judge(s, verdicts[i])
		}
	}
	for i, l := range r.reads {
		if i < len(batches) && l != nil && len(l.shards) > 0 {
			f.landed(l, now, &batches[i])
		}
	}
}

// Wake returns when the caller should ask again if nothing happens before. turn
// says whether the caller could make a turn, or waits for one already; lot whether
// it would ask for parked messages.
func (f *Flow) Wake(now time.Duration, turn, lot bool) time.Duration {
	at := now + f.cfg.IdleSettle
	sooner := func(t time.Duration) { at = min(at, max(t, now)) }
	if f.mayCheck(now) {
		sooner(f.circuit.until)
	}
	if f.slowAt > 0 {
		sooner(f.slowAt)
	}
	if lot && f.mayAsk() {
		sooner(f.due.next)
	}
	if lot && len(f.topics.list) > 0 && f.canAsk() {
		sooner(f.topics.next)
	}
	if f.rate != nil && f.rate.waits {
		sooner(f.rate.until)
	}
	f.wakeStop(sooner)
	if !turn || f.round.out || len(f.shards) == 0 {
		return at
	}
	f.wakeLeaving(now, sooner)
	if f.unapplied() {
		return now
	}
	sooner(f.round.askAt)
	if f.dirty && !f.transacting() {
		sooner(f.resolved + f.cfg.SettleEvery)
	}
	if f.meetBy > 0 {
		sooner(f.meetBy)
	}
	for i, l := range f.groups {
		if f.wantsRead(i) {
			sooner(l.next())
		}
	}
	return at
}
