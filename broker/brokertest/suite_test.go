package brokertest_test

import (
	"context"
	"maps"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/postbag/postbag/broker"
	"github.com/postbag/postbag/broker/brokertest"
	"github.com/postbag/postbag/broker/membroker"
)

// wrongVariable tells a child process of this test which wrong destination to
// hold to the contract.
const wrongVariable = "POSTBAG_BROKERTEST_WRONG"

// A suite that cannot fail proves nothing. Each destination here is wrong in one
// way, and the case named beside it must fail. The suite runs in a child process,
// because its failures are not this test's.
func TestTheSuiteCatchesEveryWrongDestination(t *testing.T) {
	t.Parallel()
	if name := os.Getenv(wrongVariable); name != "" {
		brokertest.Run(t, wrongHarness(allWrongs()[name]))
		return
	}
	for name, w := range allWrongs() {
		for _, c := range w.caught {
			t.Run(name+"/"+c, func(t *testing.T) {
				t.Parallel()
				if output, passed := runCase(t, name, w.by(), c); passed {
					t.Errorf("the case passes with a destination that %s:\n%s", name, output)
				}
			})
		}
	}
}

func TestTheSuitePassesARightDestinationOfTheSameParts(t *testing.T) {
	t.Parallel()
	brokertest.Run(t, wrongHarness(wrong{}))
}

// A message that was refused is not there, and is not lost: its refusal is what is wrong.
func TestTheSuiteReportsOnlyAcceptedMessagesAsLost(t *testing.T) {
	t.Parallel()
	output, _ := runCase(t, misconfiguresOne, "Publish", trafficCase)
	if !strings.Contains(output, "a good message is misconfigured") || strings.Contains(output, "which was accepted") {
		t.Errorf("the suite says:\n%s", output)
	}
}

// runCase runs one case in a child process and says whether it passed.
func runCase(t *testing.T, name, by, testCase string) (output string, passed bool) {
	t.Helper()
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	pattern := "^TestTheSuiteCatchesEveryWrongDestination$/^" + by + "$/^" +
		regexp.QuoteMeta(strings.ReplaceAll(testCase, " ", "_")) + "$"
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	child := exec.CommandContext(ctx, program, "-test.run", pattern, "-test.v", "-test.timeout=50s")
	child.Env = append(os.Environ(), wrongVariable+"="+name)
	out, err := child.CombinedOutput()
	output = string(out)
	if !strings.Contains(output, "=== RUN") || !strings.Contains(output, strings.ReplaceAll(testCase, " ", "_")) {
		t.Fatalf("the case did not run (%v):\n%s", err, output)
	}
	if strings.Contains(output, "--- SKIP") {
		t.Fatalf("the case was skipped:\n%s", output)
	}
	return output, err == nil
}

func TestAHarnessThatLeavesPartsOutMustSayWhy(t *testing.T) {
	t.Parallel()
	if os.Getenv(wrongVariable) == noHarness {
		brokertest.Run(t, brokertest.Harness{Lacks: map[brokertest.Part]string{brokertest.PartMute: "reason"}})
		return
	}
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	child := exec.CommandContext(t.Context(), program, "-test.run", "^TestAHarnessThatLeavesPartsOutMustSayWhy$")
	child.Env = append(os.Environ(), wrongVariable+"="+noHarness)
	out, err := child.CombinedOutput()
	if err == nil {
		t.Fatalf("an empty harness was run:\n%s", out)
	}
	for _, want := range []string{"Open is missing", "outage is missing", "misconfigured is missing", "topics is missing", "reject is missing", "limit is missing"} {
		if !strings.Contains(string(out), want) {
			t.Errorf("the fault %q is not named:\n%s", want, out)
		}
	}
	if strings.Contains(string(out), "mute") {
		t.Errorf("a part with a reason is named as missing:\n%s", out)
	}
}

const noHarness = "no harness"

// wrongHarness is membroker's own, with each destination made wrong by w.
func wrongHarness(w wrong) brokertest.Harness {
	options := membroker.Options{Ordered: true, Fence: true, MaxBytes: 32 << 10, Transactions: true}
	open := func(o membroker.Options) (*membroker.Destination, brokertest.Fixture) {
		d := membroker.New(o)
		return d, brokertest.Fixture{
			Destination: w.make(d), Topic: "wrong",
			Stored: func(*testing.T) []brokertest.Received { return view(d) },
			Wired:  func(*testing.T) []brokertest.Wired { return wireView(d) },
		}
	}
	return brokertest.Harness{
		Open: func(*testing.T) brokertest.Fixture {
			_, f := open(options)
			return f
		},
		Outage: func(*testing.T) (brokertest.Fixture, brokertest.Switch) {
			d, f := open(options)
			return f, brokertest.Switch{Off: func() { d.SetDown(true) }, On: func() { d.SetDown(false) }}
		},
		Mute: func(*testing.T) (brokertest.Fixture, brokertest.Switch) {
			d, f := open(options)
			return f, brokertest.Switch{Off: func() { d.SetMute(true) }, On: func() { d.SetMute(false) }}
		},
		MisconfiguredScope: broker.ScopeTopic,
		Misconfigured: func(*testing.T) (brokertest.Fixture, brokertest.Switch) {
			o := options
			o.Topics = []string{"another"}
			d, f := open(o)
			return f, brokertest.Switch{On: func() { d.AddTopic("wrong") }}
		},
		Topics: func(*testing.T) (brokertest.Fixture, string, brokertest.Switch) {
			o := options
			o.Topics = []string{"wrong"}
			d, f := open(o)
			return f, "missing", brokertest.Switch{On: func() { d.AddTopic("missing") }}
		},
		TooLarge: options.MaxBytes + 1,
		Features: broker.Features{Ordered: true, Fences: "id", MaxBytes: options.MaxBytes, Transactions: true},
		Nulls:    true,
		Reserved: []string{"reserved"},
		Secrets:  []string{"hunter2"},
		Patience: 2 * time.Second,
	}
}

func view(d *membroker.Destination) []brokertest.Received {
	var held []brokertest.Received
	for _, r := range d.Taken() {
		if r.Topic == "missing" {
			continue
		}
		held = append(held, brokertest.Received{
			ID: r.ID, Topic: r.Topic, Key: r.Key, Type: r.Type, At: r.At, Headers: r.Headers, Payload: r.Payload,
		})
	}
	return held
}

func wireView(d *membroker.Destination) []brokertest.Wired {
	var held []brokertest.Wired
	for _, r := range d.Taken() {
		w := broker.Wire{Headers: map[string]string{broker.HeaderID: r.ID.String()}}
		maps.Copy(w.Headers, r.Headers)
		if r.Wire != nil {
			w = *r.Wire
		}
		held = append(held, brokertest.Wired{Headers: w.Headers, ContentType: w.ContentType, Payload: r.Payload, Null: w.Null})
	}
	return held
}
