package sqlkit

import (
	"context"
	"strings"
	"time"

	"github.com/postbag/postbag/store/storekit"
)

// A subscription that is removed, or a replay that ends, may have very many rows. What makes it one goes in one
// transaction. What no listing, turn or housekeeping finds without that goes later, some rows at a time.
const (
	// By primary key, all but the second: the first one.
	sqlLeave        = `REPLACE INTO postbag__leftover (subscription) VALUES (?)`
	sqlLeftover     = `SELECT subscription FROM postbag__leftover ORDER BY subscription LIMIT 1`
	sqlStillLeft    = `SELECT subscription FROM postbag__leftover WHERE subscription = ?`
	sqlLeftNoMore   = `DELETE FROM postbag__leftover WHERE subscription = ?`
	sqlLastOfSome   = `SELECT seq FROM {table} WHERE subscription = ? ORDER BY seq LIMIT 1 OFFSET ?`
	sqlDeleteSome   = `DELETE FROM {table} WHERE subscription = ? AND seq <= ?`
	sqlDeleteOthers = `DELETE FROM {table} WHERE subscription = ?`
)

// leftTables are the tables with the rows that go later. Each has an index (subscription, seq).
var leftTables = []string{"postbag__parked", "postbag__past", "postbag__discarded", "postbag__command"}

// Sweep deletes rows of what is gone for a while. All is done when it returns false. A caller that gives up, or
// an error, leaves the rest to housekeeping.
func (s *Base) Sweep(ctx context.Context) (more bool, err error) {
	for end := time.Now().Add(MaintainTime); ; {
		var id int64
		if found, err := s.row(ctx, sqlLeftover, nil, &id); err != nil || !found {
			return false, err
		}
		if err := s.hooks.Write(ctx, "delete what is left of a subscription", func(t *Tx) error { return t.sweep(id) }); err != nil {
			return true, err
		}
		if !time.Now().Before(end) {
			return true, nil
		}
	}
}

// Sweep deletes rows of subscriptions and replays that are gone, if there were any as the round began.
func (m *Maintenance) Sweep(ctx context.Context) error {
	if !m.leftover.Valid {
		return nil
	}
	more, err := m.base.Sweep(ctx)
	m.Report.More = m.Report.More || more
	return err
}

// sweep deletes some rows of a subscription that is gone.
func (t *Tx) sweep(id int64) error {
	if there, err := t.Row(sqlStillLeft+t.Lock, []any{id}, new(int64)); err != nil || !there {
		return err
	}
	if more, err := t.deleteSome(id); err != nil || more {
		return err
	}
	_, err := t.Exec(sqlLeftNoMore, id)
	return err
}

// deleteSome deletes some rows of a subscription. more: perhaps not all.
func (t *Tx) deleteSome(id int64) (more bool, err error) {
	for _, table := range leftTables {
		last := int64(0)
		full, err := t.Row(sweepText(table, sqlLastOfSome), []any{id, storekit.SweepMost - 1}, &last)
		if err != nil {
			return false, err
		}
		if full {
			_, err := t.Exec(sweepText(table, sqlDeleteSome), id, last)
			return true, err
		}
		if _, err := t.Exec(sweepText(table, sqlDeleteOthers), id); err != nil {
			return false, err
		}
	}
	return false, nil
}

func sweepText(table, text string) string { return strings.ReplaceAll(text, "{table}", table) }
