package flags_test

import (
	"errors"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/postbag/postbag/proof/internal/flags"
)

func TestBadFlagsAreNamedWithTheFix(t *testing.T) {
	t.Parallel()
	for _, one := range []struct {
		args []string
		want []string
	}{
		{[]string{"-seed", "abc"}, []string{"try: ", `"abc"`, "-seed and a whole number, not below zero (the first)"}},
		{[]string{"-seed", "-1"}, []string{`"-1"`, "not below zero"}},
		{[]string{"-for", "soon"}, []string{`"soon"`, "-for and a time like 90s or 10m"}},
		{[]string{"-no-such"}, []string{"-no-such", "see try -h"}},
		{[]string{"-seed"}, []string{"-seed", "see try -h"}},
		{[]string{"-seed", "1", "more"}, []string{`"more" is no flag`}},
	} {
		var help strings.Builder
		err := flags.Parse(commandLine(), one.args, &help)
		if err == nil {
			t.Errorf("%v: no error", one.args)
			continue
		}
		for _, want := range one.want {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("%v: %q lacks %q", one.args, err, want)
			}
		}
		if help.Len() > 0 {
			t.Errorf("%v: printed unasked: %s", one.args, &help)
		}
	}
}

func TestHelpIsPrintedWhenItIsAskedFor(t *testing.T) {
	t.Parallel()
	var help strings.Builder
	if err := flags.Parse(commandLine(), []string{"-h"}, &help); !errors.Is(err, flag.ErrHelp) || !strings.Contains(help.String(), "the first") {
		t.Errorf("%v: %s", err, &help)
	}
}

func TestFilesMayFollowTheFlagsWhereTheyAreWanted(t *testing.T) {
	t.Parallel()
	f := commandLine()
	if err := flags.ParseFiles(f, []string{"-seed", "1", "a", "b"}, nil); err != nil || f.NArg() != 2 {
		t.Errorf("%v, %v", err, f.Args())
	}
}

func commandLine() *flag.FlagSet {
	f := flag.NewFlagSet("try", flag.ContinueOnError)
	f.Uint64("seed", 0, "the first")
	f.Duration("for", time.Minute, "how long")
	return f
}

func TestTheTopFolderIsFoundOnlyInACheckout(t *testing.T) {
	top, err := flags.Top(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(top, "Makefile")); err != nil {
		t.Error(err)
	}
	t.Chdir(t.TempDir())
	if _, err := flags.Top(t.Context()); err == nil || !strings.Contains(err.Error(), "call this within a checkout") {
		t.Error(err)
	}
}
