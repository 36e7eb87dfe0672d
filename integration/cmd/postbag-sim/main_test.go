package main

import (
	"bytes"
	"encoding/json"
	"io"
	"strings"
	"testing"
)

func TestSeedsThatHoldEndWithZero(t *testing.T) {
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

func TestASeedPlayedTwiceSaysTheSame(t *testing.T) {
	t.Parallel()
	var one, two bytes.Buffer
	args := []string{"-seed", "7", "-trace", "-messages", "30"}
	if run(args, &one, io.Discard) != exitHeld || run(args, &two, io.Discard) != exitHeld {
		t.Fatalf("a promise is broken: %s", &one)
	}
	if !bytes.Equal(one.Bytes(), two.Bytes()) || !strings.Contains(one.String(), "the broker stores message") {
		t.Errorf("traces of %d and %d bytes", one.Len(), two.Len())
	}
}

func TestACallThatIsWrongEndsWithTwoAndSaysAllThatIsWrong(t *testing.T) {
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

func TestACallThatCannotBeReadEndsWithTwoAndNamesWhatIsWrong(t *testing.T) {
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
