package mysqlstore_test

import (
	"bytes"
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/store/mysqlstore"
)

// patience is how long tests wait for what must happen.
const patience = 2 * time.Minute

// fixture is a store on a database, and an application's pool on the same.
type fixture struct {
	*mysqlstore.Store

	dsn, name string
	plain     *sql.DB
	cut       *cutter
	faults    chan error
}

func newFixture(tb testing.TB, dsn string, change ...func(*mysqlstore.Options)) *fixture {
	tb.Helper()
	f := &fixture{dsn: dsn, cut: &cutter{}, plain: openSQL(tb, dsn), faults: make(chan error, 100)}
	f.name = dsn[strings.LastIndex(dsn, "/")+1:]
	o := mysqlstore.Options{Create: true, Boxes: []string{}, Connections: 60, OnFault: func(err error) {
		select {
		case f.faults <- err:
		default:
		}
	}}
	for _, c := range change {
		c(&o)
	}
	s, err := mysqlstore.Open(tb.Context(), f.cut.through(dsn), o)
	if err != nil {
		tb.Fatal(err)
	}
	f.Store = s
	tb.Cleanup(func() {
		if err := f.Close(); err != nil {
			tb.Error(err)
		}
	})
	return f
}

// openSQL opens a database as an application does.
func openSQL(tb testing.TB, dsn string) *sql.DB {
	tb.Helper()
	db, err := sql.Open("mysql", dsn)
	if err != nil {
		tb.Fatal(err)
	}
	db.SetMaxIdleConns(40)
	tb.Cleanup(func() {
		if err := db.Close(); err != nil {
			tb.Error(err)
		}
	})
	return db
}

// stranger holds a transaction open that has written in another database.
func (f *fixture) stranger(ctx context.Context) (func(context.Context) error, error) {
	conn, err := f.plain.Conn(ctx)
	if err != nil {
		return nil, err
	}
	other := f.name + "_other"
	for _, text := range []string{
		"CREATE DATABASE " + other, "CREATE TABLE " + other + ".t (n INT PRIMARY KEY)", "BEGIN", "INSERT INTO " + other + ".t VALUES (1)",
	} {
		if _, err := conn.ExecContext(ctx, text); err != nil {
			return nil, err
		}
	}
	return func(ctx context.Context) error {
		_, err := conn.ExecContext(ctx, "ROLLBACK")
		_, dropped := conn.ExecContext(ctx, "DROP DATABASE "+other)
		return errors.Join(err, dropped, conn.Close())
	}, nil
}

// drawn numbers what needs a name of its own.
var drawn atomic.Int64

// cutter makes connections on which the answer to a COMMIT can be lost, and counts what
// goes out on them: statements, also those that travel together, and the largest packet.
type cutter struct {
	armed               atomic.Bool
	statements, largest atomic.Int64
}

func (c *cutter) arm() { c.armed.Store(true) }

// through returns a DSN whose connections go through the cutter.
func (c *cutter) through(dsn string) string {
	network := fmt.Sprintf("cut%d", drawn.Add(1))
	mysql.RegisterDialContext(network, func(ctx context.Context, address string) (net.Conn, error) {
		d := net.Dialer{Timeout: 10 * time.Second}
		conn, err := d.DialContext(ctx, "tcp", address)
		return &cutConn{Conn: conn, cutter: c}, err
	})
	return strings.Replace(dsn, "@tcp(", "@"+network+"(", 1)
}

type cutConn struct {
	net.Conn

	cutter  *cutter
	cutting atomic.Bool
}

func (c *cutConn) Write(b []byte) (int, error) {
	if bytes.HasSuffix(b, []byte("\x03COMMIT")) && c.cutter.armed.CompareAndSwap(true, false) {
		c.cutting.Store(true)
	}
	c.cutter.statements.Add(1 + int64(bytes.Count(b, []byte(";\n"))))
	for n := int64(len(b)); ; {
		if most := c.cutter.largest.Load(); n <= most || c.cutter.largest.CompareAndSwap(most, n) {
			return c.Conn.Write(b)
		}
	}
}

// Read waits for the answer to a COMMIT, and keeps it.
func (c *cutConn) Read(b []byte) (int, error) {
	if !c.cutting.Load() {
		return c.Conn.Read(b)
	}
	if _, err := c.Conn.Read(b); err != nil {
		return 0, err
	}
	_ = c.Close()
	return 0, io.ErrUnexpectedEOF
}

// xaTx is a distributed transaction, which can be prepared.
type xaTx struct {
	conn *sql.Conn
	name string
	over bool
}

var _ postbag.SQLTx = (*xaTx)(nil)

func beginXA(ctx context.Context, db *sql.DB, level sql.IsolationLevel) (*xaTx, error) {
	conn, err := db.Conn(ctx)
	if err != nil {
		return nil, err
	}
	t := &xaTx{conn: conn, name: fmt.Sprintf("'postbag-%d'", drawn.Add(1))}
	if level != sql.LevelDefault {
		err = t.orders("SET TRANSACTION ISOLATION LEVEL " + level.String())
	}
	return t, errors.Join(err, t.orders("XA START "+t.name))
}

func (t *xaTx) orders(all ...string) error {
	for _, text := range all {
		if _, err := t.conn.ExecContext(context.Background(), text); err != nil {
			return err
		}
	}
	return nil
}

func (t *xaTx) ExecContext(ctx context.Context, text string, args ...any) (sql.Result, error) {
	return t.conn.ExecContext(ctx, text, args...)
}

func (t *xaTx) QueryContext(ctx context.Context, text string, args ...any) (*sql.Rows, error) {
	return t.conn.QueryContext(ctx, text, args...)
}

func (t *xaTx) end(all ...string) error {
	if t.over {
		return nil
	}
	t.over = true
	return errors.Join(t.orders(all...), t.conn.Close())
}

func (t *xaTx) Commit() error {
	return t.end("XA END "+t.name, "XA COMMIT "+t.name+" ONE PHASE")
}

func (t *xaTx) Rollback() error { return t.end("XA END "+t.name, "XA ROLLBACK "+t.name) }

// prepare leaves the transaction to endPrepared, and its session open.
func (t *xaTx) prepare() error {
	t.over = true
	return t.orders("XA END "+t.name, "XA PREPARE "+t.name)
}

// endPrepared commits or rolls back a prepared transaction: in its own session, or from db if the server has ended that.
//
// MariaDB answers OK to an XA COMMIT of another session that comes while the first one ends, does nothing, and forgets the
// transaction: its rows stay locked, and are seen by nobody until the server starts again. A session leaves the list of
// processes before InnoDB lets go of its transaction, so nobody can wait for that.
func (t *xaTx) endPrepared(ctx context.Context, db *sql.DB, order string) error {
	const notThere = 1397 // the server has not found it again yet
	_, err := t.conn.ExecContext(ctx, order+" "+t.name)
	_ = t.conn.Close()
	if _, refused := errors.AsType[*mysql.MySQLError](err); err == nil || refused {
		return err
	}
	for {
		_, err := db.ExecContext(ctx, order+" "+t.name)
		if refused, ok := errors.AsType[*mysql.MySQLError](err); !ok || refused.Number != notThere {
			return err
		}
		select {
		case <-ctx.Done():
			return err
		case <-time.After(5 * time.Millisecond):
		}
	}
}

// rollBack rolls back. A session that was given up, because a context ended in the
// middle of a statement, has nothing more to end.
func rollBack(tx postbag.SQLTx) error {
	err := tx.Rollback()
	for _, gone := range []error{context.DeadlineExceeded, context.Canceled, driver.ErrBadConn, mysql.ErrInvalidConn, sql.ErrTxDone} {
		if errors.Is(err, gone) {
			return nil
		}
	}
	return err
}
