package sqlkit

import (
	"database/sql"
	"encoding/binary"
	"slices"

	"github.com/postbag/postbag/store"
	"github.com/postbag/postbag/store/storekit"
)

// Rejected messages that wait until a newer one of their key is delivered.
const (
	// SQLWaitingBelow returns the rows of a hash that wait, with a lower seq: a range of the index of hashes. Locks.
	SQLWaitingBelow = `
SELECT seq, attempts, history FROM postbag__parked
WHERE subscription = ? AND hash = ? AND seq < ? AND state = 1 AND chain IS NULL AND hash <> 0 AND slot >= ? AND slot < ?`

	// SQLWaitingNewest returns the newest row of a hash that waits: the end of a range of the index of hashes.
	SQLWaitingNewest = `
SELECT seq FROM postbag__parked
WHERE subscription = ? AND hash = ? AND state = 1 AND chain IS NULL AND hash <> 0 AND slot >= ? AND slot < ? ORDER BY seq DESC LIMIT 1`

	// SQLWaiting returns the rows of a shard that wait: a range of the index of states, or of hashes if that has waiting
	// rows only.
	SQLWaiting = `
SELECT hash, seq FROM postbag__parked
WHERE subscription = ? AND state = 1 AND chain IS NULL AND hash <> 0 AND slot >= ? AND slot < ?`

	// By primary key, the first three. The unique (subscription, seq, kind).
	sqlIDsOf           = `SELECT seq, id FROM {box} WHERE seq IN ({list})`
	sqlPastSuperseded  = `REPLACE INTO postbag__past (subscription, seq, attempts, reason, history) VALUES (?, ?, ?, ?, ?)`
	sqlEndSuperseded   = `DELETE FROM postbag__parked WHERE subscription = ? AND seq = ?`
	sqlCloseSuperseded = `DELETE FROM postbag__command WHERE subscription = ? AND seq = ?`
)

// Supersede removes the rows that wait for the messages that a settlement names, and counts them in sums, in the
// lines of a shard. It returns how many they are. id is that of the subscription.
func (t *Tx) Supersede(id, shard int64, s *store.Settlement, sums storekit.Tallies) (n int64, err error) {
	for i := range s.Supersede {
		k := &s.Supersede[i]
		if k.Seq == 0 {
			continue
		}
		orders, seqs, err := t.superseded(id, s.Slots, k)
		if err != nil {
			return n, err
		}
		for some := range slices.Chunk(seqs, manyChains) {
			if err := t.tallySuperseded(id, shard, s.Box, some, sums); err != nil {
				return n, err
			}
		}
		if _, err := t.All(orders); err != nil {
			return n, err
		}
		n += int64(len(seqs))
	}
	return n, nil
}

// superseded returns what ends the rows that wait for a message, and their seqs.
func (t *Tx) superseded(id int64, slots store.Slots, k *store.Superseding) (orders []Order, seqs []int64, err error) {
	why := storekit.Reason(store.SupersededReason(k.Seq, k.ID))
	err = t.Query(SQLWaitingBelow+t.Lock, []any{id, int64(k.Hash), k.Seq, slots.Lo, slots.Hi}, func(rows *sql.Rows) error {
		var seq, attempts int64
		var history string
		if err := rows.Scan(&seq, &attempts, &history); err != nil {
			return err
		}
		history, err := storekit.WithAttempt(history, t.Now, store.ParkSuperseded, why)
		seqs = append(seqs, seq)
		orders = append(orders, Order{Text: sqlPastSuperseded, Args: []any{id, seq, attempts, why, history}},
			Order{Text: sqlEndSuperseded, Args: []any{id, seq}}, Order{Text: sqlCloseSuperseded, Args: []any{id, seq}})
		return err
	})
	return orders, seqs, err
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
