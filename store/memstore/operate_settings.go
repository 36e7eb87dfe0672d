package memstore

import (
	"context"
	"fmt"

	"github.com/postbag/postbag/store"
	"github.com/postbag/postbag/store/storekit"
)

var _ store.Tuner = (*Store)(nil)

// Add implements store.Tuner.
func (s *Store) Add(ctx context.Context, a store.Audit, spec store.Spec) error {
	return s.steward(ctx, func() error {
		if err := s.add(a, spec); err != nil {
			return fmt.Errorf("memstore: add %s: %w", spec.Ref, err)
		}
		return nil
	})
}

func (s *Store) add(a store.Audit, spec store.Spec) error {
	if err := storekit.CheckAudit(a); err != nil {
		return err
	}
	if err := storekit.CheckNewFilter(spec.Filter()); err != nil {
		return err
	}
	b, err := s.box(spec.Box)
	if err != nil {
		return err
	}
	if b.subs[spec.Subscription] != nil {
		return store.ErrExists
	}
	removed, was := b.removed[spec.Subscription]
	delete(b.removed, spec.Subscription)
	if err := s.declare(spec); err != nil {
		if was {
			b.removed[spec.Subscription] = removed
		}
		return err
	}
	sub := b.subs[spec.Subscription]
	sub.typesBy = a.Who
	if spec.Shards > 0 {
		sub.wantedBy = a.Who
	}
	s.note(a, storekit.AddText(&spec))
	return nil
}

// Tune implements store.Tuner.
func (s *Store) Tune(ctx context.Context, a store.Audit, r store.Ref, set []store.Setting, reset []string) error {
	return s.steward(ctx, func() error {
		if err := store.CheckSettings(set, reset); err != nil {
			return fmt.Errorf("memstore: set %s: %w", r, err)
		}
		sub, err := s.reader(a, r)
		if err != nil {
			return err
		}
		text, err := storekit.MergeSettings(sub.settings, a, s.now().UnixMicro(), set, reset)
		if err != nil {
			return fmt.Errorf("memstore: set %s: %w", r, err)
		}
		sub.settings = text
		s.epoch++
		s.note(a, storekit.SettingsText(r, set, reset))
		return nil
	})
}
