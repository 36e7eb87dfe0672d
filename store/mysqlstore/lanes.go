package mysqlstore

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/store"
	"github.com/postbag/postbag/store/sqlkit"
	"github.com/postbag/postbag/store/storekit"
)

var (
	_ store.Lanes[postbag.SQLTx]      = (*Store)(nil)
	_ store.Lanes[postbag.SQLTx]      = (*Appender)(nil)
	_ store.LaneKeeper[postbag.SQLTx] = (*Store)(nil)
	_ store.LaneKeeper[postbag.SQLTx] = (*Appender)(nil)
)

// OpenLane gives a lane a new epoch in tx; see [store.Lanes].
func (s *Store) OpenLane(ctx context.Context, tx postbag.SQLTx, lane string) (store.LaneState, error) {
	return s.producer.openLane(ctx, tx, lane)
}

// WriteLane replaces the record of a lane in tx; see [store.Lanes].
func (s *Store) WriteLane(ctx context.Context, tx postbag.SQLTx, lane string, epoch int64, record []byte) error {
	return s.producer.writeLane(ctx, tx, lane, epoch, record)
}

// KeepsLane says whether tx still has what WriteLane wrote in it; see [store.LaneKeeper].
func (s *Store) KeepsLane(ctx context.Context, tx postbag.SQLTx, lane string, epoch int64, record []byte) error {
	return s.producer.keepsLane(ctx, tx, lane, epoch, record)
}

// Try runs fn behind a savepoint; see [store.Lanes].
func (*Store) Try(ctx context.Context, tx postbag.SQLTx, fn func(context.Context) error) (failed, broken error) {
	return try(ctx, tx, fn)
}

// OpenLane implements store.Lanes.
func (d *Appender) OpenLane(ctx context.Context, tx postbag.SQLTx, lane string) (store.LaneState, error) {
	return d.producer.openLane(ctx, tx, lane)
}

// WriteLane implements store.Lanes.
func (d *Appender) WriteLane(ctx context.Context, tx postbag.SQLTx, lane string, epoch int64, record []byte) error {
	return d.producer.writeLane(ctx, tx, lane, epoch, record)
}

// KeepsLane implements store.LaneKeeper.
func (d *Appender) KeepsLane(ctx context.Context, tx postbag.SQLTx, lane string, epoch int64, record []byte) error {
	return d.producer.keepsLane(ctx, tx, lane, epoch, record)
}

// Try implements store.Lanes.
func (*Appender) Try(ctx context.Context, tx postbag.SQLTx, fn func(context.Context) error) (failed, broken error) {
	return try(ctx, tx, fn)
}

func (p *producer) openLane(ctx context.Context, tx postbag.SQLTx, lane string) (now store.LaneState, err error) {
	if tx == nil {
		return now, postbag.ErrNoTx
	}
	doing := "open lane " + storekit.Printable(lane)
	if err := laneName(doing, lane); err != nil {
		return now, err
	}
	if _, err = tx.ExecContext(ctx, fmt.Sprintf(sqlOpenLane, lane, storekit.NewEpoch())+p.comments.Consumer); err == nil {
		err = sqlkit.Querying(ctx, tx)(fmt.Sprintf(sqlOpenedLane, lane)+p.comments.Consumer, nil, func(rows *sql.Rows) error {
			return rows.Scan(&now.Epoch, &now.Record)
		})
	}
	if err != nil {
		return store.LaneState{}, laneError(doing, err)
	}
	return now, nil
}

func (p *producer) writeLane(ctx context.Context, tx postbag.SQLTx, lane string, epoch int64, record []byte) error {
	if tx == nil {
		return postbag.ErrNoTx
	}
	doing := "write lane " + storekit.Printable(lane)
	if err := laneName(doing, lane); err != nil {
		return err
	}
	result, err := tx.ExecContext(ctx, fmt.Sprintf(sqlWriteLane, literal(nil, record), lane, epoch)+p.comments.Consumer)
	if err != nil {
		return laneError(doing, err)
	}
	written, err := result.RowsAffected()
	switch {
	case err != nil:
		return translateError(doing, err)
	case written == 0:
		return fmt.Errorf("mysqlstore: %s: %w", doing, store.ErrFenced)
	}
	return nil
}

// errRolledBack says that the server has rolled back a transaction, which then went on.
var errRolledBack = errors.New("the server rolled the transaction back in the middle, as it does at a deadlock, and a handler went on; return such an error from the handler")

// keepsLane reads the row of the lane. After a rollback of the server, it is as it was before
// the transaction.
func (p *producer) keepsLane(ctx context.Context, tx postbag.SQLTx, lane string, epoch int64, record []byte) error {
	if tx == nil {
		return postbag.ErrNoTx
	}
	doing := "look at lane " + storekit.Printable(lane)
	if err := laneName(doing, lane); err != nil {
		return err
	}
	var now store.LaneState
	there, err := sqlkit.Row(sqlkit.Querying(ctx, tx), fmt.Sprintf(sqlOpenedLane, lane)+p.comments.Consumer, nil, &now.Epoch, &now.Record)
	switch {
	case err != nil:
		return laneError(doing, err)
	case !there || now.Epoch != epoch || !bytes.Equal(now.Record, record):
		return translateError(doing, &meeting{errRolledBack})
	}
	return nil
}

// laneError says what to do about an error of a lane.
func laneError(doing string, err error) error {
	switch codeOf(err) {
	case codeDenied, codeColumnDenied, codeDatabaseDenied:
		return sqlkit.Tell(doing, err, func(doing string, err error) error {
			return fmt.Errorf("mysqlstore: %s: %w; run the SQL of postbag grants ACCOUNT --for consumer --store-kind mysql (mysqlstore.GrantConsumer), "+
				"of which lanes need GRANT SELECT, INSERT, UPDATE ON postbag__lane", doing, &lacking{plain{text: serverMessage(err), err: err}})
		})
	}
	return translateError(doing, met(err))
}

// laneName refuses a name that no lane can have: without one the literal would not be one.
func laneName(doing, lane string) error {
	if n := len(lane); n == 0 || n > store.MaxLane {
		return fmt.Errorf("mysqlstore: %s: its name has %d bytes; give it 1 to %d", doing, n, store.MaxLane)
	}
	return nil
}

func try(ctx context.Context, tx postbag.SQLTx, fn func(context.Context) error) (failed, broken error) {
	if tx == nil {
		return nil, postbag.ErrNoTx
	}
	failed, broken = sqlkit.Try(ctx, tx, fn)
	return failed, translateError("use a savepoint", met(broken))
}
