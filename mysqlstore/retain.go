package mysqlstore

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"time"

	"github.com/postbag/postbag/store"
)

// sweepRows is how many rows of the log one transaction looks at to delete them.
const sweepRows = 2000

// tombstoneKeep is how long a tombstone stays: a statement that was given its seq
// and has not written it after that long could write it then, unseen.
const tombstoneKeep = 24 * time.Hour

// reader is a subscription that retention waits for.
type reader struct {
	store.Ref

	id      int64
	started int64  // its ledger begins after this seq
	at      survey // how far its ledger was compared
	shards  []standing
}

// standing is a shard and what it has passed.
type standing struct {
	slots store.Slots
	at    position
}

// floor returns the seq up to which all shards have passed everything.
func (r *reader) floor() int64 {
	floor := r.shards[0].at.floor()
	for i := range r.shards[1:] {
		floor = min(floor, r.shards[1+i].at.floor())
	}
	return floor
}

// passed says whether the shard of a slot has passed a seq.
func (r *reader) passed(seq int64, slot int) bool {
	for i := range r.shards {
		if r.shards[i].slots.Contains(slot) {
			return r.shards[i].at.passed(seq)
		}
	}
	return false
}

// retain deletes what every subscription had passed Keep ago.
func (m *maintenance) retain(ctx context.Context) error {
	readers, err := readersOf(m.s.query(ctx), m.Box)
	if err != nil || len(readers) == 0 {
		return err
	}
	floor := floorOf(readers)
	to, err := m.passedLongEnough(ctx, floor)
	if err != nil {
		return err
	}
	last, err := lastSeq(m.s.query(ctx), m.Box)
	if err != nil {
		return err
	}
	to = min(to, last-1) // the last row always stays
	swept, err := swept(m.s.query(ctx), m.Box)
	if err == nil && len(m.parts) > 0 {
		err = m.dropPassed(ctx, swept)
	}
	if err != nil || to <= swept {
		return err
	}
	for i := range readers {
		agreed, err := m.verify(ctx, &readers[i], to)
		if err != nil {
			return err
		}
		to = min(to, agreed)
	}
	if len(m.parts) > 0 {
		return m.retainParts(ctx, swept, to, floor)
	}
	_, err = m.sweepTo(ctx, swept, to)
	return err
}

// sweepTo deletes rows from after swept up to to, and returns how far it got.
func (m *maintenance) sweepTo(ctx context.Context, swept, to int64) (int64, error) {
	for swept < to && !m.late() {
		began := time.Now()
		var err error
		if swept, err = m.sweep(ctx, swept, to); err != nil {
			return swept, err
		}
		m.rest(ctx, time.Since(began))
	}
	return swept, nil
}

// readersOf returns the subscriptions of a box but for that of maintenance.
func readersOf(query querier, box string) ([]reader, error) {
	var out []reader
	err := query(sqlReaders, []any{box}, func(rows *sql.Rows) error {
		r := reader{Ref: store.Ref{Box: box}}
		var h standing
		var text []byte
		err := rows.Scan(&r.id, &r.Subscription, &r.started, &r.at.span, &r.at.upto, &r.at.agreed,
			&r.at.Count, &r.at.Seqs, &r.at.IDs, &h.slots.Lo, &h.slots.Hi, &text)
		if err != nil {
			return err
		}
		if h.at, err = decodePosition(store.Position(text)); err != nil {
			return fmt.Errorf("shard %s of %s: %w", h.slots, r.Ref, err)
		}
		if n := len(out); n == 0 || out[n-1].id != r.id {
			out = append(out, r)
		}
		last := &out[len(out)-1]
		last.shards = append(last.shards, h)
		return nil
	})
	return out, err
}

// floorOf returns the seq that all readers have passed. There is one or more.
func floorOf(readers []reader) int64 {
	floor := readers[0].floor()
	for i := range readers {
		floor = min(floor, readers[i].floor())
	}
	return floor
}

// passedLongEnough returns the seq that all had passed Keep ago. It notes the
// floor now and then, so that there are about a hundred notes for all of Keep.
func (m *maintenance) passedLongEnough(ctx context.Context, floor int64) (int64, error) {
	if m.Keep <= 0 {
		return floor, nil
	}
	now, err := m.s.now(ctx)
	if err != nil {
		return 0, err
	}
	keep := m.Keep.Microseconds()
	var noted, at sql.NullInt64
	if _, err := m.s.row(ctx, sqlLastFloor, []any{m.Box}, &noted, &at); err != nil {
		return 0, err
	}
	step := min(keep/128, time.Minute.Microseconds())
	if floor > noted.Int64 && now-at.Int64 >= step {
		err := m.write(ctx, func(t *transaction) error {
			_, err := t.exec(sqlNoteFloor, m.Box, floor, now)
			return err
		})
		if err != nil {
			return 0, err
		}
	}
	return m.passedBefore(ctx, floor, now-keep)
}

// passedBefore returns the seq that all had passed at a time, as it was noted.
func (m *maintenance) passedBefore(ctx context.Context, floor, at int64) (int64, error) {
	var old sql.NullInt64
	_, err := m.s.row(ctx, sqlFloorAt, []any{m.Box, at}, &old)
	return min(old.Int64, floor), err
}

// sweep deletes some rows from after swept up to to, and returns how far it got.
// In the transaction of the deletion it looks again at what keeps a row: that it
// is parked, and where the subscriptions are, since one may be new.
func (m *maintenance) sweep(ctx context.Context, swept, to int64) (end int64, err error) {
	var gone, stay int64
	passed, err := m.pass(ctx, to, func(t *transaction) (int64, error) {
		var err error
		if end, err = nth(t.query, m.Box, swept, to, sweepRows); err != nil {
			return swept, err
		}
		gone, stay, err = m.remove(t, swept, end)
		return end, err
	})
	if err != nil || !passed {
		return to, err
	}
	m.report.Deleted += gone
	m.report.Copied += stay
	return end, nil
}

// pass lets the log begin after the seq that fn returns, in fn's transaction, if all
// subscriptions have passed to: none can be declared meanwhile.
func (m *maintenance) pass(ctx context.Context, to int64, fn func(*transaction) (int64, error)) (passed bool, err error) {
	err = m.write(ctx, func(t *transaction) error {
		passed = false
		if _, err := t.row(sqlLockBox, []any{m.Box}, new(int64)); err != nil {
			return err
		}
		readers, err := readersOf(t.query, m.Box)
		if err != nil || len(readers) == 0 || floorOf(readers) < to {
			return err
		}
		if err := m.witness(t); err != nil {
			return err
		}
		end, err := fn(t)
		if err != nil {
			return err
		}
		_, err = t.all([]order{
			{text: sqlSetSwept, args: []any{end, m.Box}},
			{text: sqlForgetFloors, args: []any{m.Box, end}},
		})
		passed = true
		return err
	})
	return passed, err
}

// witness notes the last row of the log, which stays, so that a table that was
// replaced by another is told from this one.
func (m *maintenance) witness(t *transaction) error {
	last, err := lastSeq(t.query, m.Box)
	if err != nil {
		return err
	}
	var id []byte
	if found, err := t.row(fmt.Sprintf(sqlIDOf, tableOf(m.Box)), []any{last}, &id); err != nil || !found {
		return err
	}
	_, err = t.exec(sqlSetWitness, last, id, m.Box)
	return err
}

// nth returns the seq of the n-th row after a seq, or to if there are fewer.
func nth(query querier, box string, after, to int64, n int) (int64, error) {
	var last int64
	var count int
	_, err := firstRow(query, fmt.Sprintf(sqlSweepEnd, tableOf(box)), []any{after, to, n}, []any{&last, &count})
	if count < n {
		last = to
	}
	return last, err
}

// remove deletes the rows of a range that are not parked, and counts those that
// are.
func (m *maintenance) remove(t *transaction, after, to int64) (gone, stay int64, err error) {
	stays, err := t.numbers(sqlStays, []any{m.Box, after, to})
	if err != nil {
		return 0, 0, err
	}
	but := ""
	if len(stays) > 0 {
		but = " AND seq NOT IN (" + list(stays) + ")"
	}
	old := t.now - m.s.tombstoneKeep.Microseconds()
	if gone, err = t.exec(fmt.Sprintf(sqlSweep, tableOf(m.Box), but), after, to, old); err != nil {
		return 0, 0, err
	}
	_, err = t.exec(sqlForgetDiscarded, m.Box, after, to)
	return gone, int64(len(stays)), err
}

// recheckKept deletes rows that were kept because they were parked, and are not
// any more, and old tombstones. It looks at some of them each time, in turns.
func (m *maintenance) recheckKept(ctx context.Context) error {
	query := m.s.query(ctx)
	swept, err := swept(query, m.Box)
	if err != nil || swept == 0 {
		return err
	}
	after, end, err := m.nextKept(query, swept)
	if err != nil {
		return err
	}
	m.s.kept.set(m.Box, end%swept)
	if end <= after {
		return nil
	}
	loose, err := m.loose(ctx, after, end)
	if err != nil || !loose {
		return err
	}
	var gone int64
	err = m.write(ctx, func(t *transaction) (err error) {
		gone, _, err = m.remove(t, after, end)
		return err
	})
	if err == nil {
		m.report.Deleted += gone
	}
	return err
}

// nextKept returns the range below the log's beginning that is looked at next: of a
// divided box some of a partition in which something has to stay.
func (m *maintenance) nextKept(query querier, swept int64) (after, end int64, err error) {
	after = m.s.kept.of(m.Box)
	if len(m.parts) > 0 {
		i := slices.IndexFunc(m.held, func(p partition) bool { return p.hi > after })
		if i < 0 {
			return 0, 0, nil
		}
		after, swept = max(after, m.held[i].lo-1), min(swept, m.held[i].hi)
	}
	end, err = nth(query, m.Box, after, swept, sweepRows)
	return after, end, err
}

// loose says whether there is a row in a range that nothing keeps.
func (m *maintenance) loose(ctx context.Context, after, end int64) (bool, error) {
	query := m.s.query(ctx)
	now, err := m.s.now(ctx)
	if err != nil {
		return false, err
	}
	stays, err := numbers(query, sqlStays, []any{m.Box, after, end})
	if err != nil {
		return false, err
	}
	parked := rangesOf(stays)
	loose := false
	err = query(fmt.Sprintf(sqlKept, tableOf(m.Box)), []any{after, end}, func(rows *sql.Rows) error {
		var seq, at int64
		var slot int
		if err := rows.Scan(&seq, &at, &slot); err != nil {
			return err
		}
		loose = loose || slot != tombstoneSlot && !parked.contains(seq) ||
			slot == tombstoneSlot && at < now-m.s.tombstoneKeep.Microseconds()
		return nil
	})
	return loose, err
}
