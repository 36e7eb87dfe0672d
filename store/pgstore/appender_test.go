package pgstore_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/jackc/pgx/v5/stdlib"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/internal/boxtest"
	"github.com/postbag/postbag/store"
	"github.com/postbag/postbag/store/pgstore"
)

// textsAndBytes is a transaction that takes no other parameters, as some drivers and poolers.
type textsAndBytes struct{ *sql.Tx }

func (t textsAndBytes) ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error) {
	if err := refuseOthers(args); err != nil {
		return nil, err
	}
	return t.Tx.ExecContext(ctx, query, args...)
}

func (t textsAndBytes) QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error) {
	if err := refuseOthers(args); err != nil {
		return nil, err
	}
	return t.Tx.QueryContext(ctx, query, args...)
}

func refuseOthers(args []any) error {
	for i, a := range args {
		switch a.(type) {
		case string, []byte:
		default:
			return fmt.Errorf("parameter %d is a %T", i+1, a)
		}
	}
	return nil
}

// sqlBox is a box whose application works with database/sql.
type sqlBox struct {
	*testBox

	db *sql.DB
	to *pgstore.Appender
}

func newSQLSite(t *testing.T, mode pgx.QueryExecMode) *sqlBox {
	t.Helper()
	s := &sqlBox{testBox: newTestBox(t)}
	config, err := pgx.ParseConfig(s.dsn)
	s.Must(err)
	config.DefaultQueryExecMode = mode
	config.DialFunc = s.cut.dial
	s.db = stdlib.OpenDB(*config)
	t.Cleanup(func() { _ = s.db.Close() })
	s.to, err = pgstore.OpenAppender(t.Context(), s.db, pgstore.AppenderOptions{})
	s.Must(err)
	return s
}

func (s *sqlBox) begin() textsAndBytes {
	s.Helper()
	tx, err := s.db.BeginTx(s.Context(), nil)
	s.Must(err)
	s.Cleanup(func() { _ = tx.Rollback() })
	return textsAndBytes{tx}
}

func TestMessagesArePublishedThroughDatabaseSQL(t *testing.T) {
	t.Parallel()
	for name, mode := range map[string]pgx.QueryExecMode{
		"prepared": pgx.QueryExecModeCacheStatement, "unnamed": pgx.QueryExecModeExec, "simple": pgx.QueryExecModeSimpleProtocol,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSQLSite(t, mode)
			msgs := boxtest.Messages(6, "a", "b", `'"\{}`, "")
			msgs[1].Payload = []byte{0, 1, 0xff, '\\', '\''}
			msgs[2].Headers = map[string]string{`"`: "\\\n{,}"}
			msgs[4].NotBefore = time.Now().Add(time.Hour)
			msgs[5].NotBefore = msgs[4].NotBefore
			tx := s.begin()
			s.Must(s.to.Lock(t.Context(), tx, "outbox", []string{"a", "b"}))
			s.Must(s.to.Append(t.Context(), tx, "outbox", msgs[:1]))
			s.Must(s.to.Append(t.Context(), tx, "outbox", msgs[1:]))
			if there, err := s.to.Cancel(t.Context(), tx, "outbox", msgs[5].ID); !there || err != nil {
				t.Errorf("a scheduled message was cancelled: %v, %v", there, err)
			}
			if there, err := s.to.Cancel(t.Context(), tx, "outbox", msgs[0].ID); there || err != nil {
				t.Errorf("a message that is not scheduled was cancelled: %v, %v", there, err)
			}
			s.Must(tx.Commit())
			s.hasten()
			s.Until("the scheduled message is promoted", func() bool { return s.Total.Promoted == 1 })
			got := s.Read()
			if len(got) != 5 {
				t.Fatalf("%d of 5 messages are read", len(got))
			}
			for i := range got {
				if want := &msgs[i]; got[i].ID != want.ID || got[i].Key != want.Key || string(got[i].Payload) != string(want.Payload) ||
					fmt.Sprint(got[i].Headers) != fmt.Sprint(want.Headers) || got[i].Slot != store.SlotOf(want) {
					t.Errorf("message %d is read as %+v", i, got[i])
				}
			}
		})
	}
}

func TestADatabaseSQLTransactionCommitsOrRollsBackWithItsFunction(t *testing.T) {
	t.Parallel()
	s := newSQLSite(t, pgx.QueryExecModeCacheStatement)
	put := func(msgs []postbag.Message) func(context.Context, postbag.SQLTx) error {
		return func(ctx context.Context, tx postbag.SQLTx) error { return s.to.Append(ctx, tx, "outbox", msgs) }
	}
	kept := boxtest.Messages(2, "a")
	s.Must(s.to.InTx(t.Context(), put(kept[:1])))
	no := errors.New("no")
	if err := s.to.InTx(t.Context(), func(ctx context.Context, tx postbag.SQLTx) error {
		return errors.Join(put(boxtest.Messages(1, "a"))(ctx, tx), no)
	}); !errors.Is(err, no) {
		t.Errorf("a function that fails: %v", err)
	}
	if err := s.to.InTx(t.Context(), func(ctx context.Context, tx postbag.SQLTx) error {
		_, _ = tx.ExecContext(ctx, "SELECT 1 / 0")
		return nil
	}); err == nil || errors.Is(err, postbag.ErrCommitUnknown) {
		t.Errorf("a commit that the server refuses: %v", err)
	}
	func() {
		defer func() { _ = recover() }()
		_ = s.to.InTx(t.Context(), func(ctx context.Context, tx postbag.SQLTx) error {
			s.Must(put(boxtest.Messages(1, "a"))(ctx, tx))
			panic("in the middle")
		})
	}()
	if n := s.db.Stats().InUse; n != 0 {
		t.Errorf("%d connections are in use after all transactions ended", n)
	}
	s.cut.arm()
	if err := s.to.InTx(t.Context(), put(kept[1:])); !errors.Is(err, postbag.ErrCommitUnknown) {
		t.Errorf("a commit whose answer was lost: %v", err)
	}
	if got := s.Read(); len(got) != 2 || got[0].ID != kept[0].ID || got[1].ID != kept[1].ID {
		t.Errorf("%d messages are read, not the 2 that were committed", len(got))
	}
}

func TestBadUsesOfTheDatabaseSQLAppenderAreRefused(t *testing.T) {
	t.Parallel()
	s := newSQLSite(t, pgx.QueryExecModeCacheStatement)
	if _, err := pgstore.OpenAppender(t.Context(), nil, pgstore.AppenderOptions{}); err == nil {
		t.Error("a nil *sql.DB was opened")
	}
	if _, err := pgstore.OpenAppender(t.Context(), s.db, pgstore.AppenderOptions{Notify: -1}); err == nil || !strings.Contains(err.Error(), "Notify is -1ns") {
		t.Errorf("a negative pause between notifications: %v", err)
	}
	empty := stdlib.OpenDB(*newPool(t, plainConfig(t, shared.Database(t))).Config().ConnConfig)
	t.Cleanup(func() { _ = empty.Close() })
	if _, err := pgstore.OpenAppender(t.Context(), empty, pgstore.AppenderOptions{}); !errors.Is(err, store.ErrSchema) || !strings.Contains(err.Error(), "has no tables of Postbag") {
		t.Errorf("a database without the schema: %v", err)
	}
	if err := s.to.Append(t.Context(), nil, "outbox", boxtest.Messages(1, "a")); !errors.Is(err, postbag.ErrNoTx) {
		t.Errorf("no transaction: %v", err)
	}
	for _, box := range []string{"nothing", `x"; --`} {
		if err := s.to.Append(t.Context(), s.begin(), box, boxtest.Messages(1, "")); !errors.Is(err, store.ErrNoBox) {
			t.Errorf("box %q: %v", box, err)
		}
	}
}

func TestAnAppenderWakesRelaysOfThisProcessAndOfOthers(t *testing.T) {
	t.Parallel()
	s := newSQLSite(t, pgx.QueryExecModeCacheStatement)
	listener := testBoxOn(t, s.dsn, func(_ *pgxpool.Config, o *pgstore.Options) { o.Listen = true })
	heard(t, listener.Store, "it listens")
	to, err := pgstore.OpenAppender(t.Context(), s.db, pgstore.AppenderOptions{Wake: s.Store.Wake, Notify: time.Millisecond})
	s.Must(err)
	pub, err := postbag.NewPublisher[postbag.SQLTx](to, postbag.PublisherOptions{})
	s.Must(err)
	s.Must(pub.InTx(t.Context(), func(ctx context.Context, tx postbag.SQLTx) error {
		return pub.Publish(ctx, tx, boxtest.Messages(1, "a")...)
	}))
	heard(t, s.Store, "the store of this process")
	heard(t, listener.Store, "a notification of an appender")
	s.Must(to.Close())
	s.Must(to.Close())
	pub.Committed() // after Close it wakes nobody elsewhere, and blocks nobody
}
