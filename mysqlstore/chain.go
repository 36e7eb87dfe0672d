package mysqlstore

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

// headsAtATime is how many chains one statement asks for.
const headsAtATime = 100

// settleHeads sees to it that of each chain within slots the first row alone has
// a time when it may be tried, and returns the chains that have no row left.
func (t *transaction) settleHeads(id int64, slots store.Slots, touched storekit.Hashes) (cleared []uint64, err error) {
	for hashes := range slices.Chunk(touched.List, headsAtATime) {
		heads, err := t.heads(id, slots, hashes)
		if err != nil {
			return nil, err
		}
		var orders []order
		for _, hash := range hashes {
			h, left := heads[int64(hash)]
			if !left {
				cleared = append(cleared, hash)
				continue
			}
			orders = append(orders, order{text: sqlDemote, args: []any{id, int64(hash), h.seq, slots.Lo, slots.Hi}})
			if want := h.want(t.now); want != h.ready {
				orders = append(orders, order{text: sqlReady, args: []any{want, id, h.seq}})
			}
		}
		if _, err := t.all(orders); err != nil {
			return nil, err
		}
	}
	return cleared, nil
}

// heads returns the first rows of chains that have one.
func (t *transaction) heads(id int64, slots store.Slots, hashes []uint64) (map[int64]head, error) {
	text := strings.Repeat(sqlHead+" UNION ALL ", len(hashes)-1) + sqlHead
	var args []any
	for _, hash := range hashes {
		args = append(args, id, int64(hash), slots.Lo, slots.Hi)
	}
	heads := make(map[int64]head, len(hashes))
	return heads, t.query(text, args, func(rows *sql.Rows) error {
		var chain int64
		var h head
		err := rows.Scan(&chain, &h.seq, &h.state, &h.due, &h.ready)
		heads[chain] = h
		return err
	})
}

// chainsOf returns the chains that have a row within slots.
func chainsOf(query querier, id int64, slots store.Slots) (storekit.Hashes, error) {
	var c storekit.Hashes
	err := query(sqlChains, []any{id, slots.Lo, slots.Hi}, func(rows *sql.Rows) error {
		var chain int64
		err := rows.Scan(&chain)
		c.Add(uint64(chain))
		return err
	})
	return c, err
}
