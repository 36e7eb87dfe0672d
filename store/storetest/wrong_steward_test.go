package storetest

import (
	"context"
	"slices"
	"sync"

	"github.com/postbag/postbag/store"
	"github.com/postbag/postbag/store/memstore"
)

// bungler is a memstore whose changes of subscriptions, and what follows from them, are done otherwise.
type bungler struct {
	*memstore.Store
	declare   func(context.Context, []store.Spec) error
	setFilter func(context.Context, store.Audit, store.Ref, store.Filter) error
	remove    func(context.Context, store.Audit, store.Ref, bool) error
	readmit   func(context.Context, store.Audit, store.Ref) error
	turn      func(context.Context, store.Turn) (store.TurnResult, error)
	overview  func(context.Context) (store.Overview, error)
}

func (s *bungler) Declare(ctx context.Context, specs []store.Spec) error {
	return s.declare(ctx, specs)
}

func (s *bungler) SetFilter(ctx context.Context, a store.Audit, r store.Ref, f store.Filter) error {
	return s.setFilter(ctx, a, r, f)
}

func (s *bungler) Remove(ctx context.Context, a store.Audit, r store.Ref, force bool) error {
	return s.remove(ctx, a, r, force)
}

func (s *bungler) Readmit(ctx context.Context, a store.Audit, r store.Ref) error {
	return s.readmit(ctx, a, r)
}

func (s *bungler) Turn(ctx context.Context, t store.Turn) (store.TurnResult, error) {
	return s.turn(ctx, t)
}

func (s *bungler) Overview(ctx context.Context) (store.Overview, error) { return s.overview(ctx) }

// bungles puts a store in a database's place some of whose calls change does otherwise.
func bungles(change func(*bungler)) func(*database) {
	return func(db *database) {
		s := db.Store.(*memstore.Store) //nolint:errcheck // reference made it
		out := &bungler{
			Store: s, declare: s.Declare, setFilter: s.SetFilter, remove: s.Remove, readmit: s.Readmit, turn: s.Turn, overview: s.Overview,
		}
		change(out)
		db.Store = out
	}
}

// wrongStewards are mistakes of changing subscriptions.
func wrongStewards() []wrong {
	return []wrong{
		{"a filter that was read once is kept", bungles(keepFilter), []string{
			"Every read that begins after a command for the filter goes by it, in every process",
			"The ledger agrees although the filter changed between two reads",
			caseWhereSet,
		}},
		{"a declaration puts its own filter back", bungles(func(s *bungler) {
			s.declare = func(ctx context.Context, specs []store.Spec) error {
				for _, spec := range specs {
					_ = s.Store.SetFilter(ctx, why, spec.Ref, spec.Filter()) // an error where it is new
				}
				return s.Store.Declare(ctx, specs)
			}
		}), []string{"A filter that an operator set stays, whatever is declared"}},
		{"types are not looked at", bungles(func(s *bungler) {
			s.setFilter = func(ctx context.Context, a store.Audit, r store.Ref, f store.Filter) error {
				err := s.Store.SetFilter(ctx, a, r, f)
				if err != nil && len(f.Types) > 0 {
					return s.Store.SetFilter(ctx, a, r, store.Filter{Types: []string{"taken"}})
				}
				return err
			}
		}), []string{"A command for the filter is refused if it names what is no type"}},
		{"a removal leaves the subscription paused and there", bungles(func(s *bungler) {
			s.remove = func(ctx context.Context, a store.Audit, r store.Ref, _ bool) error {
				return s.SetPaused(ctx, a, r, true)
			}
		}), []string{
			"Of a removed subscription nothing is left, and others stay",
			"What only a removed subscription kept is dropped",
			"A removed subscription is not declared again until it is readmitted",
			"Settlements under the leases of a removed subscription are lost",
		}},
		{"a removed subscription is declared again at once", bungles(func(s *bungler) {
			s.declare = func(ctx context.Context, specs []store.Spec) error {
				for _, spec := range specs {
					_ = s.Store.Readmit(ctx, why, spec.Ref) // an error where it was not removed
				}
				return s.Store.Declare(ctx, specs)
			}
		}), []string{"A removed subscription is not declared again until it is readmitted"}},
		{"every removal is by force", bungles(func(s *bungler) {
			s.remove = func(ctx context.Context, a store.Audit, r store.Ref, _ bool) error {
				return s.Store.Remove(ctx, a, r, true)
			}
		}), []string{"A subscription that a live relay works is removed only if it is paused, or by force"}},
		{"force is not heeded", bungles(func(s *bungler) {
			s.remove = func(ctx context.Context, a store.Audit, r store.Ref, _ bool) error {
				return s.Store.Remove(ctx, a, r, false)
			}
		}), []string{"A subscription that a live relay works is removed only if it is paused, or by force"}},
		{"who and why are made up", bungles(func(s *bungler) {
			s.setFilter = func(ctx context.Context, _ store.Audit, r store.Ref, f store.Filter) error {
				return s.Store.SetFilter(ctx, store.Audit{Who: "x", Why: "x"}, r, f)
			}
		}), []string{
			"A change of a subscription without who or why is refused",
			"Every read that begins after a command for the filter goes by it, in every process",
			"A filter that an operator set stays, whatever is declared",
		}},
		{"settlements under old leases are said to be applied", bungles(func(s *bungler) {
			s.turn = func(ctx context.Context, t store.Turn) (store.TurnResult, error) {
				res, err := s.Store.Turn(ctx, t)
				for i := range res.Verdicts {
					res.Verdicts[i].Applied = true
				}
				return res, err
			}
		}), []string{"Settlements under the leases of a removed subscription are lost"}},
	}
}

// keepFilter goes on with the filter that a subscription had at the first read.
func keepFilter(s *bungler) {
	var mu sync.Mutex
	kept := map[store.Ref]store.Filter{}
	s.setFilter = func(ctx context.Context, a store.Audit, r store.Ref, f store.Filter) error {
		mu.Lock()
		defer mu.Unlock()
		if _, read := kept[r]; !read {
			return s.Store.SetFilter(ctx, a, r, f)
		}
		return s.Store.SetFilter(ctx, a, r, kept[r])
	}
	s.turn = func(ctx context.Context, t store.Turn) (store.TurnResult, error) {
		mu.Lock()
		o, err := s.Store.Overview(ctx)
		for _, b := range o.Boxes {
			for _, v := range b.Subscriptions {
				_, has := kept[v.Ref]
				if slices.ContainsFunc(t.Read, func(q store.Request) bool { return q.Ref == v.Ref }) && !has {
					kept[v.Ref] = store.Filter{Types: slices.Clone(v.Types), Where: v.Where}
				}
			}
		}
		mu.Unlock()
		if err != nil {
			return store.TurnResult{}, err
		}
		return s.Store.Turn(ctx, t)
	}
}
