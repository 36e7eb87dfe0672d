package engine

import (
	"time"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/store"
)

// Under OnReject Supersede a rejected message waits in a row that blocks nothing, and newer
// messages of its key go on. The settlement of a newer one that was delivered names its key:
// the store ends the older rows that wait, and says which is the newest that is left.
//
// A message that waits is never delivered after a newer one of its key, whatever breaks:
//
//   - Nothing of a key is sent while a row of it that will wait is not settled: else the
//     next owner would not know that the message waits (chain.gate). What stands before the
//     message is sent all the same: the settlement passes that first.
//   - To be tried again, a message is claimed first: its row is written as one that blocks.
//     The owner of the shard, be it another, then holds newer messages until its fate is known.
//   - It is claimed only if nothing newer of its key is in hand, was delivered without being
//     settled, or waits, and if all that the owner before could have sent was read.
//
// docs/design/085-supersede.md has the reasoning.

// waiting is what is known of the rows of a key that wait. There is one as long as there may
// be such rows.
type waiting struct {
	// newest is the seq of the newest row that waits, or is tried. Zero: the next verdict tells.
	newest int64
	// passed is the seq of the newest message that was delivered. Older ones are not tried. Zero:
	// there are none.
	passed int64
	// settled: the rows that passed ends are gone. gone: no row waits.
	settled, gone bool
}

// notNow is how long a message waits that cannot be tried because of what is in hand.
const notNow = time.Second

// supersedes says that rejected messages wait for newer ones of their keys.
func (f *Flow) supersedes() bool {
	return f.cfg.OnReject == Supersede && f.cfg.Order == ByKey && !f.cfg.Transactions
}

// waits says that a row waits for a newer message of its key. The key of a row that was parked
// under strict order is not known: it waits for nothing.
func (f *Flow) waits(p *store.Park) bool {
	return f.supersedes() && p.State == store.ParkRetrying && !p.Blocking && p.Hash > strictHash
}

// gates says that nothing of the key of a row is sent before the row is settled: its message was rejected,
// and newer ones go on.
func (f *Flow) gates(p *store.Park) bool {
	return f.waits(p) || f.supersedes() && p.State == store.ParkDead && !p.Blocking && p.Hash > strictHash
}

// waitsIn notes that the store has rows of a key that wait, or will have. newest is the seq of
// one of them.
func (s *shard) waitsIn(hash uint64, newest int64) {
	w := s.waiting[hash]
	switch {
	case w == nil:
		if s.waiting == nil {
			s.waiting = make(map[uint64]*waiting)
		}
		s.waiting[hash] = &waiting{newest: newest}
	case w.newest == 0 && !w.gone: // the verdict counts it
	default:
		w.newest, w.gone = max(w.newest, newest), false
	}
}

// draftWaiting notes that a row was drafted, if it waits.
func (f *Flow) draftWaiting(s *shard, p *store.Park) {
	if f.waits(p) {
		s.waitsIn(p.Hash, p.Seq)
	}
	if f.gates(p) {
		f.chainOf(s, p.Hash).gate++
	}
}

// parkedWaiting notes that the row of a message of a window was drafted, if it waits. Its key goes on once
// it is settled.
func (f *Flow) parkedWaiting(s *shard, p *store.Park) {
	if f.waits(p) {
		s.waitsIn(p.Hash, p.Seq)
	}
	f.urgent = f.urgent || f.gates(p)
}

// passedBy notes that a message was delivered that stands in a window, so that what waits of its key is
// not tried any more.
func (s *shard) passedBy(e *entry) {
	if w := s.waiting[e.Hash]; w != nil && e.Seq > w.passed {
		w.passed, w.settled = e.Seq, false
	}
}

// nameNewer has the draft end the rows that wait for a message that it says was delivered.
func (s *shard) nameNewer(hash uint64, seq int64, id postbag.ID) {
	w := s.waiting[hash]
	if w == nil {
		return
	}
	if seq > w.passed {
		w.passed, w.settled = seq, false
	}
	s.draft.name(store.Superseding{Hash: hash, Seq: seq, ID: id})
}

// askNewest has the verdict on the draft say which row of a key is the newest that waits: one of them is
// dead or discarded.
func (s *shard) askNewest(hash uint64, seq int64) {
	w := s.waiting[hash]
	if w == nil {
		return
	}
	if w.newest <= seq {
		w.newest = 0
	}
	s.draft.name(store.Superseding{Hash: hash})
}

// name adds a key to what the settlement names, or makes its seq the newer one.
func (d *draft) name(k store.Superseding) {
	if i, named := d.named[k.Hash]; named {
		if k.Seq > d.supersede[i].Seq {
			d.supersede[i] = k
		}
		return
	}
	if d.named == nil {
		d.named = make(map[uint64]int)
	}
	d.named[k.Hash] = len(d.supersede)
	d.supersede = append(d.supersede, k)
}

// told takes what a verdict says of the keys that its settlement named.
func (f *Flow) told(s *shard, named []store.Superseding, v *store.Verdict) {
	f.stats.Superseded += v.Superseded
	for i := range named {
		k := &named[i]
		w := s.waiting[k.Hash]
		if w == nil {
			continue
		}
		_, again := s.draft.named[k.Hash]
		newest := int64(0)
		for _, left := range v.Waiting {
			if left.Hash == k.Hash {
				newest = left.Seq
			}
		}
		for j := range s.draft.park { // rows that this settlement did not have
			if p := &s.draft.park[j]; p.Hash == k.Hash && f.waits(p) {
				newest = max(newest, p.Seq)
			}
		}
		w.gone = newest == 0 && !again
		if !again || w.newest != 0 { // else the next verdict tells
			w.newest = newest
		}
		w.settled = k.Seq >= w.passed
		s.overtaken = append(s.overtaken, k.Hash)
	}
}

// endWaiting forgets keys of which no row waits any more, and what was delivered of the others. An
// answer under way may show rows that are gone: it is waited for.
func (s *shard) endWaiting() {
	for _, hash := range s.overtaken {
		w := s.waiting[hash]
		switch {
		case w == nil:
		case w.gone && w.settled:
			delete(s.waiting, hash)
		case w.settled:
			w.passed = 0
		}
	}
	s.overtaken = s.overtaken[:0]
}

// letAhead has messages that stand before e in its chain go on although e is about to be parked, and its key
// waits for its row: that rides in the settlement that passes them.
func (f *Flow) letAhead(e *entry, p store.Park) {
	if f.fill(e, &p); !f.gates(&p) {
		return
	}
	for o := e.chain.head; o != nil && o != e; o = o.next {
		o.gates++
	}
}

// shut says that e, of a chain, is not sent before rows of rejected messages are settled. Without an e it
// says that there are such rows.
func (c *chain) shut(e *entry) bool {
	return c.gate > 0 && (e == nil || c.gate > int(e.gates))
}

// openGates lets keys go on whose rows that wait are settled.
func (f *Flow) openGates(s *shard, parks []store.Park) {
	for i := range parks {
		if p := &parks[i]; f.gates(p) {
			if c := f.chainFor(s, p.Hash); c != nil {
				f.advance(c)
			}
		}
	}
}

// claim takes a message that waits and is due: its row is written as one that blocks, or so that it is
// due later. It says whether it did either.
func (f *Flow) claim(s *shard, m *store.Parked, now time.Duration) bool {
	p := m.Park
	if _, changing := s.changing[p.Seq]; changing || f.hand[p.Seq] != nil || s.overtakenBy(p.Hash, p.Seq) {
		return false
	}
	s.waitsIn(p.Hash, p.Seq)
	w := s.waiting[p.Hash]
	if w.newest == 0 { // the next verdict tells
		return false
	}
	c := f.chainFor(s, p.Hash)
	e := &entry{Record: &m.Record, attempts: m.Attempts, shard: s}
	switch {
	case s.strict, c != nil && c.blocked(), p.Seq < w.newest && !f.tooOld(e, now):
		p.Delay = max(f.pause(f.retryBy(f.ruleOf(e)), max(p.Attempts, 1)), notNow)
	case c != nil && (c.head != nil || c.out > 0), !s.caughtUp():
		p.Delay = notNow
	default:
		p.Delay, p.Blocking = 0, true
	}
	f.draftRow(s, p)
	f.resolve(now, p.Blocking)
	return true
}

// caughtUp says that all was read that an owner before could have sent: a window has been read whole
// that began after the shard came, or the subscription has ended.
func (s *shard) caughtUp() bool {
	return s.group.complete > s.since && len(s.group.arrived) == 0
}

// overtakenBy says that a newer message than a seq was delivered, so that the store ends its row, or has.
func (s *shard) overtakenBy(hash uint64, seq int64) bool {
	w := s.waiting[hash]
	return w != nil && seq < w.passed
}
