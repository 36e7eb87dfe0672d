package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/postbag/postbag/cmd/postbag/internal/demo"
	"github.com/postbag/postbag/cmd/postbag/internal/exit"
)

// The demo is the program itself with real processes that are really killed; this
// test's own program is the relay, see TestMain.
func TestDemoKeepsItsPromisesAndLeavesNothingBehind(t *testing.T) {
	if testing.Short() {
		t.Skip("skipped: it takes ten seconds; run without -short")
	}
	dir := t.TempDir()
	if err := os.Chmod(filepath.Dir(dir), 0o755); err != nil { // PostgreSQL does not run as root
		t.Fatal(err)
	}
	t.Setenv("TMPDIR", dir)
	for _, store := range []string{"SQLite", "PostgreSQL"} {
		args := []string{"demo", "--orders", "1500"}
		if store == "PostgreSQL" {
			postgres.Server(t) // or a skip with a word
			args = append(args, "--postgres", "--json")
		}
		o := cli(t, args...).ok()
		o.says(store, "killed the relay (SIGKILL, process ", "the broker is back", "committed      1500", "delivered      1500",
			"lost           0", "phantoms       0", "out of order   0", "relay killed   2")
		if strings.Contains(o.out+o.err, "\x1b") {
			t.Errorf("%s: it draws where there is no terminal", store)
		}
		if store == "PostgreSQL" {
			var r demo.Report
			o.json(&r)
			if !r.Kept || r.Delivered != 1500 || r.Kills != 2 || !strings.HasPrefix(r.Store, store) {
				t.Errorf("the report is %+v", r)
			}
		}
		left, err := filepath.Glob(filepath.Join(os.Getenv("TMPDIR"), "postbag-demo-*"))
		if err != nil || len(left) > 0 {
			t.Errorf("%s: it left %v behind (%v)", store, left, err)
		}
	}
}

func TestDemoWithoutPostgreSQLSaysWhatToDo(t *testing.T) {
	t.Setenv("POSTBAG_PG_BINDIR", t.TempDir())
	cli(t, "demo", "--postgres").ends(exit.Failed, "this machine lacks PostgreSQL's program postgres", "apt-get install postgresql",
		"leave --postgres out")
}
