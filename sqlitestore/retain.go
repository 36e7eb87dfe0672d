package sqlitestore

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	"github.com/postbag/postbag/internal/sqlstore"
	"github.com/postbag/postbag/store"
)

// sweepRows is how many rows of the log one transaction looks at to delete them:
// some ten milliseconds of the writer lock.
const sweepRows = 2000

// reader is a subscription that retention waits for.
type reader struct {
	store.Ref

	id      int64
	started int64  // it began after this seq
	at      survey // how far its ledger was compared
	shards  []standing
}

// standing is a shard and the seq it has passed.
type standing struct {
	slots  store.Slots
	passed int64
}

// floor returns the seq that all shards have passed.
func (r *reader) floor() int64 {
	floor := r.shards[0].passed
	for _, h := range r.shards[1:] {
		floor = min(floor, h.passed)
	}
	return floor
}

// retain deletes what every subscription had passed Keep ago.
func (m *maintenance) retain(ctx context.Context) error {
	readers, err := readersOf(m.query(ctx), m.Box)
	if err != nil || len(readers) == 0 {
		return err
	}
	to, err := m.passedLongEnough(ctx, floorOf(readers))
	if err != nil {
		return err
	}
	swept, err := m.swept(ctx)
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
	for swept < to && !m.late() {
		if swept, err = m.sweep(ctx, swept, to); err != nil {
			return err
		}
	}
	return nil
}

func (m *maintenance) query(ctx context.Context) querier { return m.s.querier(ctx) }

// swept returns the seq up to which the log was deleted.
func (m *maintenance) swept(ctx context.Context) (swept int64, err error) {
	_, err = m.s.row(ctx, sqlSwept, []any{m.Box}, &swept)
	return swept, err
}

// querier runs a query, in a transaction or not.
type querier = sqlstore.Querier

// readersOf returns the subscriptions of a box but for that of maintenance.
func readersOf(query querier, box string) ([]reader, error) {
	var out []reader
	err := query(sqlReaders, []any{box}, func(rows *sql.Rows) error {
		r := reader{Ref: store.Ref{Box: box}}
		var h standing
		var position []byte
		err := rows.Scan(&r.id, &r.Subscription, &r.started, &r.at.span, &r.at.upto, &r.at.agreed,
			&r.at.Count, &r.at.Seqs, &r.at.IDs, &h.slots.Lo, &h.slots.Hi, &position)
		if err != nil {
			return err
		}
		if h.passed, err = seqOf(store.Position(position)); err != nil {
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
	now := m.s.micros()
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
	var old sql.NullInt64
	_, err := m.s.row(ctx, sqlFloorAt, []any{m.Box, now - keep}, &old)
	return min(old.Int64, floor), err
}

// sweep deletes some rows from after swept up to to, and returns how far it got.
// In the transaction of the deletion it looks again at what keeps a row: that it
// is parked, and where the subscriptions are, since one may be new.
func (m *maintenance) sweep(ctx context.Context, swept, to int64) (int64, error) {
	end := to
	err := m.write(ctx, func(t *transaction) error {
		readers, err := readersOf(t.query, m.Box)
		if err != nil {
			return err
		}
		if len(readers) == 0 || floorOf(readers) < to {
			return nil
		}
		if end, err = nth(t.query, m.Box, swept, to, sweepRows); err != nil {
			return err
		}
		var stays int64
		if _, err := t.row(sqlStays, []any{swept, end, m.Box}, &stays); err != nil {
			return err
		}
		if err := m.remove(t, swept, end); err != nil {
			return err
		}
		m.report.Copied += stays
		if _, err := t.exec(sqlSetSwept, m.Box, end); err != nil {
			return err
		}
		_, err = t.exec(sqlForgetFloors, m.Box, end)
		return err
	})
	return end, err
}

// nth returns the seq of the n-th row after a seq, or to if there are fewer.
func nth(query querier, box string, after, to int64, n int) (int64, error) {
	end := to
	err := query(fmt.Sprintf(sqlSweepEnd, quoted(box)), []any{after, to, n}, func(rows *sql.Rows) error {
		var last sql.NullInt64
		var count int
		err := rows.Scan(&last, &count)
		if count == n {
			end = last.Int64
		}
		return err
	})
	return end, err
}

// remove deletes the rows of a range that are not parked.
func (m *maintenance) remove(t *transaction, after, to int64) error {
	gone, err := t.exec(fmt.Sprintf(sqlSweep, quoted(m.Box)), after, to, m.Box)
	m.report.Deleted += gone
	if err == nil {
		_, err = t.exec(sqlForgetDiscarded, after, to, m.Box)
	}
	return err
}

// recheckKept deletes rows that were kept because they were parked, and are not
// any more. It looks at some of them each time, in turns.
func (m *maintenance) recheckKept(ctx context.Context) error {
	swept, err := m.swept(ctx)
	if err != nil || swept == 0 {
		return err
	}
	after := m.s.kept.Of(m.Box)
	end, err := nth(m.query(ctx), m.Box, after, swept, sweepRows)
	if err != nil {
		return err
	}
	m.s.kept.Set(m.Box, end%swept)
	text := fmt.Sprintf(sqlUnparked, quoted(m.Box))
	loose, err := m.s.row(ctx, text, []any{after, end, m.Box}, new(int64))
	if err != nil || !loose {
		return err
	}
	return m.write(ctx, func(t *transaction) error { return m.remove(t, after, end) })
}
