package mysqlstore

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"time"

	"github.com/go-sql-driver/mysql"

	"github.com/postbag/postbag/store/sqlkit"
)

// transaction is one transaction of the store itself. It is short, READ
// COMMITTED, and runs again from the start where the server ended it because of
// a deadlock.
type transaction struct {
	sqlkit.Tx

	conn *sql.Conn
	// comment follows each statement.
	comment string
	// room is how many bytes a statement may have.
	room int
	// serverState is what the database said of itself at the begin.
	serverState
}

func (s *Store) newTransaction(ctx context.Context, conn *sql.Conn) *transaction {
	tx := sqlkit.Tx{Dialect: &dialect, Ctx: ctx, On: session{conn, s.comment}}
	return &transaction{Tx: tx, conn: conn, comment: s.comment}
}

// see takes over what the database said of itself.
func (t *transaction) see(rows *sql.Rows) error {
	err := t.scan(rows)
	t.Now, t.Epoch = t.now, t.epoch
	return err
}

// Most times that a transaction is run again, and the longest pause before.
const (
	retries    = 12
	retryPause = 40 * time.Millisecond
)

// write runs fn in a transaction on the accepted database, and commits. fn may
// run several times: what it leaves behind must be of the last. Its error rolls
// back and is passed on.
func (s *Store) write(ctx context.Context, doing string, fn func(*transaction) error) error {
	defer s.recent.forget()
	return retry(ctx, doing, func() error {
		return s.inOwnTx(ctx, "START TRANSACTION", func(t *transaction) error {
			if err := s.accept(&t.serverState); err != nil {
				return err
			}
			if err := fn(t); err != nil {
				return err
			}
			return t.commit()
		})
	})
}

// change is write for what changes who owns what, or what there is: such
// transactions come one after another.
func (s *Store) change(ctx context.Context, doing string, fn func(*transaction) error) error {
	return s.write(ctx, doing, func(t *transaction) error {
		if _, err := t.Row(sqlLockMeta, nil, new(int)); err != nil {
			return err
		}
		if err := t.look(s); err != nil { // now that nobody else changes it
			return err
		}
		return fn(t)
	})
}

// snapshot runs fn in a transaction that reads, so that all its statements see
// one moment. fn may run again, as that of write: a table whose partitions have
// changed since that moment cannot be read as of it.
func (s *Store) snapshot(ctx context.Context, fn func(*transaction) error) error {
	const begin = "SET TRANSACTION ISOLATION LEVEL REPEATABLE READ; START TRANSACTION WITH CONSISTENT SNAPSHOT, READ ONLY"
	for n := 0; ; n++ {
		err := s.inOwnTx(ctx, begin, func(t *transaction) error {
			if err := s.accept(&t.serverState); err != nil {
				return err
			}
			t.Now -= s.behind()
			return fn(t)
		})
		if codeOf(err) != codeTableChanged || n == retries {
			return err
		}
	}
}

// retry runs fn until it does not fail for a deadlock or a lock that was not to
// be had.
func retry(ctx context.Context, doing string, fn func() error) error {
	if err := begun(ctx, doing); err != nil {
		return err
	}
	for n := 0; ; n++ {
		err := fn()
		if !again(err) || n == retries {
			return translateError(doing, err)
		}
		select {
		case <-ctx.Done():
			return begun(ctx, doing)
		case <-time.After(rand.N(retryPause)):
		}
	}
}

// inOwnTx runs fn between a begin and whatever end it makes; what it leaves open
// is rolled back.
func (s *Store) inOwnTx(ctx context.Context, begin string, fn func(*transaction) error) error {
	conn, err := s.db.Conn(ctx)
	if err != nil {
		return err
	}
	t := s.newTransaction(ctx, conn)
	err = t.begin(s, begin)
	if err == nil {
		err = fn(t)
	}
	return errors.Join(err, t.release())
}

// begin begins and looks at the database, in one round trip.
func (t *transaction) begin(s *Store, begin string) error {
	return t.Query(begin+";\n"+s.serverStateText(), nil, t.see)
}

// look reads the counters again.
func (t *transaction) look(s *Store) error {
	return t.Query(s.serverStateText(), nil, t.see)
}

// release rolls back what is still open and lets go of the session. One that
// cannot roll back is dropped, and its locks with it.
func (t *transaction) release() error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Ctx), 5*time.Second)
	defer cancel()
	if _, err := t.conn.ExecContext(ctx, "ROLLBACK"); err != nil {
		_ = t.conn.Raw(func(any) error { return driver.ErrBadConn })
	}
	if err := t.conn.Close(); err != nil && !errors.Is(err, sql.ErrConnDone) {
		return err
	}
	return nil
}

// commit ends the transaction, after counting the epoch on if anything moved
// that relays look at.
func (t *transaction) commit() error {
	text := "COMMIT"
	if t.Moved {
		text = sqlEpoch + t.comment + "; COMMIT"
	}
	_, err := t.conn.ExecContext(t.Ctx, text)
	return err
}

// session is a connection on which several statements can travel together. comment
// follows each.
type session struct {
	*sql.Conn

	comment string
}

// ExecContext implements [sqlkit.Runner].
func (c session) ExecContext(ctx context.Context, text string, args ...any) (sql.Result, error) {
	return c.Conn.ExecContext(ctx, text+c.comment, args...)
}

// QueryContext implements [sqlkit.Runner].
func (c session) QueryContext(ctx context.Context, text string, args ...any) (*sql.Rows, error) {
	return c.Conn.QueryContext(ctx, text+c.comment, args...)
}

// ExecTogether implements [sqlkit.Together].
func (c session) ExecTogether(ctx context.Context, texts []string, args []any) ([]int64, error) {
	return execMany(ctx, c.Conn, strings.Join(texts, c.comment+";\n")+c.comment, args)
}

// commenting is a pool, or a transaction, whose statements a comment follows.
type commenting struct {
	sqlkit.Runner

	comment string
}

// commented returns on itself where there is no comment.
func commented(on sqlkit.Runner, comment string) sqlkit.Runner {
	if comment == "" {
		return on
	}
	return commenting{on, comment}
}

// ExecContext implements [sqlkit.Runner].
func (c commenting) ExecContext(ctx context.Context, text string, args ...any) (sql.Result, error) {
	return c.Runner.ExecContext(ctx, text+c.comment, args...)
}

// QueryContext implements [sqlkit.Runner].
func (c commenting) QueryContext(ctx context.Context, text string, args ...any) (*sql.Rows, error) {
	return c.Runner.QueryContext(ctx, text+c.comment, args...)
}

// execMany runs several statements in one round trip.
func execMany(ctx context.Context, conn *sql.Conn, text string, args []any) (changed []int64, err error) {
	named := make([]driver.NamedValue, len(args))
	for i, a := range args {
		value, err := driver.DefaultParameterConverter.ConvertValue(a)
		if err != nil {
			return nil, err
		}
		named[i] = driver.NamedValue{Ordinal: i + 1, Value: value}
	}
	err = conn.Raw(func(c any) error {
		run, ok := c.(driver.ExecerContext)
		if !ok {
			return fmt.Errorf("%T cannot run a statement", c)
		}
		result, err := run.ExecContext(ctx, text, named)
		if err != nil {
			return err
		}
		if several, ok := result.(mysql.Result); ok {
			changed = several.AllRowsAffected()
		}
		return nil
	})
	return changed, err
}

// query runs a statement outside a transaction.
func (s *Store) query(ctx context.Context) sqlkit.Querier {
	return sqlkit.Querying(ctx, commented(s.db, s.comment))
}

// row scans the first row of a query into dest, and says whether there is one.
func (s *Store) row(ctx context.Context, text string, args []any, dest ...any) (bool, error) {
	return sqlkit.Row(s.query(ctx), text, args, dest...)
}

// tableOf returns the name of a box's table, for use in a statement: the name of
// a box is letters, digits and underscores.
func tableOf(box string) string { return "`postbag_" + box + "`" }

// list returns numbers as text for an IN, "NULL" for none.
func list(numbers []int64) string {
	if len(numbers) == 0 {
		return "NULL"
	}
	var b strings.Builder
	for i, n := range numbers {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprint(&b, n)
	}
	return b.String()
}
