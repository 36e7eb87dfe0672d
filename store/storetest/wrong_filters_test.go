package storetest

import (
	"context"
	"strings"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/store"
	"github.com/postbag/postbag/store/memstore"
)

// sieve is a memstore whose filters are changed on their way in, and whose answers on
// their way out.
type sieve struct {
	*memstore.Store
	in      func(*store.Filter)
	records func(*store.Record)
	item    func(*store.Item)
	query   func(*store.Query)
	replays func(*store.Filter)
	erases  bool // what no subscription shows as pending or parked
}

func (s *sieve) Declare(ctx context.Context, specs []store.Spec) error {
	changed := make([]store.Spec, len(specs))
	for i, spec := range specs {
		f := spec.Filter()
		s.in(&f)
		spec.Types, spec.Where = f.Types, f.Where
		changed[i] = spec
	}
	return s.Store.Declare(ctx, changed)
}

func (s *sieve) SetFilter(ctx context.Context, a store.Audit, r store.Ref, f store.Filter) error {
	s.in(&f)
	return s.Store.SetFilter(ctx, a, r, f)
}

func (s *sieve) StartReplay(ctx context.Context, a store.Audit, r store.Replay) error {
	f := store.Filter{Types: r.Types, Where: r.Where}
	s.in(&f)
	s.replays(&f)
	r.Types, r.Where = f.Types, f.Where
	return s.Store.StartReplay(ctx, a, r)
}

func (s *sieve) Turn(ctx context.Context, t store.Turn) (store.TurnResult, error) {
	res, err := s.Store.Turn(ctx, t)
	for i := range res.Batches {
		for j := range res.Batches[i].Records {
			s.records(&res.Batches[i].Records[j])
		}
	}
	return res, err
}

func (s *sieve) List(ctx context.Context, q store.Query) ([]store.Item, string, error) {
	if q.State == store.StateFiltered || q.State == store.StateDelivered {
		q.State = ""
	}
	s.query(&q)
	items, next, err := s.Store.List(ctx, q)
	for i := range items {
		s.item(&items[i])
	}
	return items, next, err
}

func (s *sieve) Erase(ctx context.Context, a store.Audit, box string, ids []postbag.ID) (store.Erased, error) {
	if items, err := s.Show(ctx, box, ids[0]); s.erases && err == nil && items[0].State == store.StateFiltered {
		return store.Erased{Messages: 1}, nil
	}
	return s.Store.Erase(ctx, a, box, ids)
}

// sieves puts a store in a database's place that change does otherwise.
func sieves(change func(*sieve)) func(*database) {
	return func(db *database) {
		s := db.Store.(*memstore.Store) //nolint:errcheck // reference made it
		out := &sieve{Store: s, in: func(*store.Filter) {}, records: func(*store.Record) {}, item: func(*store.Item) {}, query: func(*store.Query) {}, replays: func(*store.Filter) {}}
		change(out)
		db.Store = out
	}
}

// hide takes a record for one that a filter refuses.
func hide(r *store.Record) {
	*r = store.Record{Message: postbag.Message{ID: r.ID}, Seq: r.Seq, Slot: r.Slot, Hash: r.Hash, At: r.At, Filtered: true}
}

const (
	caseWhereReads   = "A filter takes by topic, header and exceptions, and what it refuses comes bare"
	caseWhereLongest = "A filter of as many names as one can have is read"
	caseWherePattern = "Prefixes of a filter and of a listing are taken letter by letter"
	caseWhereRoutes  = "Of routes that exclude those above them one takes each message, readable or not"
	caseWhereSet     = "A command for a filter by topic and header holds in every process, and is shown"
	caseWhereRefused = "A filter that nothing can have is refused"
	caseWhereReplay  = "A replay has a filter by topic and header"
	caseWhereListed  = "Listings and commands judge by topic, header and exceptions"
	caseWhereErased  = "A message that a filter refuses is not erased before it is passed"
	caseListFields   = "Listings by topic, key, type, id and error hold those messages and no others"
	caseListBare     = "A bare listing has all but headers and payloads, and their size does not end it"
	caseErasedAgain  = "An erased message that is read again is filtered by everybody, and the ledgers agree"
	caseWhereDeclare = "A filter by topic, header and exceptions is compared with what is declared"
)

// wrongFilters are mistakes with filters by topic, header and exceptions.
func wrongFilters() []wrong {
	return []wrong{
		{"topics are not asked for", sieves(func(s *sieve) {
			s.in = func(f *store.Filter) { f.Topics = nil }
		}), []string{caseWhereReads, caseWhereRoutes, caseWhereSet, caseWhereRefused, caseWhereDeclare}},
		{"headers are not asked for", sieves(func(s *sieve) {
			s.in = func(f *store.Filter) { f.Headers = nil }
		}), []string{caseWhereReads, caseWhereRoutes, caseWhereSet, caseWhereRefused, caseWhereDeclare}},
		{"exceptions are not known", sieves(func(s *sieve) {
			s.in = func(f *store.Filter) { f.Except = nil }
		}), []string{caseWhereReads, caseWhereRoutes, caseWhereSet, caseWhereRefused, caseWhereDeclare, caseWhereReplay, caseWhereListed}},
		{"a filter ends with its 997th name", sieves(func(s *sieve) {
			s.in = func(f *store.Filter) {
				f.Types, f.Topics = f.Types[:min(len(f.Types), 997)], f.Topics[:min(len(f.Topics), 997)]
			}
		}), []string{caseWhereLongest, caseWhereRefused}},
		{"a backslash in a name is special", sieves(func(s *sieve) {
			s.in = func(f *store.Filter) {
				for _, list := range [][]string{f.Types, f.Topics} {
					for i := range list {
						list[i] = strings.ReplaceAll(list[i], `\`, "")
					}
				}
			}
		}), []string{caseWherePattern}},
		{"a row with a fault is refused by every filter", sieves(func(s *sieve) {
			s.records = func(r *store.Record) {
				if r.Err != nil {
					hide(r)
				}
			}
		}), []string{caseWhereRoutes}},
		{"what is refused comes whole", sieves(func(s *sieve) {
			s.records = func(r *store.Record) {
				if r.Filtered {
					r.Topic = "orders"
				}
			}
		}), []string{caseWhereReads, caseErasedAgain}},
		{"listings show what was refused as delivered", sieves(func(s *sieve) {
			s.item = func(it *store.Item) {
				if it.State == store.StateFiltered {
					it.State = store.StateDelivered
				}
			}
		}), []string{caseWhereListed}},
		{"listings show what was refused as pending", sieves(func(s *sieve) {
			s.item = func(it *store.Item) {
				if it.State == store.StateFiltered {
					it.State = store.StatePending
				}
			}
		}), []string{caseWhereListed}},
		{"a listing takes one type alone", sieves(func(s *sieve) {
			s.query = func(q *store.Query) { q.Types = q.Types[:min(len(q.Types), 1)] }
		}), []string{caseListFields}},
		{"a listing of several types takes all", sieves(func(s *sieve) {
			s.query = func(q *store.Query) { q.Types = nil }
		}), []string{caseListFields}},
		{"a bare listing brings payloads", sieves(func(s *sieve) {
			s.query = func(q *store.Query) { q.Bare = false }
		}), []string{caseListBare}},
		{"a bare page ends where payloads get large", sieves(func(s *sieve) {
			s.query = func(q *store.Query) {
				if q.Bare {
					q.Limit = 4
				}
			}
		}), []string{caseListBare}},
		{"a bare listing has no errors", sieves(func(s *sieve) {
			s.item = func(it *store.Item) {
				if it.Payload == nil && it.State == store.StateDead {
					it.Reason = ""
				}
			}
		}), []string{caseListBare}},
		{"what a filter refuses is erased before it is passed", sieves(func(s *sieve) {
			s.erases = true
		}), []string{caseWhereErased}},
		{"what was erased comes again, empty", sieves(func(s *sieve) {
			s.records = func(r *store.Record) { r.Filtered = false }
		}), []string{caseErasedAgain}},
		{"replays go by types alone", sieves(func(s *sieve) {
			s.replays = func(f *store.Filter) { f.Where = store.Where{} }
		}), []string{caseWhereReplay}},
	}
}
