package storetest

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/postbag/postbag/store"
)

// errorNoteCases are about notes on errors, for stores that keep them.
func errorNoteCases() []scenario {
	return []scenario{
		{name: "A note on errors is there for every process, with who and when, and is audited", run: errorNoteWritten},
		{name: "Another note on the same errors takes its place, and an empty one removes it", run: errorNoteChanged},
		{name: "Notes are found by box, subscription and kind of error", run: errorNotesFound},
		{name: "A note on errors that cannot be is refused, and nothing is written", run: errorNoteRefused},
		{name: "As many notes on errors as there can be are taken, and no more", run: errorNotesMost},
		{name: "Housekeeping keeps a note whose errors are there, however old it is", run: errorNoteKept},
		{name: "Housekeeping removes a note whose errors were not there for long", run: errorNoteForgotten},
		{name: "Housekeeping looks at the notes of every subscription", run: errorNotesOfAll},
	}
}

// errorNoter returns the store as an ErrorNoter, or skips the case.
func (e *env) errorNoter() store.ErrorNoter {
	e.Helper()
	n, ok := e.Store.(store.ErrorNoter)
	if !ok {
		e.Skip("the store is no ErrorNoter")
	}
	e.operator()
	return n
}

// errorNotes reads notes by another process.
func (e *env) errorNotes(r store.Ref) []store.ErrorNote {
	e.Helper()
	other, ok := e.other().(store.ErrorNoter)
	if !ok {
		e.Skip("the other store is no ErrorNoter")
	}
	got, err := other.ErrorNotes(e.ctx, r)
	e.check(err, "read notes")
	return got
}

// errorNotesAre fails the case unless these are the notes, as "subscription kind: text".
func (e *env) errorNotesAre(r store.Ref, want ...string) {
	e.Helper()
	got := e.errorNotes(r)
	var said []string
	for i := range got {
		said = append(said, fmt.Sprintf("%s %s: %s", got[i].Subscription, got[i].Kind, got[i].Text))
	}
	if strings.Join(said, "\n") != strings.Join(want, "\n") {
		e.Errorf("the notes are %q, not %q", said, want)
	}
}

// auditedTimes is how many lines of the audit log begin so.
func (e *env) auditedTimes(begins string) (n int) {
	e.Helper()
	got, err := e.operator().Audited(e.ctx, 1000)
	e.check(err, "audit log")
	for i := range got {
		if strings.HasPrefix(got[i].What, begins) {
			n++
		}
	}
	return n
}

func errorNoteWritten(e *env) {
	s := e.errorNoter()
	e.open(1)
	before := e.now()
	n := store.ErrorNote{Ref: ref, Kind: "answered 503: N ä", Text: "vendor told,\nticket 123", Who: "nobody"}
	e.check(s.SetErrorNote(e.ctx, why, n), "write a note")
	e.audits("note on errors of outbox/default", n.Kind)
	got := e.errorNotes(ref)
	if len(got) != 1 || got[0].Ref != ref || got[0].Kind != n.Kind || got[0].Text != n.Text || got[0].Who != why.Who {
		e.Fatalf("the notes are %+v, not %+v by %s", got, n, why.Who)
	}
	if at := got[0].At; at.Before(before.Add(-time.Minute)) || at.After(e.now().Add(time.Minute)) || got[0].Seen.Before(at) {
		e.Errorf("a note was written at %v and its errors were there at %v; it is %v", at, got[0].Seen, e.now())
	}
}

func errorNoteChanged(e *env) {
	s := e.errorNoter()
	e.open(1)
	set := func(text string) {
		e.Helper()
		e.check(s.SetErrorNote(e.ctx, why, store.ErrorNote{Ref: ref, Kind: "no", Text: text}), "write a note")
	}
	set("")
	if n := e.auditedTimes("remove the note"); n != 0 {
		e.Errorf("the removal of a note that is not there is %d times in the audit log", n)
	}
	set("first")
	set("second")
	e.errorNotesAre(ref, "default no: second")
	set("")
	e.audits("remove the note on errors of outbox/default", "no")
	set("")
	e.errorNotesAre(ref)
	if n, m := e.auditedTimes("note on errors"), e.auditedTimes("remove the note"); n != 2 || m != 1 {
		e.Errorf("the audit log has %d notes and %d removals, and not 2 and 1", n, m)
	}
}

func errorNotesFound(e *env) {
	s := e.errorNoter()
	e.open(1)
	e.check(e.Create(e.ctx, "other"), "create a box")
	second, third := store.Ref{Box: box, Subscription: "second"}, store.Ref{Box: "other", Subscription: "default"}
	e.declare(store.Spec{Ref: second, Shards: 1}, store.Spec{Ref: third, Shards: 1})
	for i, n := range []store.ErrorNote{{Ref: second, Kind: "b"}, {Ref: second, Kind: "a"}, {Ref: ref, Kind: "a"}, {Ref: ref, Kind: "A"}, {Ref: third, Kind: "a"}} {
		n.Text = strconv.Itoa(i)
		e.check(s.SetErrorNote(e.ctx, why, n), "write a note")
	}
	e.errorNotesAre(store.Ref{Box: box}, "default A: 3", "default a: 2", "second a: 1", "second b: 0")
	e.errorNotesAre(second, "second a: 1", "second b: 0")
	e.errorNotesAre(third, "default a: 4")
	e.errorNotesAre(store.Ref{Box: "nowhere"})
	e.errorNotesAre(store.Ref{Box: box, Subscription: "nobody"})
}

func errorNoteRefused(e *env) {
	s := e.errorNoter()
	e.open(1)
	good := store.ErrorNote{Ref: ref, Kind: "no", Text: "x"}
	for what, spoil := range map[string]func(*store.ErrorNote){
		"no subscription":    func(n *store.ErrorNote) { n.Subscription = "" },
		"housekeeping":       func(n *store.ErrorNote) { n.Subscription = store.Maintenance },
		"another box":        func(n *store.ErrorNote) { n.Box = "nowhere" },
		"nobody":             func(n *store.ErrorNote) { n.Subscription = "nobody" },
		"no kind":            func(n *store.ErrorNote) { n.Kind = "" },
		"a kind too long":    func(n *store.ErrorNote) { n.Kind = strings.Repeat("x", store.MaxErrorKind+1) },
		"a text too long":    func(n *store.ErrorNote) { n.Text = strings.Repeat("x", store.MaxErrorNote+1) },
		"a text of bytes":    func(n *store.ErrorNote) { n.Text = "\xff" },
		"a text with a NUL":  func(n *store.ErrorNote) { n.Text = "a\x00b" },
		"a text of no words": func(n *store.ErrorNote) { n.Text = " \n" },
	} {
		n := good
		spoil(&n)
		if err := s.SetErrorNote(e.ctx, why, n); err == nil {
			e.Errorf("a note with %s is taken", what)
		}
	}
	for _, a := range []store.Audit{{Who: "anna"}, {Why: "a test"}} {
		if err := s.SetErrorNote(e.ctx, a, good); err == nil {
			e.Errorf("a note by %q for %q is taken", a.Who, a.Why)
		}
	}
	none := good
	none.Subscription = "nobody"
	e.refuses(s.SetErrorNote(e.ctx, why, none), store.ErrNoSubscription, "a note on no subscription")
	e.errorNotesAre(store.Ref{Box: box})
	if n := e.auditedTimes("note on errors"); n != 0 {
		e.Errorf("notes that were refused are %d times in the audit log", n)
	}
	good.Kind, good.Text = strings.Repeat("ä", store.MaxErrorKind/2), strings.Repeat("x", store.MaxErrorNote)
	e.check(s.SetErrorNote(e.ctx, why, good), "write the longest note")
	e.errorNotesAre(ref, "default "+good.Kind+": "+good.Text)
}

func errorNotesMost(e *env) {
	s := e.errorNoter()
	e.open(1)
	note := func(i int, text string) error {
		return s.SetErrorNote(e.ctx, why, store.ErrorNote{Ref: ref, Kind: fmt.Sprint("kind ", i), Text: text})
	}
	for i := range store.MaxErrorNotes {
		e.check(note(i, "x"), "write a note")
	}
	e.refuses(note(store.MaxErrorNotes, "x"), store.ErrTooManyErrorNotes, "one note more")
	e.check(note(7, "y"), "change a note of as many as there can be")
	if n := len(e.errorNotes(ref)); n != store.MaxErrorNotes {
		e.Errorf("there are %d notes", n)
	}
	e.check(note(8, ""), "remove a note")
	e.check(note(store.MaxErrorNotes, "x"), "write a note in the place of another")
}

// dying returns a lot with a dead message for each of these errors.
func (e *env) dying(reasons ...string) *lot {
	e.Helper()
	l := e.parked(reasons...)
	var ps []store.Park
	for i, reason := range reasons {
		p := park(l.at(i), store.ParkDead)
		p.Reason = reason
		ps = append(ps, p)
	}
	l.park(ps...)
	return l
}

func (e *env) ages(by time.Duration) {
	e.Helper()
	e.check(e.AgeErrorNotes(e.ctx, box, by), "make notes older")
}

func errorNoteKept(e *env) {
	s := e.errorNoter()
	if e.AgeErrorNotes == nil {
		e.Skip("the harness makes no notes older")
	}
	l := e.dying("answered 503 after 17 ms")
	u := e.upkeep()
	e.check(s.SetErrorNote(e.ctx, why, store.ErrorNote{Ref: ref, Kind: "answered 503 after N ms", Text: "x"}), "write a note")
	e.ages(2 * store.ErrorNoteKept)
	u.round()
	e.errorNotesAre(ref, "default answered 503 after N ms: x")
	if n := e.errorNotes(ref)[0]; e.now().Sub(n.Seen) > time.Hour || e.now().Sub(n.At) < store.ErrorNoteKept {
		e.Errorf("a note of %v whose errors are there has seen them at %v", n.At, n.Seen)
	}
	// They are gone now, but not for long.
	l.resolve(0)
	e.ages(store.ErrorNoteKept - time.Hour)
	u.round()
	e.errorNotesAre(ref, "default answered 503 after N ms: x")
}

func errorNoteForgotten(e *env) {
	s := e.errorNoter()
	if e.AgeErrorNotes == nil {
		e.Skip("the harness makes no notes older")
	}
	l := e.dying("answered 503", "another")
	u := e.upkeep()
	for _, kind := range []string{"answered 503", "another", "never"} {
		e.check(s.SetErrorNote(e.ctx, why, store.ErrorNote{Ref: ref, Kind: kind, Text: "x"}), "write a note")
	}
	e.ages(store.ErrorNoteKept - time.Hour)
	u.round()
	e.errorNotesAre(ref, "default another: x", "default answered 503: x", "default never: x")
	l.resolve(0)
	e.ages(2*time.Hour + 24*time.Hour) // since the look of a moment ago, too
	u.round()
	e.errorNotesAre(ref, "default another: x", "default answered 503: x")
	e.ages(store.ErrorNoteKept)
	u.round()
	e.errorNotesAre(ref, "default another: x")
}

func errorNotesOfAll(e *env) {
	s := e.errorNoter()
	if e.AgeErrorNotes == nil {
		e.Skip("the harness makes no notes older")
	}
	e.dying("answered 503")
	u := e.upkeep()
	second, third := store.Ref{Box: box, Subscription: "second"}, store.Ref{Box: box, Subscription: "third"}
	e.declareFirst(second)
	e.declareFirst(third)
	for _, r := range []store.Ref{ref, second, third} {
		for _, kind := range []string{"answered 503", "never"} {
			e.check(s.SetErrorNote(e.ctx, why, store.ErrorNote{Ref: r, Kind: kind, Text: "x"}), "write a note")
		}
	}
	e.ages(store.ErrorNoteKept + time.Hour)
	u.round()
	e.errorNotesAre(store.Ref{Box: box}, "default answered 503: x")
}
