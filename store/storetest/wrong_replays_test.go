package storetest

import (
	"context"
	"errors"
	"time"

	"github.com/postbag/postbag/store"
	"github.com/postbag/postbag/store/memstore"
)

// spoiltReplays is a memstore whose replays are done otherwise. Nil functions are the
// store's own.
type spoiltReplays struct {
	*memstore.Store
	start  func(context.Context, store.Audit, store.Replay) error
	end    func(context.Context, store.Audit, store.Ref, string) error
	floor  func(store.Position) (int64, error)
	search func(context.Context, string, time.Time) (int64, error)
	view   func(*store.Overview)
	retain func(context.Context, store.Retention) (store.Report, error)
}

// wrongly puts a store with wrong replays in a database's place.
func wrongly(change func(*spoiltReplays)) func(*database) {
	return func(db *database) {
		s := db.Store.(*memstore.Store) //nolint:errcheck // reference made it
		out := &spoiltReplays{
			Store: s, start: s.StartReplay, end: s.EndReplay, floor: s.Floor, search: s.SeqBefore, view: func(*store.Overview) {}, retain: s.Maintain,
		}
		change(out)
		db.Store = out
	}
}

func (s *spoiltReplays) StartReplay(ctx context.Context, a store.Audit, r store.Replay) error {
	return s.start(ctx, a, r)
}

func (s *spoiltReplays) EndReplay(ctx context.Context, a store.Audit, r store.Ref, summary string) error {
	return s.end(ctx, a, r, summary)
}

func (s *spoiltReplays) Floor(p store.Position) (int64, error) { return s.floor(p) }

func (s *spoiltReplays) SeqBefore(ctx context.Context, box string, at time.Time) (int64, error) {
	return s.search(ctx, box, at)
}

func (s *spoiltReplays) Overview(ctx context.Context) (store.Overview, error) {
	o, err := s.Store.Overview(ctx)
	s.view(&o)
	return o, err
}

func (s *spoiltReplays) Maintain(ctx context.Context, r store.Retention) (store.Report, error) {
	return s.retain(ctx, r)
}

// wrongReplays are mistakes of replays.
func wrongReplays() []wrong {
	return []wrong{
		{"replays begin at the beginning", wrongly(func(s *spoiltReplays) {
			s.start = func(ctx context.Context, a store.Audit, r store.Replay) error {
				r.After = 0
				return s.Store.StartReplay(ctx, a, r)
			}
		}), []string{"A replay begins behind its seq, and an overview shows what it sends again"}},
		{"replays are plain subscriptions", wrongly(func(s *spoiltReplays) {
			s.start = func(ctx context.Context, _ store.Audit, r store.Replay) error {
				return s.Declare(ctx, []store.Spec{r.Spec()})
			}
		}), []string{
			"A replay begins behind its seq, and an overview shows what it sends again",
			"Nobody declares a subscription by the name of a replay",
			"A replay of nothing, of nobody or without a reason is refused, and nothing is written",
		}},
		{"what lies behind the end is a backlog", wrongly(func(s *spoiltReplays) {
			s.view = func(o *store.Overview) {
				for i := range o.Boxes {
					for j := range o.Boxes[i].Subscriptions {
						o.Boxes[i].Subscriptions[j].Backlog += 4
					}
				}
			}
		}), []string{"A replay begins behind its seq, and an overview shows what it sends again"}},
		{"a replay forgets its keys", wrongly(func(s *spoiltReplays) {
			s.start = func(ctx context.Context, a store.Audit, r store.Replay) error {
				r.Keys = nil
				return s.Store.StartReplay(ctx, a, r)
			}
		}), []string{"A replay begins behind its seq, and an overview shows what it sends again"}},
		{"a replay takes the shards of its subscription away", wrongly(func(s *spoiltReplays) {
			s.start = func(ctx context.Context, a store.Audit, r store.Replay) error {
				_, err := s.Beat(ctx, store.Beat{Relay: "r", Name: "relay r", TTL: long, Works: []store.Ref{ref}, Give: leasesOf(ctx, s.Store)})
				return errors.Join(err, s.Store.StartReplay(ctx, a, r))
			}
		}), []string{"A replay leaves the subscription that it is of as it was"}},
		{"what was filtered is not counted", wrongly(func(s *spoiltReplays) {
			s.view = func(o *store.Overview) {
				for i := range o.Boxes {
					for j := range o.Boxes[i].Subscriptions {
						o.Boxes[i].Subscriptions[j].Filtered = 0
					}
				}
			}
		}), []string{"A replay accounts for what it sent in a ledger of its own"}},
		{"an ended replay stays", wrongly(func(s *spoiltReplays) {
			s.end = func(context.Context, store.Audit, store.Ref, string) error { return nil }
		}), []string{
			"An ended replay is gone with all it had, and its relay has lost it",
			"Nothing is dropped that a replay has not passed, until it is ended",
		}},
		{"an end is not audited as it is said", wrongly(func(s *spoiltReplays) {
			s.end = func(ctx context.Context, a store.Audit, r store.Ref, _ string) error {
				return s.Store.EndReplay(ctx, a, r, "over")
			}
		}), []string{"An ended replay is gone with all it had, and its relay has lost it"}},
		{"retention ends replays", wrongly(func(s *spoiltReplays) {
			s.retain = func(ctx context.Context, r store.Retention) (store.Report, error) {
				_ = s.Store.EndReplay(ctx, byOperator, again, "in the way") // an error where there is none
				return s.Store.Maintain(ctx, r)
			}
		}), []string{"Nothing is dropped that a replay has not passed, until it is ended"}},
		{"a pause of a replay is not shown", wrongly(func(s *spoiltReplays) {
			s.view = func(o *store.Overview) {
				for i := range o.Boxes {
					for j := range o.Boxes[i].Subscriptions {
						if v := &o.Boxes[i].Subscriptions[j]; v.Replay != nil {
							v.Paused = false
						}
					}
				}
			}
		}), []string{"A replay is paused and resumed as any subscription"}},
		{"the floor is the last message that came", wrongly(func(s *spoiltReplays) {
			s.floor = func(p store.Position) (int64, error) {
				floor, err := s.Store.Floor(p)
				if o, _ := s.Store.Overview(context.Background()); len(o.Boxes) > 0 && p != "" {
					floor = o.Boxes[0].Last
				}
				return floor, err
			}
		}), []string{"Up to the floor of a position nothing comes any more", "The floor of a position waits for what is open, and goes on after it"}},
		{"the floor never moves", wrongly(func(s *spoiltReplays) {
			s.floor = func(p store.Position) (int64, error) {
				_, err := s.Store.Floor(p)
				return 0, err
			}
		}), []string{"Up to the floor of a position nothing comes any more", "The floor of a position waits for what is open, and goes on after it"}},
		{"a search by time finds the end", wrongly(func(s *spoiltReplays) {
			s.search = func(ctx context.Context, box string, at time.Time) (int64, error) {
				_, err := s.Store.SeqBefore(ctx, box, at)
				return 1 << 40, err
			}
		}), []string{"A seq is found by the time when it was stored"}},
	}
}

// leasesOf are the leases of the default subscription.
func leasesOf(ctx context.Context, s *memstore.Store) (out []store.Lease) {
	o, _ := s.Overview(ctx) // a memstore without faults
	for i := range o.Boxes {
		for j := range o.Boxes[i].Subscriptions {
			if v := &o.Boxes[i].Subscriptions[j]; v.Ref == ref {
				for k := range v.Shards {
					out = append(out, v.Shards[k].Lease)
				}
			}
		}
	}
	return out
}
