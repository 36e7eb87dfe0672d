package simulation

import (
	"bytes"
	"strings"
	"testing"
)

func TestAFailingRunIsShrunkToAnEighthOrLess(t *testing.T) {
	t.Parallel()
	// A promise that Postbag does not make: nothing is ever sent twice.
	never := func(w *world) {
		if n := len(w.broker.stored) - w.broker.firsts; n > 0 {
			w.failf("never twice", "%d messages were", n)
		}
	}
	sim := Simulator{also: never}
	o := DefaultOptions(45)
	o.Faults = Topics - 1
	long, err := sim.Run(o)
	for ; err == nil && long.Violation == nil; long, err = sim.Run(o) {
		o.Seed++
	}
	if err != nil {
		t.Fatal(err)
	}
	short, err := shrink(o, never)
	if err != nil {
		t.Fatal(err)
	}
	if v := short.Result.Violation; v == nil || v.Promise != "never twice" {
		t.Fatalf("it ends with %v", v)
	}
	lines := strings.Count(string(short.Trace), "\n")
	if 8*short.Result.Steps > long.Steps || lines > short.Result.Steps || !bytes.Contains(short.Trace, []byte("for the time 2")) {
		t.Errorf("%d of %d steps and %d lines are left after %d tries:\n%s", short.Result.Steps, long.Steps, lines, short.Tries, short.Trace)
	}
	again, err := sim.Run(short.Options)
	if err != nil || again.Hash != short.Result.Hash {
		t.Errorf("played again it is another run: %x and %x, %v", again.Hash, short.Result.Hash, err)
	}
}
