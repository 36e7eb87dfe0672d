package mysqlstore_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/go-sql-driver/mysql"
	"go.uber.org/goleak"

	"github.com/postbag/postbag/internal/testserver"
	"github.com/postbag/postbag/internal/testserver/servertest"
)

// settings fit many databases with many sessions on one small server.
var settings = map[string]string{"max-connections": "1000", "innodb-buffer-pool-size": "256M", "table-open-cache": "2000"}

// kind is one of the two servers, shared by all tests that do it no harm.
type kind struct {
	name   string
	oracle bool

	once  sync.Once
	m     *testserver.MySQL
	err   error
	admin *sql.DB
	count atomic.Int64
	pool  databasePool
}

var (
	mariadb = &kind{name: "MariaDB"}
	oracle  = &kind{name: "MySQL", oracle: true}
)

// withServers runs the tests and then closes the shared servers.
type withServers struct{ *testing.M }

func (m withServers) Run() int {
	code := m.M.Run()
	for _, k := range []*kind{mariadb, oracle} {
		if err := k.close(); err != nil {
			fmt.Fprintln(os.Stderr, "the shared", k.name, "was not closed:", err)
			code = max(code, 1)
		}
	}
	return code
}

func TestMain(m *testing.M) {
	if order := os.Getenv(printingEnv); order != "" {
		if err := losing(order); err != nil {
			_, _ = fmt.Fprintln(os.Stdout, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	if err := mysql.SetLogger(&mysql.NopLogger{}); err != nil { // the tests' own pools print, and servers are killed all the time
		fmt.Fprintln(os.Stderr, err)
	}
	goleak.VerifyTestMain(withServers{m})
}

func (k *kind) close() error {
	k.once.Do(func() {})
	if k.m == nil {
		return nil
	}
	var err error
	if k.admin != nil {
		err = k.admin.Close()
	}
	return errors.Join(err, k.m.Close())
}

// onBoth runs a test on each server.
func onBoth(t *testing.T, test func(*testing.T, *kind)) {
	t.Helper()
	for _, k := range []*kind{mariadb, oracle} {
		t.Run(k.name, func(t *testing.T) {
			t.Parallel()
			test(t, k)
		})
	}
}

// server starts the shared server if it does not run.
func (k *kind) server(tb testing.TB) *testserver.MySQL {
	tb.Helper()
	k.once.Do(func() {
		k.m, k.err = testserver.StartMySQL(context.Background(), testserver.MySQLOptions{Oracle: k.oracle, NoSync: true, Settings: settings})
		if k.err == nil {
			k.admin, k.err = sql.Open("mysql", k.m.DSN(""))
		}
	})
	servertest.Need(tb, k.err)
	return k.m
}

// private starts a server that one test may harm.
func (k *kind) private(tb testing.TB, more ...string) *testserver.MySQL {
	tb.Helper()
	o := testserver.MySQLOptions{Oracle: k.oracle, NoSync: true, Settings: map[string]string{"max-connections": "1000"}}
	for _, s := range more {
		name, value, _ := strings.Cut(s, "=")
		o.Settings[name] = value
	}
	return servertest.MySQL(tb, o)
}

// database makes an empty database on the shared server, dropped with the test,
// and returns its DSN.
func (k *kind) database(tb testing.TB) string {
	tb.Helper()
	m := k.server(tb)
	name := fmt.Sprintf("test_%d", k.count.Add(1))
	makeDatabase(tb, k.admin, name)
	tb.Cleanup(func() {
		if tb.Failed() {
			return // its sessions may hold locks that a drop would wait for
		}
		k.drop(tb, name)
	})
	return m.DSN(name)
}

func (k *kind) drop(tb testing.TB, name string) {
	tb.Helper()
	if _, err := k.admin.ExecContext(context.Background(), "DROP DATABASE "+name); err != nil {
		tb.Errorf("database %s was not dropped: %v", name, err)
	}
}

func makeDatabase(tb testing.TB, admin *sql.DB, name string) {
	tb.Helper()
	if _, err := admin.ExecContext(tb.Context(), "CREATE DATABASE "+name); err != nil {
		tb.Fatal(err)
	}
}

// databaseOn makes a database on a server of the test's own.
func databaseOn(tb testing.TB, m *testserver.MySQL, name string) string {
	tb.Helper()
	admin := openSQL(tb, m.DSN(""))
	makeDatabase(tb, admin, name)
	return m.DSN(name)
}
