package main

import (
	"strings"
	"testing"

	"github.com/postbag/postbag/proof/internal/flags/flagstest"
)

func TestBadArgumentsSayWhatToWrite(t *testing.T) {
	t.Parallel()
	flagstest.Try(t, parse, "-parallel", flagstest.Wrong{
		"-only nobody":             `no mutant "nobody"`,
		"-only seq-is-the-cursor,": `no mutant ""`,
		"-seeds 0":                 "0 seeds",
		"-seeds many":              `"many"`,
		"-parallel 0":              "0 at a time",
		"all":                      `"all" is no flag`,
	})
}

func TestOnlyTheMutantsThatWereNamedAreTried(t *testing.T) {
	t.Parallel()
	one, err := parse(t.Context(), []string{"-write", "-only", "seq-is-the-cursor,never-taken-over"}, &strings.Builder{})
	if err != nil || len(one.chosen) != 2 || !one.write || one.bank.Top == "" {
		t.Errorf("%+v, %v", one, err)
	}
}
