package storetest

import (
	"context"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/store"
	"github.com/postbag/postbag/store/memstore"
)

// firstCopy is a memstore that finds of a message that was published twice the first alone, when it erases it.
type firstCopy struct {
	*memstore.Store
	erases bool // in spite of a second one that is to be delivered
	left   map[postbag.ID]store.Item
}

func (s firstCopy) Erase(ctx context.Context, a store.Audit, box string, ids []postbag.ID) (store.Erased, error) {
	items, _, _ := s.Store.List(ctx, store.Query{Ref: store.Ref{Box: box}, ID: ids[0]})
	if len(items) == 2 && s.erases && items[0].State == store.StatePending {
		return store.Erased{Messages: 1}, nil
	}
	if len(items) == 2 && !s.erases {
		s.left[ids[0]] = items[0]
	}
	return s.Store.Erase(ctx, a, box, ids)
}

func (s firstCopy) List(ctx context.Context, q store.Query) ([]store.Item, string, error) {
	items, next, err := s.Store.List(ctx, q)
	for i := range items {
		if was, ok := s.left[items[i].ID]; ok && was.Seq == items[i].Seq {
			items[i].Record = was.Record
		}
	}
	return items, next, err
}

// wrongErasures are mistakes in what is erased.
func wrongErasures() []wrong {
	const twice = "A message that was published twice is erased in both places, or in none"
	only := func(erases bool) func(*database) {
		return instead(func(s *memstore.Store) store.Store { return firstCopy{s, erases, map[postbag.ID]store.Item{}} })
	}
	return []wrong{
		{"of a message that was published twice the second stays", only(false), []string{twice}},
		{"a message is erased whose second copy is to be delivered", only(true), []string{twice}},
	}
}
