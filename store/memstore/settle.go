package memstore

import (
	"time"

	"github.com/postbag/postbag/store"
	"github.com/postbag/postbag/store/storekit"
)

// settle carries out one settlement, if its lease stands. sub is nil when there
// is no such subscription. The caller holds s.mu.
func (s *Store) settle(sub *subscription, st store.Settlement, now time.Time) store.Verdict {
	if sub == nil {
		return store.Verdict{}
	}
	sh := sub.shard(st.Slots)
	switch {
	case sh == nil || sh.token != st.Token || st.Token == 0:
		return store.Verdict{}
	case sh.version == st.Version:
		sub.apply(st, now)
		s.flush()
		sh.version++
		sh.settledUnder = st.Token
		if st.To != "" {
			sh.position = st.To
		}
	case sh.version != st.Version+1 || sh.settledUnder != st.Token:
		return store.Verdict{}
	}
	return store.Verdict{Applied: true, Cleared: sub.cleared(st)}
}

// apply writes what st says but for the shard's own row.
func (sub *subscription) apply(st store.Settlement, now time.Time) {
	sub.done(st.Done)
	discarding := storekit.Discarding(st.Done)
	for _, k := range st.Park {
		sub.lot.park(k, sub.box.log.at(k.Seq), now)
	}
	for _, r := range st.Resolve {
		if sub.lot.resolve(r.Seq, now) != nil && discarding[r.Seq] {
			sub.discarded[r.Seq] = struct{}{}
		}
	}
	sub.tally(st.Tally)
}

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
