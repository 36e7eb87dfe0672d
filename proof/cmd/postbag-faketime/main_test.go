package main

import (
	"bytes"
	"context"
	"io"
	"strings"
	"testing"

	"github.com/postbag/postbag/proof/faketime"
	"github.com/postbag/postbag/proof/internal/flags/flagstest"
)

func TestSeedsThatHoldEndWithZero(t *testing.T) {
	t.Parallel()
	c, err := parse([]string{"-seeds", "2", "-times", "2", "-workers", "2"}, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	c.out = &out
	if code := c.play(t); code != exitHeld || !strings.Contains(out.String(), "8 runs, 0 broken") {
		t.Errorf("exit code %d: %s", code, &out)
	}
}

func TestARunThatBreaksAPromiseIsToldWithWhatItDrewAndTheCommandThatPlaysItAgain(t *testing.T) {
	t.Parallel()
	c, err := parse([]string{"-seed", "7", "-kind", "restarts", "-stop-at-first"}, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	c.out = &out
	s := &series{c: c}
	o, more := s.take()
	if !more || o != (faketime.Options{Seed: 7, Kind: faketime.Restarts}) {
		t.Fatalf("it plays %+v", o)
	}
	s.took(o, faketime.Result{Failures: []string{"a message is lost"}, Drawn: "two lines"})
	for _, want := range []string{"seed 7, restarts: a message is lost", "two lines", "-seed 7 -kind restarts"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q is not told:\n%s", want, &out)
		}
	}
	if _, more := s.take(); more {
		t.Error("it goes on behind the first that breaks a promise")
	}
}

func TestACallThatIsWrongIsToldAllThatIsWrong(t *testing.T) {
	t.Parallel()
	flagstest.Try(t, func(_ context.Context, args []string, out io.Writer) (*command, error) { return parse(args, out) }, "-times", flagstest.Wrong{
		"-seed abc":                           `"abc"`,
		"-seed 3 -from 5":                     "-from",
		"-kind brave":                         "faults or restarts",
		"-workers 0":                          "0 workers",
		"-seeds 0":                            "no runs",
		"-seeds 3 -from 18446744073709551615": "begin lower",
		"4711":                                `"4711" is no flag`,
	})
}
