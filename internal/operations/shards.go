package operations

import (
	"context"
	"slices"

	"github.com/postbag/postbag/store"
)

// ValidShards says whether a subscription can have n shards.
func ValidShards(n int) error {
	if n < 1 || n > store.SlotCount {
		return refusef(ErrInvalid, "the number of shards is not between 1 and %d; write such a number", store.SlotCount)
	}
	return nil
}

// SetShards asks for n shards of a subscription. Relays carry it out, and Look shows how far they are.
func (s Store) SetShards(ctx context.Context, a store.Audit, r store.Ref, n int) error {
	if err := ValidShards(n); err != nil {
		return err
	}
	if err := ValidAudit(a); err != nil {
		return err
	}
	o, err := s.Look(ctx, r.Box)
	if err != nil {
		return err
	}
	of := o.Boxes[0].Subscriptions
	if i := slices.IndexFunc(of, func(v store.SubscriptionView) bool { return v.Ref == r }); i >= 0 && of[i].Replay != nil {
		return refusef(ErrInvalid, "%s is a replay, which keeps its shards until it ends; end it with postbag replay cancel, and start another", r)
	}
	return s.Operator.SetShards(ctx, a, r, n)
}
