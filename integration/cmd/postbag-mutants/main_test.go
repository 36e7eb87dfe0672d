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
		{[]string{"-only", "nobody"}, `no mutant "nobody"`},
		{[]string{"-only", "seq-is-the-cursor,"}, `no mutant ""`},
		{[]string{"-seeds", "0"}, "0 seeds"},
		{[]string{"-seeds", "many"}, `"many"`},
		{[]string{"-parallel", "0"}, "0 at a time"},
		{[]string{"-write", "-only", "seq-is-the-cursor"}, "leave out -write or -only"},
		{[]string{"all"}, `"all" is no flag`},
	} {
		if _, err := parse(t.Context(), one.args, &strings.Builder{}); err == nil || !strings.Contains(err.Error(), one.want) {
			t.Errorf("%v: %v", one.args, err)
		}
	}
	var help strings.Builder
	if _, err := parse(t.Context(), []string{"-h"}, &help); !errors.Is(err, flag.ErrHelp) || !strings.Contains(help.String(), "-parallel") {
		t.Errorf("asked for help: %v, %s", err, &help)
	}
}

func TestOnlyTheMutantsThatWereNamedAreTried(t *testing.T) {
	t.Parallel()
	one, err := parse(t.Context(), []string{"-only", "seq-is-the-cursor,never-taken-over"}, &strings.Builder{})
	if err != nil || len(one.chosen) != 2 || one.bank.Top == "" {
		t.Errorf("%+v, %v", one, err)
	}
}
