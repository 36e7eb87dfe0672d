package olddata_test

import (
	"database/sql"
	"encoding/hex"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/store"
)

// dumping is the variable that has TestDump write the dumps again, with the schema of this checkout. After a release, do so, and
// name its commit in Before.
const dumping = "POSTBAG_DUMP"

// old is how many messages a dump has.
const old = 20

func TestDump(t *testing.T) {
	t.Parallel()
	if os.Getenv(dumping) == "" {
		t.Skip(dumping + " is not set: the dumps are those of testdata")
	}
	for _, k := range kinds() {
		t.Run(k.name, func(t *testing.T) {
			db, dsn := k.start(t)
			s := k.open(t, dsn, false)
			if err := s.Declare(t.Context(), []store.Spec{{Ref: ref, Shards: 4}}); err != nil {
				t.Fatal(err)
			}
			for i := range old {
				if err := k.publish(t.Context(), db, postbag.NewID(), fmt.Sprintf("old-%d", i%5), ""); err != nil {
					t.Fatal(err)
				}
			}
			text := strings.Join(k.dump(t, db, dsn), statementEnd) + statementEnd
			if err := os.WriteFile(filepath.Join("testdata", k.name+".sql"), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		})
	}
}

// metaCommand is a line of pg_dump that is for psql alone.
var metaCommand = regexp.MustCompile(`(?m)^\\.*\n`)

func dumpPostgres(t *testing.T, _ *sql.DB, dsn string) []string {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "pg_dump", "--inserts", "--no-owner", "--no-privileges", "--dbname", dsn).Output()
	if err != nil {
		t.Fatal(err)
	}
	return []string{metaCommand.ReplaceAllString(string(out), "")}
}

func dumpMySQL(t *testing.T, db *sql.DB, _ string) []string {
	t.Helper()
	all := []string{"SET FOREIGN_KEY_CHECKS = 0"}
	for _, table := range column(t, db, "SELECT table_name FROM information_schema.tables WHERE table_schema = DATABASE() ORDER BY 1", 0) {
		all = append(all, column(t, db, "SHOW CREATE TABLE `"+table+"`", 1)[0])
		plain := column(t, db, "SELECT CONCAT('`', column_name, '`') FROM information_schema.columns WHERE table_schema = DATABASE() AND table_name = '"+table+
			"' AND COALESCE(generation_expression, '') = '' ORDER BY ordinal_position", 0)
		all = append(all, rows(t, db, "`"+table+"`", plain)...)
	}
	for _, name := range column(t, db, "SELECT routine_name FROM information_schema.routines WHERE routine_schema = DATABASE()", 0) {
		all = append(all, column(t, db, "SHOW CREATE PROCEDURE `"+name+"`", 2)[0])
	}
	return all
}

func dumpSQLite(t *testing.T, db *sql.DB, _ string) []string {
	t.Helper()
	all := column(t, db, "SELECT sql FROM sqlite_master WHERE sql IS NOT NULL AND type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY rowid", 0)
	for _, table := range column(t, db, "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_stat%' ORDER BY rowid", 0) {
		plain := column(t, db, `SELECT '"' || name || '"' FROM pragma_table_xinfo('`+table+`') WHERE hidden = 0`, 0)
		all = append(all, rows(t, db, `"`+table+`"`, plain)...)
	}
	return append(all, column(t, db, "SELECT sql FROM sqlite_master WHERE sql IS NOT NULL AND type <> 'table' ORDER BY rowid", 0)...)
}

// column returns the texts of one column.
func column(t *testing.T, db *sql.DB, query string, n int) (all []string) {
	t.Helper()
	each(t, db, query, func(values []any) { all = append(all, fmt.Sprintf("%s", values[n])) })
	return all
}

// each calls do with each row.
func each(t *testing.T, db *sql.DB, query string, do func(values []any)) {
	t.Helper()
	found, err := db.QueryContext(t.Context(), query)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = found.Close() }()
	names, err := found.Columns()
	if err != nil {
		t.Fatal(err)
	}
	for found.Next() {
		values, into := make([]any, len(names)), make([]any, len(names))
		for i := range values {
			into[i] = &values[i]
		}
		if err := found.Scan(into...); err != nil {
			t.Fatal(err)
		}
		do(values)
	}
	if err := found.Err(); err != nil {
		t.Fatal(err)
	}
}

// rowsPerInsert is how many rows an INSERT of a dump has at most. The 4,096 rows of MySQL's locks make nine statements so.
const rowsPerInsert = 500

// rows are the INSERTs of a table's rows, without the columns that the database makes itself.
func rows(t *testing.T, db *sql.DB, table string, columns []string) (all []string) {
	t.Helper()
	names := strings.Join(columns, ", ")
	var tuples []string
	each(t, db, "SELECT "+names+" FROM "+table, func(values []any) {
		texts := make([]string, len(values))
		for i, v := range values {
			texts[i] = literal(v)
		}
		tuples = append(tuples, "("+strings.Join(texts, ", ")+")")
	})
	for some := range slices.Chunk(tuples, rowsPerInsert) {
		all = append(all, "INSERT INTO "+table+" ("+names+") VALUES "+strings.Join(some, ", "))
	}
	return all
}

func literal(v any) string {
	switch v := v.(type) {
	case nil:
		return "NULL"
	case []byte:
		return "x'" + hex.EncodeToString(v) + "'"
	case string:
		return "'" + strings.ReplaceAll(v, "'", "''") + "'"
	default:
		return fmt.Sprint(v)
	}
}
