package storetest

import (
	"errors"
	"slices"

	"github.com/postbag/postbag/store"
)

// expectAssigned fails the case unless these are the subscriptions with a destination, as box/name=destination.
func (e *env) expectAssigned(s store.Assigner, want ...string) []store.Assignment {
	e.Helper()
	all, err := s.Assigned(e.ctx)
	e.check(err, "read which destinations operators have given")
	var got []string
	for _, a := range all {
		got = append(got, a.Ref.String()+"="+a.Destination)
	}
	if !slices.Equal(got, want) {
		e.Fatalf("the store tells %q, want %q", got, want)
	}
	return all
}

func assigned(e *env) {
	t, steward := e.tuner(), e.steward()
	s, ok := e.Store.(store.Assigner)
	if !ok {
		e.Skip("the store is no Assigner")
	}
	e.open(1)
	to := func(name string) []store.Setting {
		return []store.Setting{{Name: store.SettingDestination, Value: name}}
	}
	e.expectAssigned(s)
	for _, name := range []string{"", "a b", "a.b", "ä"} {
		if err := t.Tune(e.ctx, why, ref, to(name), nil); !errors.Is(err, store.ErrSetting) {
			e.Errorf("the destination %q: %v, not ErrSetting", name, err)
		}
	}
	added := store.Ref{Box: box, Subscription: "added"}
	e.check(t.Add(e.ctx, why, store.Spec{Ref: added, Shards: 1}), "add")
	e.check(t.Tune(e.ctx, why, added, to("audit"), nil), "give a destination")
	e.check(t.Tune(e.ctx, why, ref, []store.Setting{{Name: store.SettingBatch, Value: "7"}}, nil), "tune")
	if all := e.expectAssigned(s, added.String()+"=audit"); all[0].Who != why.Who {
		e.Errorf("it is given by %q, want %q", all[0].Who, why.Who)
	}
	e.expectSettings(added, "destination=audit")
	if r, is := e.Store.(store.Replayer); is {
		again := store.Replay{Ref: store.Ref{Box: box, Subscription: "again"}, Of: added.Subscription, Through: 1}
		e.check(r.StartReplay(e.ctx, why, again), "start a replay")
		e.check(t.Tune(e.ctx, why, again.Ref, to("audit"), nil), "tune the replay")
		e.expectAssigned(s, added.String()+"=audit")
	}
	e.check(t.Tune(e.ctx, why, ref, to("Billing_2-x"), nil), "give another one")
	pair := []string{added.String() + "=audit", ref.String() + "=Billing_2-x"}
	slices.Sort(pair)
	e.expectAssigned(s, pair...)
	before := e.epochOf()
	e.check(t.Tune(e.ctx, why, ref, nil, []string{store.SettingDestination}), "reset")
	if e.epochOf() == before {
		e.Error("a destination that is reset leaves the epoch; relays would not hear of it")
	}
	e.check(t.Tune(e.ctx, why, added, to("billing"), nil), "give another one")
	e.expectAssigned(s, added.String()+"=billing")
	e.check(steward.Remove(e.ctx, why, added, true), "remove")
	e.expectAssigned(s)
	e.check(t.Add(e.ctx, why, store.Spec{Ref: added, Shards: 1}), "add it again")
	e.expectAssigned(s)
}
