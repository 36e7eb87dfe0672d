package sqlstore

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
	case store.Waiting:
		return sql.NullInt64{Int64: h.due, Valid: true}
	case store.Blocked:
		if h.ready.Valid {
			return h.ready
		}
		return sql.NullInt64{Int64: now, Valid: true}
	default:
		return sql.NullInt64{}
	}
}

// Held returns the topic that a message is held for, as a parked row has it; nil: it
// is not held.
func Held(p *store.Park) any {
	if p.State != store.Held {
		return nil
	}
	return p.Topic
}

// SettleHeads sees to it that of each chain within slots the first row alone has
// a time when it may be tried, and returns the chains that have no row left. id is
// that of the subscription.
func (t *Tx) SettleHeads(id int64, slots store.Slots, touched storekit.Hashes) (cleared []uint64, err error) {
	for hashes := range slices.Chunk(touched.List, max(t.Chains, 1)) {
		heads, err := t.heads(id, slots, hashes)
		if err != nil {
			return nil, err
		}
		var orders []Order
		for _, hash := range hashes {
			h, left := heads[int64(hash)]
			if !left {
				cleared = append(cleared, hash)
				continue
			}
			orders = append(orders, Order{Text: t.Demote, Args: []any{id, int64(hash), h.seq, slots.Lo, slots.Hi}})
			if want := h.want(t.Now); want != h.ready {
				orders = append(orders, Order{Text: SQLReady, Args: []any{want, id, h.seq}})
			}
		}
		if _, err := t.All(orders); err != nil {
			return nil, err
		}
	}
	return cleared, nil
}

// heads returns the first rows of chains that have one.
func (t *Tx) heads(id int64, slots store.Slots, hashes []uint64) (map[int64]head, error) {
	text := strings.Repeat(t.Head+" UNION ALL ", len(hashes)-1) + t.Head
	args := make([]any, 0, 4*len(hashes))
	for _, hash := range hashes {
		args = append(args, id, int64(hash), slots.Lo, slots.Hi)
	}
	heads := make(map[int64]head, len(hashes))
	return heads, t.Query(text, args, func(rows *sql.Rows) error {
		var chain int64
		var h head
		err := rows.Scan(&chain, &h.seq, &h.state, &h.due, &h.ready)
		heads[chain] = h
		return err
	})
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
