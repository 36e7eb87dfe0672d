package sqlkit

import (
	"cmp"
	"database/sql"
	"encoding/binary"
	"math"
	"slices"

	"github.com/postbag/postbag/store"
	"github.com/postbag/postbag/store/storekit"
)

// Rejected messages that wait until a newer one of their key is delivered.
const (
	// SQLWaitingNewest returns the newest row of a hash that waits: the end of a range of the index of hashes.
	SQLWaitingNewest = `
SELECT seq FROM postbag__parked
WHERE subscription = ? AND hash = ? AND state = 1 AND chain IS NULL AND hash <> 0 AND slot >= ? AND slot < ? ORDER BY seq DESC LIMIT 1`

	// SQLWaiting returns the rows of a shard that wait: a range of the index of states, or of hashes if that has waiting
	// rows only.
	SQLWaiting = `
SELECT hash, seq FROM postbag__parked
WHERE subscription = ? AND state = 1 AND chain IS NULL AND hash <> 0 AND slot >= ? AND slot < ?`

	// By primary key: whether a lease stands, and its settlement was not made yet.
	sqlUnsettled = `SELECT 1 FROM postbag__shard WHERE subscription = ? AND lo = ? AND hi = ? AND token = ? AND version = ?`

	// By primary key, the first three. The unique (subscription, seq, kind).
	sqlIDsOf           = `SELECT seq, id FROM {box} WHERE seq IN ({list})`
	sqlPastSuperseded  = `REPLACE INTO postbag__past (subscription, seq, attempts, reason, history) VALUES (?, ?, ?, ?, ?)`
	sqlEndSuperseded   = `DELETE FROM postbag__parked WHERE subscription = ? AND seq = ?`
	sqlCloseSuperseded = `DELETE FROM postbag__command WHERE subscription = ? AND seq = ?`
)

// superseding is how a settlement supersedes.
type superseding struct {
	*store.Settlement

	id, shard int64          // of the subscription, and of the lines in the ledger
	most      int64          // rows, or fewer
	without   map[int64]bool // seqs of rows that stay
}

// SupersedeFirst removes rows that wait for the messages that a settlement names, before it is applied, as many as one
// may. id is that of the subscription, shard that of its lines in the ledger. If there are more, v says so, and nothing
// else of the settlement is to be written. Nothing is removed if it will not be applied.
func (t *Tx) SupersedeFirst(id, shard int64, s *store.Settlement, sums storekit.Tallies, v *store.Verdict) error {
	if len(s.Supersede) == 0 {
		return nil
	}
	if ours, err := t.Row(sqlUnsettled+t.Lock, []any{id, s.Lo, s.Hi, s.Token, s.Version}, new(int)); err != nil || !ours {
		return err
	}
	most := cmp.Or(t.MostSuperseded, store.MostSuperseded)
	n, more, err := t.supersede(&superseding{s, id, shard, most, storekit.Rewritten(s)}, sums)
	v.Superseded, v.More = n, more
	return err
}

// SupersedeLast removes what is left of them after the settlement was applied: rows that it wrote itself.
func (t *Tx) SupersedeLast(id, shard int64, s *store.Settlement, sums storekit.Tallies, v *store.Verdict) error {
	n, _, err := t.supersede(&superseding{s, id, shard, math.MaxInt32, nil}, sums)
	v.Superseded += n
	return err
}

// supersede removes the rows, and counts them in sums. It returns how many they are, and whether there are more.
func (t *Tx) supersede(s *superseding, sums storekit.Tallies) (n int64, more bool, err error) {
	for i := range s.Supersede {
		k := &s.Supersede[i]
		if k.Seq == 0 {
			continue
		}
		orders, seqs, more, err := t.superseded(s, s.most-n, k)
		if err != nil {
			return n, false, err
		}
		for some := range slices.Chunk(seqs, manyChains) {
			if err := t.tallySuperseded(s.id, s.shard, s.Box, some, sums); err != nil {
				return n, false, err
			}
		}
		if _, err := t.All(orders); err != nil {
			return n, false, err
		}
		if n += int64(len(seqs)); more {
			return n, true, nil
		}
	}
	return n, false, nil
}

// superseded returns what ends the rows that wait for a message, and their seqs, and whether there are more than most.
func (t *Tx) superseded(s *superseding, most int64, k *store.Superseding) (orders []Order, seqs []int64, more bool, err error) {
	why := storekit.Reason(store.SupersededReason(k.Seq, k.ID))
	args := []any{s.id, int64(k.Hash), k.Seq, s.Lo, s.Hi, most + 1 + int64(len(s.without))}
	err = t.Query(t.WaitingBelow+t.Lock, args, func(rows *sql.Rows) error {
		var seq, attempts int64
		var history string
		if err := rows.Scan(&seq, &attempts, &history); err != nil || s.without[seq] {
			return err
		}
		if more = int64(len(seqs)) == most; more {
			return nil
		}
		history, err := storekit.WithAttempt(history, t.Now, store.ParkSuperseded, why)
		seqs = append(seqs, seq)
		orders = append(orders, Order{Text: sqlPastSuperseded, Args: []any{s.id, seq, attempts, why, history}},
			Order{Text: sqlEndSuperseded, Args: []any{s.id, seq}}, Order{Text: sqlCloseSuperseded, Args: []any{s.id, seq}})
		return err
	})
	return orders, seqs, more, err
}

// tallySuperseded counts messages as superseded that were parked.
func (t *Tx) tallySuperseded(id, shard int64, box string, seqs []int64, sums storekit.Tallies) error {
	args := make([]any, len(seqs))
	for i, seq := range seqs {
		args[i] = seq
	}
	return t.Query(t.In(box, inLists(sqlIDsOf, len(seqs))), args, func(rows *sql.Rows) error {
		var seq int64
		var message []byte
		if err := rows.Scan(&seq, &message); err != nil {
			return err
		}
		y := store.Tally{Span: (seq - 1) / store.TallySpan, Fate: store.TallySuperseded, Count: 1, SeqSum: uint64(seq)}
		if len(message) == 16 {
			y.IDSum = binary.BigEndian.Uint64(message[8:])
		}
		sums.Add(id, shard, []store.Tally{y, {Span: y.Span, Fate: store.TallyParked, Count: -1, SeqSum: -y.SeqSum, IDSum: -y.IDSum}})
		return nil
	})
}

// StillWaiting returns what waits of the keys that a settlement names.
func (t *Tx) StillWaiting(id int64, s *store.Settlement) (out []store.Waiting, err error) {
	for _, k := range s.Supersede {
		w := store.Waiting{Hash: k.Hash}
		there, err := t.Row(SQLWaitingNewest, []any{id, int64(k.Hash), s.Lo, s.Hi}, &w.Seq)
		if err != nil {
			return nil, err
		}
		if there {
			out = append(out, w)
		}
	}
	return out, nil
}

// waitingOf returns what waits of the keys within slots.
func waitingOf(query Querier, id int64, slots store.Slots) (out []store.Waiting, err error) {
	newest := map[uint64]int64{}
	err = query(SQLWaiting, []any{id, slots.Lo, slots.Hi}, func(rows *sql.Rows) error {
		var hash, seq int64
		err := rows.Scan(&hash, &seq)
		newest[uint64(hash)] = max(newest[uint64(hash)], seq)
		return err
	})
	for hash, seq := range newest {
		out = append(out, store.Waiting{Hash: hash, Seq: seq})
	}
	return out, err
}
