package operations

import (
	"cmp"
	"context"
	"errors"
	"strings"
	"time"

	"github.com/postbag/postbag/store"
)

// ErrorNote is the note of an operator on a kind of error, in JSON. Names of fields are a contract.
type ErrorNote struct {
	// The note.
	Text string `json:"text"`
	// Who wrote it.
	Who string `json:"who"`
	// When.
	At time.Time `json:"at"`
}

// noReason is what the audit log says of a removal of a note for which nobody gives a reason.
const noReason = "no reason was given"

// AddNotes adds to groups of errors of r the notes that operators wrote on them. A store that keeps none has none.
func (s Store) AddNotes(ctx context.Context, r store.Ref, groups []ErrorGroup) error {
	if s.ErrorNoter == nil || len(groups) == 0 {
		return nil
	}
	notes, err := s.ErrorNoter.ErrorNotes(ctx, r)
	if err != nil {
		return err
	}
	type place struct{ subscription, kind string }
	at := make(map[place]*ErrorNote, len(notes))
	for i := range notes {
		n := &notes[i]
		at[place{n.Subscription, n.Kind}] = &ErrorNote{n.Text, n.Who, n.At.UTC()}
	}
	for i := range groups {
		groups[i].Note = at[place{groups[i].Subscription, groups[i].Kind}]
	}
	return nil
}

// NoteErrors writes a note on all errors of a kind of a subscription, whatever their state, in place of the one there is. An empty text
// removes that. The reason for the audit log may be left out: it is the note then. A note that cannot be is ErrInvalid.
func (s Store) NoteErrors(ctx context.Context, a store.Audit, r store.Ref, kind, text string) error {
	if s.ErrorNoter == nil {
		return refusef(ErrUnsupported, "this kind of store keeps no notes on errors")
	}
	n := store.ErrorNote{Ref: r, Kind: kind, Text: strings.TrimSpace(strings.ReplaceAll(text, "\r\n", "\n"))}
	if err := n.Validate(); err != nil {
		return refusef(ErrInvalid, "%v", err)
	}
	a.Why = cmp.Or(strings.TrimSpace(a.Why), n.Text, noReason)
	if err := ValidAudit(a); err != nil {
		return err
	}
	err := s.ErrorNoter.SetErrorNote(ctx, a, n)
	if errors.Is(err, store.ErrTooManyErrorNotes) {
		return refusef(ErrInvalid, "%v", err)
	}
	return err
}
