package mysqlstore_test

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/store"
	"github.com/postbag/postbag/store/mysqlstore"
)

// levels are the isolation levels that applications use.
var levels = []sql.IsolationLevel{sql.LevelReadCommitted, sql.LevelRepeatableRead, sql.LevelSerializable}

// once makes marks without sums.
func once(ids ...string) []store.Mark {
	out := make([]store.Mark, len(ids))
	for i, id := range ids {
		out[i].ID = store.MessageID(id)
	}
	return out
}

// sumOf is a hash of a text.
func sumOf(text string) store.Sum { return sha256.Sum256([]byte(text)) }

// begin begins a transaction of the application.
func (s *testBox) begin(db *sql.DB, level sql.IsolationLevel) *sql.Tx {
	s.Helper()
	tx, err := db.BeginTx(s.Context(), &sql.TxOptions{Isolation: level})
	s.Must(err)
	return tx
}

// marked marks messages, and fails the test unless the answer is this.
func (s *testBox) marked(in store.Inbox[postbag.SQLTx], tx postbag.SQLTx, marks []store.Mark, want ...bool) {
	s.Helper()
	got, err := in.Mark(s.Context(), tx, "c", marks)
	s.Must(err)
	if !slices.Equal(got, want) {
		s.Fatalf("of %q it says that %v are new, and %v are", ids(marks), got, want)
	}
}

func ids(marks []store.Mark) (out []store.MessageID) {
	for _, m := range marks {
		out = append(out, m.ID)
	}
	return out
}

// appenderOn opens an appender over a pool of the application, whose DSN has these parameters.
func (s *testBox) appenderOn(parameters string) (*mysqlstore.Appender, *sql.DB) {
	s.Helper()
	db := openSQL(s.TB, s.dsn+parameters)
	d, err := mysqlstore.OpenAppender(s.Context(), db, mysqlstore.AppenderOptions{})
	s.Must(err)
	return d, db
}

func TestAMessageIsNewOnceInEachIsolationLevelAndWithEachSettingOfTheDriver(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, k *kind) {
		t.Helper()
		for _, level := range levels {
			for _, parameters := range []string{"", "?clientFoundRows=true", "?interpolateParams=true&clientFoundRows=true"} {
				t.Run(level.String()+parameters, func(t *testing.T) {
					t.Parallel()
					s := newTestBox(t, k)
					d, db := s.appenderOn(parameters)
					tx := s.begin(db, level)
					s.marked(d, tx, once("b", "a", "b"), true, true, false)
					s.marked(d, tx, once("c", "a"), true, false)
					s.marked(d, tx, once("a", "b", "c"), false, false, false)
					s.Must(tx.Rollback())
					tx = s.begin(db, level)
					s.marked(d, tx, once("a", "c"), true, true)
					s.Must(tx.Commit())
					for range 3 {
						tx = s.begin(db, level)
						s.marked(d, tx, once("c", "b", "a"), false, true, false)
						s.Must(tx.Rollback())
					}
				})
			}
		}
	})
}

// A mark that was undone with a savepoint is as if it had never been.
func TestAMarkThatIsRolledBackToASavepointIsNewAgain(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, k *kind) {
		t.Helper()
		s := newTestBox(t, k)
		tx := s.begin(s.plain, sql.LevelRepeatableRead)
		s.marked(s, tx, once("a"), true)
		_, err := tx.ExecContext(t.Context(), "SAVEPOINT x")
		s.Must(err)
		s.marked(s, tx, once("a", "b"), false, true)
		_, err = tx.ExecContext(t.Context(), "ROLLBACK TO SAVEPOINT x")
		s.Must(err)
		s.marked(s, tx, once("a", "b"), false, true)
		s.Must(tx.Rollback())
	})
}

// race has n transactions mark one id while another has it, and ends that one when all of them wait. It returns how many were told
// that it is new, and how many were ended by the server.
func (s *testBox) race(level sql.IsolationLevel, n int, end func(*sql.Tx) error) (fresh, again int) {
	s.Helper()
	first := s.begin(s.plain, level)
	s.marked(s, first, once("x"), true)
	type answer struct {
		fresh bool
		err   error
	}
	answers := make(chan answer, n)
	for range n {
		tx := s.begin(s.plain, level)
		_, err := tx.ExecContext(s.Context(), "DO (SELECT COUNT(*) FROM postbag__consumer)") // its snapshot is older than the end of first
		s.Must(err)
		go func() {
			got, err := s.Mark(s.Context(), tx, "c", once("x"))
			if err != nil {
				answers <- answer{err: errors.Join(err, rollBack(tx))}
				return
			}
			answers <- answer{got[0], tx.Commit()}
		}()
	}
	early := func() int64 { return int64(len(answers)) } // those that did not wait
	s.Until("all wait", func() bool {
		// Not innodb_trx: the server renews what it shows there only if nobody has looked for 100 ms.
		return early()+s.number("SELECT COUNT(*) FROM information_schema.processlist WHERE db = ? AND info LIKE 'INSERT INTO postbag__once%'", s.name) >= int64(n)
	})
	s.Must(end(first))
	for range n {
		switch a := <-answers; {
		case errors.Is(a.err, store.ErrAgain):
			again++
		case a.err != nil:
			s.Error(a.err)
		case a.fresh:
			fresh++
		}
	}
	return fresh, again
}

func TestOfTransactionsThatMarkOneMessageTheOthersLearnThatTheFirstHasCommitted(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, k *kind) {
		t.Helper()
		for _, level := range levels {
			t.Run(level.String(), func(t *testing.T) {
				t.Parallel()
				if fresh, again := newTestBox(t, k).race(level, 4, (*sql.Tx).Commit); fresh > 0 || again > 0 {
					t.Errorf("to %d others it is new, and %d were ended", fresh, again)
				}
			})
		}
	})
}

func TestOfTransactionsThatMarkOneMessageAnotherHasItNewIfTheFirstRollsBack(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, k *kind) {
		t.Helper()
		for _, level := range levels {
			for _, n := range []int{1, 2, 4} {
				t.Run(fmt.Sprint(level, " ", n), func(t *testing.T) {
					t.Parallel()
					fresh, again := newTestBox(t, k).race(level, n, (*sql.Tx).Rollback)
					t.Logf("to %d others it is new, and %d were ended", fresh, again)
					if fresh != 1 {
						t.Errorf("to %d others it is new, and %d were ended", fresh, again)
					}
				})
			}
		}
	})
}

// A mark that was committed after the snapshot of a transaction is found, and so is its sum.
func TestAMarkOfAfterTheSnapshotIsFound(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, k *kind) {
		t.Helper()
		s := newTestBox(t, k)
		old := s.begin(s.plain, sql.LevelRepeatableRead)
		var n int
		s.Must(old.QueryRowContext(t.Context(), "SELECT COUNT(*) FROM postbag__once").Scan(&n))
		tx := s.begin(s.plain, sql.LevelRepeatableRead)
		s.marked(s, tx, []store.Mark{{ID: "a", Sum: sumOf("one")}}, true)
		s.Must(tx.Commit())
		s.marked(s, old, []store.Mark{{ID: "a", Sum: sumOf("one")}, {ID: "b"}}, false, true)
		if _, err := s.Mark(t.Context(), old, "c", []store.Mark{{ID: "a", Sum: sumOf("two")}}); !errors.Is(err, store.ErrOtherBytes) {
			t.Errorf("with other bytes it says %v", err)
		}
		s.Must(old.Rollback())
	})
}

func TestMarksInADistributedTransactionCountWhenItCommits(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, k *kind) {
		t.Helper()
		for _, level := range levels {
			t.Run(level.String(), func(t *testing.T) {
				t.Parallel()
				s := newTestBox(t, k)
				xa, err := beginXA(t.Context(), s.plain, level)
				s.Must(err)
				s.marked(s, xa, once("a", "b"), true, true)
				s.marked(s, xa, once("a", "c"), false, true)
				s.Must(xa.prepare())
				waiting := s.begin(s.plain, level)
				_, err = waiting.ExecContext(t.Context(), "SET SESSION innodb_lock_wait_timeout = 1")
				s.Must(err)
				if _, err := s.Mark(t.Context(), waiting, "c", once("b")); !errors.Is(err, store.ErrAgain) || !strings.Contains(err.Error(), "roll the transaction back") {
					t.Errorf("beside a prepared transaction it says %v", err)
				}
				s.Must(waiting.Rollback())
				s.Must(xa.endPrepared(t.Context(), s.plain, "XA COMMIT"))
				tx := s.begin(s.plain, level)
				s.marked(s, tx, once("a", "b", "d"), false, false, true)
				s.Must(tx.Rollback())
			})
		}
	})
}

func TestAMessageWithOtherBytesIsNamed(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, k *kind) {
		t.Helper()
		s := newTestBox(t, k)
		mark := func(consumer, id, text string) error {
			return s.InTx(t.Context(), func(ctx context.Context, tx postbag.SQLTx) error {
				m := store.Mark{ID: store.MessageID(id)}
				if text != "" {
					m.Sum = sumOf(text)
				}
				_, err := s.Mark(ctx, tx, consumer, []store.Mark{m})
				return err
			})
		}
		for _, id := range []string{"order-7", "\x00\xff"} {
			s.Must(mark("c", id, "one"))
			s.Must(mark("c", id, "one"))
			s.Must(mark("c", id, ""))
			s.Must(mark("d", id, ""))
			s.Must(mark("d", id, "one"))
			s.Must(mark("d", id, "two"))
		}
		for id, name := range map[string]string{"order-7": `"order-7"`, "\x00\xff": "0x00ff"} {
			err := mark("c", id, "two")
			if !errors.Is(err, store.ErrOtherBytes) || !strings.Contains(err.Error(), name) || !strings.Contains(err.Error(), `consumer "c"`) {
				t.Errorf("with other bytes it says %v", err)
			}
		}
		tx := s.begin(s.plain, sql.LevelDefault)
		_, err := s.Mark(t.Context(), tx, "e", []store.Mark{{ID: "a", Sum: sumOf("one")}, {ID: "b"}, {ID: "a", Sum: sumOf("two")}})
		if !errors.Is(err, store.ErrOtherBytes) {
			t.Errorf("of one call with other bytes it says %v", err)
		}
		s.Must(tx.Commit())
		if n := s.number("SELECT COUNT(*) FROM postbag__once WHERE consumer = 'e'"); n != 0 {
			t.Errorf("it has written %d marks before it looked", n)
		}
	})
}

func TestMarksNeedOneRoundTripIfAllAreNewAndTwoIfNot(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, k *kind) {
		t.Helper()
		s := newTestBox(t, k)
		marks := make([]store.Mark, store.MaxMarks)
		for i := range marks {
			marks[i] = store.Mark{ID: store.MessageID(fmt.Sprintf("%0*d", store.MaxMessageID, i)), Sum: sumOf(fmt.Sprint(i))}
		}
		for _, c := range []struct {
			marks []store.Mark
			new   int
			trips int64
		}{{marks[:5000], 5000, 1}, {marks, 5000, 2}, {marks, 0, 2}} {
			s.Must(s.InTx(t.Context(), func(ctx context.Context, tx postbag.SQLTx) error {
				before, began := s.cut.statements.Load(), time.Now()
				fresh, err := s.Mark(ctx, tx, strings.Repeat("c", store.MaxConsumer), c.marks)
				if trips := s.cut.statements.Load() - before; trips != c.trips {
					t.Errorf("%d marks took %d round trips, and not %d", len(c.marks), trips, c.trips)
				}
				t.Logf("%d marks, %d of them new: %s", len(c.marks), c.new, time.Since(began))
				if n := len(slices.DeleteFunc(fresh, func(is bool) bool { return !is })); n != c.new {
					t.Errorf("%d are new, and not %d", n, c.new)
				}
				return err
			}))
		}
	})
}

func TestMarksThatAreTooLargeForOneStatementTakeSeveral(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, k *kind) {
		t.Helper()
		s := newTestBox(t, k)
		s.SetPacket(4 << 10)
		var all []store.Mark
		for i := range 100 {
			all = append(all, store.Mark{ID: store.MessageID(fmt.Sprint("message ", i)), Sum: sumOf(fmt.Sprint(i))})
		}
		s.Must(s.InTx(t.Context(), func(_ context.Context, tx postbag.SQLTx) error {
			s.cut.largest.Store(0)
			s.marked(s, tx, all[:50], slices.Repeat([]bool{true}, 50)...)
			s.marked(s, tx, all, append(slices.Repeat([]bool{false}, 50), slices.Repeat([]bool{true}, 50)...)...)
			if largest := s.cut.largest.Load(); largest > 4<<10 {
				t.Errorf("a statement has %d bytes", largest)
			}
			return nil
		}))
	})
}

// What the application has set for its session does not matter, and neither does what an id is made of.
func TestMarksMeanTheSameInEverySession(t *testing.T) {
	t.Parallel()
	odd := once("a", "A", "a ", "a\x00", "ä", "\xe4", `\`, `'`, "\"`", "?", ":x", "%s", "\xbf\x27", "\xff", strings.Repeat("z", store.MaxMessageID))
	onBoth(t, func(t *testing.T, k *kind) {
		t.Helper()
		for name, set := range map[string]string{
			"ansi":     "sql_mode = 'ANSI,NO_BACKSLASH_ESCAPES,IGNORE_SPACE,PIPES_AS_CONCAT,HIGH_NOT_PRECEDENCE'",
			"loose":    "sql_mode = ''",
			"safe":     "sql_safe_updates = 1",
			"few rows": "sql_select_limit = 1",
			"binary":   "NAMES binary",
			"gbk":      "NAMES gbk",
			"latin1":   "NAMES latin1",
			"zone":     "time_zone = '+13:00'",
		} {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				s := newTestBox(t, k)
				for _, isNew := range []bool{true, false} {
					tx := s.begin(s.plain, sql.LevelDefault)
					_, err := tx.ExecContext(t.Context(), "SET "+set)
					s.Must(err)
					s.marked(s, tx, odd, slices.Repeat([]bool{isNew}, len(odd))...)
					s.Must(tx.Commit())
				}
				if n := s.number("SELECT COUNT(*) FROM postbag__once WHERE ABS(at - TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6))) < 600000000"); n != int64(len(odd)) {
					t.Errorf("%d of %d marks are of now", n, len(odd))
				}
			})
		}
	})
}

func TestWhatNoMarkCanBeIsRefusedBeforeAnySQL(t *testing.T) {
	t.Parallel()
	s := newTestBox(t, mariadb)
	tx := s.begin(s.plain, sql.LevelDefault)
	s.Must(tx.Commit())
	for what, c := range map[string]struct {
		consumer string
		marks    []store.Mark
	}{
		"the name of the consumer has 0 bytes":   {"", once("a")},
		"the name of the consumer has 101 bytes": {strings.Repeat("c", 101), once("a")},
		"the id of message 2 of 2 has 0 bytes":   {"c", once("a", "")},
		"the id of message 1 of 1 has 256 bytes": {"c", once(strings.Repeat("i", 256))},
		"10001 messages are marked":              {"c", make([]store.Mark, 10_001)},
	} {
		if _, err := s.Mark(t.Context(), tx, c.consumer, c.marks); err == nil || !strings.Contains(err.Error(), what) {
			t.Errorf("it says %v, and not that %s", err, what)
		}
	}
	if _, err := s.Mark(t.Context(), nil, "c", once("a")); !errors.Is(err, postbag.ErrNoTx) {
		t.Errorf("without a transaction it says %v", err)
	}
}

// A handler returns an error of the driver as it is, and the store says whether that passes.
func TestAStatementThatMetAnotherTransactionIsToBeRunAgain(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, k *kind) {
		t.Helper()
		s := newTestBox(t, k)
		run := func(on interface {
			ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error)
		}, text string,
		) error {
			_, err := on.ExecContext(t.Context(), text)
			return err
		}
		s.Must(run(s.plain, "CREATE TABLE account (id INT PRIMARY KEY, n INT NOT NULL) ENGINE = InnoDB"))
		s.Must(run(s.plain, "INSERT INTO account VALUES (1, 0), (2, 0)"))
		const first, second = "UPDATE account SET n = n + 1 WHERE id = 1", "UPDATE account SET n = n + 1 WHERE id = 2"
		one, two := s.begin(s.plain, sql.LevelReadCommitted), s.begin(s.plain, sql.LevelReadCommitted)
		s.Must(run(one, first))
		s.Must(run(two, second))
		s.Must(run(two, "SET SESSION innodb_lock_wait_timeout = 1"))
		timeout := run(two, first)
		s.Must(run(two, "SET SESSION innodb_lock_wait_timeout = DEFAULT"))
		waits := make(chan error, 1)
		go func() {
			err := run(one, second)
			waits <- errors.Join(err, one.Rollback())
		}()
		deadlock := run(two, first)
		s.Must(two.Rollback())
		deadlock = errors.Join(deadlock, <-waits)
		appender := &mysqlstore.Appender{}
		for what, c := range map[string]struct {
			err  error
			code string
			want bool
		}{
			"a lock timeout":  {timeout, "1205", true},
			"a deadlock":      {deadlock, "1213", true},
			"a duplicate key": {run(s.plain, "INSERT INTO account VALUES (1, 0)"), "1062", false},
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
	})
}
