package engine

import (
	"slices"
	"time"

	"github.com/postbag/postbag/store"
)

// draft collects a shard's next settlement, but for its position.
type draft struct {
	park    []store.Park
	resolve []store.Resolved
	tally   []store.Tally
	done    []store.Done
	// supersede names keys whose rows may wait, each once: named is where.
	supersede []store.Superseding
	named     map[uint64]int
	sent      int                // entries whose count ends with this settlement
	inPark    map[int64]struct{} // seqs that were parked from a window
}

// content: there is more to write than a position that moved over nothing.
func (d *draft) content() bool {
	return len(d.park) > 0 || len(d.resolve) > 0 || len(d.tally) > 0 || len(d.done) > 0 || len(d.supersede) > 0 || d.sent > 0
}

// collect moves the resolved prefix of each window into the drafts.
func (f *Flow) collect() {
	for _, l := range f.groups {
		f.collectGroup(l)
	}
	for _, s := range f.shards {
		if s.leaving != nil {
			f.collectLeaving(s)
		}
	}
}

func (f *Flow) collectGroup(l *group) {
	for len(l.pages) > 0 {
		p := l.pages[0]
		for p.head < len(p.entries) && p.entries[p.head].resolved() {
			f.draft(&p.entries[p.head])
			p.head++
		}
		if p.head < len(p.entries) {
			return
		}
		l.base = p.Next
		f.rows -= len(p.entries)
		l.pages[0] = nil
		l.pages = l.pages[1:]
	}
}

// draft moves a resolved entry of a window into its shard's draft.
func (f *Flow) draft(e *entry) {
	if !e.resolved() || e.drafted() {
		return
	}
	d := &e.shard.draft
	d.count(e.Seq, e.ID, e.fate, f.cfg.TallySpan, 1)
	f.tallied(e.fate)
	if e.fate == store.TallyDiscarded {
		e.shard.discardDrafted(e)
	}
	if e.fate == store.TallyDelivered {
		e.shard.nameNewer(e.Hash, e.Seq, e.ID)
	}
	if e.park != nil {
		e.row = e.shard.drafting()
		f.stats.Parked += f.failing(e.park)
		if e.park.State == store.ParkDead {
			f.died(e.park)
		}
		_, changing := e.shard.changing[e.Seq]
		if _, twice := d.inPark[e.Seq]; twice && !changing { // of two messages of one seq, in a log that was numbered again, the later one is there
			f.undraftEarlier(e.shard, e.Seq)
		}
		if d.inPark == nil {
			d.inPark = make(map[int64]struct{})
		}
		d.inPark[e.Seq] = struct{}{}
		d.park = append(d.park, *e.park)
		f.parkedWaiting(e.shard, e.park)
		if changing {
			f.nameOnce(e.shard, e.Seq)
		}
		e.park = nil
	}
	f.move(e, onDraft)
}

// undraftEarlier takes the row of an earlier message of a seq back, whose key goes on. A
// late answer to it says nothing of the row that another message has now.
func (f *Flow) undraftEarlier(s *shard, seq int64) {
	for _, c := range f.calls {
		for i, e := range c.entries {
			if e != nil && e.shard == s && e.Seq == seq && e.state == slowDrafted {
				f.detach(c.take(i))
			}
		}
	}
	i := slices.IndexFunc(s.draft.park, func(p store.Park) bool { return p.Seq == seq })
	if i < 0 {
		return
	}
	hash := s.draft.park[i].Hash
	f.undraftRow(s, seq)
	f.goOn(s, hash)
}

// detach leaves an entry that was taken out of its call without a row.
func (f *Flow) detach(e *entry) {
	if e.chain != nil {
		e.chain.out--
	}
	f.takeOut(e)
}

// nameOnce keeps a settlement from naming a message twice that was parked ahead of its
// window by another owner, and tried from there and from the window: the row that was
// just drafted goes if the message is resolved, else the one before it.
func (f *Flow) nameOnce(s *shard, seq int64) {
	d := &s.draft
	last := len(d.park) - 1
	p := d.park[last]
	d.park = d.park[:last]
	f.undraftRow(s, seq)
	if !slices.ContainsFunc(d.resolve, func(r store.Resolved) bool { return r.Seq == seq }) {
		d.park = append(d.park, p)
		return
	}
	f.rowSettled(s, &p)
	if p.State == store.ParkHeld {
		f.countHeld(s, p.Topic, -1)
	}
	f.goOn(s, p.Hash)
}

// settle seals the drafts into settlements, if it is time. A settlement that the store has not applied yet
// is made again, and what was drafted since waits for it.
func (f *Flow) settle(now time.Duration) []store.Settlement {
	f.round.settling = f.round.settling[:0]
	if f.transacting() {
		return nil
	}
	due, again := f.settleDue(now), f.unapplied()
	if !due && !again {
		return nil
	}
	var out []store.Settlement
	for i, s := range f.shards {
		if s.turn == nil && (!due || !f.sealDraft(s)) {
			continue
		}
		if out == nil {
			out = make([]store.Settlement, 0, len(f.shards)-i)
		}
		out = append(out, *s.turn)
		f.round.settling = append(f.round.settling, s)
	}
	if !again {
		f.dirty, f.urgent, f.moved = false, false, false
	}
	return out
}

// unapplied says that the store has more to supersede before it applies a settlement.
func (f *Flow) unapplied() bool {
	return slices.ContainsFunc(f.shards, func(s *shard) bool { return s.turn != nil })
}

// sealDraft makes what s has to write a settlement, and says whether there is anything.
func (f *Flow) sealDraft(s *shard) bool {
	to := s.goal()
	if to == s.settled {
		to = ""
	}
	if to == "" && !s.draft.content() {
		return false
	}
	f.seal(s, to)
	return true
}

// seal makes the draft of s the settlement of the turn.
func (f *Flow) seal(s *shard, to store.Position) {
	d := &s.draft
	s.sealed = store.Settlement{
		Lease: f.leaseOf(s), To: to,
		Park: d.park, Resolve: d.resolve, Tally: d.tally, Done: d.done, Supersede: d.supersede,
	}
	s.turn = &s.sealed
	s.turnSent = d.sent
	for i := range d.park {
		if d.park[i].Blocking {
			f.stored(s, d.park[i].Hash)
		}
	}
	s.draft = draft{}
}

// settleDue says whether what is drafted must be written now: there is a lot of
// it, or it has waited, or someone waits for it.
func (f *Flow) settleDue(now time.Duration) bool {
	content, sent := false, 0
	for _, s := range f.shards {
		content = content || s.draft.content()
		sent += s.draft.sent
	}
	f.dirty = f.dirty && content
	switch {
	case f.urgent || f.quiet:
		return content || f.hasMoved()
	case content:
		return sent >= f.cfg.InFlight/2 || sent > 0 && f.full() || now >= f.resolved+f.cfg.SettleEvery
	default:
		return f.moved && now >= f.movedAt+f.cfg.IdleSettle && f.hasMoved()
	}
}

// full: nothing more may be sent before something is settled.
func (f *Flow) full() bool { return f.out+len(f.groups) >= f.cfg.InFlight }

// hasMoved says that the store has an older position of some shard.
func (f *Flow) hasMoved() bool {
	for _, s := range f.shards {
		if s.goal() != s.settled {
			return true
		}
	}
	return false
}

// judge takes the verdict on what s has in the turn.
func (f *Flow) judge(s *shard, v store.Verdict) {
	t := s.turn
	// It is made again as it is. The shard's next settlement waits for it: the position of that one would pass the message
	// whose older rows are not ended yet. in_flight and piledUp bound what is drafted meanwhile.
	if v.More {
		f.stats.Superseded += v.Superseded
		return
	}
	if !v.Applied { // the other leases may be lost too: the next heartbeat tells
		f.stats.Lost++
		f.drop(s)
		f.expires = 0
		return
	}
	f.stats.Settles++
	s.version++
	if t.To != "" {
		s.settled = t.To
	}
	f.out -= s.turnSent
	s.turn, s.turnSent = nil, 0
	for i := range t.Park {
		f.rowSettled(s, &t.Park[i])
	}
	f.openGates(s, t.Park)
	f.told(s, t.Supersede, &v)
	for _, h := range v.Cleared {
		f.cleared(s, h)
	}
	for _, d := range t.Done {
		delete(s.commanded, d)
	}
	s.drafts++
	s.endChanging()
	if len(t.Resolve) > 0 || f.dueNow(t.Park) {
		f.due.wake(0)
	}
	if len(t.Resolve) > 0 || slices.ContainsFunc(t.Park, func(p store.Park) bool { return p.State == store.ParkHeld }) {
		f.wakeTopics()
	}
	s.sealed = store.Settlement{}
}
