package sqlkit

import (
	"database/sql"
	"slices"
	"strings"

	"github.com/postbag/postbag/store"
	"github.com/postbag/postbag/store/storekit"
)

// head is the first parked message of a chain.
type head struct {
	seq   int64
	state store.ParkState
	due   int64
	ready sql.NullInt64
}

// want returns when the head may be tried: at its time, at once, or not at all.
func (h head) want(now int64) sql.NullInt64 {
	switch h.state {
	case store.ParkRetrying:
		return sql.NullInt64{Int64: h.due, Valid: true}
	case store.ParkBlocked:
		if h.ready.Valid {
			return h.ready
		}
		return sql.NullInt64{Int64: now, Valid: true}
	default:
		return sql.NullInt64{}
	}
}

// ParkArgs are the arguments of a statement that writes a parked row, at a time in
// microseconds: id is the subscription's, then come seq, slot, hash, state, chain,
// attempts, due, ready, the time, reason and topic. A row that others wait behind gets
// its time when it is found to be the first of its chain.
func ParkArgs(now, id int64, p *store.Park) []any {
	var due, chain, ready any = now, nil, nil
	if p.State == store.ParkRetrying {
		due = now + max(p.Delay, 0).Microseconds()
	}
	switch {
	case p.Blocking && p.Hash != 0:
		chain = int64(p.Hash)
	case p.State == store.ParkRetrying, p.State == store.ParkBlocked:
		ready = due
	}
	return []any{id, p.Seq, p.Slot, int64(p.Hash), int(p.State), chain, p.Attempts, due, ready, now, storekit.Reason(p.Reason), held(p)}
}

// held returns the topic that a message is held for, as a parked row has it; nil: it
// is not held.
func held(p *store.Park) any {
	if p.State != store.ParkHeld {
		return nil
	}
	return p.Topic
}

// SettleHeads gives the first row of each chain within slots a time when it may be tried,
// and takes the time from all others. It returns the chains that have no row left. id is
// that of the subscription.
func (t *Tx) SettleHeads(id int64, slots store.Slots, touched storekit.Hashes) (cleared []uint64, err error) {
	for hashes := range slices.Chunk(touched.List, t.chainsAtOnce()) {
		heads, err := t.heads(id, slots, hashes)
		if err != nil {
			return nil, err
		}
		hashes = slices.DeleteFunc(slices.Clone(hashes), func(hash uint64) bool {
			_, left := heads[int64(hash)]
			if !left {
				cleared = append(cleared, hash)
			}
			return !left
		})
		if _, err := t.All(t.firsts(id, slots, hashes, heads)); err != nil {
			return nil, err
		}
	}
	return cleared, nil
}

// firsts returns what has the heads of chains have their times, and no other row of them.
func (t *Tx) firsts(id int64, slots store.Slots, hashes []uint64, heads map[int64]head) (orders []Order) {
	if len(hashes) == 0 {
		return nil
	}
	chains, seqs := []any{id}, make([]any, 0, len(hashes))
	var times, late []any
	for _, hash := range hashes {
		h := heads[int64(hash)]
		chains, seqs = append(chains, int64(hash)), append(seqs, h.seq)
		if want := h.want(t.Now); want != h.ready {
			times, late = append(times, h.seq, want), append(late, h.seq)
		}
	}
	orders = append(orders, Order{Text: inLists(t.Demote, len(seqs)), Args: append(append(chains, seqs...), slots.Lo, slots.Hi)})
	if len(late) > 0 {
		text := strings.Replace(SQLReady, "{times}", strings.Repeat("WHEN ? THEN ? ", len(late)), 1)
		orders = append(orders, Order{Text: inLists(text, len(late)), Args: append(append(times, id), late...)})
	}
	return orders
}

// inLists is a statement with n placeholders in each of its lists.
func inLists(text string, n int) string {
	return strings.ReplaceAll(text, "{list}", strings.Repeat("?, ", n-1)+"?")
}

// manyChains bounds the chains that are asked for with Heads.
const manyChains = 500

func (t *Tx) chainsAtOnce() int {
	if t.Heads != "" {
		return manyChains
	}
	return max(t.Chains, 1)
}

// heads returns the first rows of chains that have one.
func (t *Tx) heads(id int64, slots store.Slots, hashes []uint64) (map[int64]head, error) {
	heads := make(map[int64]head, len(hashes))
	rest := hashes
	if t.Heads != "" && len(hashes) > 1 {
		var err error
		if rest, err = t.shortChains(id, slots, hashes, heads); err != nil {
			return nil, err
		}
	}
	for some := range slices.Chunk(rest, max(t.Chains, 1)) {
		text := strings.Repeat(t.Head+" UNION ALL ", len(some)-1) + t.Head
		args := make([]any, 0, 4*len(some))
		for _, hash := range some {
			args = append(args, id, int64(hash), slots.Lo, slots.Hi)
		}
		if err := t.Query(text, args, func(r *sql.Rows) error { _, err := addHead(r, heads); return err }); err != nil {
			return nil, err
		}
	}
	return heads, nil
}

// shortChains goes along all rows of chains, whose first ones it puts into heads, until
// there are several a chain. It returns the chains that it has not reached: those that
// are long are better asked for one by one.
func (t *Tx) shortChains(id int64, slots store.Slots, hashes []uint64, heads map[int64]head) ([]uint64, error) {
	limit, rows, last := 4*len(hashes), 0, int64(0)
	args := make([]any, 0, len(hashes)+4)
	args = append(args, id)
	for _, hash := range hashes {
		args = append(args, int64(hash))
	}
	err := t.Query(inLists(t.Heads, len(hashes)), append(args, slots.Lo, slots.Hi, limit), func(r *sql.Rows) (err error) {
		rows++
		last, err = addHead(r, heads)
		return err
	})
	if err != nil || rows < limit {
		return nil, err
	}
	return slices.DeleteFunc(slices.Clone(hashes), func(hash uint64) bool { return int64(hash) <= last }), nil
}

// addHead adds a row to the heads of chains, unless an earlier one of its chain is there.
func addHead(rows *sql.Rows, heads map[int64]head) (chain int64, err error) {
	var h head
	err = rows.Scan(&chain, &h.seq, &h.state, &h.due, &h.ready)
	if _, there := heads[chain]; !there {
		heads[chain] = h
	}
	return chain, err
}

// spread returns the chains that have rows in more than one slot: those of one
// hash that were in two shards may be one chain in a new shard, or the reverse.
// All others have the same first row in whatever shard has their slot.
func (t *Tx) spread(id int64) (storekit.Hashes, error) {
	return chains(t.Query, sqlSpread, id)
}

// ChainsOf returns the chains that have a row within slots.
func ChainsOf(query Querier, id int64, slots store.Slots) (storekit.Hashes, error) {
	return chains(query, sqlChains, id, slots.Lo, slots.Hi)
}

func chains(query Querier, text string, args ...any) (storekit.Hashes, error) {
	var c storekit.Hashes
	err := query(text, args, func(rows *sql.Rows) error {
		var chain int64
		err := rows.Scan(&chain)
		c.Add(uint64(chain))
		return err
	})
	return c, err
}
