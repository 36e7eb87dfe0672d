package storetest

import (
	"context"

	"github.com/postbag/postbag/store"
	"github.com/postbag/postbag/store/memstore"
)

const caseListFew = "A listing finds a few errors, keys and discarded messages among many"

// onePage ends a listing at its first page when it looks for an error.
type onePage struct{ *memstore.Store }

func (s onePage) List(ctx context.Context, q store.Query) ([]store.Item, string, error) {
	items, next, err := s.Store.List(ctx, q)
	if q.Error != "" {
		next = ""
	}
	return items, next, err
}

func wrongLists() []wrong {
	return []wrong{{"a listing by error ends at its first page", func(db *database) {
		s := db.Store.(*memstore.Store) //nolint:errcheck // reference made it
		db.Store = onePage{s}
	}, []string{caseListFew}}}
}
