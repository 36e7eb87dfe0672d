package storetest

import (
	"reflect"
	"time"

	"github.com/postbag/postbag/store"
)

// conditionCases are about what relays say of their destinations.
func conditionCases() []scenario {
	return []scenario{
		{name: "A view shows the conditions of each relay's last beat, as they were given", needs: conditions, run: conditionsShown},
		{name: "An overview shows the conditions of live relays, and no others", needs: conditions, run: conditionsOverview},
		{name: "Conditions that change do not change the epoch", run: conditionsEpoch},
		{name: "A beat that is not alive changes no conditions", needs: conditions, run: conditionsDead},
		{name: "Without conditions a view shows none", needs: noConditions, run: conditionsNone},
	}
}

// trouble is how a destination is that has every field of a condition.
func trouble() []store.Condition {
	return []store.Condition{
		{
			Ref: ref, State: "open", Since: 90 * time.Second, Unsettled: 17, Lease: 15 * time.Second,
			Error: "nats: no responders, \"quoted\", O'Hara, a line\nand more, \u00fcber, {}, \\",
			Topics: []store.TopicCondition{
				{Topic: "orders.created", Since: 1500 * time.Millisecond, Error: "no stream stores it"},
				{Topic: "t'\"\\%_", Since: time.Hour, Error: ""},
			},
		},
		{Ref: store.Ref{Box: box, Subscription: "other"}, State: "closed", Since: 24 * time.Hour},
	}
}

// conditionsOf returns the conditions of a relay among others.
func (e *env) conditionsOf(relays []store.RelayState, id string) []store.Condition {
	e.Helper()
	for i := range relays {
		if relays[i].ID == id {
			return relays[i].Conditions
		}
	}
	e.Fatalf("relay %s is not shown", id)
	return nil
}

func (e *env) expectConditions(where string, got, want []store.Condition) {
	e.Helper()
	if len(got) == 0 && len(want) == 0 {
		return
	}
	if !reflect.DeepEqual(got, want) {
		e.Errorf("%s: the conditions are %+v, not %+v", where, got, want)
	}
}

func conditionsShown(e *env) {
	e.open(1)
	a, b := e.relay("a"), e.relayOn(e.other(), "b")
	e.expectConditions("before any were given", e.conditionsOf(b.beat(store.Beat{}).Relays, "a"), nil)
	e.expectConditions("in the relay's own view", e.conditionsOf(a.beat(store.Beat{Conditions: trouble()}).Relays, "a"), trouble())
	e.expectConditions("in another's view", e.conditionsOf(b.beat(store.Beat{}).Relays, "a"), trouble())
	e.expectConditions("of a relay that gave none", e.conditionsOf(a.beat(store.Beat{Conditions: trouble()}).Relays, "b"), nil)
	fine := []store.Condition{{Ref: ref, State: "closed", Since: time.Second}}
	e.expectConditions("given again", e.conditionsOf(a.beat(store.Beat{Conditions: fine}).Relays, "a"), fine)
	a.beat(store.Beat{})
	e.expectConditions("not given again", e.conditionsOf(b.beat(store.Beat{}).Relays, "a"), nil)
}

func conditionsOverview(e *env) {
	i := e.inspector()
	e.open(1)
	a := e.relay("a")
	a.beat(store.Beat{Conditions: trouble()})
	o, err := i.Overview(e.ctx)
	e.check(err, "overview")
	e.expectConditions("in an overview", e.conditionsOf(o.Relays, "a"), trouble())
	a.beat(store.Beat{Leave: true})
	o, err = i.Overview(e.ctx)
	e.check(err, "overview")
	for k := range o.Relays {
		if o.Relays[k].ID == "a" {
			e.Error("an overview shows a relay that left")
		}
	}
}

func conditionsEpoch(e *env) {
	e.open(1)
	a := e.relay("a")
	before := e.epochOf()
	a.beat(store.Beat{Conditions: trouble()})
	if e.epochOf() != before {
		e.Error("conditions changed the epoch; every relay would beat whenever a destination changes")
	}
}

func conditionsDead(e *env) {
	e.open(1)
	a, b := e.relay("a"), e.relay("b")
	a.expire()
	if v := a.beat(store.Beat{Conditions: trouble()}); v.Alive {
		e.Fatal("a heartbeat whose time was over is alive")
	}
	for _, r := range b.beat(store.Beat{}).Relays {
		if r.ID == "a" || len(r.Conditions) > 0 {
			e.Errorf("relay %s is shown with %d conditions", r.ID, len(r.Conditions))
		}
	}
}

func conditionsNone(e *env) {
	e.open(1)
	v := e.relay("a").beat(store.Beat{Conditions: trouble()})
	e.expectConditions("of a store that keeps none", e.conditionsOf(v.Relays, "a"), nil)
}
