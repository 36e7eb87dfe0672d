package testserver

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestALogIsReadWholeHoweverMuchWasWrittenAfterALine(t *testing.T) {
	t.Parallel()
	log := filepath.Join(t.TempDir(), "log")
	text := "subscribed\n" + strings.Repeat("something else\n", 10_000)
	if err := os.WriteFile(log, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := fileText(log); got != text {
		t.Errorf("%d of %d bytes were read", len(got), len(text))
	}
	if tail := fileTail(log, 1<<20); strings.Contains(tail, "subscribed") || len(tail) > 64<<10 {
		t.Errorf("the tail has %d bytes and must have 64 KiB at most", len(tail))
	}
	if got := fileText(log + ".not-there"); got != "" {
		t.Errorf("a file that is not there has %q", got)
	}
}
