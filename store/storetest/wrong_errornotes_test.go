package storetest

import (
	"context"
	"slices"
	"strings"

	"github.com/postbag/postbag/store"
	"github.com/postbag/postbag/store/memstore"
)

// annotated is a memstore whose notes on errors are written, read and kept otherwise.
type annotated struct {
	*memstore.Store
	set      func(context.Context, store.Audit, store.ErrorNote) error
	read     func(context.Context, store.Ref) ([]store.ErrorNote, error)
	maintain func(context.Context, store.Retention) (store.Report, error)
}

func (n *annotated) SetErrorNote(ctx context.Context, a store.Audit, note store.ErrorNote) error {
	return n.set(ctx, a, note)
}

func (n *annotated) ErrorNotes(ctx context.Context, r store.Ref) ([]store.ErrorNote, error) {
	return n.read(ctx, r)
}

func (n *annotated) Maintain(ctx context.Context, r store.Retention) (store.Report, error) {
	return n.maintain(ctx, r)
}

// misnotes makes a mistake in notes on errors.
func misnotes(spoil func(*annotated)) func(*database) {
	return func(db *database) {
		s := db.Store.(*memstore.Store) //nolint:errcheck // reference made it
		n := &annotated{Store: s, set: s.SetErrorNote, read: s.ErrorNotes, maintain: s.Maintain}
		spoil(n)
		db.Store = n
	}
}

// writesNote is a mistake in what is written.
func writesNote(spoil func(*store.Audit, *store.ErrorNote)) func(*database) {
	return misnotes(func(n *annotated) {
		n.set = func(ctx context.Context, a store.Audit, note store.ErrorNote) error {
			spoil(&a, &note)
			return n.Store.SetErrorNote(ctx, a, note)
		}
	})
}

// wrongErrorNotes are mistakes in notes on errors.
func wrongErrorNotes() []wrong {
	const (
		written = "A note on errors is there for every process, with who and when, and is audited"
		changed = "Another note on the same errors takes its place, and an empty one removes it"
		found   = "Notes are found by box, subscription and kind of error"
		refused = "A note on errors that cannot be is refused, and nothing is written"
		most    = "As many notes on errors as there can be are taken, and no more"
		keeps   = "Housekeeping keeps a note whose errors are there, however old it is"
		removes = "Housekeeping removes a note whose errors were not there for long"
		all     = "Housekeeping looks at the notes of every subscription"
	)
	return []wrong{
		{"a note on errors is lost", misnotes(func(n *annotated) {
			n.set = func(context.Context, store.Audit, store.ErrorNote) error { return nil }
		}), []string{written, changed, found, keeps}},
		{"a note on errors says nobody", writesNote(func(a *store.Audit, _ *store.ErrorNote) { a.Who = "somebody" }), []string{written, refused}},
		{"a note on errors is not audited", misnotes(func(n *annotated) {
			var all []store.ErrorNote
			n.set = func(_ context.Context, a store.Audit, note store.ErrorNote) error {
				note.Who = a.Who
				all = append(all, note)
				return nil
			}
			n.read = func(context.Context, store.Ref) ([]store.ErrorNote, error) { return all, nil }
		}), []string{written, changed}},
		{"a second note on the same errors stands beside the first", misnotes(func(n *annotated) {
			var before []store.ErrorNote
			n.set = func(ctx context.Context, a store.Audit, note store.ErrorNote) error {
				was, _ := n.Store.ErrorNotes(ctx, note.Ref)
				before = append(before, was...)
				return n.Store.SetErrorNote(ctx, a, note)
			}
			n.read = func(ctx context.Context, r store.Ref) ([]store.ErrorNote, error) {
				now, err := n.Store.ErrorNotes(ctx, r)
				return slices.Concat(before, now), err
			}
		}), []string{changed}},
		{"a removal of nothing is audited", misnotes(func(n *annotated) {
			n.set = func(ctx context.Context, a store.Audit, note store.ErrorNote) error {
				if note.Text == "" {
					_ = n.Note(ctx, a, "remove the note on errors of "+note.Ref.String())
				}
				return n.Store.SetErrorNote(ctx, a, note)
			}
		}), []string{changed}},
		{"kinds of error are compared without case", writesNote(func(_ *store.Audit, n *store.ErrorNote) { n.Kind = strings.ToLower(n.Kind) }), []string{found}},
		{"a note is read for all subscriptions", misnotes(func(n *annotated) {
			n.read = func(ctx context.Context, r store.Ref) ([]store.ErrorNote, error) {
				return n.Store.ErrorNotes(ctx, store.Ref{Box: r.Box})
			}
		}), []string{found}},
		{"a note is cut short", writesNote(func(_ *store.Audit, n *store.ErrorNote) { n.Text = n.Text[:min(len(n.Text), 500)] }), []string{refused}},
		{"a note without a reason is taken", writesNote(func(a *store.Audit, _ *store.ErrorNote) { a.Why = "none" }), []string{refused}},
		{"notes are not counted", misnotes(func(n *annotated) {
			n.set = func(ctx context.Context, a store.Audit, note store.ErrorNote) error {
				err := n.Store.SetErrorNote(ctx, a, note)
				if err != nil && strings.Contains(err.Error(), store.ErrTooManyErrorNotes.Error()) {
					return nil
				}
				return err
			}
		}), []string{most}},
		{"housekeeping goes by the age of a note alone", misnotes(func(n *annotated) {
			n.maintain = func(ctx context.Context, r store.Retention) (store.Report, error) {
				notes, _ := n.Store.ErrorNotes(ctx, store.Ref{Box: r.Box})
				for i := range notes {
					notes[i].Text = ""
					_ = n.Store.SetErrorNote(ctx, why, notes[i])
				}
				return n.Store.Maintain(ctx, r)
			}
		}), []string{keeps, removes}},
		{"housekeeping looks at the notes of one subscription alone", misnotes(func(n *annotated) {
			n.maintain = func(ctx context.Context, r store.Retention) (store.Report, error) {
				notes, _ := n.Store.ErrorNotes(ctx, store.Ref{Box: r.Box})
				report, err := n.Store.Maintain(ctx, r)
				for i := range notes {
					if notes[i].Ref != notes[0].Ref {
						_ = n.Store.SetErrorNote(ctx, why, notes[i])
					}
				}
				return report, err
			}
		}), []string{all}},
		{"housekeeping never removes a note", misnotes(func(n *annotated) {
			n.maintain = func(ctx context.Context, r store.Retention) (store.Report, error) {
				notes, _ := n.Store.ErrorNotes(ctx, store.Ref{Box: r.Box})
				report, err := n.Store.Maintain(ctx, r)
				for i := range notes {
					_ = n.Store.SetErrorNote(ctx, why, notes[i])
				}
				return report, err
			}
		}), []string{removes}},
	}
}
