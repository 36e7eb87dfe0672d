package storetest

import (
	"context"
	"slices"
	"strconv"

	"github.com/postbag/postbag/store"
	"github.com/postbag/postbag/store/memstore"
	"github.com/postbag/postbag/store/storekit"
)

const caseListFew = "A listing finds a few errors, keys and discarded messages among many"

const caseListHeaded = "A listing asks a filter for headers wherever it finds a message"

// onePage ends a listing at its first page when it looks for an error.
type onePage struct{ *memstore.Store }

func (s onePage) List(ctx context.Context, q store.Query) ([]store.Item, string, error) {
	items, next, err := s.Store.List(ctx, q)
	if q.Error != "" {
		next = ""
	}
	return items, next, err
}

// headless asks filters without headers wherever it does not go by the log.
type headless struct {
	*memstore.Store
	state store.State
}

func (s headless) List(ctx context.Context, q store.Query) ([]store.Item, string, error) {
	items, next, err := s.Store.List(ctx, q)
	if o, _ := s.Overview(ctx); len(o.Boxes) == 1 && len(o.Boxes[0].Subscriptions[0].Where.Headers) > 0 && q.State == s.state {
		items = slices.DeleteFunc(items, func(it store.Item) bool { return storekit.StateOf(storekit.ParkStateOf(it.State)) != it.State })
	}
	return items, next, err
}

// instead puts another store in a database's place.
func instead(of func(*memstore.Store) store.Store) func(*database) {
	return func(db *database) {
		s := db.Store.(*memstore.Store) //nolint:errcheck // reference made it
		db.Store = of(s)
	}
}

func wrongLists() []wrong {
	out := []wrong{{"a listing by error ends at its first page", instead(func(s *memstore.Store) store.Store { return onePage{s} }), []string{caseListFew}}}
	for _, state := range []store.State{store.StateDiscarded, store.StateSuperseded, store.StateDelivered, ""} {
		out = append(out, wrong{"a listing of state " + strconv.Quote(string(state)) + " asks filters without headers", instead(func(s *memstore.Store) store.Store {
			return headless{s, state}
		}), []string{caseListHeaded}})
	}
	return out
}
