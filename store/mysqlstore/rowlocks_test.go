package mysqlstore_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/postbag/postbag/internal/boxtest"
)

// rowLocks tells after a load whether a statement has waited for the lock of a row.
//
// The server counts such waits. MySQL counts more than those of statements on the box: its dictionary and its statistics are tables of
// InnoDB, too, and whatever changes or reads those can wait for their rows. So on MySQL the counter is not the last word. MySQL also
// keeps a history of statements with the LOCK_TIME of each. That has the time of waits for rows, and not that of waits for a table.
type rowLocks struct {
	*testBox

	oracle        bool
	waits, millis int64 // as the server had counted them before
}

// rowLockHistory is how many statements MySQL remembers.
const rowLockHistory = 100_000

// rowLockSettings make a MySQL server remember its statements, with a few bytes of each.
func (k *kind) rowLockSettings() []string {
	if !k.oracle {
		return nil
	}
	return []string{
		"performance-schema-consumer-events-statements-history-long=ON",
		fmt.Sprintf("performance-schema-events-statements-history-long-size=%d", rowLockHistory),
		"performance-schema-max-sql-text-length=300",
		"performance-schema-max-digest-length=0",
	}
}

// watchRowLocks begins to count, on a server with the settings of [kind.rowLockSettings] that is this test's own.
func (s *testBox) watchRowLocks(k *kind) *rowLocks {
	s.Helper()
	if k.oracle {
		s.exec("TRUNCATE TABLE performance_schema.events_statements_history_long")
	}
	return &rowLocks{testBox: s, oracle: k.oracle, waits: s.status("Innodb_row_lock_waits"), millis: s.status("Innodb_row_lock_time")}
}

// status is a counter of the server.
func (s *testBox) status(name string) (n int64) {
	s.Helper()
	if err := s.plain.QueryRowContext(s.Context(), "SHOW GLOBAL STATUS LIKE '"+name+"'").Scan(&name, &n); err != nil {
		s.Fatal(err)
	}
	return n
}

// none fails the test if a statement has waited.
func (r *rowLocks) none() {
	r.Helper()
	if said := r.waited(); said != "" {
		r.Error(said)
	}
}

// waited says which statements have waited; empty: none.
//
// On MySQL it weighs the history against the counters. A statement that waited for a row has at least as long a LOCK_TIME as the
// counters have for that wait. A busy machine can make a LOCK_TIME longer, but never shorter. So what the counters have beyond the
// LOCK_TIMEs of tombstones is of other waits. If the longest LOCK_TIMEs of other statements, as many as there were waits, do not come
// to that, or not even to a millisecond, the server waited for rows of its own.
func (r *rowLocks) waited() string {
	r.Helper()
	n, millis := r.status("Innodb_row_lock_waits")-r.waits, r.status("Innodb_row_lock_time")-r.millis
	if n == 0 {
		return ""
	}
	said := fmt.Sprintf("there were %d waits for the lock of a row, of %d ms together", n, millis)
	if !r.oracle {
		return said
	}
	micros, longest := r.longestLockTimes(n)
	said += fmt.Sprintf("; the statements with the longest LOCK_TIMEs have %d microseconds: %s", micros, longest)
	full := r.number("SELECT COUNT(*) FROM performance_schema.events_statements_history_long") >= rowLockHistory
	left := r.number("SELECT COALESCE(SUM(lock_time DIV 1000000000), 0) FROM performance_schema.events_statements_history_long WHERE sql_text LIKE '%@tombstone%'")
	if micros/1000 < max(millis-left-n, 1) && !full { // the counters are in whole milliseconds
		r.Log("not of statements on the box: " + said)
		return ""
	}
	return said
}

// longestLockTimes adds up the n longest LOCK_TIMEs of statements, and names some of those. It leaves out changes of tables, which wait
// for rows of MySQL's dictionary. It leaves out tombstones, too, which may wait for a producer who is late: no producer is disturbed
// by that.
func (r *rowLocks) longestLockTimes(n int64) (micros int64, longest string) {
	r.Helper()
	rows, err := r.plain.QueryContext(r.Context(), `
SELECT lock_time DIV 1000000, LEFT(sql_text, 150) FROM performance_schema.events_statements_history_long
WHERE sql_text NOT LIKE '%@tombstone%' AND sql_text NOT LIKE 'ALTER %' AND lock_time > 0 ORDER BY lock_time DESC LIMIT ?`, n)
	r.Must(err)
	defer func() { r.Must(rows.Close()) }()
	var named []string
	for rows.Next() {
		var one int64
		var text string
		r.Must(rows.Scan(&one, &text))
		micros += one
		if len(named) < 5 {
			named = append(named, fmt.Sprintf("%d of %q", one, text))
		}
	}
	r.Must(rows.Err())
	return micros, strings.Join(named, ", ")
}

// What the tests of load say of waits is worth something only if a wait is told.
func TestAWaitForARowIsToldAndThatOfATombstoneIsNotOnMySQL(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, k *kind) {
		t.Helper()
		s := testBoxOn(t, databaseOn(t, k.private(t, k.rowLockSettings()...), "waits"))
		s.publish(boxtest.Messages(5, "a")...)
		last := s.number("SELECT MAX(seq) FROM postbag_outbox")
		const row = "INSERT IGNORE INTO postbag_outbox (seq, topic, payload) VALUES (?, 't', 'p')"
		meet := func(texts ...string) string { // each waits for a row of its own
			t.Helper()
			locks := s.watchRowLocks(k)
			first, err := s.plain.BeginTx(t.Context(), nil)
			s.Must(err)
			done := make(chan error, len(texts))
			for i, text := range texts {
				seq := last + 100*int64(i+1)
				_, err = first.ExecContext(t.Context(), row, seq)
				s.Must(err)
				go func() {
					_, err := s.plain.ExecContext(context.WithoutCancel(t.Context()), text, seq)
					done <- err
				}()
			}
			s.Eventually("the other statements wait", func() bool { return s.status("Innodb_row_lock_current_waits") >= int64(len(texts)) })
			time.Sleep(20 * time.Millisecond) //nolint:forbidigo // the wait must last for a time that can be told from none
			s.Must(first.Commit())
			for range texts {
				s.Must(<-done)
			}
			s.exec("DELETE FROM postbag_outbox WHERE seq > ?", last)
			return locks.waited()
		}
		if said := meet(row); !strings.Contains(said, "1 waits for the lock of a row") {
			t.Errorf("of an INSERT that waited for another is said: %q", said)
		}
		if !k.oracle {
			return
		}
		if said := meet(row + " -- @tombstone"); said != "" {
			t.Errorf("of a tombstone that waited for a producer is said: %q", said)
		}
		if said := meet(row+" -- @tombstone", row); !strings.Contains(said, "2 waits for the lock of a row") {
			t.Errorf("of an INSERT that waited beside a tombstone is said: %q", said)
		}
	})
}
