package storetest

import (
	"context"
	"time"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/store"
	"github.com/postbag/postbag/store/memstore"
)

const caseRevises = "An edited message is published and audited, or neither"

// reviser is a store that edits messages otherwise.
type reviser struct {
	*memstore.Store

	revise func(context.Context, store.Audit, string, postbag.ID, postbag.Message) error
}

func (r *reviser) Revise(ctx context.Context, a store.Audit, box string, of postbag.ID, m postbag.Message) error {
	return r.revise(ctx, a, box, of, m)
}

// revising puts a store in a database's place that edits messages as the function says.
func revising(by func(s *memstore.Store) func(context.Context, store.Audit, string, postbag.ID, postbag.Message) error) func(*database) {
	return func(db *database) {
		s := db.Store.(*memstore.Store) //nolint:errcheck // reference made it
		db.Store = &reviser{s, by(s)}
	}
}

// wrongRevisions are mistakes with edited messages.
func wrongRevisions() []wrong {
	type revise = func(context.Context, store.Audit, string, postbag.ID, postbag.Message) error
	publish := func(ctx context.Context, s *memstore.Store, box string, m postbag.Message) error {
		return s.InTx(ctx, func(ctx context.Context, tx *memstore.Tx) error { return s.Append(ctx, tx, box, []postbag.Message{m}) })
	}
	return []wrong{
		{"an edited message is not audited", revising(func(s *memstore.Store) revise {
			return func(ctx context.Context, _ store.Audit, box string, _ postbag.ID, m postbag.Message) error {
				return publish(ctx, s, box, m)
			}
		}), []string{caseRevises}},
		{"an edited message is audited and not published", revising(func(s *memstore.Store) revise {
			return func(ctx context.Context, a store.Audit, box string, of postbag.ID, m postbag.Message) error {
				m.NotBefore = time.Now().AddDate(1, 0, 0)
				return s.Revise(ctx, a, box, of, m)
			}
		}), []string{caseRevises}},
		{"an edited message is published under the old id", revising(func(s *memstore.Store) revise {
			return func(ctx context.Context, a store.Audit, box string, of postbag.ID, m postbag.Message) error {
				m.ID = of
				return s.Revise(ctx, a, box, of, m)
			}
		}), []string{caseRevises}},
		{"an edited message is published without who or why", revising(func(s *memstore.Store) revise {
			return func(ctx context.Context, a store.Audit, box string, of postbag.ID, m postbag.Message) error {
				if a.Who == "" || a.Why == "" {
					return publish(ctx, s, box, m)
				}
				return s.Revise(ctx, a, box, of, m)
			}
		}), []string{caseRevises}},
	}
}
