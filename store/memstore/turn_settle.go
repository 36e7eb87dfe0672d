package memstore

import (
	"math"
	"slices"
	"time"

	"github.com/postbag/postbag/store"
	"github.com/postbag/postbag/store/storekit"
)

// settle carries out one settlement, if its lease stands. sub is nil when there
// is no such subscription. It supersedes most rows before it applies it. The caller holds s.mu.
func (s *Store) settle(sub *subscription, st store.Settlement, most int64, now time.Time) store.Verdict {
	if sub == nil {
		return store.Verdict{}
	}
	sh := sub.shard(st.Slots)
	var unwritten error
	superseded := int64(0)
	switch {
	case sh == nil || sh.token != st.Token || st.Token == 0:
		return store.Verdict{}
	case sh.version == st.Version:
		n, more := sub.supersede(st, most, storekit.Rewritten(&st), now)
		if more {
			s.flush()
			return store.Verdict{More: true, Superseded: n}
		}
		superseded = n
		sub.apply(st, now)
		unwritten = s.letters(sub, &st, now)
		n, _ = sub.supersede(st, math.MaxInt64, nil, now) // what it parked itself
		superseded += n
		s.flush()
		sh.version++
		sh.settledUnder = st.Token
		if st.To != "" {
			sh.position = st.To
		}
	case sh.version != st.Version+1 || sh.settledUnder != st.Token:
		return store.Verdict{}
	}
	return store.Verdict{Applied: true, Cleared: sub.cleared(st), Letters: unwritten, Superseded: superseded, Waiting: sub.waitingOf(st)}
}

// apply writes what st says but for the shard's own row.
func (sub *subscription) apply(st store.Settlement, now time.Time) {
	sub.done(st.Done)
	discarding := storekit.Discarding(st.Done)
	for _, k := range st.Park {
		sub.park(k, now)
	}
	for _, r := range st.Resolve {
		if !sub.resolve(r.Seq, now) {
			delete(discarding, r.Seq)
		}
	}
	for seq := range discarding {
		if sub.lot.bySeq[seq] == nil && sub.box.log.at(seq) != nil {
			sub.discarded[seq] = struct{}{}
		}
	}
	sub.tally(st.Tally)
}

// park writes a parked row. One that was resolved before, and is parked again because
// positions were set back, has the history that it had.
func (sub *subscription) park(k store.Park, now time.Time) {
	if p := sub.past[k.Seq]; p != nil && sub.lot.bySeq[k.Seq] == nil {
		delete(sub.past, k.Seq)
		sub.lot.park(k, p.row, now)
		if again := sub.lot.bySeq[k.Seq]; again != nil {
			again.history = append(slices.Clone(p.history), again.history...)
			again.history = again.history[max(0, len(again.history)-maxHistory):]
		}
		return
	}
	sub.lot.park(k, sub.box.log.at(k.Seq), now)
}

// resolve removes a parked row and the commands about it, and says whether it was there. What it
// tells of errors is kept as long as the message is in the log.
func (sub *subscription) resolve(seq int64, now time.Time) bool {
	p := sub.lot.resolve(seq, now)
	if p == nil {
		return false
	}
	sub.endAll(seq)
	if p.failed() && !p.copied {
		sub.past[seq] = p
	}
	return true
}

// failed says whether something of p is worth keeping.
func (p *parked) failed() bool { return p.park.Attempts > 0 || p.park.Reason != "" }

// cleared returns the hashes, of those that st parked or resolved, that block
// nothing any more.
func (sub *subscription) cleared(st store.Settlement) []uint64 {
	var out []uint64
	seen := map[uint64]bool{0: true}
	look := func(hash uint64) {
		if !seen[hash] {
			seen[hash] = true
			if sub.lot.clear(hash, st.Slots) {
				out = append(out, hash)
			}
		}
	}
	for _, k := range st.Park {
		look(k.Hash)
	}
	for _, r := range st.Resolve {
		look(r.Hash)
	}
	return out
}
