package operations

import (
	"context"

	"github.com/postbag/postbag/store"
)

// SetPaused holds a subscription, or lets it go on. Relays hear of it within a moment.
func (s Store) SetPaused(ctx context.Context, a store.Audit, r store.Ref, paused bool) error {
	if err := ValidAudit(a); err != nil {
		return err
	}
	return s.Operator.SetPaused(ctx, a, r, paused)
}
