package console

import (
	"context"
	"net/http"
	"strings"

	"github.com/postbag/postbag/internal/operations"
	"github.com/postbag/postbag/store"
)

// noteForm is the form of a note on a kind of error.
var noteForm = []parameter{
	{"do", "set or remove. A note takes the place of the one there is."},
	{"subscription", "The subscription."},
	{"kind", "The kind of error, as it is shown. The note is on those of each state."},
	{"note", "The note, to set one: at most 1,000 bytes."},
	{"why", "Why, for the audit log. Empty: the note, or that no reason was given."},
}

// doRemove is what the form of a note asks for, besides doSet.
const doRemove = "remove"

// onNote writes or removes a note on a kind of error.
func (c *console) onNote(r *http.Request) (v Done, err error) {
	f, err := form(r, noteForm)
	if err != nil {
		return v, err
	}
	text := f.Get("note")
	switch do := f.Get("do"); {
	case do == doRemove:
		text = ""
	case do != doSet:
		return v, badRequestf("do is neither set nor remove; write one of them")
	case strings.TrimSpace(text) == "":
		return v, badRequestf("the note is empty; write it, or remove the one there is")
	}
	ref, g, err := groupOf(r, f)
	if err != nil {
		return v, err
	}
	ref.Subscription = g.Subscription
	a := store.Audit{Who: c.nameOf(r), Why: f.Get("why")}
	err = c.change(r, func(ctx context.Context, ops operations.Store) error {
		return ops.NoteErrors(ctx, a, ref, g.Kind, text)
	})
	if err == nil {
		v.Changed = 1
	}
	return v, err
}
