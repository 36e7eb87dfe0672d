package sqlitestore

import (
	"database/sql"

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

// settleHeads sees to it that of each chain within slots the first row alone has
// a time when it may be tried, and returns the chains that have no row left.
func (t *transaction) settleHeads(id int64, slots store.Slots, touched storekit.Hashes) (cleared []uint64, err error) {
	for _, hash := range touched.List {
		left, err := t.settleHead(id, slots, int64(hash))
		if err != nil {
			return nil, err
		}
		if !left {
			cleared = append(cleared, hash)
		}
	}
	return cleared, nil
}

func (t *transaction) settleHead(id int64, slots store.Slots, chain int64) (left bool, err error) {
	var h head
	left, err = t.row(sqlHead, []any{id, chain, slots.Lo, slots.Hi}, &h.seq, &h.state, &h.due, &h.ready)
	if err != nil || !left {
		return left, err
	}
	if _, err := t.exec(sqlDemote, id, chain, h.seq, slots.Lo, slots.Hi); err != nil {
		return left, err
	}
	if want := h.want(t.now); want != h.ready {
		_, err = t.exec(sqlReady, id, h.seq, want)
	}
	return left, err
}

// chainsOf returns the chains that have a row within slots.
func (t *transaction) chainsOf(id int64, slots store.Slots) (storekit.Hashes, error) {
	var c storekit.Hashes
	err := t.query(sqlChains, []any{id, slots.Lo, slots.Hi}, func(rows *sql.Rows) error {
		var chain int64
		err := rows.Scan(&chain)
		c.Add(uint64(chain))
		return err
	})
	return c, err
}
