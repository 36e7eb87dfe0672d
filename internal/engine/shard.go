package engine

import (
	"slices"

	"github.com/postbag/postbag/store"
)

// shard is one leased range of slots.
type shard struct {
	lo, hi         int
	token, version int64
	group          *group
	lost           bool
	leaving        *leaving

	chains chainTable
	// strict: all its messages are one chain. Always so under ByShard; under
	// ByKey as long as rows of an earlier ByShard are parked.
	strict bool
	// foreign are the hashes of rows that an earlier ByKey parked, of a strict
	// shard. They are older than its strict rows, which wait for them; withheld is
	// the first of those, once the store has shown it.
	foreign  map[uint64]struct{}
	withheld int64

	settled   store.Position // its position in the store
	draft     draft
	turn      *store.Settlement // in the turn under way: sealed
	sealed    store.Settlement
	turnSent  int
	commanded map[store.Done]struct{} // commands whose end is not settled
	toDiscard map[int64]discard       // see there

	// changing holds the parked rows whose change is not settled, or was while the
	// answer to Due was under way, and the number of the draft that changes each.
	changing map[int64]int64
	drafts   int64 // drafts that are settled
	// waiting is of each key whose rows may wait for newer messages, overtaken the keys of them
	// that a verdict told of.
	waiting   map[uint64]*waiting
	overtaken []uint64
	// held counts the messages that are held for each topic, and urged are those of
	// them that an operator had retried.
	held  map[*topic]int
	urged map[int64]struct{}
	asked bool  // in the Due under way
	since int64 // the number of turns that had begun when it came
}

// Add gives the flow a shard: its lease, its position, and what is parked in it, which
// was loaded after the lease was taken. One of the topics that messages are held for is tried at once. Shards that have a slot
// with it in common are lost: one lease or the other is old.
func (f *Flow) Add(l store.Lease, position store.Position, blocked store.Blocks) {
	s := &shard{
		lo: l.Lo, hi: l.Hi, token: l.Token, version: l.Version, settled: position, since: f.round.number,
		foreign:   make(map[uint64]struct{}),
		changing:  make(map[int64]int64),
		commanded: make(map[store.Done]struct{}),
	}
	for _, o := range slices.Clone(f.shards) {
		if o.lo < s.hi && s.lo < o.hi {
			f.Lost(o.lo)
		}
	}
	f.shards = append(f.shards, s)
	fill(f.bySlot[s.lo:s.hi], s)
	f.addGroup(s, position)
	f.resize()
	s.strict = f.cfg.Order == ByShard || f.cfg.Order == ByKey && slices.Contains(blocked.Keys, strictHash)
	for _, h := range blocked.Keys {
		f.stored(s, h)
	}
	for _, h := range blocked.Waiting {
		if f.supersedes() && h.Hash > strictHash {
			s.waitsIn(h.Hash, h.Seq)
		}
	}
	for _, h := range blocked.Held {
		_, known := f.topics.byName[h.Topic]
		f.countHeld(s, h.Topic, int(h.Messages))
		if t := f.topics.byName[h.Topic]; t != nil && !known { // what is in hand of other shards waits, too
			t.unswept, f.topics.unswept = true, true
		}
	}
	f.round.all = false
	f.due.wake(0)
	f.wakeTopics()
}

// Leases returns the shards held, those that are leaving among them.
func (f *Flow) Leases() []store.Lease {
	out := make([]store.Lease, 0, len(f.shards))
	for _, s := range f.shards {
		out = append(out, f.leaseOf(s))
	}
	return out
}

// LeaseOf returns the lease of the shard that a slot is in; zero: it is not held.
func (f *Flow) LeaseOf(slot int) store.Lease {
	if s := f.bySlot[slot]; s != nil {
		return f.leaseOf(s)
	}
	return store.Lease{}
}

// leaseOf is the lease of a shard.
func (f *Flow) leaseOf(s *shard) store.Lease {
	return store.Lease{Shard: store.Shard{Ref: f.cfg.Ref, Slots: s.slots()}, Token: s.token, Version: s.version}
}

// Lost takes the shard with this lower bound away at once: what is in hand of it
// is forgotten, answers that come for it are ignored.
func (f *Flow) Lost(lo int) {
	for _, s := range f.shards {
		if s.lo == lo {
			f.stats.Lost++
			f.drop(s)
			return
		}
	}
}

// Reset loses all shards. A turn under way still ends with Landed.
func (f *Flow) Reset() {
	for len(f.shards) > 0 {
		f.drop(f.shards[0])
	}
	f.again, f.retry, f.suspects, f.ready, f.unreadable, f.topics.barred = queue{}, queue{}, queue{}, lineup{}, queue{}, queue{}
}

// drop forgets a shard, lost or left.
func (f *Flow) drop(s *shard) {
	s.lost = true
	f.shards = without(f.shards, s)
	f.resize()
	clear(f.bySlot[s.lo:s.hi]) // all of them are its own: see Add
	s.group.each(func(e *entry) {
		if e.shard == s {
			f.forget(e)
		}
	})
	f.forgetDoubts(s)
	for seq, e := range f.hand {
		if e.shard == s {
			f.forget(e)
			delete(f.hand, seq)
		}
	}
	for _, c := range f.calls {
		for _, e := range c.entries {
			if e != nil && e.shard == s && e.state == slowDrafted {
				f.move(e, onLeave)
			}
		}
	}
	f.forgetHeld()
	f.out -= s.draft.sent + s.turnSent
	s.draft, s.turn, s.turnSent, s.chains = draft{}, nil, 0, chainTable{}
	f.dropHeld(s)
	s.group.shards = without(s.group.shards, s)
	if len(s.group.shards) == 0 {
		f.clearGroup(s.group)
	}
}

// fill sets all of list to x, by copies that double.
func fill[T any](list []T, x T) {
	if len(list) > 0 {
		list[0] = x
	}
	for n := 1; n < len(list); n *= 2 {
		copy(list[n:], list[:n])
	}
}

// without returns all of list but x, in an array of its own.
func without[T comparable](list []T, x T) []T {
	return slices.DeleteFunc(slices.Clone(list), func(o T) bool { return o == x })
}

func (s *shard) slots() store.Slots { return store.Slots{Lo: s.lo, Hi: s.hi} }

// readable: it stays.
func (s *shard) readable() bool { return s.leaving == nil }

// unsettled: something is in its draft or in the turn.
func (s *shard) unsettled() bool { return s.turn != nil || s.draft.content() }

// goal is the position that its next settlement may bring it to.
func (s *shard) goal() store.Position {
	if v := s.leaving; v != nil && v.passed {
		return v.to
	}
	return s.group.position()
}
