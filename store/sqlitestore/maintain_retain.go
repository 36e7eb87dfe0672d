package sqlitestore

import (
	"context"
	"fmt"

	"github.com/postbag/postbag/store"
	"github.com/postbag/postbag/store/sqlkit"
)

// sweepRows is how many rows of the log one transaction looks at to delete them:
// some ten milliseconds of the writer lock.
const sweepRows = 2000

// retain deletes what every subscription had passed Keep ago.
func (m *maintenance) retain(ctx context.Context) error {
	readers, err := dialect.Readers(m.Query(ctx), m.Box)
	if err != nil || len(readers) == 0 {
		return err
	}
	to, err := m.PassedLongEnough(ctx, sqlkit.MinimumPosition(readers))
	if err != nil {
		return err
	}
	swept, err := sqlkit.Swept(m.Query(ctx), m.Box)
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
	for swept < to && !m.Late() {
		if swept, err = m.sweep(ctx, swept, to); err != nil {
			return err
		}
	}
	return nil
}

// sweep deletes some rows from after swept up to to, and returns how far it got.
// In the transaction of the deletion it looks again at what keeps a row: that it
// is parked, and where the subscriptions are, since one may be new.
func (m *maintenance) sweep(ctx context.Context, swept, to int64) (int64, error) {
	end := to
	err := m.Write(ctx, func(t *sqlkit.Tx) error {
		readers, err := t.Readers(t.Query, m.Box)
		if err != nil {
			return err
		}
		if len(readers) == 0 || sqlkit.MinimumPosition(readers) < to {
			return nil
		}
		if err := m.passedThis(t.Query, readers); err != nil {
			return err
		}
		if end, err = t.Nth(t.Query, m.Box, swept, to, sweepRows); err != nil {
			return err
		}
		var stays int64
		if _, err := t.Row(sqlKeptRanges, []any{swept, end, m.Box}, &stays); err != nil {
			return err
		}
		if err := m.remove(t, swept, end); err != nil {
			return err
		}
		m.Report.Copied += stays
		if _, err := t.Exec(sqlkit.SQLSetSwept, end, m.Box); err != nil {
			return err
		}
		_, err = t.Exec(sqlForgetFloors, m.Box, end)
		return err
	})
	return end, err
}

// remove deletes the rows of a range that are not parked.
func (m *maintenance) remove(t *sqlkit.Tx, after, to int64) error {
	gone, err := t.Exec(fmt.Sprintf(sqlSweep, quoted(m.Box)), after, to, m.Box)
	m.Report.Deleted += gone
	if err == nil {
		_, err = t.Exec(sqlForgetDiscarded, after, to, m.Box)
	}
	if err == nil {
		_, err = t.Exec(sqlkit.SQLForgetPast, m.Box, after, to)
	}
	return err
}

// recheckKept deletes rows that were kept because they were parked, and are not
// any more. It looks at some of them each time, in turns.
func (m *maintenance) recheckKept(ctx context.Context) error {
	swept, err := sqlkit.Swept(m.Query(ctx), m.Box)
	if err != nil || swept == 0 {
		return err
	}
	after := m.s.kept.Of(m.Box)
	end, err := dialect.Nth(m.Query(ctx), m.Box, after, swept, sweepRows)
	if err != nil {
		return err
	}
	m.s.kept.Set(m.Box, end%swept)
	text := fmt.Sprintf(sqlUnparked, quoted(m.Box))
	loose, err := m.s.row(ctx, text, []any{after, end, m.Box}, new(int64))
	if err != nil || !loose {
		return err
	}
	return m.removeKept(ctx, after, end)
}

// removeKept deletes the rows of a range below the log's beginning that nothing keeps. A log
// that was emptied and numbered again begins below the range, with messages that nobody
// has read: in the transaction of the deletion it is looked again where it begins.
func (m *maintenance) removeKept(ctx context.Context, after, end int64) error {
	return m.Write(ctx, func(t *sqlkit.Tx) error {
		swept, err := sqlkit.Swept(t.Query, m.Box)
		if err != nil || swept < end {
			return err
		}
		readers, err := t.Readers(t.Query, m.Box)
		if err == nil {
			err = m.passedThis(t.Query, readers)
		}
		if err != nil {
			return err
		}
		return m.remove(t, after, end)
	})
}

// passedThis returns ErrMoved if positions are not of the log that is there. One that was
// emptied and numbered again has other messages where they have passed, of which nothing
// may be deleted.
func (m *maintenance) passedThis(query sqlkit.Querier, readers []sqlkit.Reader) error {
	if _, err := sqlkit.Swept(query, m.Box); err != nil {
		return err
	}
	for i := range readers {
		for _, h := range readers[i].Shards {
			at, _ := h.At.(place)
			same, err := sameLog(query, m.Box, at)
			if err != nil {
				return err
			}
			if !same {
				return fmt.Errorf("the log was emptied and its numbering begun again since the position %d was written: %w", at.seq, store.ErrMoved)
			}
		}
	}
	return nil
}
