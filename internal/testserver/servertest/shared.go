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

	mu     sync.Mutex
	models map[string]func() error // by name; each makes its database at its first call
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
	return pg.DSN(s.create(tb, pg, pg.CreateDatabase))
}

// Copy makes a database for one test as Database does. It is a copy of the database that fill makes when the first test asks
// for the model of this name: the files are copied, which costs a tenth of a schema made again. Fill must leave no session. If it
// fails, every test that asks for the model does.
func (s *SharedPostgres) Copy(tb testing.TB, model string, fill func(dsn string) error) string {
	tb.Helper()
	pg := s.Server(tb)
	name := "model_" + model
	Need(tb, s.model(name, func() error {
		if err := pg.CreateDatabase(context.Background(), name); err != nil {
			return err
		}
		return fill(pg.DSN(name))
	}))
	return pg.DSN(s.create(tb, pg, func(ctx context.Context, copied string) error { return pg.CopyDatabase(ctx, copied, name) }))
}

// model makes a model, unless somebody has.
func (s *SharedPostgres) model(name string, fill func() error) error {
	s.mu.Lock()
	if s.models == nil {
		s.models = map[string]func() error{}
	}
	if s.models[name] == nil {
		s.models[name] = sync.OnceValue(fill)
	}
	made := s.models[name]
	s.mu.Unlock()
	return made()
}

func (s *SharedPostgres) create(tb testing.TB, pg *testserver.Postgres, fill func(ctx context.Context, name string) error) string {
	tb.Helper()
	name := fmt.Sprintf("test_%d", s.count.Add(1))
	if err := fill(context.Background(), name); err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := pg.DropDatabase(context.Background(), name); err != nil {
			tb.Errorf("database %s was not dropped: %v", name, err)
		}
	})
	return name
}
