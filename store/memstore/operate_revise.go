package memstore

import (
	"context"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/store"
	"github.com/postbag/postbag/store/storekit"
)

// Revise implements store.Reviser.
func (s *Store) Revise(ctx context.Context, a store.Audit, boxName string, of postbag.ID, m postbag.Message) error {
	if _, err := edit(ctx, s, a, boxName, func(*box) (none struct{}, _ error) { return none, nil }); err != nil {
		return err
	}
	var line string
	err := storekit.Revise(ctx, s, boxName, of, m, func(_ context.Context, _ *Tx, what string) error {
		line = what
		return nil
	})
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.note(a, line)
	return nil
}
