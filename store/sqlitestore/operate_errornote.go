package sqlitestore

import (
	"context"

	"github.com/postbag/postbag/store"
)

var _ store.ErrorNoter = (*Store)(nil)

// SetErrorNote writes or removes a note on errors; see [store.ErrorNoter].
func (s *Store) SetErrorNote(ctx context.Context, a store.Audit, n store.ErrorNote) error {
	return s.base.SetErrorNote(ctx, a, n)
}

// ErrorNotes returns notes on errors; see [store.ErrorNoter].
func (s *Store) ErrorNotes(ctx context.Context, r store.Ref) ([]store.ErrorNote, error) {
	return s.base.ErrorNotes(ctx, r)
}
