package main

import (
	"bytes"
	"encoding/json"
	"io"
	"reflect"
	"strings"
	"testing"

	"github.com/postbag/postbag/proof/simulation"
)

func TestSeedsWithoutAViolationExitWithZero(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	if code := run([]string{"-seeds", "20", "-workers", "2", "-json"}, &out, io.Discard); code != exitHeld {
		t.Fatalf("exit code %d: %s", code, &out)
	}
	var r report
	if err := json.Unmarshal(out.Bytes(), &r); err != nil || !r.Held || r.Seeds != 20 {
		t.Errorf("%+v, %v of %s", r, err, &out)
	}
}

func TestASeedPlayedTwicePrintsTheSameTrace(t *testing.T) {
	t.Parallel()
	var one, two bytes.Buffer
	args := []string{"-seed", "1", "-trace", "-messages", "30"}
	if run(args, &one, io.Discard) != exitHeld || run(args, &two, io.Discard) != exitHeld {
		t.Fatalf("a promise is broken: %s", &one)
	}
	if !bytes.Equal(one.Bytes(), two.Bytes()) || !strings.Contains(one.String(), "the broker stores message") {
		t.Errorf("traces of %d and %d bytes", one.Len(), two.Len())
	}
}

func TestBadArgumentsExitWithTwoAndListEveryFault(t *testing.T) {
	t.Parallel()
	var errs bytes.Buffer
	code := run([]string{"-mode", "brave", "-relays", "9", "-faults", "gremlins", "-trace", "-workers", "0", "-seeds", "0"}, io.Discard, &errs)
	if code != exitUsage {
		t.Errorf("exit code %d", code)
	}
	for _, part := range []string{"brave", "9 relays", "gremlins", "-seed", "0 workers", "no seeds"} {
		if !strings.Contains(errs.String(), part) {
			t.Errorf("%q is not said: %s", part, &errs)
		}
	}
}

func TestTheArgumentsOfARunMakeTheSameRun(t *testing.T) {
	t.Parallel()
	o := simulation.DefaultOptions(7)
	o.Mode, o.Store, o.Relays, o.Messages, o.CountFirst, o.Handlers = simulation.Safety, simulation.Ranges, 2, 30, true, true
	c, err := parse(strings.Fields(o.Arguments()), io.Discard)
	if err != nil || !reflect.DeepEqual(c.options, o) {
		t.Errorf("%s gave %+v, %v", o.Arguments(), c, err)
	}
}

func TestUnparsableArgumentsExitWithTwoAndNameTheFault(t *testing.T) {
	t.Parallel()
	for _, one := range []struct {
		args []string
		want string
	}{
		{[]string{"-seed", "abc"}, `"abc"`},
		{[]string{"-seed", "3", "-from", "5"}, "-from"},
		{[]string{"-seeds", "3", "-from", "18446744073709551615"}, "begin lower"},
		{[]string{"4711"}, `"4711" is no flag`},
	} {
		var out, errs bytes.Buffer
		if code := run(one.args, &out, &errs); code != exitUsage || !strings.Contains(errs.String(), one.want) || out.Len() > 0 {
			t.Errorf("%v: %d, %s%s", one.args, code, &errs, &out)
		}
	}
	var out, errs bytes.Buffer
	if code := run([]string{"-h"}, &out, &errs); code != exitHeld || !strings.Contains(out.String(), "-stop-at-first") || errs.Len() > 0 {
		t.Errorf("asked for help: %d, %s%s", code, &errs, &out)
	}
}

func TestAFailingSeedIsReportedWithItsDrawsAndTheReplayCommand(t *testing.T) {
	t.Parallel()
	o := simulation.DefaultOptions(7)
	o.Relays = 2
	var s simulation.Simulator
	r, err := s.Run(o)
	if err != nil {
		t.Fatal(err)
	}
	r.Violation = &simulation.Violation{Promise: "P1", What: "a message is lost"}
	f := &finding{options: o, result: r, shrunk: simulation.Shrunk{Trace: []byte("what happens\n"), Result: simulation.Result{Drawn: "little"}}}
	var out bytes.Buffer
	c := &command{out: &out}
	c.say(f)
	for _, want := range []string{
		"what happens\ncut down to: little\n", "P1 is broken at 0s: a message is lost", "2 relays", "retry batch", "linger", "faults ",
		"replay: go run ./cmd/postbag-sim -seed 7 -relays 2 -trace", r.Drawn,
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q is not told:\n%s", want, &out)
		}
	}
	out.Reset()
	c.print(f.report())
	var told report
	if err := json.Unmarshal(out.Bytes(), &told); err != nil || told.Drawn != r.Drawn || told.Trace != "what happens\n" || told.CutDown != "little" {
		t.Errorf("%+v, %v", told, err)
	}
}
