package sqlitestore

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/postbag/postbag/store"
)

// transaction is one write transaction of the store itself. It holds SQLite's
// writer lock from its begin, is short, and is never cut off in the middle: its
// statements run without the caller's cancellation.
type transaction struct {
	ctx  context.Context //nolint:containedctx // the transaction lives within one call, and its statements share this
	conn *sql.Conn
	// statements are those prepared on conn, kept with it; nil on a connection
	// of the application's.
	statements map[string]*sql.Stmt
	// open: between BEGIN and the end.
	open bool
	// now is the database's clock at the begin, in microseconds.
	now int64
	// epoch is the counter of meta, and moved says that it has to grow.
	epoch int64
	moved bool
}

// write runs fn in a write transaction on the accepted database, and commits. fn
// runs once: only the begin is tried again. Its error rolls back and is passed on.
func (s *Store) write(ctx context.Context, doing string, fn func(*transaction) error) error {
	return s.locked(ctx, doing, func(t *transaction) error {
		if err := s.recognise(t); err != nil {
			return err
		}
		if err := fn(t); err != nil {
			return err
		}
		return t.commit()
	})
}

// locked runs fn between BEGIN and whatever end it makes; what it leaves open is
// rolled back.
func (s *Store) locked(ctx context.Context, doing string, fn func(*transaction) error) error {
	if err := begun(ctx, doing); err != nil {
		return err
	}
	deadline := s.deadline()
	if err := s.writer.enter(ctx, deadline); err != nil {
		return translateError(doing, err)
	}
	defer s.writer.leave()
	t, err := s.begin(ctx, deadline)
	if err != nil {
		return translateError(doing, err)
	}
	defer s.release(t)
	return translateError(doing, fn(t))
}

// deadline is when a call that begins now gives up waiting for locks.
func (s *Store) deadline() time.Time { return time.Now().Add(s.opts.BusyTimeout) }

// commit ends the transaction, after counting the epoch on if anything moved
// that relays look at.
func (t *transaction) commit() error {
	if t.moved {
		if _, err := t.exec(sqlEpoch); err != nil {
			return err
		}
		t.epoch++
	}
	if _, err := t.exec(sqlCommit); err != nil {
		return err
	}
	t.open = false
	return nil
}

// begin takes the writer lock. The caller releases the transaction.
func (s *Store) begin(ctx context.Context, deadline time.Time) (*transaction, error) {
	conn, err := s.pin(ctx)
	if err != nil {
		return nil, err
	}
	t := &transaction{ctx: context.WithoutCancel(ctx), conn: conn}
	if s.owned {
		t.statements = s.pinned.statements
	}
	err = retryBusy(ctx, deadline, func() error {
		_, err := t.exec(sqlBegin)
		return err
	})
	t.open = err == nil
	if err != nil {
		s.release(t)
		return nil, err
	}
	t.now = s.micros()
	return t, nil
}

// release rolls back what is still open and lets go of the connection. One that
// cannot roll back is dropped, and the lock with it.
func (s *Store) release(t *transaction) {
	broken := false
	if t.open {
		_, err := t.exec(sqlRollback)
		broken = err != nil
	}
	s.unpin(t.conn, broken)
}

// exec runs a statement and returns how many rows it changed.
func (t *transaction) exec(text string, args ...any) (int64, error) {
	st, err := t.statement(text)
	if err != nil {
		return 0, err
	}
	result, err := st.ExecContext(t.ctx, args...)
	if err != nil {
		return 0, err
	}
	return result.RowsAffected()
}

// query runs a statement and calls each with every row, to be scanned.
func (t *transaction) query(text string, args []any, each func(*sql.Rows) error) error {
	st, err := t.statement(text)
	if err != nil {
		return err
	}
	rows, err := st.QueryContext(t.ctx, args...)
	if err != nil {
		return err
	}
	return scanAll(rows, each)
}

// row scans the first row of a query into dest, and says whether there is one.
func (t *transaction) row(text string, args []any, dest ...any) (bool, error) {
	found := false
	err := t.query(text, args, func(rows *sql.Rows) error {
		found = true
		return rows.Scan(dest...)
	})
	return found, err
}

// numbers returns the one column of a query.
func (t *transaction) numbers(text string, args []any) ([]int64, error) {
	var out []int64
	err := t.query(text, args, func(rows *sql.Rows) error {
		var n int64
		err := rows.Scan(&n)
		out = append(out, n)
		return err
	})
	return out, err
}

// statement returns a statement of conn: a prepared one that is kept with it, or
// on an application's connection the bare text.
func (t *transaction) statement(text string) (statement, error) {
	if t.statements == nil || len(t.statements) >= maxStatements {
		return unprepared{conn: t.conn, text: text}, nil
	}
	if st, ok := t.statements[text]; ok {
		return st, nil
	}
	st, err := t.conn.PrepareContext(t.ctx, text)
	if err != nil {
		return nil, err
	}
	t.statements[text] = st
	return st, nil
}

// scanAll calls each with every row and closes rows.
func scanAll(rows *sql.Rows, each func(*sql.Rows) error) error {
	for rows.Next() {
		if err := each(rows); err != nil {
			return errors.Join(err, rows.Close())
		}
	}
	return errors.Join(rows.Err(), rows.Close())
}

// recognise makes sure that the transaction is on the database that Check has
// accepted, and reads the epoch.
func (s *Store) recognise(t *transaction) error {
	var id string
	found, err := t.row(sqlMeta, nil, &id, &t.epoch)
	switch {
	case err != nil:
		return err
	case !found:
		return fmt.Errorf("the schema is half made: %w", store.ErrSchema)
	}
	return s.accepted.same(id)
}
