package sqlitestore

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/postbag/postbag"
)

// InTx runs fn in a new transaction that holds the writer lock from its begin,
// and commits it; see [postbag.Appender]. What fn gets is a *sql.Tx; SQL gives
// it as one. Waiting for the lock ends with ctx, and with Options.BusyTimeout as
// ErrBusy; so does an InTx within an InTx, which can never have the lock.
func (s *Store) InTx(ctx context.Context, fn func(context.Context, postbag.SQLTx) error) error {
	return s.inTx(ctx, func(ctx context.Context, tx *sql.Tx) error { return fn(ctx, tx) })
}

func (s *Store) inTx(ctx context.Context, fn func(context.Context, *sql.Tx) error) error {
	const doing = "run a transaction"
	if err := begun(ctx, doing); err != nil {
		return err
	}
	deadline := s.deadline()
	if err := s.writer.enter(ctx, deadline); err != nil {
		return translateError(doing, err)
	}
	defer s.writer.leave()
	conn, err := s.userConn(ctx)
	if err != nil {
		return translateError(doing, err)
	}
	defer s.unpinUser(conn)
	var tx *sql.Tx
	err = retryBusy(ctx, deadline, func() (err error) {
		tx, err = s.beginUser(ctx, conn)
		return err
	})
	if err != nil {
		return translateError(doing, err)
	}
	s.running.Store(tx)
	defer s.running.Store(nil)
	defer tx.Rollback() //nolint:errcheck // after a commit there is nothing to roll back
	if err := fn(ctx, tx); err != nil {
		return err
	}
	return commitUser(tx)
}

// beginUser begins an application's transaction and takes the writer lock, also
// where the driver was not told to begin with it.
func (s *Store) beginUser(ctx context.Context, conn *sql.Conn) (*sql.Tx, error) {
	tx, err := conn.BeginTx(ctx, nil)
	if err != nil || s.owned {
		return tx, err
	}
	if _, err := tx.ExecContext(ctx, sqlLock); err != nil {
		return nil, errors.Join(err, tx.Rollback())
	}
	return tx, nil
}

// commitUser commits. SQLite answers in this process, so that an answer is not
// lost; but where the disk fails under COMMIT nobody knows what it will hold
// after the next start.
func commitUser(tx *sql.Tx) error {
	err := tx.Commit()
	switch code := resultCode(err); {
	case err == nil:
		return nil
	case errors.Is(err, sql.ErrTxDone):
		return fmt.Errorf("sqlitestore: commit: the function ended the transaction itself, or its context ended; "+
			"leave the end to InTx: %w", err)
	case code == codeIO, code == codeCorrupt:
		return fmt.Errorf("sqlitestore: commit: %w: %w", err, postbag.ErrCommitUnknown)
	}
	return translateError("commit", err)
}

// userConn returns a connection for an application's transaction.
func (s *Store) userConn(ctx context.Context) (*sql.Conn, error) {
	conn, err := s.connect(ctx)
	if err != nil || s.owned {
		return conn, err
	}
	if err := setBusyTimeout(ctx, conn, shortBusy.Milliseconds()); err != nil {
		return nil, dropConn(conn, err)
	}
	return conn, nil
}

func (s *Store) unpinUser(conn *sql.Conn) {
	if !s.owned && setBusyTimeout(context.Background(), conn, s.busy) != nil {
		_ = dropConn(conn, nil)
		return
	}
	_ = conn.Close()
}

// SQL returns the store as an appender of *sql.Tx, for a publisher whose InTx
// hands out a transaction that can query:
//
//	pub, err := postbag.NewPublisher(store.SQL(), postbag.PublisherOptions{})
func (s *Store) SQL() postbag.Appender[*sql.Tx] { return sqlAppender{s} }

// sqlAppender narrows a store's transactions to *sql.Tx.
type sqlAppender struct{ s *Store }

func (a sqlAppender) Append(ctx context.Context, tx *sql.Tx, box string, msgs []postbag.Message) error {
	return a.s.Append(ctx, tx, box, msgs)
}

func (a sqlAppender) Lock(ctx context.Context, tx *sql.Tx, box string, keys []string) error {
	return a.s.Lock(ctx, tx, box, keys)
}

func (a sqlAppender) Cancel(ctx context.Context, tx *sql.Tx, box string, id postbag.ID) (bool, error) {
	return a.s.Cancel(ctx, tx, box, id)
}

func (a sqlAppender) InTx(ctx context.Context, fn func(context.Context, *sql.Tx) error) error {
	return a.s.inTx(ctx, fn)
}

func (a sqlAppender) Wake(box string) { a.s.Wake(box) }
