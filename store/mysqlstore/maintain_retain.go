package mysqlstore

import (
	"context"
	"fmt"
	"time"

	"github.com/postbag/postbag/store"
	"github.com/postbag/postbag/store/sqlkit"
)

// sweepRows is how many rows of the log one transaction looks at to delete them.
const sweepRows = 2000

// tombstoneKeep is how long a tombstone stays: a statement that was given its seq
// and has not written it after that long could write it then, unseen.
const tombstoneKeep = 24 * time.Hour

// retain deletes what every subscription had passed Keep ago.
func (m *maintenance) retain(ctx context.Context) error {
	readers, err := dialect.Readers(m.Query(ctx), m.Box)
	if err != nil || len(readers) == 0 {
		return err
	}
	floor := sqlkit.MinimumPosition(readers)
	to, err := m.PassedLongEnough(ctx, floor)
	if err != nil {
		return err
	}
	last, err := lastSeq(m.Query(ctx), m.Box)
	if err != nil {
		return err
	}
	to = min(to, last-1) // the last row always stays
	swept, err := sqlkit.Swept(m.Query(ctx), m.Box)
	if err == nil && len(m.parts) > 0 {
		err = m.dropPassed(ctx, swept)
	}
	if err != nil || to <= swept {
		return err
	}
	for i := range readers {
		agreed, err := m.Verify(ctx, &readers[i], to)
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
	for swept < to && !m.Late() {
		began := time.Now()
		var err error
		if swept, err = m.sweep(ctx, swept, to); err != nil {
			return swept, err
		}
		m.rest(ctx, time.Since(began))
	}
	return swept, nil
}

// sweep deletes some rows from after swept up to to, and returns how far it got.
// In the transaction of the deletion it looks again at what keeps a row: that it
// is parked, and where the subscriptions are, since one may be new.
func (m *maintenance) sweep(ctx context.Context, swept, to int64) (end int64, err error) {
	var gone, stay int64
	passed, err := m.pass(ctx, to, func(t *sqlkit.Tx) (int64, error) {
		var err error
		if end, err = t.Nth(t.Query, m.Box, swept, to, sweepRows); err != nil {
			return swept, err
		}
		if gone, stay, err = m.remove(t, swept, end); err == nil {
			err = m.enlist(t, swept, end)
		}
		if err == nil {
			err = m.listedTo(t, swept, end)
		}
		return end, err
	})
	if err != nil || !passed {
		return to, err
	}
	m.Report.Deleted += gone
	m.Report.Copied += stay
	return end, nil
}

// pass lets the log begin after the seq that fn returns, in fn's transaction, if all
// subscriptions have passed to: none can be declared meanwhile.
func (m *maintenance) pass(ctx context.Context, to int64, fn func(*sqlkit.Tx) (int64, error)) (passed bool, err error) {
	err = m.Write(ctx, func(t *sqlkit.Tx) error {
		passed = false
		if _, err := t.Row(sqlLockBox, []any{m.Box}, new(int64)); err != nil {
			return err
		}
		readers, err := t.Readers(t.Query, m.Box)
		if err != nil || len(readers) == 0 || sqlkit.MinimumPosition(readers) < to {
			return err
		}
		if err := m.passedThis(t.Query, readers); err != nil {
			return err
		}
		if err := m.witness(t); err != nil {
			return err
		}
		end, err := fn(t)
		if err != nil {
			return err
		}
		_, err = t.All([]sqlkit.Order{
			{Text: sqlkit.SQLSetSwept, Args: []any{end, m.Box}},
			{Text: sqlForgetFloors, Args: []any{m.Box, end}},
		})
		passed = true
		return err
	})
	return passed, err
}

// witness notes the last row of the log, which stays, so that a table that was
// replaced by another is told from this one.
func (m *maintenance) witness(t *sqlkit.Tx) error {
	end, err := endOf(t.Query, m.Box)
	if err != nil || end.id == nil {
		return err
	}
	_, err = t.Exec(sqlSetWitness, end.seq, end.id, m.Box)
	return err
}

// remove deletes the rows of a range that are not parked, and counts those that
// are.
func (m *maintenance) remove(t *sqlkit.Tx, after, to int64) (gone, stay int64, err error) {
	stays, err := sqlkit.Numbers(t.Query, sqlKeptRanges, []any{m.Box, after, to})
	if err != nil {
		return 0, 0, err
	}
	but := ""
	if len(stays) > 0 {
		but = " AND seq NOT IN (" + list(stays) + ")"
	}
	if gone, err = m.erase(t, after, to, but); err != nil {
		return 0, 0, err
	}
	return gone, int64(len(stays)), m.forgetFates(t, after, to)
}

// forgetFates forgets what became of single messages of a range that is removed.
func (m *maintenance) forgetFates(t *sqlkit.Tx, after, to int64) error {
	args := []any{m.Box, after, to}
	_, err := t.All([]sqlkit.Order{{Text: sqlForgetDiscarded, Args: args}, {Text: sqlkit.SQLForgetPast, Args: args}})
	return err
}

// erase deletes the rows of a range, but for those that but excepts. The server looks
// at the row behind a range too, and waits for who has locked it: a transaction that
// is open writes just behind what all have passed. So the range ends before its last
// row, which is deleted by its seq.
func (m *maintenance) erase(t *sqlkit.Tx, after, to int64, but string) (gone int64, err error) {
	var last int64
	if _, err = t.Row(fmt.Sprintf(sqlLastOf, tableOf(m.Box)), []any{after, to}, &last); err != nil || last == 0 {
		return 0, err
	}
	old := t.Now - m.s.tombstoneKeep.Microseconds()
	if gone, err = t.Exec(fmt.Sprintf(sqlSweep, tableOf(m.Box), but), after, last, old); err != nil {
		return 0, err
	}
	one, err := t.Exec(fmt.Sprintf(sqlSweepOne, tableOf(m.Box), but), last, old)
	return gone + one, err
}

// passedThis returns ErrMoved if positions are not of the log that is there. One that was
// emptied and numbered again has other messages where they have passed, of which nothing
// may be deleted.
func (m *maintenance) passedThis(query sqlkit.Querier, readers []sqlkit.Reader) error {
	logs, err := logs(query)
	if err != nil {
		return err
	}
	log, ok := logs[m.Box]
	for i := range readers {
		for _, h := range readers[i].Shards {
			at, known := h.At.(*position)
			if !ok || !known {
				continue
			}
			has, err := log.has(query, m.Box, at)
			if err != nil {
				return err
			}
			if !has {
				return fmt.Errorf("the log was emptied and its numbering begun again since the position %d was written: %w", at.high, store.ErrMoved)
			}
		}
	}
	return nil
}
