package sqlitestore

import (
	"context"
	"database/sql"
	"fmt"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/store"
	"github.com/postbag/postbag/store/sqlkit"
	"github.com/postbag/postbag/store/storekit"
)

var (
	_ store.Lanes[postbag.SQLTx] = (*Store)(nil)
	_ store.Lanes[postbag.SQLTx] = (*Appender)(nil)
)

// OpenLane gives a lane a new epoch in tx; see [store.Lanes]. SQLite has one writer: it
// waits for all other transactions that write.
func (s *Store) OpenLane(ctx context.Context, tx postbag.SQLTx, lane string) (now store.LaneState, err error) {
	if tx == nil {
		return now, postbag.ErrNoTx
	}
	err = s.queryIn(ctx, tx, sqlOpenLane, []any{[]byte(lane), storekit.NewEpoch()}, func(rows *sql.Rows) error { return rows.Scan(&now.Epoch, &now.Record) })
	if err != nil {
		return store.LaneState{}, translateError("open lane "+storekit.Printable(lane), met(err))
	}
	return now, nil
}

// WriteLane replaces the record of a lane in tx; see [store.Lanes].
func (s *Store) WriteLane(ctx context.Context, tx postbag.SQLTx, lane string, epoch int64, record []byte) error {
	if tx == nil {
		return postbag.ErrNoTx
	}
	doing := "write lane " + storekit.Printable(lane)
	written := false
	err := s.queryIn(ctx, tx, sqlWriteLane, []any{[]byte(lane), epoch, record}, func(rows *sql.Rows) error {
		written = true
		return rows.Scan(new(int64))
	})
	switch {
	case err != nil:
		return translateError(doing, met(err))
	case !written:
		return fmt.Errorf("sqlitestore: %s: %w", doing, store.ErrFenced)
	}
	return nil
}

// Try runs fn behind a savepoint; see [store.Lanes]. It does not look at constraints that
// wait for the commit.
func (*Store) Try(ctx context.Context, tx postbag.SQLTx, fn func(context.Context) error) (failed, broken error) {
	if tx == nil {
		return nil, postbag.ErrNoTx
	}
	failed, broken = sqlkit.Try(ctx, tx, fn)
	return failed, translateError("use a savepoint", met(broken))
}

// OpenLane implements store.Lanes.
func (d *Appender) OpenLane(ctx context.Context, tx postbag.SQLTx, lane string) (store.LaneState, error) {
	return d.store.OpenLane(ctx, tx, lane)
}

// WriteLane implements store.Lanes.
func (d *Appender) WriteLane(ctx context.Context, tx postbag.SQLTx, lane string, epoch int64, record []byte) error {
	return d.store.WriteLane(ctx, tx, lane, epoch, record)
}

// Try implements store.Lanes.
func (d *Appender) Try(ctx context.Context, tx postbag.SQLTx, fn func(context.Context) error) (failed, broken error) {
	return d.store.Try(ctx, tx, fn)
}
