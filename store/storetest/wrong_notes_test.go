package storetest

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"github.com/postbag/postbag/store"
	"github.com/postbag/postbag/store/memstore"
)

// noted is a memstore whose notes are written otherwise.
type noted struct {
	*memstore.Store
	note func(context.Context, store.Audit, string) error
	own  []store.AuditEntry // of this process alone
}

func (n *noted) Note(ctx context.Context, a store.Audit, what string) error {
	return n.note(ctx, a, what)
}

func (n *noted) Audited(ctx context.Context, limit int) ([]store.AuditEntry, error) {
	all, err := n.Store.Audited(ctx, limit)
	return slices.Concat(n.own, all)[:min(len(n.own)+len(all), limit)], err
}

// forgetsNotices is a memstore whose notices are of its latest 1,000 entries.
type forgetsNotices struct{ *memstore.Store }

func (f *forgetsNotices) Overview(ctx context.Context) (store.Overview, error) {
	o, err := f.Store.Overview(ctx)
	latest, _ := f.Audited(ctx, 1000)
	for i := range o.Boxes {
		o.Boxes[i].Notices = slices.DeleteFunc(o.Boxes[i].Notices, func(n store.Notice) bool {
			return !slices.ContainsFunc(latest, func(a store.AuditEntry) bool { return a.What == n.What })
		})
	}
	return o, err
}

// notesWrong makes a mistake in notes.
func notesWrong(spoil func(*noted)) func(*database) {
	return func(db *database) {
		s := db.Store.(*memstore.Store) //nolint:errcheck // reference made it
		n := &noted{Store: s, note: s.Note}
		spoil(n)
		db.Store = n
	}
}

// wrongNotes are mistakes in lines of the audit log that no change comes with.
func wrongNotes() []wrong {
	const (
		written = "A note is in the audit log of every process when the call returns, with who and why"
		refused = "A note without who, why or what is refused, and not written"
		ended   = "A note whose context has ended is not written"
	)
	return []wrong{
		{"a note is lost", notesWrong(func(n *noted) {
			n.note = func(context.Context, store.Audit, string) error { return nil }
		}), []string{written, refused, ended}},
		{"a note says nobody", notesWrong(func(n *noted) {
			n.note = func(ctx context.Context, a store.Audit, what string) error {
				a.Who = "somebody"
				return n.Store.Note(ctx, a, what)
			}
		}), []string{written, refused}},
		{"a note without a reason is taken", notesWrong(func(n *noted) {
			n.note = func(ctx context.Context, a store.Audit, what string) error {
				a.Why = cmp.Or(a.Why, "no reason")
				return n.Store.Note(ctx, a, what)
			}
		}), []string{refused}},
		{"a note that is refused is written", notesWrong(func(n *noted) {
			n.note = func(ctx context.Context, a store.Audit, what string) error {
				err := n.Store.Note(ctx, a, what)
				if err != nil {
					n.own = append(n.own, store.AuditEntry{Audit: a, What: what})
				}
				return err
			}
		}), []string{refused, ended}},
		{"a note is written after its context has ended", notesWrong(func(n *noted) {
			n.note = func(ctx context.Context, a store.Audit, what string) error {
				return errors.Join(n.Store.Note(context.WithoutCancel(ctx), a, what), ctx.Err())
			}
		}), []string{ended}},
		{"notices are made of the latest entries, whatever they are", func(db *database) {
			db.Store = &forgetsNotices{db.Store.(*memstore.Store)} //nolint:errcheck // reference made it
		}, []string{"Looks at payloads push no notice out of what people should know"}},
		{"a note wakes relays", notesWrong(func(n *noted) {
			n.note = func(ctx context.Context, a store.Audit, what string) error {
				if err := n.SetPaused(ctx, a, ref, true); err != nil {
					return err
				}
				return n.Store.Note(ctx, a, what)
			}
		}), []string{"A note changes nothing that relays hear of"}},
	}
}
