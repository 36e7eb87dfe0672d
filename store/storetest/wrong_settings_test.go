package storetest

import (
	"context"

	"github.com/postbag/postbag/store"
	"github.com/postbag/postbag/store/memstore"
)

// mistuned is a memstore whose settings, and subscriptions that are added, are done otherwise.
type mistuned struct {
	*memstore.Store
	add     func(context.Context, store.Audit, store.Spec) error
	tune    func(context.Context, store.Audit, store.Ref, []store.Setting, []string) error
	seen    func([]store.Setting) []store.Setting
	epoch   func(int64) int64
	declare func(context.Context, []store.Spec) error
	given   func(context.Context) ([]store.Assignment, error)
}

func (s *mistuned) Assigned(ctx context.Context) ([]store.Assignment, error) { return s.given(ctx) }

func (s *mistuned) Add(ctx context.Context, a store.Audit, spec store.Spec) error {
	return s.add(ctx, a, spec)
}

func (s *mistuned) Tune(ctx context.Context, a store.Audit, r store.Ref, set []store.Setting, reset []string) error {
	return s.tune(ctx, a, r, set, reset)
}

func (s *mistuned) Declare(ctx context.Context, specs []store.Spec) error {
	return s.declare(ctx, specs)
}

func (s *mistuned) Beat(ctx context.Context, b store.Beat) (store.View, error) {
	v, err := s.Store.Beat(ctx, b)
	for i := range v.Subscriptions {
		v.Subscriptions[i].Settings = s.seen(v.Subscriptions[i].Settings)
	}
	return v, err
}

func (s *mistuned) Turn(ctx context.Context, t store.Turn) (store.TurnResult, error) {
	r, err := s.Store.Turn(ctx, t)
	r.Epoch = s.epoch(r.Epoch)
	return r, err
}

// mistunes puts a store in a database's place some of whose calls change does otherwise.
func mistunes(change func(*mistuned)) func(*database) {
	return func(db *database) {
		s := db.Store.(*memstore.Store) //nolint:errcheck // reference made it
		out := &mistuned{
			Store: s, add: s.Add, tune: s.Tune, declare: s.Declare, given: s.Assigned,
			seen: func(all []store.Setting) []store.Setting { return all }, epoch: func(n int64) int64 { return n },
		}
		change(out)
		db.Store = out
	}
}

// wrongTunes are mistakes of settings, and of subscriptions that are added.
func wrongTunes() []wrong {
	return []wrong{
		{"heartbeats show no settings", mistunes(func(s *mistuned) {
			s.seen = func([]store.Setting) []store.Setting { return nil }
		}), []string{
			"A setting that an operator set is in every view until it is reset",
			"Settings go with their subscription, and with no other one",
		}},
		{"a setting does not change the epoch", mistunes(func(s *mistuned) {
			tuned := int64(0)
			s.epoch = func(n int64) int64 { return n - tuned }
			s.tune = func(ctx context.Context, a store.Audit, r store.Ref, set []store.Setting, reset []string) error {
				err := s.Store.Tune(ctx, a, r, set, reset)
				if err == nil {
					tuned++
				}
				return err
			}
		}), []string{"A setting that an operator set is in every view until it is reset"}},
		{"a setting drops all others", mistunes(func(s *mistuned) {
			s.tune = func(ctx context.Context, a store.Audit, r store.Ref, set []store.Setting, reset []string) error {
				for _, name := range store.SettingNames {
					if len(set) == 1 && set[0].Name != name {
						reset = append(reset, name)
					}
				}
				return s.Store.Tune(ctx, a, r, set, reset)
			}
		}), []string{"Each setting keeps its value, who set it and why, whatever becomes of others"}},
		{"reset is not heeded", mistunes(func(s *mistuned) {
			s.tune = func(ctx context.Context, a store.Audit, r store.Ref, set []store.Setting, _ []string) error {
				if len(set) == 0 {
					return nil
				}
				return s.Store.Tune(ctx, a, r, set, nil)
			}
		}), []string{"A setting that an operator set is in every view until it is reset"}},
		{"what can be of wrong settings is set", mistunes(func(s *mistuned) {
			s.tune = func(ctx context.Context, a store.Audit, r store.Ref, set []store.Setting, reset []string) error {
				err := s.Store.Tune(ctx, a, r, set, reset)
				if err != nil && len(set) > 1 {
					_ = s.Store.Tune(ctx, a, r, set[:1], reset)
				}
				return err
			}
		}), []string{"A setting that cannot be is refused, and nothing is set"}},
		{"a setting is for all subscriptions", mistunes(func(s *mistuned) {
			var last []store.Setting
			s.seen = func([]store.Setting) []store.Setting { return last }
			s.tune = func(ctx context.Context, a store.Audit, r store.Ref, set []store.Setting, reset []string) error {
				last = set
				return s.Store.Tune(ctx, a, r, set, reset)
			}
		}), []string{"Settings go with their subscription, and with no other one"}},
		{"what is added begins with the first message", mistunes(func(s *mistuned) {
			s.add = func(ctx context.Context, a store.Audit, spec store.Spec) error {
				spec.From = store.Start{}
				return s.Store.Add(ctx, a, spec)
			}
		}), []string{"An added subscription begins where the operator says, and keeps the filter"}},
		{"what is added is only declared", mistunes(func(s *mistuned) {
			s.add = func(ctx context.Context, _ store.Audit, spec store.Spec) error {
				return s.Store.Declare(ctx, []store.Spec{spec})
			}
		}), []string{
			"An added subscription begins where the operator says, and keeps the filter",
			"A subscription is added only where there is none, also one that was removed",
			"Settings, or a subscription, without who or why are refused",
		}},
		{"what was removed is readmitted although it is not added", mistunes(func(s *mistuned) {
			s.add = func(ctx context.Context, a store.Audit, spec store.Spec) error {
				err := s.Store.Add(ctx, a, spec)
				if err != nil && spec.Ref == ref {
					_ = s.Readmit(ctx, why, ref)
				}
				return err
			}
		}), []string{"A subscription is added only where there is none, also one that was removed"}},
		{"a destination that was given stays when it is reset", mistunes(func(s *mistuned) {
			s.tune = func(ctx context.Context, a store.Audit, r store.Ref, set []store.Setting, reset []string) error {
				if len(set) == 0 && len(reset) == 1 && reset[0] == store.SettingDestination {
					return nil
				}
				return s.Store.Tune(ctx, a, r, set, reset)
			}
		}), []string{"A destination that an operator gives is told with its subscription until it is reset"}},
		{"the destinations that operators give are told of nobody", mistunes(func(s *mistuned) {
			s.given = func(context.Context) ([]store.Assignment, error) { return nil, nil }
		}), []string{"A destination that an operator gives is told with its subscription until it is reset"}},
		{"who and why of a setting are made up", mistunes(func(s *mistuned) {
			s.tune = func(ctx context.Context, _ store.Audit, r store.Ref, set []store.Setting, reset []string) error {
				return s.Store.Tune(ctx, store.Audit{Who: "x", Why: "x"}, r, set, reset)
			}
		}), []string{
			"Settings, or a subscription, without who or why are refused",
			"Each setting keeps its value, who set it and why, whatever becomes of others",
			"A setting that an operator set is in every view until it is reset",
			"A destination that an operator gives is told with its subscription until it is reset",
		}},
	}
}
