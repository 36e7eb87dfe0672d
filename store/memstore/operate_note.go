package memstore

import (
	"context"
	"errors"

	"github.com/postbag/postbag/store"
)

var _ store.Noter = (*Store)(nil)

// Note implements store.Noter.
func (s *Store) Note(ctx context.Context, a store.Audit, what string) error {
	_, err := call(ctx, s, OpCommand, func() (none struct{}, err error) {
		if a.Who == "" || a.Why == "" || what == "" {
			return none, errors.New("memstore: note: who, why or what is missing; give all, they go to the audit log")
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		s.note(a, what)
		return none, nil
	})
	return err
}
