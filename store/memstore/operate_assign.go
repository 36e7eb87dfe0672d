package memstore

import (
	"context"
	"slices"

	"github.com/postbag/postbag/store"
	"github.com/postbag/postbag/store/storekit"
)

var _ store.Assigner = (*Store)(nil)

// Assigned implements store.Assigner.
func (s *Store) Assigned(ctx context.Context) ([]store.Assignment, error) {
	return call(ctx, s, OpInspect, func() ([]store.Assignment, error) {
		s.mu.Lock()
		defer s.mu.Unlock()
		var out []store.Assignment
		for _, b := range s.boxes {
			for _, sub := range b.readers() {
				to, who := store.DestinationOf(storekit.ParseSettings(sub.settings))
				if to != "" && sub.replay == nil {
					out = append(out, store.Assignment{Ref: sub.ref, Destination: to, Who: who})
				}
			}
		}
		slices.SortFunc(out, func(a, b store.Assignment) int { return storekit.CompareRefs(a.Ref, b.Ref) })
		return out, nil
	})
}
