package mysqlstore

import (
	"context"

	"github.com/postbag/postbag/store"
)

var (
	_ store.Tuner    = (*Store)(nil)
	_ store.Assigner = (*Store)(nil)
)

// Add declares a subscription that is not there, as an operator says it; see [store.Tuner].
func (s *Store) Add(ctx context.Context, a store.Audit, spec store.Spec) error {
	return s.base.Add(ctx, a, spec)
}

// Tune sets some settings of a subscription's policy; see [store.Tuner].
func (s *Store) Tune(ctx context.Context, a store.Audit, r store.Ref, set []store.Setting, reset []string) error {
	return s.base.Tune(ctx, a, r, set, reset)
}

// Assigned returns the subscriptions that operators have given a destination; see [store.Assigner].
func (s *Store) Assigned(ctx context.Context) ([]store.Assignment, error) {
	return s.base.Assigned(ctx)
}
