package pgstore_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/internal/boxtest"
	"github.com/postbag/postbag/store"
	"github.com/postbag/postbag/store/pgstore"
)

var orders = store.SQLComments{Application: "orders */ x'"}

// ordersComment is what the server shows of that.
func ordersComment(role string) string {
	return " /*application='orders%20%2A%2F%20x%27',framework='postbag',postbag_role='" + role + "'*/"
}

func commented(_ *pgxpool.Config, o *pgstore.Options) { o.SQLComments = orders }

// lastStatements returns the last statement of each other session of the database.
func lastStatements(s *testBox) []string {
	s.Helper()
	rows, err := s.plain.Query(s.Context(), `SELECT query FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()`)
	s.Must(err)
	all, err := pgx.CollectRows(rows, pgx.RowTo[string])
	s.Must(err)
	return all
}

func TestTheServerShowsTheCommentOfEachRole(t *testing.T) {
	t.Parallel()
	for _, mode := range []pgx.QueryExecMode{pgx.QueryExecModeCacheStatement, pgx.QueryExecModeExec} {
		t.Run(mode.String(), func(t *testing.T) {
			t.Parallel()
			s := newTestBox(t, commented, func(c *pgxpool.Config, o *pgstore.Options) {
				c.ConnConfig.DefaultQueryExecMode, o.Listen = mode, true
			})
			s.publish(boxtest.Messages(3, "k")...)
			s.Must(s.InTx(t.Context(), func(ctx context.Context, tx pgx.Tx) error {
				if err := s.Append(ctx, tx, "outbox", []postbag.Message{{ID: postbag.NewID()}}); err != nil {
					return err
				}
				if last := lastStatements(s); !slices.ContainsFunc(last, endsWith("publisher")) {
					t.Errorf("while a transaction publishes, the last statements are %q", last)
				}
				_, err := s.Mark(ctx, tx, "consumer", []store.Mark{{ID: "a"}})
				if last := lastStatements(s); !slices.ContainsFunc(last, endsWith("consumer")) {
					t.Errorf("while a transaction marks, the last statements are %q", last)
				}
				return err
			}))
			last := lastStatements(s)
			if !slices.ContainsFunc(last, func(q string) bool { return strings.HasPrefix(q, "LISTEN") && endsWith("relay")(q) }) {
				t.Errorf("the last statements are %q, and none is the LISTEN", last)
			}
			if _, err := s.Overview(t.Context()); err != nil || !slices.ContainsFunc(lastStatements(s), endsWith("relay")) {
				t.Errorf("after an overview the last statements are %q: %v", lastStatements(s), err)
			}
		})
	}
}

func endsWith(role string) func(string) bool {
	return func(q string) bool { return strings.HasSuffix(q, ordersComment(role)) }
}

func TestAnAppenderSendsTheCommentOfAPublisher(t *testing.T) {
	t.Parallel()
	s := newTestBox(t)
	db := sqlOf(t, s.dsn, func(*pgx.ConnConfig) {})
	to, err := pgstore.OpenAppender(t.Context(), db, pgstore.AppenderOptions{SQLComments: orders})
	s.Must(err)
	s.Must(to.InTx(t.Context(), func(ctx context.Context, tx postbag.SQLTx) error {
		err := to.Append(ctx, tx, "outbox", []postbag.Message{{ID: postbag.NewID()}})
		if last := lastStatements(s); !slices.ContainsFunc(last, endsWith("publisher")) {
			t.Errorf("the last statements are %q", last)
		}
		return err
	}))
}

// A statement that is prepared keeps its name, and a comment that says another thing makes another.
func TestEveryStatementEndsInTheCommentOfItsRole(t *testing.T) {
	t.Parallel()
	with, without := newTestBox(t, commented), newTestBox(t)
	roles := map[string]string{
		"append_one": "publisher", "append_many": "publisher", "append_scheduled": "publisher", "lock_keys": "publisher", "cancel": "publisher",
		"mark_one": "consumer", "open_lane": "consumer", "write_lane": "consumer", "guard": "relay", "overview": "relay", "notify": "relay", "command": "relay",
	}
	for _, name := range with.Statements() {
		text, bare := with.Statement(name, "outbox"), without.Statement(name, "outbox")
		added := strings.TrimPrefix(text, bare)
		if !slices.Contains([]string{ordersComment("relay"), ordersComment("publisher"), ordersComment("consumer")}, added) {
			t.Errorf("statement %s has %q behind it", name, added)
		}
		if role := roles[name]; role != "" && added != ordersComment(role) {
			t.Errorf("statement %s has %q behind it, want that of a %s", name, added, role)
		}
		if strings.Contains(bare, "postbag_role") {
			t.Errorf("without the option, statement %s is %q", name, bare)
		}
	}
}

func TestBadNamesOfApplicationsAreRefusedAtOpen(t *testing.T) {
	t.Parallel()
	bad := store.SQLComments{Application: "a\nb"}
	if err := (pgstore.Options{SQLComments: bad}).Validate(); err == nil || !strings.Contains(err.Error(), "pgstore: Options.SQLComments.Application holds a control character") {
		t.Errorf("the options have the fault %v", err)
	}
	s := newTestBox(t)
	db := sqlOf(t, s.dsn, func(*pgx.ConnConfig) {})
	if _, err := pgstore.OpenAppender(t.Context(), db, pgstore.AppenderOptions{SQLComments: bad, Notify: time.Second}); err == nil {
		t.Error("an appender was opened")
	}
}
