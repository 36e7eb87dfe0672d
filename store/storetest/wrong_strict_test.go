package storetest

import (
	"context"
	"slices"
	"sync"

	"github.com/postbag/postbag/store"
	"github.com/postbag/postbag/store/memstore"
)

const caseListStrict = "A listing by key has what was parked under strict order"

// byHash finds the parked messages of a key by the hash that their rows have.
type byHash struct {
	*memstore.Store
	mu     sync.Mutex
	strict map[int64]bool // seqs
}

func (s *byHash) Turn(ctx context.Context, t store.Turn) (store.TurnResult, error) {
	s.mu.Lock()
	for i := range t.Settle {
		for _, p := range t.Settle[i].Park {
			s.strict[p.Seq] = p.Hash == store.StrictHash
		}
	}
	s.mu.Unlock()
	return s.Store.Turn(ctx, t)
}

func (s *byHash) List(ctx context.Context, q store.Query) ([]store.Item, string, error) {
	items, next, err := s.Store.List(ctx, q)
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.DeleteFunc(items, func(it store.Item) bool { return q.Key != "" && q.State != "" && s.strict[it.Seq] }), next, err
}

func wrongKeys() []wrong {
	return []wrong{{"a listing by key goes by the hash of the row alone", func(db *database) {
		s := db.Store.(*memstore.Store) //nolint:errcheck // reference made it
		db.Store = &byHash{Store: s, strict: map[int64]bool{}}
	}, []string{caseListStrict}}}
}
