package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The demo is the program itself with real processes that are really killed; this
// test's own program is the relay, see TestMain.
func TestDemoKeepsItsPromisesAndLeavesNothingBehind(t *testing.T) {
	if testing.Short() {
		t.Skip("skipped: it takes ten seconds; run without -short")
	}
	t.Setenv("TMPDIR", t.TempDir())
	o := cli(t, "demo", "--orders", "1500").ok()
	o.says("killed the relay (SIGKILL, process ", "the broker is back", "committed      1500", "delivered      1500",
		"lost           0", "phantoms       0", "out of order   0", "relay killed   2")
	if strings.Contains(o.out, "\x1b") {
		t.Error("it draws where there is no terminal")
	}
	left, err := filepath.Glob(filepath.Join(os.Getenv("TMPDIR"), "*"))
	if err != nil || len(left) > 0 {
		t.Errorf("it left %v behind (%v)", left, err)
	}
}
