package sqlitestore_test

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/store"
	"github.com/postbag/postbag/store/sqlitestore"
)

var commented = store.SQLComments{Application: "orders */ x'"}

// comment is what a traced connection shows of that.
func comment(role string) string {
	return " /*application='orders%20%2A%2F%20x%27',framework='postbag',postbag_role='" + role + "'*/"
}

// traced is a driver's connector that keeps the statements of its connections.
type traced struct {
	driver.Connector

	mu    sync.Mutex
	texts []string
	ran   []string // the statements that ran, prepared or not
	// bare and spoilt count what begins and ends transactions, without a comment and with one.
	bare, spoilt int
}

func (c *traced) add(text string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.texts = append(c.texts, text)
	for _, control := range []string{"BEGIN", "COMMIT", "ROLLBACK"} {
		switch {
		case !strings.HasPrefix(text, control):
		case strings.Contains(text, "/*application"):
			c.spoilt++
		default:
			c.bare++
		}
	}
}

func (c *traced) run(text string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ran = append(c.ran, text)
}

// takeRuns returns the statements that ran since the last call.
func (c *traced) takeRuns() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	ran := c.ran
	c.ran = nil
	return ran
}

// take returns the statements about our tables since the last call.
func (c *traced) take() (texts []string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, text := range c.texts {
		if strings.Contains(strings.ReplaceAll(text, "postbag_role", ""), "postbag_") && !strings.HasPrefix(text, "DELETE FROM postbag__meta WHERE 0") {
			texts = append(texts, text)
		}
	}
	c.texts = nil
	return texts
}

func (c *traced) Connect(ctx context.Context) (driver.Conn, error) {
	conn, err := c.Connector.Connect(ctx)
	if err != nil {
		return nil, err
	}
	return &tracedConn{conn.(fullConn), c}, nil //nolint:errcheck // it is SQLite's
}

// fullConn is what a connection of SQLite's driver can do.
type fullConn interface {
	driver.Conn
	driver.ConnBeginTx
	driver.ConnPrepareContext
	driver.ExecerContext
	driver.QueryerContext
}

type tracedConn struct {
	fullConn

	of *traced
}

func (c *tracedConn) PrepareContext(ctx context.Context, text string) (driver.Stmt, error) {
	c.of.add(text)
	st, err := c.fullConn.PrepareContext(ctx, text)
	if err != nil {
		return nil, err
	}
	return &tracedStmt{st.(fullStmt), text, c.of}, nil //nolint:errcheck // it is SQLite's
}

// fullStmt is what a prepared statement of SQLite's driver can do.
type fullStmt interface {
	driver.Stmt
	driver.StmtExecContext
	driver.StmtQueryContext
}

type tracedStmt struct {
	fullStmt

	text string
	of   *traced
}

func (s *tracedStmt) ExecContext(ctx context.Context, args []driver.NamedValue) (driver.Result, error) {
	s.of.run(s.text)
	return s.fullStmt.ExecContext(ctx, args)
}

func (s *tracedStmt) QueryContext(ctx context.Context, args []driver.NamedValue) (driver.Rows, error) {
	s.of.run(s.text)
	return s.fullStmt.QueryContext(ctx, args)
}

func (c *tracedConn) ExecContext(ctx context.Context, text string, args []driver.NamedValue) (driver.Result, error) {
	c.of.add(text)
	c.of.run(text)
	return c.fullConn.ExecContext(ctx, text, args)
}

func (c *tracedConn) QueryContext(ctx context.Context, text string, args []driver.NamedValue) (driver.Rows, error) {
	c.of.add(text)
	c.of.run(text)
	return c.fullConn.QueryContext(ctx, text, args)
}

// dsnConnector connects with a driver that has no connector of its own.
type dsnConnector struct {
	of  driver.Driver
	dsn string
}

func (c dsnConnector) Connect(context.Context) (driver.Conn, error) { return c.of.Open(c.dsn) }

func (c dsnConnector) Driver() driver.Driver { return c.of }

// newTraced makes a store over an application's db whose statements are kept.
func newTraced(tb testing.TB, o sqlitestore.Options) (*fixture, *sql.DB, *traced) {
	tb.Helper()
	path := filepath.Join(tb.TempDir(), "test.db")
	openAt(tb, path, sqlitestore.Options{Create: true}).declare(store.Spec{Ref: outbox})
	plain := openDSN(tb, sqlitestore.DSN(path))
	connector := &traced{Connector: dsnConnector{plain.Driver(), sqlitestore.DSN(path)}}
	db := sql.OpenDB(connector)
	tb.Cleanup(func() {
		if err := db.Close(); err != nil {
			tb.Error(err)
		}
	})
	f, err := openOver(tb, db, o)
	if err != nil {
		tb.Fatal(err)
	}
	connector.take()
	return f, db, connector
}

// wantRole fails the test unless there are statements, and each ends in this, and has no other comment.
func wantRole(tb testing.TB, doing, end string, texts []string) {
	tb.Helper()
	if len(texts) == 0 {
		tb.Errorf("%s: there is no statement", doing)
	}
	for _, text := range texts {
		if !strings.HasSuffix(text, end) || strings.Contains(strings.TrimSuffix(text, end), "/*application") {
			tb.Fatalf("%s: this statement does not end in %q: %q", doing, end, text)
		}
	}
}

func TestAConnectionSeesTheCommentOfEachRole(t *testing.T) {
	t.Parallel()
	f, db, seen := newTraced(t, sqlitestore.Options{SQLComments: commented})
	to, err := sqlitestore.OpenAppender(t.Context(), db, sqlitestore.AppenderOptions{SQLComments: commented})
	f.check(err)
	seen.take()
	for _, a := range []interface {
		postbag.Appender[postbag.SQLTx]
		store.Inbox[postbag.SQLTx]
		store.Lanes[postbag.SQLTx]
	}{f.Store, to} {
		f.check(a.InTx(t.Context(), func(ctx context.Context, tx postbag.SQLTx) error {
			_, cancelled := a.Cancel(ctx, tx, "outbox", postbag.NewID())
			later := postbag.Message{ID: postbag.NewID(), Topic: "outbox", NotBefore: time.Now().Add(time.Hour)}
			appended := a.Append(ctx, tx, "outbox", append(messages(20, "k"), later))
			wantRole(t, "publish", comment("publisher"), seen.take())
			_, marked := a.Mark(ctx, tx, "c", []store.Mark{{ID: "a"}})
			lane, opened := a.OpenLane(ctx, tx, "l")
			wrote := a.WriteLane(ctx, tx, "l", lane.Epoch, nil)
			wantRole(t, "mark", comment("consumer"), seen.take())
			return errors.Join(cancelled, appended, marked, opened, wrote)
		}))
	}
	f.take("relay", outbox)
	f.readAll("")
	_, err = f.Overview(t.Context())
	f.check(err)
	wantRole(t, "relay", comment("relay"), seen.take())
	_, err = f.Check(t.Context())
	f.check(err)
	wantRole(t, "check", comment("relay"), seen.take())
	if seen.bare == 0 || seen.spoilt > 0 {
		t.Errorf("of the statements that begin and end transactions, %d have no comment and %d have one", seen.bare, seen.spoilt)
	}
}

func TestOwnConnectionsPrepareWithTheComment(t *testing.T) {
	t.Parallel()
	f := openAt(t, filepath.Join(t.TempDir(), "test.db"), sqlitestore.Options{Create: true, SQLComments: commented})
	f.declare(store.Spec{Ref: outbox})
	f.publish(messages(20, "k")...)
	f.publish(messages(20, "k")...)
	if got := f.readAll(""); len(got) != 40 {
		t.Errorf("%d messages came, and not 40", len(got))
	}
}

func TestWithoutTheOptionNoStatementHasAComment(t *testing.T) {
	t.Parallel()
	f, _, seen := newTraced(t, sqlitestore.Options{})
	f.publish(messages(20, "k")...)
	f.take("relay", outbox)
	f.readAll("")
	wantRole(t, "all", "", seen.take())
}

func TestBadNamesOfApplicationsAreRefusedAtOpen(t *testing.T) {
	t.Parallel()
	bad := store.SQLComments{Application: "a\nb"}
	if err := (sqlitestore.Options{SQLComments: bad}).Validate(); err == nil || !strings.Contains(err.Error(), "sqlitestore: Options.SQLComments.Application holds a control character") {
		t.Errorf("the options have the fault %v", err)
	}
}
