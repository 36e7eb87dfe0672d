package sourcetest_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/postbag/postbag/source"
	"github.com/postbag/postbag/source/memsource"
	"github.com/postbag/postbag/source/sourcetest"
)

// wrongVariable tells a child process of this test which wrong source to hold to the
// contract.
const wrongVariable = "POSTBAG_SOURCETEST_WRONG"

// A suite that cannot fail proves nothing. Each source here is wrong in one way, and the
// case named beside it must fail. The suite runs in a child process, because its failures are
// not this test's.
func TestTheSuiteCatchesEveryWrongSource(t *testing.T) {
	t.Parallel()
	if name := os.Getenv(wrongVariable); name != "" {
		sourcetest.Run(t, wrongHarness(wrongs()[name]))
		return
	}
	for name, w := range wrongs() {
		for _, c := range w.caught {
			t.Run(name+"/"+c, func(t *testing.T) {
				t.Parallel()
				if output, passed := runCase(t, name, c); passed {
					t.Errorf("the case passes with a source that %s:\n%s", name, output)
				}
			})
		}
	}
}

func TestTheSuitePassesARightSourceOfTheSameParts(t *testing.T) {
	t.Parallel()
	sourcetest.Run(t, wrongHarness(wrong{}))
}

// runCase runs one case in a child process and says whether it passed.
func runCase(t *testing.T, name, testCase string) (output string, passed bool) {
	t.Helper()
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	escaped := strings.ReplaceAll(testCase, " ", "_")
	pattern := "^TestTheSuiteCatchesEveryWrongSource$/^" + regexp.QuoteMeta(escaped) + "$"
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	child := exec.CommandContext(ctx, program, "-test.run", pattern, "-test.v", "-test.timeout=50s")
	child.Env = append(os.Environ(), wrongVariable+"="+name)
	out, err := child.CombinedOutput()
	output = string(out)
	if !strings.Contains(output, escaped) {
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
		t.Run("empty", func(t *testing.T) { sourcetest.Run(t, sourcetest.Harness{}) })
		h := wrongHarness(wrong{})
		h.Lacks = map[sourcetest.Part]string{sourcetest.PartOutage: "reason", sourcetest.PartKill: "reason"}
		t.Run("excused", func(t *testing.T) { sourcetest.Run(t, h) })
		h.Outage, h.Open = nil, func(*testing.T) sourcetest.Fixture { return sourcetest.Fixture{} }
		t.Run("bare", func(t *testing.T) { sourcetest.Run(t, h) })
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
	for _, want := range []string{
		"Open is missing", "outage is missing", "outage is provided and excused", "without Join or Send", "a fixture has rebalance", "a fixture has undecodable",
	} {
		if !strings.Contains(string(out), want) {
			t.Errorf("the fault %q is not named:\n%s", want, out)
		}
	}
	if strings.Contains(string(out), "a fixture has kill, or else Lacks says why not; keep to one of them; a fixture without") {
		t.Errorf("a part with a reason is named as missing:\n%s", out)
	}
}

const noHarness = "no harness"

// wrongHarness is that of a source in memory, with each source made wrong by w.
func wrongHarness(w wrong) sourcetest.Harness {
	o := w.options
	if o.Partitions == 0 {
		o = memsource.Options{Order: source.OrderPartition, Partitions: 2}
	}
	const group = "g"
	fixture := func(b *memsource.Broker) sourcetest.Fixture {
		f := sourcetest.Fixture{
			Join: func(*testing.T) source.Source { return w.make(b.Join(group)) },
			Send: func(t *testing.T, msgs ...source.Message) {
				t.Helper()
				if err := b.Publish(msgs...); err != nil {
					t.Error(err)
				}
			},
			Kill: func(t *testing.T, s source.Source) {
				t.Helper()
				own, is := s.(*spoilt)
				if !is {
					t.Fatalf("a source is a %T", s)
				}
				own.Crash()
			},
			SendUndecodable: func(t *testing.T) {
				t.Helper()
				if err := b.Publish(source.Message{Err: fmt.Errorf("%w: unknown compression", source.ErrUndecodable)}); err != nil {
					t.Error(err)
				}
			},
		}
		if o.Order != source.OrderNone {
			f.Rebalance = func(*testing.T) { b.Rebalance(group) }
		}
		return f
	}
	h := sourcetest.Harness{
		Open: func(*testing.T) sourcetest.Fixture { return fixture(memsource.New(o)) },
		Outage: func(*testing.T) (sourcetest.Fixture, sourcetest.Switch) {
			b := memsource.New(o)
			return fixture(b), sourcetest.Switch{Off: func() { b.SetDown(true) }, On: func() { b.SetDown(false) }}
		},
		Features: source.Features{
			Order: o.Order, Places: true, Counts: true, Cumulative: o.Cumulative, AckWait: o.AckWait, MaxUnacked: o.MaxUnacked,
		},
		Nulls: true, Secrets: []string{"hunter2"},
		Patience: 2 * time.Second, Quiet: 50 * time.Millisecond, AckDelay: 10 * time.Millisecond,
	}
	if o.Order == source.OrderNone {
		h.Lacks = map[sourcetest.Part]string{sourcetest.PartRebalance: "a queue has no assignments"}
	}
	return h
}
