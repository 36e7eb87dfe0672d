package testserver_test

import (
	"context"
	"errors"
	"net/url"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/postbag/postbag/internal/testserver"
	"github.com/postbag/postbag/internal/testserver/servertest"
)

// psql runs SQL at a DSN. The password goes by the environment.
func psql(t *testing.T, pg *testserver.Postgres, dsn, sql string) (string, error) {
	t.Helper()
	u, err := url.Parse(dsn)
	if err != nil {
		t.Fatal(err)
	}
	password, _ := u.User.Password()
	u.User = url.User(u.User.Username())
	cmd := exec.CommandContext(t.Context(), filepath.Join(pg.BinDir(), "psql"), "-XAtq", "-v", "ON_ERROR_STOP=1", "-d", u.String())
	cmd.Env = []string{"PGPASSWORD=" + password}
	cmd.Stdin = strings.NewReader(sql)
	out, err := cmd.Output()
	if failed, ok := errors.AsType[*exec.ExitError](err); ok {
		err = errors.Join(err, errors.New(string(failed.Stderr)))
	}
	return strings.TrimRight(string(out), "\n"), err
}

func TestPgBouncerPoolsTransactionsOfManyClients(t *testing.T) {
	t.Parallel()
	slow(t)
	pg := servertest.Postgres(t, testserver.PostgresOptions{})
	b := servertest.PgBouncer(t, pg, testserver.PgBouncerOptions{PoolSize: 1})
	mode, err := psql(t, pg, b.DSN("pgbouncer"), "SHOW CONFIG")
	if err != nil || !strings.Contains(mode, "pool_mode|transaction|") {
		t.Fatalf("pool_mode is not transaction: %v: %s", err, mode)
	}
	first, err := psql(t, pg, b.DSN("postgres"), "SELECT pg_backend_pid()")
	if err != nil {
		t.Fatal(err)
	}
	second, err := psql(t, pg, b.DSN("postgres"), "SELECT pg_backend_pid()")
	if err != nil || first != second {
		t.Errorf("two clients had the backends %s and %s, %v: want one", first, second, err)
	}
}

func TestPgBouncerAcceptsAddedRolesAndRefusesOthers(t *testing.T) {
	t.Parallel()
	slow(t)
	pg := servertest.Postgres(t, testserver.PostgresOptions{})
	query(t, pg, "CREATE ROLE producer LOGIN PASSWORD 'its own'")
	b := servertest.PgBouncer(t, pg, testserver.PgBouncerOptions{Users: map[string]string{"producer": "its own"}})
	if who, err := psql(t, pg, b.DSNAs("producer", "its own", "postgres"), "SELECT current_user"); err != nil || who != "producer" {
		t.Errorf("current_user is %q, %v", who, err)
	}
	if _, err := psql(t, pg, b.DSNAs("producer", "guessed", "postgres"), "SELECT 1"); err == nil {
		t.Error("a wrong password was taken")
	}
}

func TestPgBouncerReconnectsAfterARestartOfPostgres(t *testing.T) {
	t.Parallel()
	slow(t)
	pg := servertest.Postgres(t, testserver.PostgresOptions{})
	b := servertest.PgBouncer(t, pg, testserver.PgBouncerOptions{})
	if _, err := psql(t, pg, b.DSN("postgres"), "SELECT 1"); err != nil {
		t.Fatal(err)
	}
	if err := pg.Restart(t.Context(), testserver.StopImmediate); err != nil {
		t.Fatal(err)
	}
	await(t, "an answer through the pooler", func() bool {
		_, err := psql(t, pg, b.DSN("postgres"), "SELECT 1")
		return err == nil
	})
	if err := b.Restart(context.WithoutCancel(t.Context())); err != nil {
		t.Fatal(err)
	}
	if _, err := psql(t, pg, b.DSN("postgres"), "SELECT 1"); err != nil {
		t.Errorf("after its own restart: %v", err)
	}
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := psql(t, pg, b.DSN("postgres"), "SELECT 1"); err == nil {
		t.Error("a closed pooler answers")
	}
}

func TestPgBouncerNotInstalledIsMissing(t *testing.T) {
	t.Parallel()
	_, err := testserver.StartPgBouncer(t.Context(), nil, testserver.PgBouncerOptions{Program: filepath.Join(t.TempDir(), "none")})
	if !errors.Is(err, testserver.ErrMissing) || !strings.Contains(err.Error(), "scripts/setup") {
		t.Errorf("the error is %v, want a MissingError with the fix", err)
	}
}
