package servertest

import (
	"context"
	"fmt"
	"os"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/postbag/postbag/internal/testserver"
)

// SharedPostgres is one PostgreSQL server for all tests of a package, started when the first asks for it. The zero
// value is ready; set Options before. Its methods may be called concurrently.
type SharedPostgres struct {
	// Options of the server. The zero value is a durable server.
	Options testserver.PostgresOptions

	once  sync.Once
	pg    *testserver.Postgres
	err   error
	count atomic.Int64
}

// Run runs the package's tests, ends the server if it was started, and returns the exit code for [os.Exit].
func (s *SharedPostgres) Run(m *testing.M) int {
	code := m.Run()
	s.once.Do(func() {})
	if s.pg == nil {
		return code
	}
	if err := s.pg.Close(); err != nil {
		fmt.Fprintln(os.Stderr, "the shared PostgreSQL was not closed:", err)
		return max(code, 1)
	}
	return code
}

// Server returns the server. A test must not stop it or change its settings: others use it.
func (s *SharedPostgres) Server(tb testing.TB) *testserver.Postgres {
	tb.Helper()
	s.once.Do(func() { s.pg, s.err = testserver.StartPostgres(context.Background(), s.Options) })
	Need(tb, s.err)
	return s.pg
}

// Database makes an empty database for one test, dropped at its end with all its sessions, and returns its DSN.
func (s *SharedPostgres) Database(tb testing.TB) string {
	tb.Helper()
	pg := s.Server(tb)
	return pg.DSN(s.create(tb, pg))
}

func (s *SharedPostgres) create(tb testing.TB, pg *testserver.Postgres) string {
	tb.Helper()
	name := fmt.Sprintf("test_%d", s.count.Add(1))
	if err := pg.CreateDatabase(context.Background(), name); err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := pg.DropDatabase(context.Background(), name); err != nil {
			tb.Errorf("database %s was not dropped: %v", name, err)
		}
	})
	return name
}
