package brokertest

import (
	"strings"
	"testing"
)

// testCase is one promise of the contract, named as a sentence.
type testCase struct {
	name string
	// needs is the part of the harness without which it cannot run.
	needs Part
	run   func(*scene)
}

// Run tests the harness's destination against the contract, with one subtest per case. It
// runs the cases of transactions if Features declares transactions. It skips a case that
// needs a part that the harness lacks, with the harness's reason.
func Run(t *testing.T, h Harness) {
	t.Helper()
	if faults := h.validate(); len(faults) > 0 {
		t.Fatalf("brokertest: the harness cannot be used: %s", strings.Join(faults, "; "))
	}
	if h.On != "" {
		t.Attr("conformance", "broker suite: "+h.On)
	}
	t.Run("Publish", func(t *testing.T) { run(t, h) })
	if h.Features.Transactions {
		t.Run("Transactions", func(t *testing.T) { runTransactions(t, h) })
	}
}

// RunTransactions runs only the cases of transactions. Use it if another test runs the
// destination without transactions through the other cases. It ignores Features.
func RunTransactions(t *testing.T, h Harness) {
	t.Helper()
	if faults := h.validate(); len(faults) > 0 {
		t.Fatalf("brokertest: the harness cannot be used: %s", strings.Join(faults, "; "))
	}
	if h.On != "" {
		t.Attr("conformance", "broker suite: "+h.On)
	}
	runTransactions(t, h)
}

func run(t *testing.T, h Harness) {
	t.Helper()
	// First and alone: it counts the process's goroutines.
	t.Run("leaves no goroutine behind after Close", func(t *testing.T) { leavesNoGoroutine(t, h) })
	for _, c := range cases() {
		t.Run(c.name, func(t *testing.T) {
			if !h.has(c.needs) {
				t.Skipf("the harness lacks %s: %s", c.needs, h.Lacks[c.needs])
			}
			if !h.Serial {
				t.Parallel()
			}
			c.run(newScene(t, h))
		})
	}
}

func cases() []testCase {
	var all []testCase
	for _, group := range [][]testCase{
		payloadCases(), headerCases(), factCases(), subscriptionCases(), wireCases(),
		resultCases(), rejectCases(), limitCases(), orderCases(),
		contextCases(), outageCases(), muteCases(), misconfiguredCases(), scopeCases(),
		closeCases(), concurrencyCases(), featureCases(), probeCases(), custodyCases(),
	} {
		all = append(all, group...)
	}
	return all
}
