package servertest

import (
	"context"
	"errors"
	"io"
	"os"
	"testing"

	"github.com/postbag/postbag/internal/testserver"
)

// server is what all of them have.
type server interface {
	io.Closer
	LogTail(lines int) string
}

// Postgres starts a PostgreSQL server for one test.
func Postgres(tb testing.TB, opts testserver.PostgresOptions) *testserver.Postgres {
	tb.Helper()
	pg, err := testserver.StartPostgres(context.Background(), opts)
	Need(tb, err)
	keep(tb, "PostgreSQL", pg)
	return pg
}

// Standby starts a streaming standby of a primary for one test.
func Standby(tb testing.TB, primary *testserver.Postgres, opts testserver.StandbyOptions) *testserver.Postgres {
	tb.Helper()
	pg, err := testserver.StartStandby(context.Background(), primary, opts)
	Need(tb, err)
	keep(tb, "the standby", pg)
	return pg
}

// PgBouncer starts a pooler in transaction mode in front of a PostgreSQL server for one test.
func PgBouncer(tb testing.TB, pg *testserver.Postgres, opts testserver.PgBouncerOptions) *testserver.PgBouncer {
	tb.Helper()
	b, err := testserver.StartPgBouncer(context.Background(), pg, opts)
	Need(tb, err)
	keep(tb, "PgBouncer", b)
	return b
}

// MySQL starts a MySQL or MariaDB server for one test.
func MySQL(tb testing.TB, opts testserver.MySQLOptions) *testserver.MySQL {
	tb.Helper()
	m, err := testserver.StartMySQL(context.Background(), opts)
	Need(tb, err)
	keep(tb, "MySQL", m)
	return m
}

// NATS starts a NATS server with JetStream for one test.
func NATS(tb testing.TB, opts testserver.NATSOptions) *testserver.NATS {
	tb.Helper()
	n, err := testserver.StartNATS(context.Background(), opts)
	Need(tb, err)
	keep(tb, "NATS", n)
	return n
}

// RabbitMQ starts a RabbitMQ server for one test.
func RabbitMQ(tb testing.TB, opts testserver.RabbitMQOptions) *testserver.RabbitMQ {
	tb.Helper()
	r, err := testserver.StartRabbitMQ(context.Background(), opts)
	Need(tb, err)
	keep(tb, "RabbitMQ", r)
	return r
}

// Proxy starts a TCP proxy to target ("127.0.0.1:5432") for one test.
func Proxy(tb testing.TB, target string) *testserver.Proxy {
	tb.Helper()
	p, err := testserver.StartProxy(target)
	Need(tb, err)
	tb.Cleanup(func() {
		if err := p.Close(); err != nil {
			tb.Errorf("the proxy was not closed: %v", err)
		}
	})
	return p
}

// Tmpfs mounts a small file system of so many bytes for one test. It needs root.
func Tmpfs(tb testing.TB, size int64) *testserver.Tmpfs {
	tb.Helper()
	fs, err := testserver.MountTmpfs(context.Background(), size)
	Need(tb, err)
	tb.Cleanup(func() {
		if err := fs.Close(); err != nil {
			tb.Errorf("the file system was not unmounted: %v", err)
		}
	})
	return fs
}

// Need fails the test for an error, or skips it when the error is that this machine lacks something and may.
func Need(tb testing.TB, err error) {
	tb.Helper()
	switch {
	case err == nil:
	case errors.Is(err, testserver.ErrMissing) && !required():
		tb.Skip("skipped:", err)
	default:
		tb.Fatal(err)
	}
}

// required says whether a missing server is a failure.
func required() bool {
	return os.Getenv("CI") == "true" || os.Getenv("POSTBAG_REQUIRE_SERVERS") == "1"
}

// Full says whether the long form of tests was asked for (POSTBAG_FULL=1, make test-all).
func Full() bool { return os.Getenv("POSTBAG_FULL") == "1" }

// keep ends the server with the test.
func keep(tb testing.TB, name string, s server) {
	tb.Helper()
	tb.Cleanup(func() {
		if tb.Failed() {
			tb.Logf("the end of the log of %s:\n%s", name, s.LogTail(60))
		}
		if err := s.Close(); err != nil {
			tb.Errorf("%s was not closed: %v", name, err)
		}
	})
}
