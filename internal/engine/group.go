package engine

import (
	"time"

	"github.com/postbag/postbag/store"
)

// page is a batch in a window.
type page struct {
	store.Batch

	entries []entry
	head    int // entries before it are in a draft, settled or gone
	first   int // entries before it are resolved
}

// group is the shards of a flow that stand at one position and are read as one.
//
// Its window is the pages that were read and are not settled. Shards that were
// just leased may stand elsewhere and are a group of their own, until they meet
// the one that leads: see meet.
type group struct {
	shards []*shard
	base   store.Position // where its window begins
	read   store.Position // where the next read begins
	pages  []*page
	// arrived pages wait for Absorb.
	arrived []*page

	reading  bool
	started  bool          // has read once
	dry      bool          // the last read found nothing
	anew     bool          // it began where a window ended, and so saw all there was
	more     bool          // the last read was cut short by its limit
	woken    bool          // a hint came while it was reading
	hint     bool          // a hint came since it last read
	hinted   bool          // the read under way is one after a hint
	vain     int           // reads after hints that found nothing, in a row
	asked    time.Duration // when it last read
	nextPoll time.Duration // when to read again if nothing woke the flow
	pace     time.Duration // not to read before, whatever woke it
	found    time.Duration // when a read last found something

	began    int64 // the number of the turn in which the window under way began; zero: unknown
	complete int64 // and that of the last one that was read whole, or of the last read of a subscription that has ended

	until store.Position // the Until of the read under way
	mark  store.Position // the last position on its way where a window ended, if known
	whole bool           // it stands there
	near  bool           // it has reached its Until: the group that leads is not far
	free  bool           // reads without Until up to the end of a window
	stray bool           // it turned out not to be behind the group that leads
}

// empty: its window is settled, or in a settlement that is made.
func (l *group) empty() bool { return len(l.pages) == 0 && len(l.arrived) == 0 && !l.reading }

// unsettled says that some shard has something in a draft or in the turn.
func (l *group) unsettled() bool {
	for _, s := range l.shards {
		if s.unsettled() {
			return true
		}
	}
	return false
}

// readable: some shard of the group stays.
func (l *group) readable() bool {
	for _, s := range l.shards {
		if s.readable() {
			return true
		}
	}
	return false
}

func (l *group) each(do func(*entry)) {
	for _, p := range l.pages {
		for i := p.head; i < len(p.entries); i++ {
			do(&p.entries[i])
		}
	}
}

// position is where all before it is in a draft or settled.
func (l *group) position() store.Position {
	if len(l.pages) > 0 && l.pages[0].head > 0 {
		return l.pages[0].At(l.pages[0].head - 1)
	}
	return l.base
}

// pin returns the message that keeps the window from moving, or the one of its
// key that must go before it; nil if nothing does.
func (l *group) pin() *entry {
	for _, p := range l.pages {
		for p.first < len(p.entries) {
			e := &p.entries[p.first]
			if !e.resolved() {
				if e.chain != nil && e.chain.head != nil {
					return e.chain.head
				}
				return e
			}
			p.first++
		}
	}
	return nil
}

// addGroup puts s into the group that stands where s stands and has nothing in
// hand, or makes a group for it.
func (f *Flow) addGroup(s *shard, position store.Position) {
	for _, l := range f.groups {
		if l.read == position && l.empty() && !l.unsettled() {
			l.shards = append(l.shards, s)
			s.group = l
			l.nextPoll, l.dry = 0, false
			return
		}
	}
	s.group = &group{shards: []*shard{s}, base: position, read: position}
	f.groups = append(f.groups, s.group)
}

// clearGroup forgets a group that has no shards left.
func (f *Flow) clearGroup(l *group) {
	l.each(f.forget)
	for _, p := range l.pages {
		f.rows -= len(p.entries)
	}
	for _, p := range l.arrived {
		f.rows -= len(p.entries)
		f.unsent -= len(p.entries)
		for i := range p.entries {
			f.window.held -= p.entries[i].size
		}
	}
	l.pages, l.arrived = nil, nil
	f.groups = without(f.groups, l)
}

// landed takes the answer to the group's read.
func (f *Flow) landed(l *group, now time.Duration, b *store.Batch) {
	l.reading, l.started = false, true
	defer f.doubtHints(l, len(b.Records) > 0)
	switch {
	case b.Err != nil: // nobody waits for it
		l.near, l.whole, l.mark = false, false, ""
		l.nextPoll = now + f.cfg.PollMax
		return
	case b.Ahead:
		f.ahead(l, now)
		return
	}
	l.anew = l.whole
	f.place(l, b)
	switch {
	case f.cfg.Ends != nil && f.cfg.Ends(b.Next): // in the middle of a window, perhaps
		l.complete = f.round.number
	case b.Whole && !b.More && l.began > 0:
		l.complete = l.began
	}
	found := len(b.Records) > 0
	if found || b.Next != l.read {
		l.arrived = append(l.arrived, f.page(b))
	}
	l.read, l.more, l.dry = b.Next, b.More, !found && !b.More && !l.woken
	if found {
		l.found = now
	}
	l.nextPoll = now
	if l.dry && !l.near {
		l.nextPoll = now + f.pollAfter(now-l.found)
	}
	f.linger(l, b, now)
	l.woken = false
}

// page takes the records of a batch in hand.
func (f *Flow) page(b *store.Batch) *page {
	p := &page{Batch: *b, entries: make([]entry, len(b.Records))}
	p.Records = nil
	f.unsent += len(p.entries)
	f.rows += len(p.entries)
	f.window.fade()
	for i := range p.entries {
		e := &p.entries[i]
		e.Record = &b.Records[i]
		e.size = e.Size()
		f.window.bear(e.size)
	}
	return p
}

// linger has a group pause after a read that found little, unless it has to meet
// another. The pause grows with what was found: where much comes, fewer round
// trips are worth more than a message's few milliseconds.
func (f *Flow) linger(l *group, b *store.Batch, now time.Duration) {
	found := len(b.Records)
	if !b.Whole || 2*found >= f.cfg.Page || len(f.groups) > 1 {
		return
	}
	l.pace = now + f.cfg.Linger*time.Duration(min(found, 40))/40
	if !l.dry && !l.woken {
		l.nextPoll = l.asked + f.cfg.Linger*time.Duration(min(max(found/16, 1), 4))
	}
}

// vainHints is how many hints in a row are believed although nothing is found.
const vainHints = 8

// doubtHints has a group that was woken for nothing again and again read no more often
// than one that polls while much comes, no matter who wakes it, and however often.
func (f *Flow) doubtHints(l *group, found bool) {
	switch {
	case found:
		l.vain = 0
	case l.hinted:
		l.vain = min(l.vain+1, vainHints)
	}
	if l.vain == vainHints {
		l.pace = max(l.pace, l.asked+f.cfg.PollMin)
	}
}

// pollAfter is the pause after a read that found nothing: an eighth of the time
// since one did, within the bounds.
func (f *Flow) pollAfter(idle time.Duration) time.Duration {
	return min(max(idle/8, f.cfg.PollMin), f.pollMax)
}
