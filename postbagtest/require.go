package postbagtest

import (
	"fmt"
	"strings"

	"github.com/postbag/postbag"
)

// RequirePublished ends the test unless exactly these messages were published,
// to whatever boxes, in this order.
func (r *Recorder[Tx]) RequirePublished(t TB, want ...Want) {
	t.Helper()
	got := r.Records()
	var text strings.Builder
	same := len(got) == len(want)
	for i := range max(len(got), len(want)) {
		switch {
		case i >= len(got):
			fmt.Fprintf(&text, "\n%d. missing: %v", i, want[i])
		case i >= len(want):
			fmt.Fprintf(&text, "\n%d. not wanted: %v", i, got[i])
		default:
			misfits := want[i].misfits(got[i])
			fmt.Fprintf(&text, "\n%d. %v", i, got[i])
			for _, misfit := range misfits {
				same = false
				fmt.Fprintf(&text, "\n   %s", misfit)
			}
		}
	}
	if !same {
		t.Fatalf("postbagtest: published %d, wanted %d:%s", len(got), len(want), text.String())
	}
}

// RequireIncluded ends the test unless there is, for each want, a published
// message of its own, in any order and among any others.
func (r *Recorder[Tx]) RequireIncluded(t TB, want ...Want) {
	t.Helper()
	got := r.Records()
	missing := unmatched(got, want)
	if len(missing) == 0 {
		return
	}
	var text strings.Builder
	for _, i := range missing {
		fmt.Fprintf(&text, "\nmissing: %v", want[i])
		if near, misfits := nearest(got, want[i]); near >= 0 {
			fmt.Fprintf(&text, "\n   nearest is %d.: %s", near, strings.Join(misfits, "; "))
		}
	}
	for i, rec := range got {
		fmt.Fprintf(&text, "\n%d. %v", i, rec)
	}
	t.Fatalf("postbagtest: %d of %d wanted messages are not among the %d published:%s", len(missing), len(want), len(got), text.String())
}

// RequireNothing ends the test if anything was published.
func (r *Recorder[Tx]) RequireNothing(t TB) {
	t.Helper()
	r.RequirePublished(t)
}

// Values returns the values of all messages of e's type that were published, in
// order. One that does not decode ends the test.
func Values[T, Tx any](t TB, r *Recorder[Tx], e postbag.Event[T]) []T {
	t.Helper()
	var all []T
	for i, rec := range r.Records() {
		if rec.Type != e.Type {
			continue
		}
		v, err := e.Decode(rec.Message)
		if err != nil {
			t.Fatalf("postbagtest: message %d (%v): %v", i, rec, err)
			return nil
		}
		all = append(all, v)
	}
	return all
}
