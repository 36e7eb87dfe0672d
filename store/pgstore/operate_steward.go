package pgstore

import (
	"context"
	"errors"
	"fmt"

	"github.com/postbag/postbag/store"
	"github.com/postbag/postbag/store/storekit"
)

var _ store.Steward = (*Store)(nil)

// SetFilter implements store.Steward.
func (s *Store) SetFilter(ctx context.Context, a store.Audit, r store.Ref, f store.Filter) error {
	doing := "set the filter of " + r.String()
	err := storekit.CheckNewFilter(f)
	takes, textErr := storekit.WhereText(f.Where)
	if err = errors.Join(err, textErr); err != nil {
		return fmt.Errorf("pgstore: %s: %w", doing, err)
	}
	err = s.order(ctx, a, r, func(v *server, sub *catalogSubscription, a store.Audit) error {
		args := new(parameters).int4(sub.id).texts(len(f.Types), func(i int) string { return f.Types[i] })
		return s.change(ctx, v, "set_filter", args.text(a.Who).text(a.Why).text(storekit.FilterSetText(r, f)).text(takes))
	})
	return translateError(doing, err)
}

// change runs a statement that returns a row if its subscription is there. One that was removed just now is not.
func (s *Store) change(ctx context.Context, v *server, name string, args *parameters) error {
	found := false
	err := s.run(ctx, s.guard(v, "", nil), call{
		st: s.statements.get(name, ""), args: args,
		reset: func() { found = false },
		each:  func(row) error { found = true; return nil },
	})
	if err == nil && !found {
		err = store.ErrNoSubscription
	}
	return err
}

// Remove implements store.Steward.
func (s *Store) Remove(ctx context.Context, a store.Audit, r store.Ref, force bool) error {
	err := s.order(ctx, a, r, func(v *server, sub *catalogSubscription, a store.Audit) error {
		removed := false
		id := func() *parameters { return new(parameters).int4(sub.id) }
		err := s.run(ctx, s.planned(group{
			s.guard(v, "", nil),
			{st: s.statements.get("lock_box", ""), args: new(parameters).text(r.Box)},
			{st: s.statements.get("lock_subscription", ""), args: id()},
			{st: s.statements.get("lock_shards_of", ""), args: id()},
			{
				st: s.statements.get("remove", ""), args: id().bool(force).text(a.Who).text(a.Why).text("remove " + r.String()),
				reset: func() { removed = false },
				each:  func(row) error { removed = true; return nil },
			},
			{st: s.statements.get("gone", ""), args: id()},
		})...)
		s.catalog.Store(nil)
		if err == nil && !removed {
			err = store.ErrWorked
		}
		return err
	})
	if err == nil {
		s.tryToSweep(ctx)
	}
	return translateError("remove "+r.String(), err)
}

// Readmit implements store.Steward.
func (s *Store) Readmit(ctx context.Context, a store.Audit, r store.Ref) error {
	doing := "readmit " + r.String()
	a, err := audited(a)
	if err != nil {
		return translateError(doing, err)
	}
	err = s.guarded(ctx, func(v *server) error {
		found := false
		err := s.run(ctx, s.guard(v, "", nil), call{
			st: s.statements.get("readmit", ""), args: new(parameters).text(r.Box).text(r.Subscription).text(a.Who).text(a.Why).text(doing),
			reset: func() { found = false },
			each:  func(row) error { found = true; return nil },
		})
		if err == nil && !found {
			err = fmt.Errorf("none of that name was removed: %w", store.ErrNoSubscription)
		}
		return err
	})
	return translateError(doing, err)
}
