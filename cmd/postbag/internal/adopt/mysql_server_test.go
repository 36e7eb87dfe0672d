package adopt_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/postbag/postbag/internal/testserver"
	"github.com/postbag/postbag/internal/testserver/servertest"
)

// kind is one of the two servers, shared by all tests.
type kind struct {
	name   string
	oracle bool

	once  sync.Once
	m     *testserver.MySQL
	err   error
	admin *sql.DB
	count atomic.Int64
}

var kinds = []*kind{{name: "MariaDB"}, {name: "MySQL", oracle: true}}

func TestMain(m *testing.M) {
	code := m.Run()
	for _, k := range kinds {
		if err := k.close(); err != nil {
			fmt.Fprintln(os.Stderr, "the shared", k.name, "was not closed:", err)
			code = max(code, 1)
		}
	}
	os.Exit(code)
}

func (k *kind) close() error {
	k.once.Do(func() {})
	if k.m == nil {
		return nil
	}
	return errors.Join(k.admin.Close(), k.m.Close())
}

// database makes an empty database, dropped with the test, and returns its name.
func (k *kind) database(t *testing.T) string {
	t.Helper()
	k.once.Do(func() {
		k.m, k.err = testserver.StartMySQL(context.Background(), testserver.MySQLOptions{Oracle: k.oracle, NoSync: true})
		if k.err == nil {
			k.admin, k.err = sql.Open("mysql", k.m.DSN(""))
		}
	})
	servertest.Need(t, k.err)
	name := fmt.Sprintf("test_%d", k.count.Add(1))
	if _, err := k.admin.ExecContext(t.Context(), "CREATE DATABASE "+name); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if t.Failed() {
			return // its sessions may hold locks that a drop would wait for
		}
		if _, err := k.admin.ExecContext(context.Background(), "DROP DATABASE "+name); err != nil {
			t.Errorf("database %s was not dropped: %v", name, err)
		}
	})
	return name
}
