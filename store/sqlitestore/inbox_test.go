package sqlitestore_test

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/store"
	"github.com/postbag/postbag/store/sqlitestore"
)

// once makes marks without sums.
func once(ids ...string) []store.Mark {
	out := make([]store.Mark, len(ids))
	for i, id := range ids {
		out[i].ID = store.MessageID(id)
	}
	return out
}

// marked marks messages, and fails the test unless the answer is this.
func (f *fixture) marked(in store.Inbox[postbag.SQLTx], tx postbag.SQLTx, marks []store.Mark, want ...bool) {
	f.Helper()
	got, err := in.Mark(f.Context(), tx, "c", marks)
	f.check(err)
	if !slices.Equal(got, want) {
		f.Fatalf("of %d marks it says that %v are new, and %v are", len(marks), got, want)
	}
}

func TestAMessageIsNewOnceUntilItIsRolledBack(t *testing.T) {
	t.Parallel()
	f := open(t)
	db := openSQL(t, f.path)
	d, err := sqlitestore.OpenAppender(t.Context(), db, sqlitestore.AppenderOptions{})
	f.check(err)
	odd := once("a", "A", "a ", "a\x00", "\xff", "'", strings.Repeat("z", store.MaxMessageID))
	for _, isNew := range []bool{true, false} {
		tx, err := begin(t.Context(), db)
		f.check(err)
		f.marked(d, tx, once("b", "n", "b"), isNew, true, false)
		f.marked(d, tx, once("o", "n"), true, false)
		f.check(tx.Rollback())
		f.check(f.InTx(t.Context(), func(_ context.Context, tx postbag.SQLTx) error {
			f.marked(f, tx, once("b"), isNew)
			f.marked(f, tx, odd, slices.Repeat([]bool{isNew}, len(odd))...)
			return nil
		}))
	}
}

func TestManyMarksAreEachNewOnce(t *testing.T) {
	t.Parallel()
	f := open(t)
	all := make([]store.Mark, 1000)
	for i := range all {
		all[i] = store.Mark{ID: store.MessageID(fmt.Sprint(i)), Sum: sha256.Sum256([]byte(fmt.Sprint(i)))}
	}
	f.check(f.InTx(t.Context(), func(_ context.Context, tx postbag.SQLTx) error {
		f.marked(f, tx, all[:500], slices.Repeat([]bool{true}, 500)...)
		f.marked(f, tx, all, append(slices.Repeat([]bool{false}, 500), slices.Repeat([]bool{true}, 500)...)...)
		return nil
	}))
}

func TestAMessageWithOtherBytesIsNamed(t *testing.T) {
	t.Parallel()
	f := open(t)
	mark := func(id, text string) error {
		return f.InTx(t.Context(), func(ctx context.Context, tx postbag.SQLTx) error {
			_, err := f.Mark(ctx, tx, "c", []store.Mark{{ID: store.MessageID(id), Sum: sha256.Sum256([]byte(text))}})
			return err
		})
	}
	for id, name := range map[string]string{"order-7": `"order-7"`, "\x00\xff": "0x00ff"} {
		f.check(mark(id, "one"))
		f.check(mark(id, "one"))
		err := mark(id, "two")
		if !errors.Is(err, store.ErrOtherBytes) || !strings.Contains(err.Error(), name) || !strings.Contains(err.Error(), `consumer "c"`) {
			t.Errorf("with other bytes it says %v", err)
		}
	}
}

// A transaction that has read before another one wrote cannot write any more, whatever it waits.
func TestAMarkInATransactionThatHasReadBeforeAnotherWroteIsToBeRunAgain(t *testing.T) {
	t.Parallel()
	f := open(t)
	conn, err := openSQL(t, f.path).Conn(t.Context())
	f.check(err)
	defer conn.Close() //nolint:errcheck // the pool is closed with the test
	run := func(text string) {
		_, err := conn.ExecContext(t.Context(), text)
		f.check(err)
	}
	run("BEGIN DEFERRED")
	f.check(conn.QueryRowContext(t.Context(), "SELECT count(*) FROM postbag__once").Scan(new(int)))
	f.check(f.InTx(t.Context(), func(_ context.Context, tx postbag.SQLTx) error {
		f.marked(f, tx, once("a"), true)
		return nil
	}))
	if _, err := f.Mark(t.Context(), onConn{conn}, "c", once("a")); !errors.Is(err, store.ErrAgain) || !errors.Is(err, sqlitestore.ErrBusy) {
		t.Errorf("it says %v", err)
	}
	run("ROLLBACK")
	run("BEGIN DEFERRED")
	f.marked(f, onConn{conn}, once("a", "b"), false, true)
	run("COMMIT")
}

// onConn is a transaction that was begun with SQL.
type onConn struct{ *sql.Conn }

func (onConn) Commit() error   { return errors.New("end it with SQL") }
func (onConn) Rollback() error { return errors.New("end it with SQL") }

// aged marks n messages of a consumer, which is so long ago.
func (f *fixture) aged(consumer string, n int, ago time.Duration) {
	f.Helper()
	marks := make([]store.Mark, n)
	for i := range marks {
		marks[i].ID = store.MessageID(fmt.Sprintf("%s %06d", ago, i))
	}
	f.check(f.InTx(f.Context(), func(ctx context.Context, tx postbag.SQLTx) error {
		if _, err := f.Mark(ctx, tx, consumer, marks); err != nil {
			return err
		}
		_, err := tx.ExecContext(ctx, "UPDATE postbag__once SET at = at - ? WHERE consumer = ? AND substr(CAST(id AS TEXT), 1, ?) = ?",
			ago.Microseconds(), []byte(consumer), len(ago.String()), ago.String())
		return err
	}))
}

// forgotten calls Forget until it is done.
func (f *fixture) forgotten() (all store.Forgotten) {
	f.Helper()
	for !all.Done {
		some, err := f.Forget(f.Context())
		f.check(err)
		if some.Busy {
			f.Fatal("another process is at it")
		}
		all.Looked, all.Removed, all.Done = all.Looked+some.Looked, all.Removed+some.Removed, some.Done
	}
	return all
}

func TestOldMarksOfEachConsumerAreForgotten(t *testing.T) {
	t.Parallel()
	f := open(t)
	if got := f.forgotten(); got != (store.Forgotten{Done: true}) {
		t.Errorf("of no marks %+v was done", got)
	}
	f.check(f.DeclareConsumer(t.Context(), "short", time.Hour))
	f.check(f.DeclareConsumer(t.Context(), "short", time.Minute))
	f.check(f.DeclareConsumer(t.Context(), "long", 1000*time.Hour))
	for _, consumer := range []string{"long", "short", "unknown", "\xff"} {
		f.aged(consumer, 1500, 40*24*time.Hour)
		f.aged(consumer, 700, 2*time.Minute)
		f.aged(consumer, 300, time.Second)
	}
	if got := f.forgotten(); got != (store.Forgotten{Looked: 10_000, Removed: 2200 + 1500 + 1500, Done: true}) {
		t.Errorf("%+v was done", got)
	}
	all, err := f.Consumers(t.Context())
	f.check(err)
	if got := fmt.Sprint(all); got != "[{long 1000h0m0s} {short 1m0s}]" {
		t.Errorf("declared are %s", got)
	}
	for _, bad := range []error{f.DeclareConsumer(t.Context(), "", time.Hour), f.DeclareConsumer(t.Context(), "c", time.Minute-1)} {
		if bad == nil {
			t.Error("it declares a consumer without a name, or one that keeps nothing")
		}
	}
}

func TestOneForgetsAtATimeAndALaterOneGoesOn(t *testing.T) {
	t.Parallel()
	f := open(t)
	f.aged("c", 10, 40*24*time.Hour)
	f.check(f.Exec(t.Context(), "UPDATE postbag__forgetting SET token = 7, consumer = CAST('c' AS BLOB), id = CAST('960h0m0s 000003' AS BLOB), expires = ?",
		time.Now().Add(5*time.Second).UnixMicro()))
	if got, err := f.Forget(t.Context()); err != nil || got != (store.Forgotten{Busy: true}) {
		t.Errorf("beside another one it does %+v (error: %v)", got, err)
	}
	f.check(f.Exec(t.Context(), "UPDATE postbag__forgetting SET expires = 1"))
	if got := f.forgotten(); got.Looked != 6 || got.Removed != 6 {
		t.Errorf("in place of one that has ended %+v was done", got)
	}
	if got := f.forgotten(); got.Removed != 4 {
		t.Errorf("from the beginning %+v was done", got)
	}
}

// While another has the writer lock nothing is forgotten, and that is no error.
func TestForgettingGivesUpWhileAnotherWrites(t *testing.T) {
	t.Parallel()
	f := open(t)
	f.aged("c", 10, 40*24*time.Hour)
	tx, err := begin(t.Context(), openSQL(t, f.path))
	f.check(err)
	if got, err := f.Forget(t.Context()); err != nil || got != (store.Forgotten{Busy: true}) {
		t.Errorf("beside a writer it does %+v (error: %v)", got, err)
	}
	f.check(tx.Rollback())
	if got := f.forgotten(); got.Removed != 10 {
		t.Errorf("after it %+v was done", got)
	}
}

func TestAnInboxIsAddedToAFileOfAnOlderVersion(t *testing.T) {
	t.Parallel()
	script, err := sqlitestore.Script(nil)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "old.db")
	f := openAt(t, path, sqlitestore.Options{Create: true, Unmigrated: true})
	for _, step := range script[:5] {
		f.check(f.Exec(t.Context(), step.SQL))
	}
	tx, err := begin(t.Context(), openSQL(t, path))
	f.check(err)
	if _, err := f.Mark(t.Context(), tx, "c", once("a")); !errors.Is(err, store.ErrSchema) {
		t.Errorf("without the tables it says %v", err)
	}
	f.check(tx.Rollback())
	done, err := f.Migrate(t.Context())
	f.check(err)
	if got := strings.Join(done, " "); !strings.HasPrefix(got, "0006_inbox") {
		t.Errorf("it takes the steps %q", got)
	}
	f.check(f.InTx(t.Context(), func(_ context.Context, tx postbag.SQLTx) error {
		f.marked(f, tx, once("a"), true)
		return nil
	}))
	f.forgotten()
}

func TestAMarkThatWasMadeInSQLIsHeldToTheSameRules(t *testing.T) {
	t.Parallel()
	f := open(t)
	for _, values := range []string{
		"'c', x'61', NULL", "x'', x'61', NULL", "x'63', x'', NULL", "x'63', 'a', NULL", "zeroblob(101), x'61', NULL", "x'63', zeroblob(256), NULL",
		"x'63', x'61', x''", "x'63', x'61', zeroblob(31)", "x'63', x'61', '01234567890123456789012345678901'",
	} {
		if err := f.Exec(t.Context(), "INSERT INTO postbag__once (consumer, id, sum) VALUES ("+values+")"); err == nil {
			t.Errorf("it takes %s", values)
		}
	}
	f.check(f.Exec(t.Context(), "INSERT INTO postbag__once (consumer, id) VALUES (CAST('c' AS BLOB), CAST('a' AS BLOB)) ON CONFLICT DO NOTHING"))
	f.check(f.InTx(t.Context(), func(_ context.Context, tx postbag.SQLTx) error {
		f.marked(f, tx, once("a", "b"), false, true)
		return nil
	}))
}

// A handler returns an error of the driver as it is, and the store says whether that passes.
func TestAStatementThatFindsTheDatabaseLockedIsToBeRunAgain(t *testing.T) {
	t.Parallel()
	f := open(t)
	conn, err := openSQL(t, f.path).Conn(t.Context())
	f.check(err)
	defer conn.Close() //nolint:errcheck // the pool is closed with the test
	run := func(text string) error {
		_, err := conn.ExecContext(t.Context(), text)
		return err
	}
	f.check(run("PRAGMA busy_timeout = 1"))
	f.check(run("CREATE TABLE account (id INTEGER PRIMARY KEY)"))
	f.check(run("INSERT INTO account VALUES (1)"))
	var busy error
	f.check(f.InTx(t.Context(), func(context.Context, postbag.SQLTx) error {
		busy = run("INSERT INTO account VALUES (2)")
		return nil
	}))
	appender := &sqlitestore.Appender{}
	for what, c := range map[string]struct {
		err  error
		want bool
	}{
		"a locked database": {busy, true}, "a duplicate key": {run("INSERT INTO account VALUES (1)"), false}, "a mistake": {run("INSERT"), false},
	} {
		if c.err == nil {
			t.Errorf("%s is no error", what)
		}
		wrapped := fmt.Errorf("charge: %w", c.err)
		if f.RunAgain(wrapped) != c.want || appender.RunAgain(wrapped) != c.want {
			t.Errorf("%s (%v) is to be run again: %v, not %v", what, c.err, f.RunAgain(wrapped), c.want)
		}
	}
	if f.RunAgain(nil) || f.RunAgain(sql.ErrNoRows) || !f.RunAgain(store.ErrAgain) {
		t.Error("other errors than SQLite's are taken for what they are not")
	}
}
