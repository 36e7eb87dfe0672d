package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/postbag/postbag/cmd/postbag/internal/demo"
	"github.com/postbag/postbag/cmd/postbag/internal/exit"
)

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
// program is the relay, see TestMain.
func play(t *testing.T, args ...string) *outcome {
	t.Helper()
	if testing.Short() {
		t.Skip("skipped: it takes ten seconds; run without -short")
	}
	o := cli(t, append([]string{"demo", "--orders", "1500"}, args...)...).ok()
	o.says("killed the relay (SIGKILL, process ", "the broker is back", "committed     1500", "delivered     1500",
		"lost          0", "phantoms      0", "out of order  0", "relay killed  2")
	o.says("the relay was killed; after that it took", "the broker was away for 2 s; after that it took")
	if strings.Contains(o.out+o.err, "\x1b") {
		t.Error("it draws where there is no terminal")
	}
	left, err := filepath.Glob(filepath.Join(os.TempDir(), "*"))
	if err != nil || len(left) > 0 {
		t.Errorf("it left %v behind (%v)", left, err)
	}
	return o
}

func TestDemoKeepsItsPromisesAndLeavesNothingBehind(t *testing.T) {
	t.Setenv("TMPDIR", openFolder(t))
	play(t).says("SQLite, with a table of orders")
}

func TestDemoDoesTheSameOnPostgreSQL(t *testing.T) {
	postgres.Server(t) // or a skip with a word; before the demo has a folder of its own
	t.Setenv("TMPDIR", openFolder(t))
	o := play(t, "--postgres", "--json")
	var r demo.Report
	o.says("PostgreSQL ", "a private server").json(&r)
	if !r.Kept || r.Delivered != 1500 || r.Kills != 2 || !strings.HasPrefix(r.Store, "PostgreSQL ") {
		t.Errorf("the report is %+v", r)
	}
}

func TestDemoWithoutPostgreSQLSaysWhatToDo(t *testing.T) {
	t.Setenv("POSTBAG_PG_BINDIR", t.TempDir())
	cli(t, "demo", "--postgres").ends(exit.Failed, "this machine lacks PostgreSQL's program postgres", "apt-get install postgresql",
		"leave --postgres out")
}
