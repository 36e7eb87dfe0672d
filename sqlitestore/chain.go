package sqlitestore

import (
	"database/sql"
	"slices"

	"github.com/postbag/postbag/store"
)

// chains is a set of key hashes, in the order in which they came.
type chains struct {
	list []uint64
	has  map[uint64]bool
}

func (c *chains) add(hash uint64) {
	if hash == 0 || c.has[hash] {
		return
	}
	if c.has == nil {
		c.has = make(map[uint64]bool)
	}
	c.has[hash] = true
	c.list = append(c.list, hash)
}

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
func (t *transaction) settleHeads(id int64, slots store.Slots, touched chains) (cleared []uint64, err error) {
	for _, hash := range touched.list {
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
func (t *transaction) chainsOf(id int64, slots store.Slots) (chains, error) {
	var c chains
	err := t.query(sqlChains, []any{id, slots.Lo, slots.Hi}, func(rows *sql.Rows) error {
		var chain int64
		err := rows.Scan(&chain)
		c.add(uint64(chain))
		return err
	})
	return c, err
}

// slotSet is the slots of a request.
type slotSet struct {
	ranges []store.Slots
	all    bool
}

// slotsOf joins ranges that touch or overlap.
func slotsOf(ranges []store.Slots) slotSet {
	sorted := slices.Clone(ranges)
	slices.SortFunc(sorted, func(a, b store.Slots) int { return a.Lo - b.Lo })
	var joined []store.Slots
	for _, r := range sorted {
		if n := len(joined); n > 0 && r.Lo <= joined[n-1].Hi {
			joined[n-1].Hi = max(joined[n-1].Hi, r.Hi)
		} else {
			joined = append(joined, r)
		}
	}
	all := len(joined) == 1 && joined[0].Lo <= 0 && joined[0].Hi >= store.SlotCount
	return slotSet{ranges: joined, all: all}
}

func (s slotSet) contains(slot int) bool {
	if s.all {
		return true
	}
	for _, r := range s.ranges {
		if r.Contains(slot) {
			return true
		}
	}
	return false
}
