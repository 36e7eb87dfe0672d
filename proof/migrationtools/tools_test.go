package migrationtools

import (
	"bytes"
	"database/sql"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"ariga.io/atlas/sql/migrate"
	"github.com/pressly/goose/v3"

	"github.com/postbag/postbag/proof/internal/daemon"
)

func TestMain(m *testing.M) {
	code := m.Run()
	daemon.Remove()
	os.Exit(code)
}

// tools apply a file in their format.
var tools = map[string]func(t *testing.T, dialect goose.Dialect, db *sql.DB, text string){
	"goose": func(t *testing.T, dialect goose.Dialect, db *sql.DB, text string) {
		t.Helper()
		p, err := goose.NewProvider(dialect, db, fstest.MapFS{"00007_postbag.sql": {Data: []byte(text)}})
		if err != nil {
			t.Fatal(err)
		}
		if done, err := p.Up(t.Context()); err != nil || len(done) != 1 {
			t.Fatalf("goose took %d migrations: %v", len(done), err)
		}
	},
	// As Atlas does by default: one transaction for a file.
	"atlas": func(t *testing.T, _ goose.Dialect, db *sql.DB, text string) {
		t.Helper()
		statements, err := migrate.NewLocalFile("20260101000000_postbag.sql", []byte(text)).Stmts()
		if err != nil || len(statements) < 10 {
			t.Fatalf("Atlas sees %d statements: %v", len(statements), err)
		}
		tx, err := db.BeginTx(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, one := range statements {
			if _, err := tx.ExecContext(t.Context(), one); err != nil {
				t.Fatalf("%v:\n%s", err, one)
			}
		}
		if err := tx.Commit(); err != nil {
			t.Fatal(err)
		}
	},
}

// A database that a tool made of what is printed, without a connection, is as good as one that migrate up made: the same
// tables, constraints, indexes, functions, triggers, rights and rows, and a relay delivers from it.
func TestOtherMigrationToolsMakeTheSameBoxFromPrintedScripts(t *testing.T) {
	t.Parallel()
	for _, k := range kinds() {
		t.Run(k.name, func(t *testing.T) {
			t.Parallel()
			server := k.start(t)
			made := server.empty(t, "made")
			postbag(t, made, "migrate", "up", "--store-env", env, "--box", "outbox")
			want := k.dump(t, server.open(t, made))
			for name, apply := range tools {
				text := postbag(t, "", "migrate", "print", "--store-kind", k.kind, "--box", "outbox", "--format", name)
				dsn := server.empty(t, name)
				db := server.open(t, dsn)
				apply(t, k.dialect, db, text)
				compare(t, name, want, k.dump(t, db))
				postbag(t, dsn, "migrate", "status", "--store-env", env)
				postbag(t, dsn, "publish", "--store-env", env, "--payload", "hello")
				if got := postbag(t, dsn, "relay", "--store-env", env, "--to", "stdout:", "--drain"); strings.Count(got, "\n") != 1 {
					t.Errorf("%s: these were delivered, want one message:\n%s", name, got)
				}
				if got := postbag(t, dsn, "status", "--store-env", env); !strings.Contains(got, "BOX outbox: 1 message") {
					t.Errorf("%s: the status is\n%s", name, got)
				}
			}
		})
	}
}

// env is the variable with the DSN of a store.
const env = "POSTBAG_TEST_STORE"

// postbag runs the program and returns what it wrote.
func postbag(t *testing.T, dsn string, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), daemon.Program(t), args...)
	cmd.Env = append(os.Environ(), env+"="+dsn)
	cmd.Dir = t.TempDir()
	var out, said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &said
	if err := cmd.Run(); err != nil {
		t.Fatalf("postbag %s: %v\n%s%s", strings.Join(args, " "), err, out.String(), said.String())
	}
	return out.String()
}

// compare names the lines that one dump has and the other has not.
func compare(t *testing.T, name string, want, got []string) {
	t.Helper()
	if len(want) < 100 {
		t.Fatalf("a dump of %d lines shows too little", len(want))
	}
	count := map[string]int{}
	for _, line := range want {
		count[line]++
	}
	for _, line := range got {
		if count[line]--; count[line] < 0 {
			t.Errorf("%s has beyond migrate up: %s", name, line)
		}
	}
	for line, n := range count {
		if n > 0 {
			t.Errorf("%s lacks: %s", name, line)
		}
	}
}

// lines returns the rows of a query, each as a text, without columns that differ from one database to another.
func lines(t *testing.T, db *sql.DB, query string, without ...string) (out []string) {
	t.Helper()
	rows, err := db.QueryContext(t.Context(), query)
	if err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	defer func() { _ = rows.Close() }()
	columns, err := rows.Columns()
	if err != nil {
		t.Fatal(err)
	}
	for rows.Next() {
		values := make([]sql.NullString, len(columns))
		into := make([]any, len(columns))
		for i := range values {
			into[i] = &values[i]
		}
		if err := rows.Scan(into...); err != nil {
			t.Fatal(err)
		}
		var line strings.Builder
		for i, name := range columns {
			if !slices.Contains(without, name) {
				line.WriteString(name + "=" + values[i].String + " ")
			}
		}
		out = append(out, line.String())
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return out
}

// texts returns the one column of a query.
func texts(t *testing.T, db *sql.DB, query string) (out []string) {
	t.Helper()
	for _, line := range lines(t, db, query) {
		_, text, _ := strings.Cut(line, "=")
		out = append(out, strings.TrimSuffix(text, " "))
	}
	return out
}

// file is the path of a new database.
func file(t *testing.T, name string) string {
	t.Helper()
	return filepath.Join(t.TempDir(), name+".db")
}
