package testserver_test

import (
	"bufio"
	"context"
	"errors"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/postbag/postbag/internal/testserver"
	"github.com/postbag/postbag/internal/testserver/servertest"
)

// query runs SQL and fails the test if it fails.
func query(t *testing.T, pg *testserver.Postgres, sql string) string {
	t.Helper()
	out, err := pg.Exec(t.Context(), "postgres", sql)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func TestPostgresStartsDurableAndReadyForTwoPhaseCommit(t *testing.T) {
	t.Parallel()
	pg := servertest.Postgres(t, testserver.PostgresOptions{Settings: map[string]string{"work_mem": "5MB"}})
	for name, want := range map[string]string{
		"fsync": "on", "full_page_writes": "on", "synchronous_commit": "on", "wal_level": "logical",
		"max_prepared_transactions": "20", "listen_addresses": "127.0.0.1", "unix_socket_directories": "",
		"work_mem": "5MB", "port": strconv.Itoa(pg.Port()),
	} {
		if got := query(t, pg, "SHOW "+name); got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
}

func TestPostgresWithoutSyncOnlyGivesUpDurability(t *testing.T) {
	t.Parallel()
	slow(t)
	pg := servertest.Postgres(t, testserver.PostgresOptions{NoSync: true})
	if got := query(t, pg, "SHOW fsync; SHOW full_page_writes; SHOW synchronous_commit"); got != "off\noff\non" {
		t.Errorf("fsync, full_page_writes and synchronous_commit are %q", got)
	}
}

func TestPostgresKeepsCommittedRowsAfterEachKindOfStop(t *testing.T) {
	t.Parallel()
	slow(t)
	pg := servertest.Postgres(t, testserver.PostgresOptions{})
	query(t, pg, "CREATE TABLE kept (way text)")
	ways := map[string]func(context.Context) error{
		"smart":     func(ctx context.Context) error { return pg.Stop(ctx, testserver.StopSmart) },
		"fast":      func(ctx context.Context) error { return pg.Stop(ctx, testserver.StopFast) },
		"immediate": func(ctx context.Context) error { return pg.Stop(ctx, testserver.StopImmediate) },
		"kill":      pg.Kill,
	}
	want, port := 0, pg.Port()
	for name, down := range ways {
		query(t, pg, "INSERT INTO kept VALUES ('"+name+"')")
		want++
		if err := down(t.Context()); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if _, err := pg.Exec(t.Context(), "postgres", "SELECT 1"); err == nil {
			t.Fatalf("%s: the server still answers", name)
		}
		if err := pg.Start(t.Context()); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if got := query(t, pg, "SELECT count(*) FROM kept"); got != strconv.Itoa(want) {
			t.Errorf("%s: %s rows are left, want %d", name, got, want)
		}
	}
	if pg.Port() != port {
		t.Errorf("the port went from %d to %d", port, pg.Port())
	}
	if err := pg.Start(t.Context()); err == nil {
		t.Error("a running server was started a second time")
	}
}

func TestPostgresKilledLeavesNoBackend(t *testing.T) {
	t.Parallel()
	slow(t)
	pg := servertest.Postgres(t, testserver.PostgresOptions{})
	asleep := make(chan error, 1)
	go func() {
		_, err := pg.Exec(context.WithoutCancel(t.Context()), "postgres", "SELECT pg_sleep(60)")
		asleep <- err
	}()
	await(t, "the sleeper", func() bool {
		return query(t, pg, "SELECT count(*) FROM pg_stat_activity WHERE query LIKE 'SELECT pg_sleep%'") == "1"
	})
	if err := pg.Kill(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := <-asleep; err == nil {
		t.Error("the sleeper's statement succeeded")
	}
	entries, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range entries {
		if text, err := os.ReadFile(entry); err == nil && strings.Contains(string(text), pg.DataDir()) {
			t.Errorf("%s still runs: %q", entry, text)
		}
	}
}

func TestPostgresPausedAnswersNothingUntilResumed(t *testing.T) {
	t.Parallel()
	pg := servertest.Postgres(t, testserver.PostgresOptions{})
	if err := pg.Pause(); err != nil {
		t.Fatal(err)
	}
	answer := make(chan error, 1)
	go func() {
		_, err := pg.Exec(context.WithoutCancel(t.Context()), "postgres", "SELECT 1")
		answer <- err
	}()
	select {
	case err := <-answer:
		t.Fatalf("a paused server answered: %v", err)
	case <-time.After(300 * time.Millisecond): // the proof of silence is to listen for a while
	}
	if err := pg.Resume(); err != nil {
		t.Fatal(err)
	}
	if err := <-answer; err != nil {
		t.Errorf("after Resume: %v", err)
	}
}

func TestPostgresClosedWhilePausedIsGone(t *testing.T) {
	t.Parallel()
	slow(t)
	pg := servertest.Postgres(t, testserver.PostgresOptions{})
	if err := pg.Pause(); err != nil {
		t.Fatal(err)
	}
	if err := pg.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(pg.DataDir()); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the data directory is still there: %v", err)
	}
	if err := pg.Start(t.Context()); err == nil {
		t.Error("a closed server was started")
	}
	if err := pg.Close(); err != nil {
		t.Errorf("a second Close: %v", err)
	}
}

func TestPostgresStopThatTakesTooLongKills(t *testing.T) {
	t.Parallel()
	slow(t)
	pg := servertest.Postgres(t, testserver.PostgresOptions{})
	conn, err := net.Dial("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(pg.Port())))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	ask(t, conn) // a client that stays: a smart stop waits for it
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	if err := pg.Stop(ctx, testserver.StopSmart); !errors.Is(err, context.DeadlineExceeded) {
		t.Fatalf("Stop returned %v, want the deadline", err)
	}
	if err := pg.Start(t.Context()); err != nil {
		t.Fatalf("after the kill: %v", err)
	}
}

// ask begins a session (start-up message, protocol 3.0) and waits for the server's question for a password.
func ask(t *testing.T, conn net.Conn) {
	t.Helper()
	body := "\x00\x03\x00\x00user\x00postgres\x00\x00"
	if _, err := conn.Write(append([]byte{0, 0, 0, byte(len(body) + 4)}, body...)); err != nil {
		t.Fatal(err)
	}
	if kind, err := bufio.NewReader(conn).ReadByte(); err != nil || kind != 'R' {
		t.Fatalf("the server answered %q, %v", kind, err)
	}
}

func TestPostgresDatabasesComeAndGo(t *testing.T) {
	t.Parallel()
	slow(t)
	pg := servertest.Postgres(t, testserver.PostgresOptions{})
	const name = `odd "name'`
	if err := pg.CreateDatabase(t.Context(), name); err != nil {
		t.Fatal(err)
	}
	if out, err := pg.Exec(t.Context(), name, "SELECT current_database()"); err != nil || out != name {
		t.Errorf("current_database() is %q, %v", out, err)
	}
	if err := pg.DropDatabase(t.Context(), name); err != nil {
		t.Fatal(err)
	}
	if _, err := pg.Exec(t.Context(), name, "SELECT 1"); err == nil {
		t.Error("a dropped database answers")
	}
	if dsn := pg.DSN(name); strings.Count(dsn, "@") != 1 || !strings.Contains(dsn, "odd%20%22name%27") {
		t.Errorf("the name is not escaped in the DSN")
	}
}

func TestPostgresRefusesANonEmptyDataDirectory(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "precious"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	pg, err := testserver.StartPostgres(t.Context(), testserver.PostgresOptions{DataDir: dir})
	if err == nil {
		t.Fatal("it was taken:", pg.Close())
	}
	if errors.Is(err, testserver.ErrMissing) {
		servertest.Need(t, err)
	}
	if !strings.Contains(err.Error(), "not empty") {
		t.Errorf("the error does not say why: %v", err)
	}
	if _, err := os.Stat(filepath.Join(dir, "precious")); err != nil {
		t.Errorf("the file in it: %v", err)
	}
}

func TestPostgresThatCannotStartSaysWhy(t *testing.T) {
	t.Parallel()
	_, err := testserver.StartPostgres(t.Context(), testserver.PostgresOptions{
		Settings: map[string]string{"max_connections": "many"},
	})
	if errors.Is(err, testserver.ErrMissing) {
		servertest.Need(t, err)
	}
	if err == nil || !strings.Contains(err.Error(), "max_connections") {
		t.Errorf("the error does not name the setting: %v", err)
	}
}

func TestPostgresNotInstalledIsMissing(t *testing.T) {
	t.Parallel()
	_, err := testserver.StartPostgres(t.Context(), testserver.PostgresOptions{BinDir: t.TempDir()})
	missing, ok := errors.AsType[*testserver.MissingError](err)
	if !ok || !errors.Is(err, testserver.ErrMissing) {
		t.Fatalf("the error is %v, want a MissingError", err)
	}
	if missing.Fix == "" || !strings.Contains(err.Error(), "scripts/setup") {
		t.Errorf("the error has no fix: %v", err)
	}
}

// await waits for a condition, and fails the test when it does not come true.
func await(t *testing.T, what string, ready func() bool) {
	t.Helper()
	deadline := time.After(20 * time.Second)
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	for !ready() {
		select {
		case <-deadline:
			t.Fatalf("%s did not come", what)
		case <-tick.C:
		}
	}
}
