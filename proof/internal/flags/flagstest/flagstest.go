package flagstest

import (
	"context"
	"errors"
	"flag"
	"io"
	"strings"
	"testing"
)

// Parse is how a command reads its arguments, for [flags.Run]. Help goes to out.
type Parse[C any] func(ctx context.Context, args []string, out io.Writer) (C, error)

// Wrong are calls that must be refused: the arguments, with a space between two, and what the error must say.
type Wrong map[string]string

// Try fails the test unless the command refuses every wrong call with its words, and prints its help, with the flag known in it, where
// that is asked for and nowhere else.
func Try[C any](t *testing.T, parse Parse[C], known string, wrong Wrong) {
	t.Helper()
	for args, want := range wrong {
		var help strings.Builder
		if _, err := parse(t.Context(), strings.Fields(args), &help); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: the error is %v, without %q", args, err, want)
		}
		if help.Len() > 0 {
			t.Errorf("%s: printed unasked: %s", args, &help)
		}
	}
	var help strings.Builder
	if _, err := parse(t.Context(), []string{"-h"}, &help); !errors.Is(err, flag.ErrHelp) || !strings.Contains(help.String(), known) {
		t.Errorf("asked for help: %v, %s", err, &help)
	}
}
