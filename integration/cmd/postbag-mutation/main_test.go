package main

import (
	"errors"
	"flag"
	"strings"
	"testing"
)

func TestACallThatIsWrongIsToldWhatToWrite(t *testing.T) {
	t.Parallel()
	for _, one := range []struct {
		args []string
		want string
	}{
		{[]string{"-only", "nowhere"}, `no package has "nowhere" in its path; there are internal/engine`},
		{[]string{"-every", "0"}, "one change in 0"},
		{[]string{"-parallel", "-2"}, "-2 at a time"},
		{[]string{"-patience", "0s"}, "patience of 0s"},
		{[]string{"-least", "900"}, "900 percent"},
		{[]string{"-least", "NaN"}, "NaN percent"},
		{[]string{"engine"}, `"engine" is no flag`},
	} {
		if _, err := parse(t.Context(), one.args, &strings.Builder{}); err == nil || !strings.Contains(err.Error(), one.want) {
			t.Errorf("%v: %v", one.args, err)
		}
	}
	var help strings.Builder
	if _, err := parse(t.Context(), []string{"-h"}, &help); !errors.Is(err, flag.ErrHelp) || !strings.Contains(help.String(), "-patience") {
		t.Errorf("asked for help: %v, %s", err, &help)
	}
}

func TestOnlyThePackagesThatWereNamedAreChanged(t *testing.T) {
	t.Parallel()
	c, err := parse(t.Context(), []string{"-only", "snapshots"}, &strings.Builder{})
	if err != nil || len(c.targets) != 1 || c.bench.Top == "" {
		t.Errorf("%+v, %v", c, err)
	}
}
