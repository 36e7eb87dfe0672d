package sqlitestore

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	"github.com/postbag/postbag/store"
	"github.com/postbag/postbag/store/storekit"
)

// Blocked returns the hashes of a lease's keys that are blocked; see
// [store.Store]. A lease that is another's by now is ErrLeaseLost.
func (s *Store) Blocked(ctx context.Context, l store.Lease) ([]uint64, error) {
	doing := "list the blocked keys of " + l.String()
	held, err := s.row(ctx, sqlHolds, []any{l.Box, l.Subscription, l.Lo, l.Hi, l.Token}, new(int))
	if err == nil && !held {
		err = store.ErrLeaseLost
	}
	if err != nil {
		return nil, translateError(doing, err)
	}
	var id int64
	if _, err := s.row(ctx, sqlSubscription, []any{l.Box, l.Subscription}, &id, new(string)); err != nil {
		return nil, translateError(doing, err)
	}
	var hashes []uint64
	err = s.query(ctx, sqlBlocked, []any{id, l.Lo, l.Hi}, func(rows *sql.Rows) error {
		var chain int64
		err := rows.Scan(&chain)
		hashes = append(hashes, uint64(chain))
		return err
	})
	return hashes, translateError(doing, err)
}

// Due returns parked messages whose time has come; see [store.Due].
func (s *Store) Due(ctx context.Context, d store.Due) ([]store.Parked, error) {
	doing := "list what is due of " + d.String()
	if d.Limit <= 0 || d.Bytes <= 0 || d.Followers < 0 {
		return nil, translateError(doing, fmt.Errorf("limit %d, bytes %d, followers %d; use positive limits",
			d.Limit, d.Bytes, d.Followers))
	}
	q := dueQuery{s: s, due: d, slots: storekit.SlotsOf(d.Slots), now: s.micros(), skip: make(map[int64]bool, len(d.Skip))}
	for _, seq := range d.Skip {
		q.skip[seq] = true
	}
	found, err := s.row(ctx, sqlSubscription, []any{d.Box, d.Subscription}, &q.id, new(string))
	if err == nil && !found {
		err = store.ErrNoSubscription
	}
	if err == nil {
		err = q.run(ctx)
	}
	if err != nil {
		return nil, translateError(doing, err)
	}
	return q.out, nil
}

// dueQuery gathers the answer of one Due. It goes along the index of what may
// be tried, some rows at a time; no statement is open while another runs.
type dueQuery struct {
	s     *Store
	due   store.Due
	id    int64
	now   int64
	slots storekit.SlotSet
	skip  map[int64]bool
	bytes int
	out   []store.Parked
}

// candidate is a row of the index of what may be tried.
type candidate struct {
	seq, ready int64
	slot       int
	chain      sql.NullInt64
}

// duePage is how many candidates are looked at in one statement.
const duePage = 256

func (q *dueQuery) run(ctx context.Context) error {
	after := candidate{ready: -1 << 62}
	for !q.full() {
		page, err := q.candidates(ctx, after)
		if err != nil {
			return err
		}
		for _, c := range page {
			if q.full() {
				return nil
			}
			if !q.skip[c.seq] && q.slots.Contains(c.slot) {
				if err := q.try(ctx, c); err != nil {
					return err
				}
			}
		}
		if len(page) < duePage {
			return nil
		}
		after = page[len(page)-1]
	}
	return nil
}

func (q *dueQuery) full() bool { return len(q.out) >= q.due.Limit || q.bytes >= q.due.Bytes }

func (q *dueQuery) candidates(ctx context.Context, after candidate) ([]candidate, error) {
	var page []candidate
	err := q.s.query(ctx, sqlDue, []any{q.id, q.now, after.ready, after.seq, duePage}, func(rows *sql.Rows) error {
		var c candidate
		err := rows.Scan(&c.seq, &c.slot, &c.ready, &c.chain)
		page = append(page, c)
		return err
	})
	return page, err
}

// try adds a candidate and those that follow it.
func (q *dueQuery) try(ctx context.Context, c candidate) error {
	if err := q.add(ctx, c.seq); err != nil || !c.chain.Valid || q.due.Followers <= 0 {
		return err
	}
	followers, err := q.followers(ctx, c)
	if err != nil {
		return err
	}
	for _, seq := range followers {
		if q.full() {
			return nil
		}
		if err := q.add(ctx, seq); err != nil {
			return err
		}
	}
	return nil
}

// followers returns the seqs right behind the first of a chain that are blocked.
func (q *dueQuery) followers(ctx context.Context, c candidate) ([]int64, error) {
	var seqs []int64
	in := q.rangeOf(c.slot)
	args := []any{q.id, c.chain, c.seq, in.Lo, in.Hi, min(q.due.Followers, q.due.Limit)}
	err := q.s.query(ctx, sqlFollowers, args, func(rows *sql.Rows) error {
		var seq int64
		var state store.ParkState
		if err := rows.Scan(&seq, &state); err != nil {
			return err
		}
		if state != store.Blocked || q.skip[seq] {
			return errEnough
		}
		seqs = append(seqs, seq)
		return nil
	})
	return seqs, err
}

// rangeOf returns the range of the request in which a slot lies.
func (q *dueQuery) rangeOf(slot int) store.Slots {
	for _, r := range q.due.Slots {
		if r.Contains(slot) {
			return r
		}
	}
	return store.AllSlots
}

// add reads one parked message with its bytes.
func (q *dueQuery) add(ctx context.Context, seq int64) error {
	var row recordRow
	var p parkedRow
	var first int64
	dest := append(append(row.dest(false), p.dest()...), &first)
	text := fmt.Sprintf(sqlParked, quoted(q.due.Box))
	found, err := q.s.row(ctx, text, []any{q.id, seq}, dest...)
	if err != nil || !found {
		return err
	}
	slot, hash, err := row.place()
	if err != nil {
		return err
	}
	record, err := row.record(slot, hash)
	if err != nil {
		return err
	}
	p.Seq = seq
	age := max(0, time.Duration(q.now-first)*time.Microsecond)
	q.out = append(q.out, store.Parked{Record: record, Park: p.park(q.now), First: age})
	q.bytes += len(record.Payload)
	return nil
}
