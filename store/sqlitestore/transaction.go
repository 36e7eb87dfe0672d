package sqlitestore

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	"github.com/postbag/postbag/store"
	"github.com/postbag/postbag/store/sqlkit"
)

// transaction is one write transaction of the store itself. It holds SQLite's
// writer lock from its begin, is short, and is never cut off in the middle: its
// statements run without the caller's cancellation.
type transaction struct {
	sqlkit.Tx

	conn *sql.Conn
	// open: between BEGIN and the end.
	open bool
}

// newTransaction makes a transaction that is not begun. statements are those
// prepared on conn, kept with it; nil on a connection of the application's.
func (s *Store) newTransaction(ctx context.Context, conn *sql.Conn, statements map[string]*sql.Stmt) *transaction {
	tx := sqlkit.Tx{Dialect: &dialect, Ctx: context.WithoutCancel(ctx), On: session{conn, statements, s.comments.Relay}}
	return &transaction{Tx: tx, conn: conn}
}

// write runs fn in a write transaction on the accepted database, and commits. fn
// runs once: only the begin is tried again. Its error rolls back and is passed on.
func (s *Store) write(ctx context.Context, doing string, fn func(*transaction) error) error {
	return s.writeUntil(ctx, doing, s.deadline(), fn)
}

// writeUntil is write for who gives up waiting for locks at another time.
func (s *Store) writeUntil(ctx context.Context, doing string, deadline time.Time, fn func(*transaction) error) error {
	return s.locked(ctx, doing, deadline, func(t *transaction) error {
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
func (s *Store) locked(ctx context.Context, doing string, deadline time.Time, fn func(*transaction) error) error {
	if err := begun(ctx, doing); err != nil {
		return err
	}
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
	if t.Moved {
		if _, err := t.Exec(sqlEpoch); err != nil {
			return err
		}
		t.Epoch++
	}
	if _, err := t.Exec(sqlCommit); err != nil {
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
	var kept map[string]*sql.Stmt
	if s.owned {
		kept = s.pinned.statements
	}
	t := s.newTransaction(ctx, conn, kept)
	err = retryWrite(ctx, deadline, func() error {
		_, err := t.Exec(sqlBegin)
		return err
	})
	t.open = err == nil
	if err != nil {
		s.release(t)
		return nil, err
	}
	t.Now = s.micros()
	return t, nil
}

// release rolls back what is still open and lets go of the connection. One that
// cannot roll back is dropped, and the lock with it.
func (s *Store) release(t *transaction) {
	broken := false
	if t.open {
		_, err := t.Exec(sqlRollback)
		broken = err != nil
	}
	s.unpin(t.conn, broken)
}

// session is a connection with the statements that are kept prepared on it; nil
// on one of the application's. comment follows each that does not begin or end a transaction.
type session struct {
	conn    *sql.Conn
	kept    map[string]*sql.Stmt
	comment string
}

// ExecContext implements [sqlkit.Runner].
func (c session) ExecContext(ctx context.Context, text string, args ...any) (sql.Result, error) {
	st, err := c.statement(ctx, text)
	if err != nil {
		return nil, err
	}
	return st.ExecContext(ctx, args...)
}

// QueryContext implements [sqlkit.Runner].
func (c session) QueryContext(ctx context.Context, text string, args ...any) (*sql.Rows, error) {
	st, err := c.statement(ctx, text)
	if err != nil {
		return nil, err
	}
	return st.QueryContext(ctx, args...)
}

// statement returns a prepared statement that is kept, or the bare text.
func (c session) statement(ctx context.Context, text string) (statement, error) {
	if c.kept == nil || len(c.kept) >= maxStatements {
		return unprepared{conn: c.conn, text: c.commented(text)}, nil
	}
	if st, ok := c.kept[text]; ok {
		return st, nil
	}
	st, err := c.conn.PrepareContext(ctx, c.commented(text))
	if err != nil {
		return nil, err
	}
	c.kept[text] = st
	return st, nil
}

// commented returns a statement as it is sent.
func (c session) commented(text string) string {
	switch text {
	case sqlBegin, sqlBeginRead, sqlLock, sqlCommit, sqlRollback:
		return text
	}
	return text + c.comment
}

// recognise makes sure that the transaction is on the database that Check has
// accepted, and reads the epoch.
func (s *Store) recognise(t *transaction) error {
	var id string
	found, err := t.Row(sqlMeta, nil, &id, &t.Epoch)
	switch {
	case err != nil:
		return err
	case !found:
		return fmt.Errorf("the schema is half made: %w", store.ErrSchema)
	}
	return s.accepted.same(id)
}
