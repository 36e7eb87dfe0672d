package migrationtools

import (
	"database/sql"
	"fmt"
	"os"
	"strings"
	"testing"

	_ "github.com/go-sql-driver/mysql"
	_ "github.com/jackc/pgx/v5/stdlib"
	"github.com/pressly/goose/v3"

	"github.com/postbag/postbag/internal/testserver"
	"github.com/postbag/postbag/internal/testserver/servertest"
	"github.com/postbag/postbag/store/sqlitestore"
)

// kind is a kind of database.
type kind struct {
	name, kind string
	dialect    goose.Dialect
	start      func(t *testing.T) *server
	// dump shows all that Postbag has in a database, but what is drawn, and when.
	dump func(t *testing.T, db *sql.DB) []string
}

// server is where databases are made.
type server struct {
	empty func(t *testing.T, name string) (dsn string)
	open  func(t *testing.T, dsn string) *sql.DB
}

func kinds() []kind {
	return []kind{
		{"PostgreSQL", "postgresql", goose.DialectPostgres, startPostgres, dumpPostgres},
		{"MySQL", "mysql", goose.DialectMySQL, func(t *testing.T) *server { t.Helper(); return startMySQL(t, true) }, dumpMySQL},
		{"MariaDB", "mariadb", goose.DialectMySQL, func(t *testing.T) *server { t.Helper(); return startMySQL(t, false) }, dumpMySQL},
		{"SQLite", "sqlite", goose.DialectSQLite3, startSQLite, dumpSQLite},
	}
}

func opener(driver string) func(t *testing.T, dsn string) *sql.DB {
	return func(t *testing.T, dsn string) *sql.DB {
		t.Helper()
		db, err := sql.Open(driver, dsn)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = db.Close() })
		return db
	}
}

// all reads a table.
func all(table string) string {
	return "SELECT * FROM " + table //nolint:unqueryvet // every column is compared
}

func startPostgres(t *testing.T) *server {
	t.Helper()
	s := servertest.Postgres(t, testserver.PostgresOptions{})
	open := opener("pgx")
	return &server{open: open, empty: func(t *testing.T, name string) string {
		t.Helper()
		if _, err := open(t, s.DSN("postgres")).ExecContext(t.Context(), "CREATE DATABASE "+name); err != nil {
			t.Fatal(err)
		}
		return s.DSN(name)
	}}
}

func dumpPostgres(t *testing.T, db *sql.DB) (out []string) {
	t.Helper()
	const ours = " n.nspname = 'postbag'"
	for _, query := range []string{
		`SELECT c.relname, c.relkind, c.relpersistence, c.reloptions::text, c.relacl::text, pg_get_expr(c.relpartbound, c.oid), c.relrowsecurity,
			pg_get_partkeydef(c.oid) FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE` + ours,
		`SELECT c.relname, a.attnum, a.attname, format_type(a.atttypid, a.atttypmod), a.attnotnull, a.attidentity, a.attacl::text, a.attstorage,
			a.attcollation::regcollation::text, pg_get_expr(d.adbin, d.adrelid) FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid
			JOIN pg_namespace n ON n.oid = c.relnamespace LEFT JOIN pg_attrdef d ON d.adrelid = a.attrelid AND d.adnum = a.attnum
			WHERE a.attnum > 0 AND` + ours,
		`SELECT c.conname, c.conrelid::regclass::text, c.convalidated, c.conislocal, c.coninhcount, pg_get_constraintdef(c.oid)
			FROM pg_constraint c JOIN pg_namespace n ON n.oid = c.connamespace WHERE` + ours,
		`SELECT indexdef FROM pg_indexes WHERE schemaname = 'postbag'`,
		`SELECT p.proname, p.proacl::text, pg_get_functiondef(p.oid) FROM pg_proc p JOIN pg_namespace n ON n.oid = p.pronamespace WHERE` + ours,
		`SELECT pg_get_triggerdef(g.oid) FROM pg_trigger g JOIN pg_class c ON c.oid = g.tgrelid JOIN pg_namespace n ON n.oid = c.relnamespace WHERE NOT g.tgisinternal AND` + ours,
		`SELECT sequencename, data_type::text, start_value, increment_by, cycle, cache_size, last_value FROM pg_sequences WHERE schemaname = 'postbag'`,
		`SELECT n.nspacl::text FROM pg_namespace n WHERE` + ours,
		`SELECT defaclobjtype, defaclacl::text FROM pg_default_acl`,
	} {
		out = append(out, lines(t, db, query)...)
	}
	for _, table := range texts(t, db, `SELECT c.oid::regclass::text FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE c.relkind IN ('r', 'p') AND`+ours) {
		for _, line := range lines(t, db, all(table), "made", "identity", "numbering", "life", "at") {
			out = append(out, table+": "+line)
		}
	}
	return out
}

func startMySQL(t *testing.T, oracle bool) *server {
	t.Helper()
	s := servertest.MySQL(t, testserver.MySQLOptions{Oracle: oracle})
	open := opener("mysql")
	return &server{open: open, empty: func(t *testing.T, name string) string {
		t.Helper()
		if _, err := open(t, s.DSN("")).ExecContext(t.Context(), "CREATE DATABASE "+name); err != nil {
			t.Fatal(err)
		}
		return s.DSN(name)
	}}
}

func dumpMySQL(t *testing.T, db *sql.DB) (out []string) {
	t.Helper()
	for _, table := range texts(t, db, `SELECT table_name FROM information_schema.tables WHERE table_schema = DATABASE() AND table_name LIKE 'postbag%'`) {
		for _, line := range lines(t, db, "SHOW CREATE TABLE "+table) {
			out = append(out, strings.Split(line, "\n")...)
		}
		for _, line := range lines(t, db, all(table), "identity", "life", "created_at", "at", "host", "made") {
			out = append(out, table+": "+line)
		}
	}
	for _, name := range texts(t, db, "SELECT routine_name FROM information_schema.routines WHERE routine_schema = DATABASE()") {
		out = append(out, texts(t, db, fmt.Sprintf("SELECT CONCAT(TRIM(TRAILING ';' FROM routine_definition), security_type, sql_data_access) FROM information_schema.routines "+
			"WHERE routine_schema = DATABASE() AND routine_name = '%s'", name))...)
	}
	return append(out, lines(t, db, "SELECT trigger_name, action_statement FROM information_schema.triggers WHERE trigger_schema = DATABASE()")...)
}

func startSQLite(t *testing.T) *server {
	t.Helper()
	open := opener("sqlite")
	return &server{
		open: func(t *testing.T, dsn string) *sql.DB { t.Helper(); return open(t, sqlitestore.DSN(dsn)) },
		empty: func(t *testing.T, name string) string {
			t.Helper()
			path := file(t, name)
			if err := os.WriteFile(path, nil, 0o600); err != nil {
				t.Fatal(err)
			}
			return path
		},
	}
}

func dumpSQLite(t *testing.T, db *sql.DB) (out []string) {
	t.Helper()
	for _, line := range lines(t, db, "SELECT type, name, tbl_name, sql FROM sqlite_schema WHERE tbl_name LIKE 'postbag%'") {
		out = append(out, strings.Split(line, "\n")...)
	}
	for _, table := range append(texts(t, db, "SELECT name FROM sqlite_schema WHERE type = 'table' AND name LIKE 'postbag%'"), "sqlite_sequence WHERE name LIKE 'postbag%'") {
		for _, line := range lines(t, db, all(table), "identity", "created_at", "at") {
			out = append(out, table+": "+line)
		}
	}
	return out
}
