package memstore

import (
	"cmp"
	"slices"
	"time"

	"github.com/postbag/postbag/store"
)

// waits says that a row waits for a newer message of its key, see store.Settlement.
func (p *parked) waits() bool {
	return p.park.State == store.ParkRetrying && !p.park.Blocking && p.park.Hash != 0
}

// waiting returns the rows of a hash in r that wait, in the order of seq.
func (l *lot) waitingOf(hash uint64, r store.Slots) []*parked {
	var out []*parked
	for _, p := range l.loose[hash] {
		if p.waits() && r.Contains(p.park.Slot) {
			out = append(out, p)
		}
	}
	slices.SortFunc(out, func(a, b *parked) int { return cmp.Compare(a.park.Seq, b.park.Seq) })
	return out
}

// allWaiting returns what waits of each hash in r.
func (l *lot) allWaiting(r store.Slots) []store.Waiting {
	var out []store.Waiting
	for hash := range l.loose {
		if rows := l.waitingOf(hash, r); len(rows) > 0 {
			out = append(out, store.Waiting{Hash: hash, Seq: rows[len(rows)-1].park.Seq})
		}
	}
	slices.SortFunc(out, func(a, b store.Waiting) int { return cmp.Compare(a.Hash, b.Hash) })
	return out
}

// loosen keeps a row that blocks nothing where its hash finds it.
func (l *lot) loosen(p *parked) {
	if hash := p.park.Hash; hash != 0 && !p.park.Blocking {
		if l.loose[hash] == nil {
			l.loose[hash] = map[int64]*parked{}
		}
		l.loose[hash][p.park.Seq] = p
	}
}

// tighten takes a row away from there.
func (l *lot) tighten(p *parked) {
	rows := l.loose[p.park.Hash]
	if rows == nil || p.park.Blocking {
		return
	}
	delete(rows, p.park.Seq)
	if len(rows) == 0 {
		delete(l.loose, p.park.Hash)
	}
}

// supersede removes rows that wait for the messages that st names, but for those that are left out, and returns how
// many. If there are more than most, it says so, and some are there yet.
func (sub *subscription) supersede(st store.Settlement, most int64, without map[int64]bool, now time.Time) (n int64, more bool) {
	for _, k := range st.Supersede {
		for _, p := range sub.lot.waitingOf(k.Hash, st.Slots) {
			switch {
			case p.park.Seq >= k.Seq || without[p.park.Seq]:
				continue
			case n == most:
				return n, true
			}
			n++
			sub.supersedeBy(p, k, now)
		}
	}
	return n, false
}

// supersedeBy removes a row, and says by which message.
func (sub *subscription) supersedeBy(p *parked, k store.Superseding, now time.Time) {
	seq := p.park.Seq
	why := store.SupersededReason(k.Seq, k.ID)
	p.history = append(p.history, store.Attempt{At: now, State: store.ParkSuperseded, Reason: why})
	p.history = p.history[max(0, len(p.history)-maxHistory):]
	sub.resolve(seq, now)
	p.park.Reason = why
	if !p.copied {
		sub.past[seq] = p
	}
	sum := sumOf(p.row)
	parked, superseded := tallyKey{spanOf(seq), store.TallyParked}, tallyKey{spanOf(seq), store.TallySuperseded}
	sub.tallies[parked] = sub.tallies[parked].sub(sum)
	sub.tallies[superseded] = sub.tallies[superseded].add(sum)
}

// waitingOf returns what waits of the hashes that st names.
func (sub *subscription) waitingOf(st store.Settlement) []store.Waiting {
	var out []store.Waiting
	for _, k := range st.Supersede {
		if rows := sub.lot.waitingOf(k.Hash, st.Slots); len(rows) > 0 {
			out = append(out, store.Waiting{Hash: k.Hash, Seq: rows[len(rows)-1].park.Seq})
		}
	}
	return out
}
