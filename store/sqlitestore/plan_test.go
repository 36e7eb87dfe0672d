package sqlitestore

import (
	"database/sql"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/postbag/postbag/internal/testserver/servertest"
	"github.com/postbag/postbag/store"
	"github.com/postbag/postbag/store/sqlkit"
)

// statementsOf returns all statements by name, ready to be explained: the constants
// and fields of these files that are texts of more than a word.
func statementsOf(t *testing.T) map[string]string {
	t.Helper()
	out := make(map[string]string)
	for _, name := range []string{"../../store/sqlkit/sql.go", "../../store/sqlkit/inspect_list_marked.go", "sql.go", "dialect.go", "../../store/sqlkit/turn_supersede.go", "../../store/sqlkit/operation_sql.go", "../../store/sqlkit/operate_errornote.go"} {
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		add := func(name ast.Expr, value ast.Expr) {
			id, named := name.(*ast.Ident)
			if !named {
				return
			}
			text := textOf(t, value, out)
			if len(strings.Fields(text)) > 1 {
				out[id.Name] = text
			}
		}
		ast.Inspect(file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.ValueSpec:
				for i := range n.Values {
					add(n.Names[i], n.Values[i])
				}
			case *ast.KeyValueExpr:
				add(n.Key, n.Value)
			}
			return true
		})
	}
	out["sqlAppend"] += out["sqlAppendRow"]
	out["sqlMark"] = fmt.Sprintf(out["sqlMark"], fmt.Sprintf(out["sqlMarkRow"], 3, 4))
	for _, part := range []string{"sqlAppendRow", "sqlMarkRow", "sqlColumns", "sqlRule", "SQLScheduledRule", "retentionColumns", "operationColumns"} {
		delete(out, part)
	}
	for name, text := range out {
		for _, verb := range []string{"%s", "%[1]s"} {
			text = strings.ReplaceAll(text, verb, `"postbag_outbox"`)
		}
		text = strings.NewReplacer("{box}", quoted("outbox"), "{messages}", "", "{name}", "outbox", "{list}", "1, 2", "{times}", "WHEN 1 THEN 2 ").Replace(text)
		text = strings.ReplaceAll(text, "%[2]s", "("+filterOf(&store.Filter{Types: []string{"a", "b.*"}, Where: store.Where{Topics: []string{"t.*"}}}).condition+")")
		out[name] = strings.ReplaceAll(text, "%d", "1")
	}
	return out
}

// textOf returns a constant text, or a sum of such, whose names are known; "" for
// anything else.
func textOf(t *testing.T, value ast.Expr, known map[string]string) string {
	t.Helper()
	switch v := value.(type) {
	case *ast.BasicLit:
		if v.Kind != token.STRING {
			return ""
		}
		text, err := strconv.Unquote(v.Value)
		if err != nil {
			t.Fatal(err)
		}
		return text
	case *ast.BinaryExpr:
		return textOf(t, v.X, known) + textOf(t, v.Y, known)
	case *ast.Ident:
		return known[v.Name]
	case *ast.SelectorExpr:
		return known[v.Sel.Name]
	}
	return ""
}

// scanned are the small tables that a statement may read whole: they have a row
// a box, a subscription, a shard, a relay, a consumer or a pause. x is a part of a log, with its end.
var scanned = []string{
	"postbag__meta", "postbag__box", "postbag__subscription", "postbag__shard", "postbag__relay", "postbag__consumer", "postbag__pause",
	"a", "m", "s", "b", "h", "r", "q", "x", "sqlite_sequence", "sqlite_master", "sqlite_schema", "pragma_database_list", "CONSTANT",
}

// wanted are statements that read the end of a table, in the order of its key,
// until a limit: a scan by name, a search in effect.
var wanted = map[string]string{
	"sqlAudited":    "SCAN postbag__audit",
	"SQLOperations": "SCAN postbag__operation",
}

// sorted are statements that sort the shards of one box, which are few.
var sorted = []string{"sqlShards", "sqlReaders"}

// faultOf says what is wrong with a line of a plan, if anything.
func faultOf(name, line string) string {
	if strings.Contains(line, "TEMP B-TREE") && !slices.Contains(sorted, name) {
		return "it sorts"
	}
	table, ok := strings.CutPrefix(line, "SCAN ")
	if !ok || wanted[name] == line {
		return ""
	}
	table, _, _ = strings.Cut(table, " ")
	if slices.Contains(scanned, table) || strings.HasPrefix(table, "(subquery") {
		return ""
	}
	return "it reads a table whole"
}

// parameters is how many arguments a statement takes: its ? may have numbers.
func parameters(text string) int {
	most := strings.Count(text, "?")
	for n := most + 1; strings.Contains(text, fmt.Sprint("?", n)); n++ {
		most = n
	}
	return most
}

func plan(t *testing.T, db *sql.DB, text string) []string {
	t.Helper()
	var args []any
	for range parameters(text) {
		args = append(args, 1)
	}
	var lines []string
	err := sqlkit.Querying(t.Context(), db)("EXPLAIN QUERY PLAN "+text, args, func(rows *sql.Rows) error {
		var line string
		err := rows.Scan(new(int), new(int), new(int), &line)
		lines = append(lines, line)
		return err
	})
	if err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	return lines
}

// checkPlans fails the test for each statement that would not go by an index.
func checkPlans(t *testing.T, s *Store, when string) {
	t.Helper()
	for name, text := range statementsOf(t) {
		switch strings.Fields(text)[0] {
		case "PRAGMA", "BEGIN", "DROP":
			continue
		}
		if strings.HasPrefix(text, "CAST") || strings.Contains(text, "{now}") || strings.Contains(text, "{slots}") { // a part, or of a script that enters a box
			continue
		}
		lines := plan(t, s.pool(), text)
		for _, line := range lines {
			if fault := faultOf(name, line); fault != "" {
				t.Errorf("%s: %s: %s:\n\t%s", when, name, fault, strings.Join(lines, "\n\t"))
			}
		}
	}
}

// fillLog makes the log have n rows, and a tenth of them parked.
func fillLog(t *testing.T, s *Store, n int) {
	t.Helper()
	for _, text := range []string{
		`INSERT INTO postbag_outbox (id, at, key, payload)
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?1 - (SELECT count(*) FROM postbag_outbox))
SELECT randomblob(16), i, 'k' || (i % 1000), 'p' FROM n`,
		`INSERT OR REPLACE INTO postbag__parked
	(subscription, seq, slot, hash, state, chain, attempts, due, ready, first, reason, history)
SELECT 2, seq, seq % 4096, seq % 5000, 1 + seq % 4, seq % 5000, 1, seq, CASE WHEN seq % 20 = 0 THEN seq END, 1, '', '[]'
FROM postbag_outbox WHERE seq % 10 = 0 AND ?1 > 0`,
	} {
		if _, err := s.pool().ExecContext(t.Context(), text, n); err != nil {
			t.Fatal(err)
		}
	}
}

// fillMarks makes three consumers have n marks.
func fillMarks(t *testing.T, s *Store, n int) {
	t.Helper()
	const text = `INSERT INTO postbag__once (consumer, id)
WITH RECURSIVE n(i) AS (SELECT 1 + (SELECT count(*) FROM postbag__once) UNION ALL SELECT i + 1 FROM n WHERE i < ?1)
SELECT CAST('consumer ' || (i % 3) AS BLOB), randomblob(16) FROM n WHERE i <= ?1`
	if _, err := s.pool().ExecContext(t.Context(), text, n); err != nil {
		t.Fatal(err)
	}
}

// planned opens a store in a new file.
func planned(t *testing.T) *Store {
	t.Helper()
	s, err := Open(t.Context(), filepath.Join(t.TempDir(), "test.db"), Options{Create: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

func TestEveryStatementUsesAnIndex(t *testing.T) {
	t.Parallel()
	for _, analyzed := range []string{"never", "long ago", "now"} {
		t.Run("analyzed "+analyzed, func(t *testing.T) {
			t.Parallel()
			s := planned(t)
			analyze := func() {
				if _, err := s.pool().ExecContext(t.Context(), "ANALYZE"); err != nil {
					t.Fatal(err)
				}
			}
			if analyzed == "long ago" {
				fillLog(t, s, 100)
				fillMarks(t, s, 100)
				analyze()
			}
			for _, n := range []int{0, 10_000 / Slowness, 1_000_000 / Slowness} {
				if n == 1_000_000/Slowness && analyzed == "never" {
					continue // without statistics the plan knows nothing of the rows
				}
				if n > 0 {
					fillLog(t, s, n)
				}
				if n <= 10_000 || servertest.Full() { // a million marks take seconds
					fillMarks(t, s, n)
				}
				if analyzed == "now" {
					analyze()
				}
				checkPlans(t, s, fmt.Sprint(n, " rows"))
			}
		})
	}
}

func TestAPageIsReadByRowid(t *testing.T) {
	t.Parallel()
	s := planned(t)
	all := statementsOf(t)
	for _, name := range []string{"sqlPage", "sqlFilteredPage", "SQLPlaces", "SQLListUp"} {
		const want = "SEARCH postbag_outbox USING INTEGER PRIMARY KEY (rowid>? AND rowid<?)"
		got := plan(t, s.pool(), all[name])
		if len(got) == 3 && got[1] == "SCALAR SUBQUERY 1" && got[2] == "SEARCH r USING PRIMARY KEY (name=?)" {
			got = got[:1] // the rule for slots of the box, once
		}
		if len(got) != 1 || got[0] != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
	const due = "SEARCH postbag__parked USING INDEX postbag__parked_ready (subscription=? AND (ready,seq)>(?,?) AND ready<?)"
	if got := plan(t, s.pool(), all["Due"]); len(got) != 1 || got[0] != due {
		t.Errorf("Due: %q, want %q", got, due)
	}
}
