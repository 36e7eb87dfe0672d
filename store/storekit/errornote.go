package storekit

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"slices"
	"time"

	"github.com/postbag/postbag/store"
)

// ErrorNoteChecked is how often housekeeping looks whether the errors of a note are there yet.
const ErrorNoteChecked = 24 * time.Hour

// errorNotePage is how many messages of a state one look of housekeeping reads.
const errorNotePage = 1000

// ErrorNoteHash is what a note is found by, besides its subscription: 32 bytes.
func ErrorNoteHash(kind string) []byte {
	sum := sha256.Sum256([]byte(kind))
	return sum[:]
}

// CheckErrorNote returns what is wrong with a note that is to be written, or with who and why.
func CheckErrorNote(a store.Audit, n *store.ErrorNote) error {
	if err := CheckAudit(a); err != nil {
		return err
	}
	if n.Subscription == store.Maintenance {
		return store.ErrNoSubscription
	}
	return n.Validate()
}

// ErrorNoteText is what the audit log says of a note that is written, or removed.
func ErrorNoteText(n *store.ErrorNote) string {
	if n.Text == "" {
		return "remove the note on errors of " + n.Ref.String() + ": " + Reason(n.Kind)
	}
	return "note on errors of " + n.Ref.String() + ": " + Reason(n.Kind)
}

// LookedAtErrorNote says what becomes of a note of whose errors housekeeping found at a time whether they are there: when they were there
// last, and whether the note goes.
func LookedAtErrorNote(n *store.ErrorNote, there bool, now time.Time) (seen time.Time, goes bool) {
	if there {
		return now, false
	}
	return n.Seen, now.Sub(n.Seen) >= store.ErrorNoteKept
}

// SortErrorNotes brings notes into the sequence of their subscriptions and kinds.
func SortErrorNotes(all []store.ErrorNote) {
	slices.SortFunc(all, func(a, b store.ErrorNote) int {
		return cmp.Or(cmp.Compare(a.Subscription, b.Subscription), cmp.Compare(a.Kind, b.Kind))
	})
}

// ListFunc is the List of a store.
type ListFunc func(context.Context, store.Query) ([]store.Item, string, error)

// ErrorNotesOfOne returns those of some notes that are of the same subscription as the first.
func ErrorNotesOfOne(notes []store.ErrorNote) (one []store.ErrorNote) {
	for i := range notes {
		if notes[i].Ref == notes[0].Ref {
			one = append(one, notes[i])
		}
	}
	return one
}

// ErrorsThere says of each of some notes of a box whether its errors are there yet. If a state has more messages than it reads, they
// may be among those, and it says that they are there.
func ErrorsThere(ctx context.Context, notes []store.ErrorNote, list ListFunc) ([]bool, error) {
	there, known := make([]bool, len(notes)), make(map[store.Ref]map[string]bool)
	for i := range notes {
		kinds, is := known[notes[i].Ref]
		if !is {
			var err error
			if kinds, err = errorKinds(ctx, notes[i].Ref, list); err != nil {
				return nil, err
			}
			known[notes[i].Ref] = kinds
		}
		there[i] = kinds[notes[i].Kind] || kinds[anyKind]
	}
	return there, nil
}

// anyKind stands for all kinds of error.
const anyKind = ""

// errorKinds returns the kinds of error that parked messages of a subscription have. One that is gone has none.
func errorKinds(ctx context.Context, r store.Ref, list ListFunc) (map[string]bool, error) {
	kinds := make(map[string]bool)
	for _, state := range []store.State{store.StateDead, store.StateRetrying, store.StateHeld, store.StateInFlight} {
		items, next, err := list(ctx, store.Query{Ref: r, State: state, Bare: true, Limit: errorNotePage})
		if errors.Is(err, store.ErrNoSubscription) {
			return map[string]bool{}, nil
		} else if err != nil {
			return nil, err
		}
		for i := range items {
			if items[i].Reason != "" {
				kinds[ErrorKind(items[i].Reason)] = true
			}
		}
		kinds[anyKind] = kinds[anyKind] || next != ""
	}
	return kinds, nil
}
