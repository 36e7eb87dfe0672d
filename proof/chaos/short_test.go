package chaos_test

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"syscall"
	"testing"

	"github.com/postbag/postbag/internal/testserver/servertest"
	"github.com/postbag/postbag/proof/chaos"
	"github.com/postbag/postbag/proof/chaos/adapters"
)

// TestMain lets this program be the relays and producers of its own runs.
func TestMain(m *testing.M) {
	if chaos.IsRole() {
		os.Exit(chaos.Main(nil, os.Stdout, os.Stderr, stores(), brokers()))
	}
	code := m.Run()
	_ = os.RemoveAll(filepath.Dir(program.path)) // it lies in a folder for temporary files
	os.Exit(code)
}

func stores() []chaos.Store { return append(adapters.Stores(), careless{}) }

func brokers() []chaos.Broker { return append(adapters.Brokers(), forgetful, hasty) }

// program is the command with its points of failure, built once.
var program struct {
	once sync.Once
	path string
	err  error
}

func build(t *testing.T) string {
	t.Helper()
	program.once.Do(func() {
		dir, err := os.MkdirTemp("", "postbag-chaos-program-") //nolint:usetesting // several tests share it
		if program.err = err; err != nil {
			return
		}
		program.path = filepath.Join(dir, "postbag-chaos")
		args := []string{"build", "-tags", "postbag_failpoints", "-o", program.path, "../cmd/postbag-chaos"}
		if out, err := exec.CommandContext(context.Background(), "go", args...).CombinedOutput(); err != nil {
			program.err = fmt.Errorf("building the command: %w: %s", err, out)
		}
	})
	if program.err != nil {
		t.Fatal(program.err)
	}
	return program.path
}

// short runs a pair as make chaos-short does. Faults must come in so many rooms. more are further arguments.
func short(t *testing.T, pair string, least int, more ...string) {
	t.Helper()
	dir := t.TempDir()
	args := append([]string{
		"-pair", pair, "-for", "20s", "-rate", "600", "-dir", dir, "-seed", cmp.Or(os.Getenv("POSTBAG_CHAOS_SEED"), "1"),
	}, more...)
	cmd := exec.CommandContext(t.Context(), build(t), args...)
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	out, err := cmd.CombinedOutput()
	t.Logf("%s", out)
	if err != nil {
		t.Fatalf("%s: %v", pair, err)
	}
	text, err := os.ReadFile(filepath.Join(dir, "report.json"))
	if err != nil {
		t.Fatal(err)
	}
	var r struct {
		Load   chaos.Load      `json:"load"`
		Faults []chaos.Strikes `json:"faults"`
	}
	if err := json.Unmarshal(text, &r); err != nil {
		t.Fatal(err)
	}
	rooms := map[chaos.Room]int{}
	for _, f := range r.Faults {
		rooms[f.Room]++
	}
	if r.Load.Committed < 1000 || len(rooms) < least {
		t.Errorf("%d messages were committed and faults came in %v: that shows little", r.Load.Committed, rooms)
	}
	if _, err := os.Stat(filepath.Join(dir, "report.svg")); err != nil {
		t.Error(err)
	}
}

// long skips a run that takes minutes, unless the long form of the tests was asked for.
func long(t *testing.T) {
	t.Helper()
	if !servertest.Full() {
		t.Skip("POSTBAG_FULL is not set: of the runs with an inbox, that from NATS to SQLite alone is made")
	}
}

func TestPostgreSQLToNATSKeepsItsPromisesThroughFaults(t *testing.T) {
	t.Parallel()
	short(t, "postgresql-nats", 5)
}

func TestAnInboxFromKafkaToPostgreSQLKeepsItsPromisesThroughFaults(t *testing.T) {
	t.Parallel()
	long(t)
	short(t, "kafka-postgresql", 5)
}

func TestAnInboxFromRabbitMQToMariaDBKeepsItsPromisesThroughFaults(t *testing.T) {
	t.Parallel()
	long(t)
	short(t, "rabbitmq-mariadb", 4)
}

func TestAnInboxFromNATSToSQLiteKeepsItsPromisesThroughFaults(t *testing.T) {
	t.Parallel()
	short(t, "nats-sqlite", 4, "-for", "12s")
}

func TestAnOutboxAndAnInboxWithNATSBetweenThemKeepTheirPromisesThroughFaults(t *testing.T) {
	t.Parallel()
	long(t)
	short(t, "postgresql-nats-sqlite", 8, "-for", "32s") // in 20 s nothing would happen to the consumers
}

func TestSQLiteToWebhooksKeepsItsPromisesThroughFaults(t *testing.T) {
	t.Parallel()
	short(t, "sqlite-webhook", 5)
}
