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
	code := run([]string{"-mode", "brave", "-relays", "9", "-faults", "gremlins", "-trace", "-workers", "0"}, io.Discard, &errs)
	if code != exitUsage {
		t.Errorf("exit code %d", code)
	}
	for _, part := range []string{"brave", "9 relays", "gremlins", "-seed", "0 workers"} {
		if !strings.Contains(errs.String(), part) {
			t.Errorf("%q is not said: %s", part, &errs)
		}
	}
}
