package testserver_test

import (
	"net"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/postbag/postbag/internal/testserver"
	"github.com/postbag/postbag/internal/testserver/servertest"
)

func TestMySQLAndMariaDBStartAgainOnTheirPortAndData(t *testing.T) {
	t.Parallel()
	slow(t)
	for name, oracle := range map[string]bool{"MariaDB": false, "MySQL": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := servertest.MySQL(t, testserver.MySQLOptions{Oracle: oracle, NoSync: true})
			if !strings.Contains(m.Version(), "Ver ") || !strings.Contains(m.DSN("x"), ")/x") || m.Password() == "" {
				t.Errorf("version %q", m.Version())
			}
			port := m.Port()
			for _, end := range []func() error{
				func() error { return m.Kill(t.Context()) },
				func() error { return m.Restart(t.Context()) },
				func() error { return m.Stop(t.Context()) },
			} {
				if greets(port) != m.Running() {
					t.Error("what it says of itself is not what it does")
				}
				if err := end(); err != nil {
					t.Fatal(err)
				}
				if !m.Running() {
					if err := m.Start(t.Context()); err != nil {
						t.Fatal(err)
					}
				}
				if !greets(port) {
					t.Fatalf("after a start nobody greets on port %d", port)
				}
			}
			if err := m.Pause(); err != nil {
				t.Fatal(err)
			}
			if greets(port) {
				t.Error("a frozen server greets")
			}
			if err := m.Resume(); err != nil || !greets(port) {
				t.Errorf("after the pause nobody greets: %v", err)
			}
		})
	}
}

// greets says whether a server sends its greeting within two seconds.
func greets(port int) bool {
	conn, err := net.DialTimeout("tcp", "127.0.0.1:"+strconv.Itoa(port), 2*time.Second)
	if err != nil {
		return false
	}
	defer func() { _ = conn.Close() }()
	_ = conn.SetDeadline(time.Now().Add(2 * time.Second))
	var b [16]byte
	n, err := conn.Read(b[:])
	return err == nil && n > 4 && b[4] == 10
}

func TestAMissingMySQLSaysWhatToDo(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	t.Setenv("POSTBAG_MYSQLD", os.DevNull+"/none")
	_, err := testserver.StartMySQL(t.Context(), testserver.MySQLOptions{Oracle: true})
	if err == nil || !strings.Contains(err.Error(), "scripts/setup") {
		t.Errorf("without a server: %v", err)
	}
}
