package main

import (
	"strings"
	"testing"

	"github.com/postbag/postbag/proof/internal/flags/flagstest"
)

func TestBadArgumentsSayWhatToWrite(t *testing.T) {
	t.Parallel()
	flagstest.Try(t, parse, "-patience", flagstest.Wrong{
		"-only nowhere": `no package has "nowhere" in its path; there are internal/engine`,
		"-every 0":      "one change in 0",
		"-parallel -2":  "-2 at a time",
		"-patience 0s":  "patience of 0s",
		"-least 900":    "900 percent",
		"-least NaN":    "NaN percent",
		"engine":        `"engine" is no flag`,
	})
}

func TestOnlyThePackagesThatWereNamedAreChanged(t *testing.T) {
	t.Parallel()
	c, err := parse(t.Context(), []string{"-only", "snapshots"}, &strings.Builder{})
	if err != nil || len(c.targets) != 1 || c.bench.Top == "" {
		t.Errorf("%+v, %v", c, err)
	}
}
