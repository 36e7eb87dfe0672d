package storetest

import (
	"slices"
	"testing"
	"time"
)

// Run runs every case that h's features ask for, as parallel subtests of t.
func Run[Tx any](t *testing.T, h Harness[Tx]) {
	t.Helper()
	if h.New == nil {
		t.Fatal("storetest: the harness has no New; give it a function that opens a database")
	}
	if h.On != "" {
		t.Attr("conformance", "store suite: "+h.On)
	}
	runAll(t, h, cases())
}

// RunInbox runs the cases of an inbox and of its lanes only, as parallel subtests of t. It is for an inbox
// over another kind of transaction than that of Run's harness. Of the Database, it needs
// Store, Inbox, Begin, Commit and Rollback, and what the features ask for.
func RunInbox[Tx any](t *testing.T, h Harness[Tx]) {
	t.Helper()
	if h.New == nil {
		t.Fatal("storetest: the harness has no New; give it a function that opens a database")
	}
	runAll(t, h, slices.Concat(inboxCases(), inboxConcurrencyCases(), forgetCases(), laneCases()))
}

func runAll[Tx any](t *testing.T, h Harness[Tx], all []scenario) {
	t.Helper()
	h = h.withDefaults()
	for _, c := range all {
		if !c.applies(h.Features) {
			continue
		}
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			c.run(newEnv(t, h))
		})
	}
}

func (h Harness[Tx]) withDefaults() Harness[Tx] {
	if h.Writers == 0 {
		h.Writers = 16
	}
	if h.Rounds == 0 {
		h.Rounds = 60
		if testing.Short() {
			h.Rounds = 15
		}
	}
	if h.LargeRows == 0 {
		h.LargeRows = 20_000
	}
	if h.LargeBytes == 0 {
		h.LargeBytes = 8 << 20
	}
	if h.Patience == 0 {
		h.Patience = 30 * time.Second
	}
	return h
}
