package store

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"
)

// ErrorNoter is implemented by a store that keeps notes of operators on errors, such as that a vendor was told. A note is on
// all parked messages of a subscription with one kind of error, whichever they are. So it is there again when the error comes
// again. Relays know nothing of notes. Housekeeping looks once a day whether the errors of a note are there yet, and removes
// a note whose errors were not found for ErrorNoteKept.
type ErrorNoter interface {
	// SetErrorNote writes the note Text, by a.Who, in place of the one of the same Ref and Kind. If Text is empty, it removes
	// that. Both go to the audit log in the same transaction. To remove a note that is not there changes and writes nothing.
	// n.Who, n.At and n.Seen are not used.
	//
	// Errors: those of [ErrorNote.Validate], ErrNoBox, ErrNoSubscription and ErrTooManyErrorNotes. Nothing is written then.
	SetErrorNote(ctx context.Context, a Audit, n ErrorNote) error
	// ErrorNotes returns the notes of a box, or of the one subscription that r names, by subscription and kind. It is not an
	// error if there is no such box or subscription.
	ErrorNotes(ctx context.Context, r Ref) ([]ErrorNote, error)
}

// ErrorNote is a note of an operator on one kind of error of a subscription.
type ErrorNote struct {
	// Ref is the subscription, by its name.
	Ref
	// Kind is the error without what differs from message to message, as storekit.ErrorKind has it.
	Kind string
	// Text is the note.
	Text string
	// Who wrote it, and At when, by the database's clock.
	Who string
	At  time.Time
	// Seen is when the errors were there last, as far as housekeeping knows. It is At or later.
	Seen time.Time
}

// Bounds of notes on errors.
const (
	// MaxErrorNote is how many bytes ErrorNote.Text can have.
	MaxErrorNote = 1000
	// MaxErrorKind is how many bytes ErrorNote.Kind can have. No kind of error that a store keeps has more.
	MaxErrorKind = 4096
	// MaxErrorNotes is how many notes a box can have. It may have a few more, if several are written at the same moment.
	MaxErrorNotes = 500
	// ErrorNoteKept is how long a note stays after its errors were there last.
	ErrorNoteKept = 30 * 24 * time.Hour
)

// Errors of an ErrorNoter.
var (
	// ErrErrorNote: a note cannot be written. The error says what is wrong.
	ErrErrorNote = errors.New("store: the note cannot be")
	// ErrTooManyErrorNotes: the box would have more than MaxErrorNotes.
	ErrTooManyErrorNotes = errors.New("store: the box would have more than 500 notes on errors; remove some")
)

// Validate returns what is wrong with the note's Ref, Kind and Text, which is an ErrErrorNote, or nil.
func (n *ErrorNote) Validate() error {
	if err := n.validate(); err != nil {
		return fmt.Errorf("%w: %w", ErrErrorNote, err)
	}
	return nil
}

func (n *ErrorNote) validate() error {
	switch {
	case n.Box == "" || n.Subscription == "":
		return errors.New("it names no subscription; give a box and a subscription")
	case n.Kind == "" || len(n.Kind) > MaxErrorKind:
		return fmt.Errorf("the kind of error has %d bytes; give one that is shown, of 1 to %d", len(n.Kind), MaxErrorKind)
	case len(n.Text) > MaxErrorNote:
		return fmt.Errorf("the note has %d bytes; write at most %d", len(n.Text), MaxErrorNote)
	case notText(n.Kind) || notText(n.Text):
		return errors.New("the note, or the kind of error, is not valid UTF-8, or has a NUL byte; write it as text")
	case strings.TrimSpace(n.Text) == "" && n.Text != "":
		return errors.New("the note has blanks alone; write something, or remove the note")
	}
	return nil
}

func notText(s string) bool { return !utf8.ValidString(s) || strings.ContainsRune(s, 0) }
