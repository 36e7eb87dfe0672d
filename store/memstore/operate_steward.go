package memstore

import (
	"context"
	"fmt"
	"slices"

	"github.com/postbag/postbag/store"
	"github.com/postbag/postbag/store/storekit"
)

// SetFilter implements store.Steward.
func (s *Store) SetFilter(ctx context.Context, a store.Audit, r store.Ref, f store.Filter) error {
	return s.steward(ctx, func() error {
		if err := storekit.CheckNewFilter(f); err != nil {
			return fmt.Errorf("memstore: set the filter of %s: %w", r, err)
		}
		sub, err := s.reader(a, r)
		if err != nil {
			return err
		}
		if sub.typesBy != a.Who || !storekit.SameFilter(store.Filter{Types: sub.types, Where: sub.where}, f) {
			s.epoch++
		}
		sub.filtered(f)
		sub.typesBy = a.Who
		s.note(a, storekit.FilterSetText(r, f))
		return nil
	})
}

// Remove implements store.Steward.
func (s *Store) Remove(ctx context.Context, a store.Audit, r store.Ref, force bool) error {
	return s.steward(ctx, func() error {
		sub, err := s.reader(a, r)
		if err != nil {
			return err
		}
		if !force && !s.holds(r, s.now()) && s.worked(sub) {
			return fmt.Errorf("memstore: remove %s: %w", r, store.ErrWorked)
		}
		delete(sub.box.subs, r.Subscription)
		s.forgetPauses(r)
		sub.box.removed[r.Subscription] = store.Removed{Name: r.Subscription, At: s.now().UTC(), By: a.Who}
		s.epoch++
		s.note(a, "remove "+r.String())
		return nil
	})
}

// Readmit implements store.Steward.
func (s *Store) Readmit(ctx context.Context, a store.Audit, r store.Ref) error {
	return s.steward(ctx, func() error {
		if err := storekit.CheckAudit(a); err != nil {
			return fmt.Errorf("memstore: readmit %s: %w", r, err)
		}
		b, err := s.box(r.Box)
		if err != nil {
			return err
		}
		if _, gone := b.removed[r.Subscription]; !gone {
			return fmt.Errorf("memstore: readmit %s: none of that name was removed: %w", r, store.ErrNoSubscription)
		}
		delete(b.removed, r.Subscription)
		s.epoch++
		s.note(a, "readmit "+r.String())
		return nil
	})
}

// steward makes a call that changes subscriptions, under the lock.
func (s *Store) steward(ctx context.Context, do func() error) error {
	_, err := call(ctx, s, OpCommand, func() (struct{}, error) {
		s.mu.Lock()
		defer s.mu.Unlock()
		return struct{}{}, do()
	})
	return err
}

// reader returns the subscription that a command is about, unless it is the one that stands for maintenance.
func (s *Store) reader(a store.Audit, r store.Ref) (*subscription, error) {
	sub, err := s.ordered(a, r)
	if err == nil && r.Subscription == store.Maintenance {
		err = fmt.Errorf("memstore: subscription %s: %w", r, store.ErrNoSubscription)
	}
	return sub, err
}

// worked says whether a live relay holds a shard.
func (s *Store) worked(sub *subscription) bool {
	now := s.now()
	return slices.ContainsFunc(sub.shards, func(sh *shard) bool {
		r := s.relays[sh.owner]
		return r != nil && !r.dead && now.Before(r.expires)
	})
}
