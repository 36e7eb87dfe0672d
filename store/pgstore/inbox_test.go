package pgstore_test

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/jackc/pgx/v5/stdlib"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/internal/testserver"
	"github.com/postbag/postbag/internal/testserver/servertest"
	"github.com/postbag/postbag/store"
	"github.com/postbag/postbag/store/pgstore"
)

// marksOf are marks without sums.
func marksOf(ids ...store.MessageID) (out []store.Mark) {
	for _, id := range ids {
		out = append(out, store.Mark{ID: id})
	}
	return out
}

func sumOf(text string) store.Sum { return sha256.Sum256([]byte(text)) }

// marked marks in a transaction of its own.
func (f *fixture) marked(consumer string, marks ...store.Mark) (fresh []bool, err error) {
	err = f.InTx(f.tb.Context(), func(ctx context.Context, tx pgx.Tx) error {
		fresh, err = f.Mark(ctx, tx, consumer, marks)
		return err
	})
	return fresh, err
}

// wantMarked fails the test unless marks are as fresh as wanted.
func (f *fixture) wantMarked(consumer string, marks []store.Mark, want ...bool) {
	f.tb.Helper()
	if fresh, err := f.marked(consumer, marks...); err != nil || !slices.Equal(fresh, want) {
		f.tb.Errorf("%q are fresh for %q: %v, want %v (error: %v)", marks, consumer, fresh, want, err)
	}
}

// begin begins a transaction that ends with the test.
func (s *testBox) begin(level pgx.TxIsoLevel) pgx.Tx {
	s.Helper()
	tx, err := s.plain.BeginTx(s.Context(), pgx.TxOptions{IsoLevel: level})
	s.Must(err)
	s.Cleanup(func() { _ = tx.Rollback(context.Background()) })
	return tx
}

func TestAMarkThatTheSnapshotDoesNotShowIsToBeTriedAgain(t *testing.T) {
	t.Parallel()
	for _, level := range []pgx.TxIsoLevel{pgx.ReadCommitted, pgx.RepeatableRead, pgx.Serializable} {
		for what, marks := range map[string][]store.Mark{"one": marksOf("a"), "some": marksOf("b", "a"), "with a sum": {{ID: "a", Sum: sumOf("x")}}} {
			t.Run(string(level)+" "+what, func(t *testing.T) {
				t.Parallel()
				s := newTestBox(t)
				tx := s.begin(level)
				_, err := tx.Exec(t.Context(), "SELECT count(*) FROM postbag._once")
				s.Must(err)
				s.wantMarked("billing", marksOf("a"), true)
				fresh, err := s.Mark(t.Context(), tx, "billing", marks)
				switch {
				case level == pgx.ReadCommitted:
					if err != nil || fresh[len(fresh)-1] {
						t.Errorf("it is %v: %v", fresh, err)
					}
				case !errors.Is(err, store.ErrAgain) || !strings.Contains(err.Error(), "run it again"):
					t.Errorf("it is %v: %v", fresh, err)
				}
				s.Must(tx.Rollback(t.Context()))
			})
		}
	}
}

func TestADeadlockOrALockTimeoutOfMarksIsToBeTriedAgain(t *testing.T) {
	t.Parallel()
	s := newTestBox(t)
	one, two := s.begin(pgx.ReadCommitted), s.begin(pgx.ReadCommitted)
	for tx, id := range map[pgx.Tx]store.MessageID{one: "a", two: "b"} {
		_, err := s.Mark(t.Context(), tx, "billing", marksOf(id))
		s.Must(err)
	}
	_, err := two.Exec(t.Context(), "SET LOCAL lock_timeout = '50ms'; SAVEPOINT before")
	s.Must(err)
	if _, err := s.Mark(t.Context(), two, "billing", marksOf("a", "c")); !errors.Is(err, store.ErrAgain) {
		t.Errorf("a lock timeout is %v", err)
	}
	_, err = two.Exec(t.Context(), "ROLLBACK TO SAVEPOINT before; SET LOCAL lock_timeout = 0")
	s.Must(err)
	second := make(chan error, 1)
	go func() {
		_, err := s.Mark(context.Background(), two, "billing", marksOf("a"))
		second <- errors.Join(err, two.Rollback(context.Background())) // an error ends the savepoint alone, and the other waits on
	}()
	s.Eventually("the second waits", func() bool {
		return s.number("SELECT count(*) FROM pg_stat_activity WHERE datname = $1 AND wait_event_type = 'Lock'", s.name) == 1
	})
	_, first := s.Mark(t.Context(), one, "billing", marksOf("b"))
	s.Must(one.Rollback(t.Context()))
	if err := errors.Join(first, <-second); !errors.Is(err, store.ErrAgain) || !strings.Contains(err.Error(), "40P01") {
		t.Errorf("a deadlock is %v", err)
	}
}

func TestACommitThatSerializableRefusesIsToBeTriedAgain(t *testing.T) {
	t.Parallel()
	s := newTestBox(t, func(c *pgxpool.Config, _ *pgstore.Options) {
		c.ConnConfig.RuntimeParams["default_transaction_isolation"] = "serializable"
	})
	s.exec("CREATE TABLE effects (n integer)")
	db := sqlOf(t, s.dsn, func(c *pgx.ConnConfig) { c.RuntimeParams["default_transaction_isolation"] = "serializable" })
	to, err := pgstore.OpenAppender(t.Context(), db, pgstore.AppenderOptions{})
	s.Must(err)
	// Each of two transactions counts the rows and writes one: there is no order of the two in which both are right.
	other := func(ctx context.Context, between func() error) error {
		tx := s.begin(pgx.Serializable)
		for _, sql := range []string{"SELECT count(*) FROM effects", "INSERT INTO effects VALUES (1)"} {
			if _, err := tx.Exec(ctx, sql); err != nil {
				return err
			}
		}
		return errors.Join(between(), tx.Commit(ctx))
	}
	for what, err := range map[string]error{
		"pgx": s.InTx(t.Context(), func(ctx context.Context, tx pgx.Tx) error {
			return other(ctx, func() error {
				_, err := s.Mark(ctx, tx, "billing", marksOf("a"))
				_, counted := tx.Exec(ctx, "SELECT count(*) FROM effects")
				_, written := tx.Exec(ctx, "INSERT INTO effects VALUES (2)")
				return errors.Join(err, counted, written)
			})
		}),
		"database/sql": to.InTx(t.Context(), func(ctx context.Context, tx postbag.SQLTx) error {
			return other(ctx, func() error {
				_, err := to.Mark(ctx, tx, "billing", marksOf("b"))
				_, counted := tx.ExecContext(ctx, "SELECT count(*) FROM effects")
				_, written := tx.ExecContext(ctx, "INSERT INTO effects VALUES (2)")
				return errors.Join(err, counted, written)
			})
		}),
	} {
		if !errors.Is(err, store.ErrAgain) {
			t.Errorf("%s: the commit says %v", what, err)
		}
	}
	if n := s.number("SELECT count(*) FROM postbag._once"); n != 0 {
		t.Errorf("%d marks are there of transactions that were refused", n)
	}
}

// sqlOf opens a database with pgx's driver.
func sqlOf(t *testing.T, dsn string, change func(*pgx.ConnConfig)) *sql.DB {
	t.Helper()
	config, err := pgx.ParseConfig(dsn)
	if err != nil {
		t.Fatal(err)
	}
	change(config)
	db := stdlib.OpenDB(*config)
	t.Cleanup(func() { _ = db.Close() })
	return db
}

func TestMarksOfSavepointsAndPreparedTransactionsGoWithThem(t *testing.T) {
	t.Parallel()
	s := newTestBox(t)
	tx := s.begin(pgx.ReadCommitted)
	run := func(sql string) {
		t.Helper()
		_, err := tx.Exec(t.Context(), sql)
		s.Must(err)
	}
	mark := func(want bool, id store.MessageID) {
		t.Helper()
		if fresh, err := s.Mark(t.Context(), tx, "billing", marksOf(id)); err != nil || fresh[0] != want {
			t.Errorf("%q is fresh: %v, %v", id, fresh, err)
		}
	}
	run("SAVEPOINT s")
	mark(true, "a")
	mark(false, "a")
	run("ROLLBACK TO SAVEPOINT s")
	mark(true, "a")
	run("RELEASE SAVEPOINT s")
	run("PREPARE TRANSACTION '" + s.name + "'")
	s.Must(tx.Rollback(t.Context()))

	fresh := make(chan []bool, 1)
	go func() {
		out, err := s.marked("billing", marksOf("a", "b")...)
		if err != nil {
			t.Error(err)
		}
		fresh <- out
	}()
	s.Eventually("another waits for the prepared transaction", func() bool {
		return s.number("SELECT count(*) FROM pg_stat_activity WHERE datname = $1 AND wait_event_type = 'Lock'", s.name) == 1
	})
	s.exec("COMMIT PREPARED '" + s.name + "'")
	if got := <-fresh; !slices.Equal(got, []bool{false, true}) {
		t.Errorf("after its commit the others are fresh: %v", got)
	}
	tx = s.begin(pgx.ReadCommitted)
	mark(true, "c")
	run("PREPARE TRANSACTION '" + s.name + "'")
	s.Must(tx.Rollback(t.Context()))
	s.exec("ROLLBACK PREPARED '" + s.name + "'")
	s.wantMarked("billing", marksOf("c"), true)
}

// markCounter counts the statements of a session.
type markCounter struct{ n atomic.Int64 }

func (c *markCounter) TraceQueryStart(ctx context.Context, _ *pgx.Conn, q pgx.TraceQueryStartData) context.Context {
	if strings.Contains(q.SQL, "_once") {
		c.n.Add(1)
	}
	return ctx
}

func (c *markCounter) TraceQueryEnd(context.Context, *pgx.Conn, pgx.TraceQueryEndData) {}

func TestMarksThatAreAllFreshTakeOneStatement(t *testing.T) {
	t.Parallel()
	var c markCounter
	s := newTestBox(t, func(config *pgxpool.Config, _ *pgstore.Options) { config.ConnConfig.Tracer = &c })
	many := make([]store.Mark, store.MaxMarks)
	for i := range many {
		many[i] = store.Mark{ID: store.MessageID(fmt.Sprint(i)), Sum: sumOf(fmt.Sprint(i))}
	}
	other := slices.Clone(many)
	other[7].Sum = sumOf("another")
	for _, step := range []struct {
		what       string
		marks      []store.Mark
		statements int64
		err        error
	}{
		{"one", marksOf("one"), 1, nil},
		{"one again", marksOf("one"), 1, nil},
		{"one again, with a sum", []store.Mark{{ID: "one", Sum: sumOf("x")}}, 2, nil},
		{"one with a sum", []store.Mark{{ID: "two", Sum: sumOf("x")}}, 1, nil},
		{"the most that may be", many, 1, nil},
		{"the same again", many, 2, nil},
		{"the same again, without sums", marksOf("1", "2", "3"), 1, nil},
		{"one of them with another sum", other, 2, store.ErrOtherBytes},
	} {
		c.n.Store(0)
		if _, err := s.marked("billing", step.marks...); !errors.Is(err, step.err) {
			t.Errorf("%s: %v", step.what, err)
		}
		if n := c.n.Load(); n != step.statements {
			t.Errorf("%s takes %d statements, not %d", step.what, n, step.statements)
		}
	}
}

// strange are ids and names that another way of quoting or comparing would change.
var (
	strangeIDs   = []store.MessageID{"\x00\xff", "\x00", `'"\{}`, "a", "A", "å", "a ", "NULL", `\x61`, store.MessageID(strings.Repeat("\xfe", store.MaxMessageID))}
	strangeNames = []string{"billing", "Billing", "billing ", "bölling", "bo\u0308lling", `'"\{}`, strings.Repeat("é", store.MaxConsumer/2)}
)

func TestIDsAndNamesAreComparedAsBytesOnEveryWay(t *testing.T) {
	t.Parallel()
	for name, mode := range map[string]pgx.QueryExecMode{
		"prepared": pgx.QueryExecModeCacheStatement, "unnamed": pgx.QueryExecModeExec, "simple": pgx.QueryExecModeSimpleProtocol,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSQLSite(t, mode)
			marks := marksOf(strangeIDs...)
			for i := range marks {
				if i%2 == 0 {
					marks[i].Sum = sumOf(string(marks[i].ID))
				}
			}
			for i, consumer := range strangeNames {
				ways := []func(m ...store.Mark) ([]bool, error){
					func(m ...store.Mark) ([]bool, error) { return s.marked(consumer, m...) },
					func(m ...store.Mark) ([]bool, error) {
						tx := s.begin()
						fresh, err := s.to.Mark(t.Context(), tx, consumer, m)
						return fresh, errors.Join(err, tx.Commit())
					},
				}
				if i%2 == 0 {
					slices.Reverse(ways)
				}
				for k, way := range ways {
					fresh, err := way(append(slices.Clip(marks), marks[0])...)
					if err != nil {
						t.Fatalf("consumer %q: %v", consumer, err)
					}
					for i, is := range fresh {
						if is != (k == 0 && i < len(marks)) {
							t.Errorf("consumer %q, id %q: fresh is %v", consumer, append(marks, marks[0])[i].ID, is)
						}
					}
					one := store.Mark{ID: store.MessageID(fmt.Sprint("one ", k)), Sum: sumOf("one")}
					for _, want := range []bool{true, false} {
						if fresh, err := way(one); err != nil || fresh[0] != want {
							t.Errorf("consumer %q: one is fresh: %v, %v", consumer, fresh, err)
						}
					}
				}
			}
			if n := s.number("SELECT count(*) FROM postbag._once"); n != int64(len(strangeNames)*(len(strangeIDs)+2)) {
				t.Errorf("%d marks are there", n)
			}
		})
	}
}

func TestAnotherSumIsRefusedAndTheErrorNamesConsumerAndID(t *testing.T) {
	t.Parallel()
	s := newSQLSite(t, pgx.QueryExecModeExec)
	for id, shown := range map[store.MessageID]string{"order 7": `"order 7"`, "å": `"å"`, "\x00\x07\xff": "0x0007ff", "a\nb": "0x610a62"} {
		s.wantMarked("billing", []store.Mark{{ID: id, Sum: sumOf("x")}}, true)
		for what, marks := range map[string][]store.Mark{
			"alone": {{ID: id, Sum: sumOf("y")}}, "behind one that is fresh": {{ID: "fresh"}, {ID: id, Sum: sumOf("y")}},
			"the second of one call": {{ID: "new" + id}, {ID: id}, {ID: id, Sum: sumOf("y")}},
		} {
			_, err := s.marked("billing", marks...)
			tx := s.begin()
			_, other := s.to.Mark(t.Context(), tx, "billing", marks)
			s.Must(tx.Rollback())
			for _, err := range []error{err, other} {
				if !errors.Is(err, store.ErrOtherBytes) || !strings.Contains(err.Error(), shown) || !strings.Contains(err.Error(), `"billing"`) {
					t.Errorf("%s: %v", what, err)
				}
			}
		}
	}
	if _, err := s.marked("billing", store.Mark{ID: "z", Sum: sumOf("x")}, store.Mark{ID: "z", Sum: sumOf("y")}); !errors.Is(err, store.ErrOtherBytes) {
		t.Errorf("two sums in one call: %v", err)
	}
	s.wantMarked("shipping", []store.Mark{{ID: "order 7", Sum: sumOf("y")}}, true)
	s.wantMarked("billing", marksOf("order 7"), false)
	s.wantMarked("billing", []store.Mark{{ID: "bare"}, {ID: "bare", Sum: sumOf("x")}}, true, false)
	s.wantMarked("billing", []store.Mark{{ID: "bare", Sum: sumOf("y")}}, false)
}

func TestMarksOfAWrongLengthAreRefused(t *testing.T) {
	t.Parallel()
	s := newTestBox(t)
	for what, ask := range map[string]func() ([]bool, error){
		"no name":     func() ([]bool, error) { return s.marked("", marksOf("a")...) },
		"a long name": func() ([]bool, error) { return s.marked(strings.Repeat("é", 51), marksOf("a")...) },
		"no id":       func() ([]bool, error) { return s.marked("billing", marksOf("a", "")...) },
		"a long id": func() ([]bool, error) {
			return s.marked("billing", marksOf(store.MessageID(strings.Repeat("a", 256)))...)
		},
		"no text": func() ([]bool, error) { return s.marked("\xff", marksOf("a")...) },
	} {
		if fresh, err := ask(); err == nil || fresh != nil || strings.Contains(err.Error(), "postbag.Publisher") {
			t.Errorf("%s: %v, %v", what, fresh, err)
		}
	}
	if fresh, err := s.marked("billing"); err != nil || len(fresh) != 0 {
		t.Errorf("no mark: %v, %v", fresh, err)
	}
	if _, err := s.Mark(t.Context(), nil, "billing", marksOf("a")); !errors.Is(err, postbag.ErrNoTx) {
		t.Errorf("no transaction: %v", err)
	}
	site := newSQLSite(t, pgx.QueryExecModeExec)
	if _, err := site.to.Mark(t.Context(), nil, "billing", marksOf("a")); !errors.Is(err, postbag.ErrNoTx) {
		t.Errorf("no transaction of database/sql: %v", err)
	}
}

// All messages without an id would be one, and each but the first be taken for applied.
func TestTheTableRefusesAnEmptyIDOfAnotherLanguage(t *testing.T) {
	t.Parallel()
	s := newTestBox(t)
	_, err := s.pool.Exec(t.Context(), "INSERT INTO postbag._once (consumer, id) VALUES ('billing', '') ON CONFLICT DO NOTHING")
	if err == nil || !strings.Contains(err.Error(), "_once_id") {
		t.Errorf("a mark with an empty id: %v", err)
	}
}

func TestAMissingTableOfTheInboxIsAnOldSchema(t *testing.T) {
	t.Parallel()
	s := newSQLSite(t, pgx.QueryExecModeExec)
	s.exec("DROP TABLE postbag._once, postbag._consumers, postbag._forgetting")
	_, one := s.marked("billing", marksOf("a")...)
	_, many := s.to.Mark(t.Context(), s.begin(), "billing", marksOf("a", "b"))
	_, forgotten := s.Forget(t.Context())
	_, listed := s.to.Consumers(t.Context())
	for what, err := range map[string]error{
		"Mark": one, "Mark of several": many, "Forget": forgotten, "Consumers": listed, "DeclareConsumer": s.DeclareConsumer(t.Context(), "billing", store.DefaultKeep),
	} {
		if !errors.Is(err, store.ErrSchema) || !strings.Contains(err.Error(), "postbag migrate up") {
			t.Errorf("%s says %v", what, err)
		}
	}
}

func TestMarksAreInADumpAndInARestoredDatabase(t *testing.T) {
	t.Parallel()
	s := newTestBox(t)
	kept := []store.Mark{{ID: "a", Sum: sumOf("a")}, {ID: "\x00\xff"}}
	s.wantMarked("bölling", kept, true, true)
	s.Must(s.DeclareConsumer(t.Context(), "bölling", 90*24*store.DefaultKeep))
	copied := s.elsewhere()
	copied.wantMarked("bölling", append(kept, store.Mark{ID: "b"}), false, false, true)
	if _, err := copied.marked("bölling", store.Mark{ID: "a", Sum: sumOf("b")}); !errors.Is(err, store.ErrOtherBytes) {
		t.Errorf("another sum is %v", err)
	}
	if got, err := copied.Consumers(t.Context()); err != nil || len(got) != 1 || got[0] != (store.Consumer{Name: "bölling", Keep: 90 * 24 * store.DefaultKeep}) {
		t.Errorf("the consumers are %v: %v", got, err)
	}
	c := &testBox{TB: t, Driver: s.Driver, fixture: copied}
	if n := c.number("SELECT count(*) FROM pg_constraint WHERE conrelid = 'postbag._once'::regclass"); n != 3 {
		t.Errorf("the copy has %d constraints", n)
	}
	if f, err := copied.Forget(t.Context()); err != nil || f != (store.Forgotten{Looked: 3, Done: true}) {
		t.Errorf("the copy forgets %+v: %v", f, err)
	}
}

func TestAConsumersNameIsTheSameInEveryClientEncoding(t *testing.T) {
	t.Parallel()
	s := newTestBox(t)
	s.wantMarked("bölling", marksOf("a"), true)
	db := sqlOf(t, s.dsn, func(c *pgx.ConnConfig) { c.RuntimeParams["client_encoding"] = "LATIN1" })
	to, err := pgstore.OpenAppender(t.Context(), db, pgstore.AppenderOptions{})
	s.Must(err)
	for _, marks := range [][]store.Mark{marksOf("a"), marksOf("b", "a")} {
		s.Must(to.InTx(t.Context(), func(ctx context.Context, tx postbag.SQLTx) error {
			if fresh, err := to.Mark(ctx, tx, "bölling", marks); err != nil || fresh[len(fresh)-1] {
				t.Errorf("in a session with LATIN1 it is fresh: %v, %v", fresh, err)
			}
			return nil
		}))
	}
	s.Must(to.DeclareConsumer(t.Context(), "bölling", store.DefaultKeep))
	if got, err := to.Consumers(t.Context()); err != nil || len(got) != 1 || got[0].Name != "bölling" {
		t.Errorf("the consumers are %q: %v", got, err)
	}
	s.wantMarked("bölling", marksOf("b"), false)
}

func TestMarkingAndForgettingWorkThroughAPooler(t *testing.T) {
	t.Parallel()
	s := newTestBox(t)
	role := s.name + "_r"
	of := s.role(role, pgstore.GrantRelay(role))
	pooler := servertest.PgBouncer(t, shared.Server(t), testserver.PgBouncerOptions{PoolSize: 2, Users: map[string]string{role: "x"}})
	for name, mode := range map[string]pgx.QueryExecMode{"prepared": pgx.QueryExecModeCacheStatement, "unnamed": pgx.QueryExecModeExec} {
		through := newFixture(t, of.dsn, withoutCreate, func(c *pgxpool.Config, _ *pgstore.Options) {
			c.ConnConfig.Port, c.ConnConfig.DefaultQueryExecMode = uint16(pooler.Port()), mode
		})
		var id store.MessageID
		for i := range 20 {
			id = store.MessageID(fmt.Sprint(name, i))
			marks := []store.Mark{{ID: id}, {ID: id + "x", Sum: sumOf("x")}}
			fresh, err := through.marked("billing", marks...)
			if mode == pgx.QueryExecModeCacheStatement && err != nil && strings.Contains(err.Error(), "pooler in transaction mode") {
				fresh, err = through.marked("billing", marks...) // it was noticed in a transaction of the application, which has failed
			}
			if err != nil || !slices.Equal(fresh, []bool{true, true}) {
				t.Fatalf("%s, %d: %v, %v", name, i, fresh, err)
			}
			if f, err := through.Forget(t.Context()); err != nil || f.Busy {
				t.Fatalf("%s, %d: it forgets %+v: %v", name, i, f, err)
			}
		}
		through.wantMarked("billing", marksOf(id, "new"+id), false, true)
	}
}

// A handler returns an error of the driver as it is, and the store says whether that passes.
func TestAStatementThatMetAnotherTransactionIsToBeRunAgain(t *testing.T) {
	t.Parallel()
	s := newTestBox(t)
	_, err := s.plain.Exec(t.Context(), "CREATE TABLE account (id int PRIMARY KEY, n int NOT NULL)")
	s.Must(err)
	_, err = s.plain.Exec(t.Context(), "INSERT INTO account VALUES (1, 0)")
	s.Must(err)
	one, two := s.begin(pgx.ReadCommitted), s.begin(pgx.Serializable)
	s.Must(two.QueryRow(t.Context(), "SELECT n FROM account WHERE id = 1").Scan(new(int)))
	const update = "UPDATE account SET n = n + 1 WHERE id = 1"
	_, err = one.Exec(t.Context(), update)
	s.Must(err)
	_, locked := s.plain.Exec(t.Context(), "SELECT n FROM account WHERE id = 1 FOR UPDATE NOWAIT")
	s.Must(one.Commit(t.Context()))
	_, snapshot := two.Exec(t.Context(), update)
	_, duplicate := s.plain.Exec(t.Context(), "INSERT INTO account VALUES (1, 0)")
	appender := &pgstore.Appender{}
	for what, c := range map[string]struct {
		err  error
		code string
		want bool
	}{
		"a lock that is not to be had": {locked, "55P03", true},
		"an old snapshot":              {snapshot, "40001", true},
		"a duplicate key":              {duplicate, "23505", false},
	} {
		if c.err == nil || !strings.Contains(c.err.Error(), c.code) {
			t.Errorf("%s is %v", what, c.err)
		}
		wrapped := fmt.Errorf("charge: %w", c.err)
		if s.RunAgain(wrapped) != c.want || appender.RunAgain(wrapped) != c.want {
			t.Errorf("%s is to be run again: %v, not %v", what, s.RunAgain(wrapped), c.want)
		}
	}
	if s.RunAgain(nil) || s.RunAgain(sql.ErrNoRows) || !s.RunAgain(store.ErrAgain) {
		t.Error("other errors than the server's are taken for what they are not")
	}
}
