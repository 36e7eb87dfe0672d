package memstore

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/postbag/postbag/store"
	"github.com/postbag/postbag/store/storekit"
)

var _ store.ErrorNoter = (*Store)(nil)

// errorNote is a note with the time of the last look whether its errors are there yet.
type errorNote struct {
	store.ErrorNote

	checked time.Time
}

// SetErrorNote implements store.ErrorNoter.
func (s *Store) SetErrorNote(ctx context.Context, a store.Audit, n store.ErrorNote) error {
	_, err := call(ctx, s, OpErrorNote, func() (none struct{}, err error) {
		s.mu.Lock()
		defer s.mu.Unlock()
		if err := s.setErrorNote(a, n); err != nil {
			return none, fmt.Errorf("memstore: note on errors of %s: %w", n.Ref, err)
		}
		return none, nil
	})
	return err
}

func (s *Store) setErrorNote(a store.Audit, n store.ErrorNote) error {
	if err := storekit.CheckErrorNote(a, &n); err != nil {
		return err
	}
	if _, err := s.subscription(n.Ref); err != nil {
		return err
	}
	at := s.errorNoteAt(n.Ref, n.Kind)
	now := s.now().UTC()
	n.Who, n.At, n.Seen = storekit.Reason(a.Who), now, now
	switch {
	case n.Text == "" && at < 0:
		return nil
	case n.Text == "":
		s.errorNotes = slices.Delete(s.errorNotes, at, at+1)
	case at >= 0:
		s.errorNotes[at] = errorNote{n, now}
	case len(s.errorNotesOf(store.Ref{Box: n.Box})) >= store.MaxErrorNotes:
		return store.ErrTooManyErrorNotes
	default:
		s.errorNotes = append(s.errorNotes, errorNote{n, now})
	}
	s.note(a, storekit.ErrorNoteText(&n))
	return nil
}

// errorNoteAt returns the place of a note, or -1.
func (s *Store) errorNoteAt(r store.Ref, kind string) int {
	return slices.IndexFunc(s.errorNotes, func(o errorNote) bool { return o.Ref == r && o.Kind == kind })
}

// ErrorNotes implements store.ErrorNoter.
func (s *Store) ErrorNotes(ctx context.Context, r store.Ref) ([]store.ErrorNote, error) {
	return call(ctx, s, OpErrorNote, func() ([]store.ErrorNote, error) {
		s.mu.Lock()
		defer s.mu.Unlock()
		return s.errorNotesOf(r), nil
	})
}

func (s *Store) errorNotesOf(r store.Ref) (out []store.ErrorNote) {
	for i := range s.errorNotes {
		if n := &s.errorNotes[i]; n.Box == r.Box && (r.Subscription == "" || n.Subscription == r.Subscription) {
			out = append(out, n.ErrorNote)
		}
	}
	storekit.SortErrorNotes(out)
	return out
}

// forgetErrorNotes looks whether the errors of notes of a box are there yet, if nobody has looked for a day, and removes the notes
// whose errors were not there for long.
func (s *Store) forgetErrorNotes(ctx context.Context, box string) error {
	now, due := s.now().UTC(), []store.ErrorNote{}
	s.mu.Lock()
	for i := range s.errorNotes {
		if n := &s.errorNotes[i]; n.Box == box && !n.checked.After(now.Add(-storekit.ErrorNoteChecked)) {
			due = append(due, n.ErrorNote)
		}
	}
	s.mu.Unlock()
	there, err := storekit.ErrorsThere(ctx, due, s.List)
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := range due {
		at := s.errorNoteAt(due[i].Ref, due[i].Kind)
		seen, goes := storekit.LookedAtErrorNote(&due[i], there[i], now)
		switch {
		case at < 0 || s.errorNotes[at].Seen != due[i].Seen: // somebody has changed it
		case goes:
			s.errorNotes = slices.Delete(s.errorNotes, at, at+1)
		default:
			s.errorNotes[at].Seen, s.errorNotes[at].checked = seen, now
		}
	}
	return nil
}

// AgeErrorNotes makes the notes of a box older, by a time, with all that is known of them. It is for tests of what is old.
func (s *Store) AgeErrorNotes(_ context.Context, box string, by time.Duration) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := range s.errorNotes {
		if n := &s.errorNotes[i]; n.Box == box {
			n.At, n.Seen, n.checked = n.At.Add(-by), n.Seen.Add(-by), n.checked.Add(-by)
		}
	}
	return nil
}
