package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"reflect"
	"strings"
	"syscall"
	"testing"
	"time"

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

// signalling passes on what is written, and sends this process a signal at the first write.
type signalling struct {
	bytes.Buffer

	t  *testing.T
	by syscall.Signal
}

func (s *signalling) Write(p []byte) (int, error) {
	if s.Len() == 0 {
		if err := syscall.Kill(syscall.Getpid(), s.by); err != nil {
			s.t.Error(err)
		}
	}
	return s.Buffer.Write(p)
}

// Not beside others: the signal ends all that play.
func TestASeriesThatASignalEndsSaysHowFarItCameAndEndsWithThree(t *testing.T) { //nolint:paralleltest // see above
	for _, by := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM} {
		var out bytes.Buffer
		errs := &signalling{t: t, by: by}
		c, err := parse([]string{"-from", "100", "-seeds", "1000000000", "-workers", "2", "-json", "-faults", "none"}, io.Discard)
		if err != nil {
			t.Fatal(err)
		}
		c.out, c.errs, c.every = &out, errs, 20*time.Millisecond
		if code := c.playAll(); code != exitIncomplete {
			t.Errorf("%v: exit code %d: %s", by, code, &out)
		}
		var r report
		if err := json.Unmarshal(out.Bytes(), &r); err != nil || !r.Ended || !r.Held || r.Seeds == 0 || r.Rate <= 0 {
			t.Errorf("%v: %+v, %v of %s", by, r, err, &out)
		}
		said := errs.String()
		for _, want := range []string{
			" of 1000000000 seeds played, 0 broken, ", " seeds/s\n",
			fmt.Sprintf("ended early: %d of 1000000000 seeds played", r.Seeds),
			fmt.Sprintf("go on with -from %d -seeds %d\n", 100+r.Seeds, 1000000000-r.Seeds),
		} {
			if !strings.Contains(said, want) {
				t.Errorf("%v: %q is not said: %s", by, want, said)
			}
		}
	}
}

func TestASeriesThatASignalEndsAfterABrokenSeedEndsWithOne(t *testing.T) {
	t.Parallel()
	var out, errs bytes.Buffer
	c := &command{seeds: 10, out: &out, errs: &errs, json: true}
	s := &series{c: c, began: time.Now()}
	s.played.Store(4)
	s.found(&finding{options: simulation.DefaultOptions(2), result: simulation.Result{Violation: &simulation.Violation{Promise: "P1"}}})
	if code := c.sum(s, true); code != exitViolated || !strings.Contains(errs.String(), "4 of 10 seeds played, 1 broken") {
		t.Errorf("exit code %d: %s%s", code, &out, &errs)
	}
	s.played.Store(10)
	s.first, s.broken = nil, 0
	errs.Reset()
	if code := c.sum(s, true); code != exitHeld || errs.Len() > 0 {
		t.Errorf("a signal after the last seed: exit code %d, %s", code, &errs)
	}
}
