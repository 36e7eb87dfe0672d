package mysqlstore

import (
	"context"

	"github.com/postbag/postbag/store"
)

var _ store.Noter = (*Store)(nil)

// Note writes a line to the audit log; see [store.Noter].
func (s *Store) Note(ctx context.Context, a store.Audit, what string) error {
	return s.base.Note(ctx, a, what)
}
