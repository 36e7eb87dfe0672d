package pgstore

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/store"
	"github.com/postbag/postbag/store/storekit"
)

var (
	_ store.Lanes[pgx.Tx]        = (*Store)(nil)
	_ store.Lanes[postbag.SQLTx] = (*Appender)(nil)
)

// OpenLane implements store.Lanes.
func (s *Store) OpenLane(ctx context.Context, tx pgx.Tx, lane string) (store.LaneState, error) {
	if tx == nil {
		return store.LaneState{}, postbag.ErrNoTx
	}
	return openLane(ctx, s.statements, pgxSession{s, tx}, lane)
}

// WriteLane implements store.Lanes.
func (s *Store) WriteLane(ctx context.Context, tx pgx.Tx, lane string, epoch int64, record []byte) error {
	if tx == nil {
		return postbag.ErrNoTx
	}
	return writeLane(ctx, s.statements, pgxSession{s, tx}, lane, epoch, record)
}

// Try implements store.Lanes. It looks at deferred constraints after fn. Constraints that
// fn had made immediate or deferred (SET CONSTRAINTS) stay so.
func (s *Store) Try(ctx context.Context, tx pgx.Tx, fn func(context.Context) error) (failed, broken error) {
	if tx == nil {
		return nil, postbag.ErrNoTx
	}
	return try(ctx, pgxSession{s, tx}, fn)
}

// OpenLane implements store.Lanes, as that of a Store does.
func (d *Appender) OpenLane(ctx context.Context, tx postbag.SQLTx, lane string) (store.LaneState, error) {
	if tx == nil {
		return store.LaneState{}, postbag.ErrNoTx
	}
	return openLane(ctx, d.catalog, sqlSession{tx}, lane)
}

// WriteLane implements store.Lanes, as that of a Store does.
func (d *Appender) WriteLane(ctx context.Context, tx postbag.SQLTx, lane string, epoch int64, record []byte) error {
	if tx == nil {
		return postbag.ErrNoTx
	}
	return writeLane(ctx, d.catalog, sqlSession{tx}, lane, epoch, record)
}

// Try implements store.Lanes, as that of a Store does.
func (d *Appender) Try(ctx context.Context, tx postbag.SQLTx, fn func(context.Context) error) (failed, broken error) {
	if tx == nil {
		return nil, postbag.ErrNoTx
	}
	return try(ctx, sqlSession{tx}, fn)
}

func openLane(ctx context.Context, statements *statementSet, in session, lane string) (store.LaneState, error) {
	var now store.LaneState
	q := command{statements.get("open_lane", "").sql, []any{[]byte(lane), strconv.FormatInt(storekit.NewEpoch(), 10)}}
	err := in.query(ctx, q, []any{&now.Epoch, &now.Record}, func() error { return nil })
	if err == nil && now.Epoch == 0 {
		err = errors.New("the statement gave no row; look for triggers and rules of postbag._lanes")
	}
	if err != nil {
		return store.LaneState{}, laneError("open", lane, err)
	}
	return now, nil
}

func writeLane(ctx context.Context, statements *statementSet, in session, lane string, epoch int64, record []byte) error {
	q := command{statements.get("write_lane", "").sql, []any{[]byte(lane), strconv.FormatInt(epoch, 10), record}}
	n, err := in.exec(ctx, q)
	if err == nil && n == 0 {
		return fmt.Errorf("pgstore: write lane %q: %w", lane, store.ErrFenced)
	}
	return laneError("write", lane, err)
}

// Savepoints of Try. The inner one undoes the look at deferred constraints, which would
// leave them immediate.
const (
	setTry, undoTry, releaseTry    = "SAVEPOINT postbag_try", "ROLLBACK TO SAVEPOINT postbag_try", "RELEASE SAVEPOINT postbag_try"
	setLook, undoLook, releaseLook = "SAVEPOINT postbag_look", "ROLLBACK TO SAVEPOINT postbag_look", "RELEASE SAVEPOINT postbag_look"
	lookNow                        = "SET CONSTRAINTS ALL IMMEDIATE"
)

func try(ctx context.Context, in session, fn func(context.Context) error) (failed, broken error) {
	run := func(sql string) error {
		_, err := in.exec(ctx, command{sql, nil})
		return err
	}
	if err := run(setTry); err != nil {
		return nil, translateError("set a savepoint", err)
	}
	if failed = fn(ctx); failed == nil {
		failed = lookAtDeferred(run)
	}
	if failed != nil {
		if err := run(undoTry); err != nil {
			return failed, translateError("roll back to a savepoint", err)
		}
	}
	return failed, translateError("release a savepoint", run(releaseTry))
}

// lookAtDeferred fails where a constraint is broken that waits for the commit, and where a
// statement had failed before.
func lookAtDeferred(run func(sql string) error) error {
	for _, sql := range []string{setLook, lookNow, undoLook, releaseLook} {
		if err := run(sql); err != nil {
			return translateError("look at the statements and deferred constraints of the handler", err)
		}
	}
	return nil
}

const (
	fixLaneRights = "as the owner of the tables run the SQL of postbag grants ROLE --for consumer (pgstore.GrantConsumer), of which lanes need " +
		"GRANT SELECT, INSERT (lane, epoch), UPDATE (epoch, record) ON postbag._lanes"
	fixLane        = "a lane's name has 1 to 500 bytes, and a record at most 524288"
	fixHiddenLanes = "row-level security of postbag._lanes would hide lanes, and nothing be delivered: give this role BYPASSRLS, or switch it off for that table"
)

// laneError says what to do about an error of a lane.
func laneError(what, lane string, err error) error {
	doing := what + " lane " + strconv.Quote(lane)
	code := sqlState(err)
	switch {
	case err == nil:
		return nil
	case code == codeNoTable, code == codeNoSchema, code == codeNoColumn:
		return fmt.Errorf("pgstore: %s: table postbag._lanes is missing: %w", doing, store.ErrSchema)
	case endedByConcurrentTransaction(code):
		return &fault{doing: doing, said: serverMessage(err), fix: "roll the transaction back and run it again", cause: cause(err)}
	case code == codeCheck && strings.Contains(err.Error(), "_lanes_visible"), code == codeNoRight && strings.Contains(err.Error(), "row-level security"):
		return &fault{doing: doing, said: serverMessage(err), fix: fixHiddenLanes, cause: errors.Join(store.ErrDenied, hidden(err))}
	case code == codeNoRight:
		return &fault{doing: doing, said: serverMessage(err), fix: fixLaneRights, cause: cause(err)}
	case code == codeCheck:
		return &fault{doing: doing, said: serverMessage(err), fix: fixLane, cause: hidden(err)}
	}
	return translateError(doing, err)
}
