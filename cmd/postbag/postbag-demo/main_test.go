package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/postbag/postbag/cmd/postbag/internal/demo"
	"github.com/postbag/postbag/cmd/postbag/internal/exit"
	"github.com/postbag/postbag/cmd/postbag/internal/terminal"
	"github.com/postbag/postbag/internal/testserver"
	"github.com/postbag/postbag/internal/testserver/servertest"
)

var postgres = servertest.SharedPostgres{Options: testserver.PostgresOptions{NoSync: true}}

// TestMain is also the relay and the billing service of the demo, which starts its own program
// again.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && processes[os.Args[1]] != nil {
		main()
		return
	}
	goleak.VerifyTestMain(withServer{m})
}

// withServer runs the tests and ends their server.
type withServer struct{ m *testing.M }

func (w withServer) Run() int { return postgres.Run(w.m) }

// openFolder is a folder that PostgreSQL, which does not run as root, can reach.
func openFolder(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.Chmod(filepath.Dir(dir), 0o755); err != nil {
		t.Fatal(err)
	}
	return dir
}

// play runs the demo and looks what it leaves in the folder TMPDIR. It is
// the program itself with real processes that are really killed; this test's own
// program is the relay and the billing service, see TestMain.
func play(t *testing.T, args ...string) (out, text string) {
	t.Helper()
	if testing.Short() {
		t.Skip("skipped: it takes ten seconds; run without -short")
	}
	var data, rest bytes.Buffer
	if code := run(t.Context(), append([]string{"--orders", "1500"}, args...), &terminal.Terminal{In: strings.NewReader(""), Out: &data, Err: &rest}); code != exit.OK {
		t.Fatalf("the demo ended with %d:\n%s%s", code, &data, &rest)
	}
	text = data.String() + rest.String()
	for _, words := range []string{
		"killed the relay (SIGKILL, process ", "the broker is back", "killed the billing service (SIGKILL, process ",
		"committed             1500", "delivered             1500", "lost                  0", "phantoms              0", "out of order          0",
		"relay killed          2", "applied               1500", "applied twice         0", "applied out of order  0", "wrong sums            0",
		"billing killed        2",
		"\npause ", // at least one: any of the three can be too short for the table, as what was late hides it
	} {
		if !strings.Contains(text, words) {
			t.Errorf("the demo does not say %q:\n%s", words, text)
		}
	}
	if strings.Contains(text, "\x1b") {
		t.Error("it draws where there is no terminal")
	}
	left, err := filepath.Glob(filepath.Join(os.TempDir(), "*"))
	if err != nil || len(left) > 0 {
		t.Errorf("it left %v behind (%v)", left, err)
	}
	return data.String(), text
}

func TestDemoKeepsItsPromisesAndLeavesNothingBehind(t *testing.T) {
	t.Setenv("TMPDIR", openFolder(t))
	if _, text := play(t); !strings.Contains(text, "SQLite, with a table of orders") {
		t.Errorf("the demo says\n%s", text)
	}
}

func TestDemoDoesTheSameOnPostgreSQL(t *testing.T) {
	postgres.Server(t) // or a skip with a word; before the demo has a folder of its own
	t.Setenv("TMPDIR", openFolder(t))
	out, text := play(t, "--postgres", "--json")
	var r demo.Report
	if err := json.Unmarshal([]byte(out), &r); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(text, "a private server") || !r.Kept || r.Delivered != 1500 || r.Kills != 2 || r.Applied != 1500 || r.BillingKills != 2 || !strings.HasPrefix(r.Store, "PostgreSQL ") {
		t.Errorf("the report is %+v", r)
	}
}

func TestBadArgumentsOfTheDemoAreRefused(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{{"--orders", "1"}, {"--order", "500"}, {"more"}} {
		var out, text bytes.Buffer
		if code := run(t.Context(), args, &terminal.Terminal{In: strings.NewReader(""), Out: &out, Err: &text}); code == exit.OK || !strings.HasPrefix(text.String(), "postbag: ") {
			t.Errorf("%v ended with %d: %s", args, code, &text)
		}
	}
}
