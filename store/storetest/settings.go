package storetest

import (
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/postbag/postbag/store"
)

// tuneCases are about settings that operators set, and subscriptions that they add.
func tuneCases() []scenario {
	return []scenario{
		{name: "A setting that an operator set is in every view until it is reset", run: tuneSet},
		{name: "Each setting keeps its value, who set it and why, whatever becomes of others", run: tuneAlone},
		{name: "A setting that cannot be is refused, and nothing is set", run: tuneRefused},
		{name: "Settings go with their subscription, and with no other one", run: tuneRemoved},
		{name: "An added subscription begins where the operator says, and keeps the filter", run: addPlace},
		{name: "A subscription is added only where there is none, also one that was removed", run: addOnce},
		{name: "Settings, or a subscription, without who or why are refused", run: tuneAudit},
		{name: "A destination that an operator gives is told with its subscription until it is reset", run: assigned},
	}
}

// tuner returns the store as a Tuner, or skips the case.
func (e *env) tuner() store.Tuner {
	e.Helper()
	o, ok := e.Store.(store.Tuner)
	if !ok {
		e.Skip("the store is no Tuner")
	}
	return o
}

// expectSettings fails the case unless these are the settings, as name=value, in a heartbeat's view and in the overview.
func (e *env) expectSettings(of store.Ref, want ...string) []store.Setting {
	e.Helper()
	seen := e.look(of).Settings
	for where, all := range map[string][]store.Setting{"a heartbeat": seen, "the overview": e.viewOr(of).Settings} {
		var got []string
		for i := range all {
			got = append(got, all[i].Name+"="+all[i].Value)
		}
		if !slices.Equal(got, want) {
			e.Fatalf("%s shows the settings %q of %s, want %q", where, got, of, want)
		}
	}
	return seen
}

func tuneSet(e *env) {
	s := e.tuner()
	e.open(2)
	e.expectSettings(ref)
	tune := func(set []store.Setting, reset ...string) {
		e.Helper()
		before := e.epochOf()
		e.check(s.Tune(e.ctx, why, ref, set, reset), "tune")
		if e.epochOf() == before {
			e.Error("a setting leaves the epoch; relays would not hear of it")
		}
	}
	tune([]store.Setting{{Name: store.SettingRate, Value: "100/s burst=5"}, {Name: store.SettingMaxAge, Value: "none"}})
	all := e.expectSettings(ref, "max_age=none", "rate=100/s burst=5")
	now := e.now()
	if all[0].Who != why.Who || all[0].Why != why.Why || all[0].At.Sub(now).Abs() > time.Minute {
		e.Errorf("it is set by %q for %q at %v, want %+v at about %v", all[0].Who, all[0].Why, all[0].At, why, now)
	}
	e.check(e.other().Declare(e.ctx, []store.Spec{{Ref: ref}}), "declare")
	e.expectSettings(ref, "max_age=none", "rate=100/s burst=5")
	tune([]store.Setting{{Name: store.SettingBatch, Value: "7"}}, store.SettingRate)
	e.expectSettings(ref, "batch=7", "max_age=none")
	tune(nil, store.SettingMaxAge, store.SettingBatch, store.SettingTimeout)
	e.expectSettings(ref)
	lines, err := e.operator().Audited(e.ctx, 10)
	e.check(err, "audit log")
	if len(lines) != 3 || lines[0].Audit != why || lines[1].What != `set `+ref.String()+` batch="7" reset rate` {
		e.Errorf("the audit log has %+v, want three entries that say what was set and reset", lines)
	}
}

func tuneAlone(e *env) {
	s := e.tuner()
	e.open(1)
	other := store.Audit{Who: "bob \"the\" builder", Why: "l'été, \\ {}"}
	e.check(s.Tune(e.ctx, why, ref, []store.Setting{{Name: store.SettingBatch, Value: "7"}}, nil), "tune")
	e.check(s.Tune(e.ctx, other, ref, []store.Setting{{Name: store.SettingTimeout, Value: "3s"}}, nil), "tune")
	all := e.expectSettings(ref, "batch=7", "timeout=3s")
	if all[0].Who != why.Who || all[1].Who != other.Who || all[1].Why != other.Why || all[0].Why != why.Why {
		e.Errorf("the settings are %+v, want one of each operator", all)
	}
	e.check(s.Tune(e.ctx, other, ref, []store.Setting{{Name: store.SettingBatch, Value: "8"}}, nil), "tune")
	if all = e.expectSettings(ref, "batch=8", "timeout=3s"); all[0].Who != other.Who {
		e.Errorf("a setting that another operator changed is said to be set by %q", all[0].Who)
	}
}

func tuneRefused(e *env) {
	s := e.tuner()
	e.open(1)
	good := store.Setting{Name: store.SettingBatch, Value: "7"}
	e.look(ref)
	before := e.epochOf()
	for _, set := range [][]store.Setting{
		nil,
		{good, {Name: "order", Value: "key"}},
		{good, {Name: store.SettingRate, Value: "fast"}},
		{good, {Name: store.SettingRate, Value: "burst=3"}},
		{good, {Name: store.SettingMaxAttempts, Value: "0"}},
		{good, {Name: store.SettingTimeout, Value: "none"}},
		{good, {Name: store.SettingCadence, Value: ""}},
		{good, good},
	} {
		if err := s.Tune(e.ctx, why, ref, set, nil); !errors.Is(err, store.ErrSetting) {
			e.Errorf("settings %+v: %v, not ErrSetting", set, err)
		}
	}
	if err := s.Tune(e.ctx, why, ref, []store.Setting{good}, []string{good.Name}); !errors.Is(err, store.ErrSetting) {
		e.Errorf("a setting that is set and reset: %v, not ErrSetting", err)
	}
	e.expectSettings(ref)
	if e.epochOf() != before {
		e.Error("settings that were refused change the epoch")
	}
	for _, of := range []store.Ref{{Box: box, Subscription: "unknown"}, {Box: box, Subscription: store.Maintenance}} {
		if err := s.Tune(e.ctx, why, of, []store.Setting{good}, nil); !errors.Is(err, store.ErrNoSubscription) {
			e.Errorf("a setting of %s: %v, not ErrNoSubscription", of, err)
		}
	}
}

func tuneRemoved(e *env) {
	s, steward := e.tuner(), e.steward()
	e.open(1)
	other := store.Ref{Box: box, Subscription: "other"}
	e.declareFirst(other)
	e.check(s.Tune(e.ctx, why, ref, []store.Setting{{Name: store.SettingBatch, Value: "7"}}, nil), "tune")
	e.check(s.Tune(e.ctx, why, other, []store.Setting{{Name: store.SettingBatch, Value: "9"}}, nil), "tune")
	e.expectSettings(ref, "batch=7")
	e.expectSettings(other, "batch=9")
	e.check(steward.Remove(e.ctx, why, ref, true), "remove")
	e.check(steward.Readmit(e.ctx, why, ref), "readmit")
	e.declareFirst(ref)
	e.expectSettings(ref)
	e.expectSettings(other, "batch=9")
}

func addPlace(e *env) {
	s := e.tuner()
	e.check(e.Create(e.ctx, box), "create the box")
	before := e.ofTypes("a", "b")
	first, now := store.Ref{Box: box, Subscription: "first"}, store.Ref{Box: box, Subscription: "now"}
	at := e.epochOf()
	e.check(s.Add(e.ctx, why, store.Spec{Ref: first, Types: []string{"a"}, Shards: 3}), "add")
	if e.epochOf() == at {
		e.Error("an added subscription leaves the epoch; relays would not hear of it")
	}
	e.check(s.Add(e.ctx, why, store.Spec{Ref: now, From: store.Start{Now: true}}), "add")
	after := e.ofTypes("a", "b")
	for _, types := range [][]string{nil, {"b"}} {
		e.check(e.other().Declare(e.ctx, []store.Spec{{Ref: first, Types: types}, {Ref: now, Types: types, Shards: 9}}), "declare an added one")
	}
	e.pager().of(first).expectTaken(4, before[0], after[0])
	e.pager().of(now).from(e.positions(now)[0]).expectTaken(2, after...)
	v, w := e.viewOr(first), e.viewOr(now)
	if len(v.Shards) != 3 || v.WantedBy != why.Who || v.TypesBy != why.Who || !slices.Equal(v.Types, []string{"a"}) {
		e.Errorf("what was added has %d shards by %q, types %q by %q", len(v.Shards), v.WantedBy, v.Types, v.TypesBy)
	}
	if len(w.Shards) == 9 || w.WantedBy != "" || w.TypesBy != why.Who || len(w.Types) > 0 {
		e.Errorf("what was added without a number of shards has %d by %q, types %q by %q", len(w.Shards), w.WantedBy, w.Types, w.TypesBy)
	}
	lines, err := e.operator().Audited(e.ctx, 10)
	e.check(err, "audit log")
	if len(lines) != 2 || lines[0].Audit != why || !strings.HasPrefix(lines[0].What, "add "+now.String()+" from now") || !strings.HasPrefix(lines[1].What, "add "+first.String()+" from first") {
		e.Errorf("the audit log has %+v, want two entries that say what was added", lines)
	}
}

func addOnce(e *env) {
	s, steward := e.tuner(), e.steward()
	e.open(2)
	other := store.Ref{Box: box, Subscription: "other"}
	for _, r := range []store.Ref{ref, {Box: box, Subscription: store.Maintenance}} {
		if err := s.Add(e.ctx, why, store.Spec{Ref: r, Types: []string{"x"}, Shards: 5}); err == nil {
			e.Errorf("%s was added, though it is there", r)
		}
	}
	if err := s.Add(e.ctx, why, store.Spec{Ref: ref}); !errors.Is(err, store.ErrExists) {
		e.Errorf("to add what is there: %v, not ErrExists", err)
	}
	if st := e.look(ref); len(st.Shards) != 2 || len(st.Types) > 0 || st.TypesBy != "" {
		e.Errorf("to add what is there left %d shards and types %q by %q", len(st.Shards), st.Types, st.TypesBy)
	}
	if err := s.Add(e.ctx, why, store.Spec{Ref: store.Ref{Box: "nobox", Subscription: "x"}}); !errors.Is(err, store.ErrNoBox) {
		e.Errorf("to add to a box that is not there: %v, not ErrNoBox", err)
	}
	for _, spec := range []store.Spec{{Ref: other, Types: []string{"a*"}}, {Ref: other, Shards: -1}, {Ref: other, Shards: store.SlotCount + 1}, {Ref: store.Ref{Box: box}}} {
		if err := s.Add(e.ctx, why, spec); err == nil {
			e.Errorf("%+v was added", spec)
		}
	}
	e.check(steward.Remove(e.ctx, why, ref, true), "remove")
	if err := s.Add(e.ctx, why, store.Spec{Ref: ref, Shards: -1}); err == nil {
		e.Error("a subscription with -1 shards was added")
	}
	e.declare(store.Spec{Ref: ref})
	if len(e.look(ref).Shards) > 0 {
		e.Error("to add in vain had a removed subscription declared again")
	}
	e.check(s.Add(e.ctx, why, store.Spec{Ref: ref, Shards: 1}), "add what was removed")
	e.declare(store.Spec{Ref: ref})
	if n := len(e.look(ref).Shards); n != 1 {
		e.Errorf("what was removed and added has %d shards", n)
	}
	o, err := e.inspector().Overview(e.ctx)
	e.check(err, "overview")
	if len(o.Boxes[0].Removed) > 0 {
		e.Errorf("the overview has %+v removed, which was added", o.Boxes[0].Removed)
	}
}

func tuneAudit(e *env) {
	s := e.tuner()
	e.open(1)
	other := store.Ref{Box: box, Subscription: "other"}
	e.look(ref)
	before := e.epochOf()
	for _, a := range []store.Audit{{}, {Who: "x"}, {Why: "x"}} {
		if err := s.Tune(e.ctx, a, ref, []store.Setting{{Name: store.SettingBatch, Value: "7"}}, nil); err == nil {
			e.Errorf("a setting by %q for %q was taken", a.Who, a.Why)
		}
		if err := s.Add(e.ctx, a, store.Spec{Ref: other}); err == nil {
			e.Errorf("a subscription by %q for %q was added", a.Who, a.Why)
		}
	}
	if e.epochOf() != before {
		e.Error("what was refused changes the epoch")
	}
	e.expectSettings(ref)
	if len(e.viewOr(other).Shards) > 0 {
		e.Error("a subscription is there that was refused")
	}
}
