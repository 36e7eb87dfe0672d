package terminal

import (
	"bytes"
	"testing"
)

func TestColoursAreForTerminalsAlone(t *testing.T) {
	t.Parallel()
	if got := painted(Green, "+ box", true); got != "\x1b[32m+ box\x1b[0m" {
		t.Errorf("on a terminal it is %q", got)
	}
	for _, got := range []string{painted(Green, "+ box", false), (&Terminal{Out: new(bytes.Buffer)}).Paint(Red, "+ box")} {
		if got != "+ box" {
			t.Errorf("elsewhere it is %q", got)
		}
	}
	if got := painted(Red, "", true); got != "" {
		t.Errorf("of nothing it is %q", got)
	}
}
