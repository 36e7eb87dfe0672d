package sourcetest

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

// Run tests the harness's sources against the contract, with one subtest per case. It skips
// a case that needs a part that the harness lacks, with the harness's reason, and one of
// what the sources do not declare.
func Run(t *testing.T, h Harness) {
	t.Helper()
	if faults := h.validate(); len(faults) > 0 {
		t.Fatalf("sourcetest: the harness cannot be used: %s", strings.Join(faults, "; "))
	}
	if h.On != "" {
		t.Attr("conformance", "source suite: "+h.On)
	}
	// First and alone: it counts the process's goroutines.
	t.Run("leaves no goroutine behind after Close", func(t *testing.T) { leavesNoGoroutine(t, h) })
	for _, c := range cases() {
		t.Run(c.name, func(t *testing.T) {
			if c.needs != "" && !h.has(c.needs) {
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
		contentCases(), fetchCases(), limitCases(), ackCases(), againCases(), orderCases(), releaseCases(),
		lossCases(), waitCases(), groupCases(), outageCases(), closeCases(), featureCases(), abilityCases(),
	} {
		all = append(all, group...)
	}
	return all
}
