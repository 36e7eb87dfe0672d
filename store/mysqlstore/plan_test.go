package mysqlstore_test

import (
	"database/sql"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/postbag/postbag/internal/boxtest"
	"github.com/postbag/postbag/internal/testserver/servertest"
	"github.com/postbag/postbag/store/mysqlstore"
)

// plan is what EXPLAIN says of the access to one table.
type plan struct{ table, access, key, extra string }

// explain returns the plan of a statement.
func (s *testBox) explain(text string) []plan {
	s.Helper()
	rows, err := s.plain.QueryContext(s.Context(), "EXPLAIN FORMAT=TRADITIONAL "+text)
	s.Must(err)
	defer rows.Close() //nolint:errcheck // Err is looked at
	columns, err := rows.Columns()
	s.Must(err)
	var out []plan
	for rows.Next() {
		values := make([]sql.NullString, len(columns))
		dest := make([]any, len(columns))
		for i := range values {
			dest[i] = &values[i]
		}
		s.Must(rows.Scan(dest...))
		var p plan
		for i, name := range columns {
			switch strings.ToLower(name) {
			case "table":
				p.table = values[i].String
			case "type":
				p.access = values[i].String
			case "key":
				p.key = values[i].String
			case "extra":
				p.extra = values[i].String
			}
		}
		out = append(out, p)
	}
	s.Must(rows.Err())
	return out
}

// The statements are explained on tables with rows, and with statistics that say
// that they are empty, as they are when a backlog has grown quickly.
func TestStatementsUseIndexesWhateverTheStatisticsSay(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, k *kind) {
		t.Helper()
		for name, change := range map[string]func(*mysqlstore.Options){"whole": grace(time.Minute), "divided": divided} {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				walks(t, k, change)
			})
		}
	})
}

func walks(t *testing.T, k *kind, change func(*mysqlstore.Options)) {
	t.Helper()
	s := newTestBox(t, k, change)
	s.exec("ANALYZE TABLE postbag_outbox, postbag__parked, postbag__shard, postbag__ledger, postbag__scheduled")
	s.marks(0)
	for n := range 40 {
		s.publish(boxtest.Messages(500, fmt.Sprint(n))...)
	}
	s.exec(`INSERT INTO postbag__parked (subscription, seq, slot, hash, state, chain, attempts, due, ready, first, reason, held, history)
SELECT 2, seq, slot, seq % 50, 1 + seq % 5, seq % 50, 1, seq, IF(seq % 10 = 0, seq, NULL), 1, '', IF(seq % 5 = 4, CONCAT('t', seq % 20), NULL), '[]' FROM postbag_outbox`)
	s.marks(10_000)
	if servertest.Full() {
		s.marks(1_000_000)
	}
	s.exec(`INSERT INTO postbag__operation (version, kind, box, name, subscription, messages, chosen, as_of, rate, who, why, matched, at, given, changed, passed, state, error,
	by_who, by_why, worker, token, lease_ends, made, begun, touched, ended)
SELECT 1, 'retry', 'outbox', 'a', 2, 'dead', '', 1, 0, 'a', 'b', 500, 0, 0, 0, 0, IF(seq % 1000 = 0, 'running', 'done'), '', '', '', '', 0, 0, 1, 1, seq, 0 FROM postbag_outbox`)
	s.exec("INSERT INTO postbag__operation_part (operation, part, messages) SELECT seq % 100, seq, 'x' FROM postbag_outbox")
	s.exec(`INSERT INTO postbag__error_note (box, name, hash, kind, note, who, at, seen, checked)
SELECT IF(seq % 100 = 0, 'outbox', 'other'), 'a', UNHEX(SHA2(seq, 256)), seq, 'x', 'y', 1, 1, seq FROM postbag_outbox`)
	for _, text := range []string{"SELECT seq FROM postbag_outbox WHERE topic = 'x'", "SELECT seq FROM postbag_outbox WHERE seq > 5 ORDER BY at"} {
		if len(faults(s.explain(text))) == 0 {
			t.Errorf("nothing is found wrong with the plan of %s", text)
		}
	}
	for _, analysed := range []bool{false, true} {
		if analysed {
			s.exec("ANALYZE TABLE postbag_outbox, postbag__parked")
		}
		for name, text := range mysqlstore.Statements() {
			for _, fault := range faults(s.explain(text)) {
				t.Errorf("analysed %v: %s: %s", analysed, name, fault)
			}
		}
	}
}

// marks makes three consumers have n marks, and looks at the plans of what reads or writes them: with the statistics of before, and with
// new ones.
func (s *testBox) marks(n int) {
	s.Helper()
	for have := 0; have < n; {
		step := min(n-have, 10_000)
		values := make([]string, step)
		for i := range values {
			values[i] = fmt.Sprintf("('c%d', '%d')", (have+i)%3, have+i)
		}
		s.exec("INSERT IGNORE INTO postbag__once (consumer, id) VALUES " + strings.Join(values, ", "))
		have += step
	}
	for _, when := range []string{"statistics of before", "new statistics"} {
		if when == "new statistics" {
			s.exec("ANALYZE TABLE postbag__once")
		}
		for name, text := range mysqlstore.Statements() {
			if !strings.Contains(text, "postbag__once") {
				continue
			}
			for _, fault := range faults(s.explain(text)) {
				s.Errorf("%d marks, %s: %s: %s", n, when, name, fault)
			}
		}
	}
}

// faults says what is wrong with the plan of a statement on large tables.
func faults(plans []plan) (out []string) {
	for _, p := range plans {
		big := p.table == "postbag_outbox" || p.table == "x" || p.table == "l" || p.table == "p" || p.table == "o" || p.table == "postbag__once" || strings.Contains(p.table, "parked") || strings.Contains(p.table, "operation") || strings.Contains(p.table, "error_note")
		switch {
		case (p.table == "o" || p.table == "postbag__once") && p.access == "ref": // all marks of a consumer
			out = append(out, fmt.Sprintf("%s is read by a part of %s", p.table, p.key))
		case !big || strings.Contains(p.extra, "optimized away"):
		case p.access == "ALL", p.access == "index" && p.key != "PRIMARY", p.key == "":
			out = append(out, fmt.Sprintf("%s is read by %s of %q (%s)", p.table, p.access, p.key, p.extra))
		case strings.Contains(p.extra, "filesort"):
			out = append(out, fmt.Sprintf("%s is sorted (%s)", p.table, p.extra))
		}
	}
	return out
}
