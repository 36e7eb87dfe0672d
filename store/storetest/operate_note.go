package storetest

import (
	"context"
	"strings"

	"github.com/postbag/postbag/store"
)

// noteCases are about lines of the audit log that no change comes with.
func noteCases() []scenario {
	return []scenario{
		{name: "A note is in the audit log of every process when the call returns, with who and why", run: noteWritten},
		{name: "A note without who, why or what is refused, and not written", run: noteRefused},
		{name: "A note whose context has ended is not written", run: noteEnded},
		{name: "A note changes nothing that relays hear of", run: noteQuiet},
		{name: "Looks at payloads push no notice out of what people should know", run: noticeStays},
	}
}

// noter returns the store as a Noter, or skips the case.
func (e *env) noter() store.Noter {
	e.Helper()
	n, ok := e.Store.(store.Noter)
	if !ok {
		e.Skip("the store is no Noter")
	}
	return n
}

func noteWritten(e *env) {
	n := e.noter()
	for _, what := range []string{"look at outbox 1 (ä)", "look at outbox 2"} {
		e.check(n.Note(e.ctx, why, what), "note")
		other, ok := e.other().(store.Operator)
		if !ok {
			e.Skip("the store is no Operator")
		}
		got, err := other.Audited(e.ctx, 1)
		if e.check(err, "audit log"); len(got) != 1 || got[0].Who != why.Who || got[0].Why != why.Why || got[0].What != what || got[0].At.IsZero() {
			e.Errorf("after the note %q the latest entry of the audit log is %+v", what, got)
		}
	}
	a := why
	a.Filter = "--error refused"
	e.check(n.Note(e.ctx, a, "look at outbox 3"), "note")
	e.audits("look at outbox 3", a.Filter)
}

func noteRefused(e *env) {
	n := e.noter()
	for _, one := range []struct {
		a    store.Audit
		what string
	}{{store.Audit{Why: "x"}, "look"}, {store.Audit{Who: "x"}, "look"}, {why, ""}} {
		if err := n.Note(e.ctx, one.a, one.what); err == nil {
			e.Errorf("a note by %q for %q of %q was taken", one.a.Who, one.a.Why, one.what)
		}
	}
	e.unwritten("look")
}

// unwritten fails the case if an entry of the audit log has a word.
func (e *env) unwritten(word string) {
	e.Helper()
	got, err := e.operator().Audited(e.ctx, 100)
	e.check(err, "audit log")
	for i := range got {
		if strings.Contains(got[i].What, word) || got[i].What == "" {
			e.Errorf("the audit log has %+v", got[i])
		}
	}
}

func noteEnded(e *env) {
	n := e.noter()
	ctx, cancel := context.WithCancel(e.ctx)
	cancel()
	if err := n.Note(ctx, why, "look at outbox 1"); err == nil {
		e.Error("a note whose context has ended was taken")
	}
	e.unwritten("look")
}

func noteQuiet(e *env) {
	n := e.noter()
	e.open(1)
	r := e.relay("r")
	before := r.beat(store.Beat{}).Epoch
	e.check(n.Note(e.ctx, why, "look at outbox 1"), "note")
	if after := r.beat(store.Beat{}).Epoch; after != before {
		e.Errorf("after a note the epoch is %d, and was %d", after, before)
	}
}

// noticeStays writes more notes than the entries of the audit log that notices are made of.
func noticeStays(e *env) {
	n := e.noter()
	e.open(1)
	itself := store.Audit{Who: "postbag", Why: "the test"}
	e.check(n.Note(e.ctx, itself, "look through outbox from seq 1 on"), "note what a store did itself")
	for range 1001 {
		e.check(n.Note(e.ctx, why, "look at outbox 1"), "note a look")
	}
	if got := e.overview().Notices; len(got) != 1 || got[0].Why != itself.Why {
		e.Errorf("behind 1,001 looks the notices are %+v", got)
	}
}
