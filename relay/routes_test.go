package relay_test

import (
	"context"
	"fmt"
	"maps"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/broker/membroker"
	"github.com/postbag/postbag/relay"
	"github.com/postbag/postbag/store"
	"github.com/postbag/postbag/store/memstore"
)

// region publishes messages of some keys with a header that says a region.
func (w *world) region(region string, n int, keys ...string) {
	w.t.Helper()
	err := w.pub.InTx(w.t.Context(), func(ctx context.Context, tx *memstore.Tx) error {
		for i := range n {
			key := keys[i%len(keys)]
			m := postbag.Message{Topic: "t", Key: key, Payload: []byte(fmt.Sprintf("%s/%d", key, w.sent[key])), Headers: map[string]string{"region": region}}
			w.sent[key]++
			if err := w.pub.Publish(ctx, tx, m); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		w.t.Fatal(err)
	}
}

// regions are routes by header.
func regions(eu, us, rest *membroker.Destination) relay.Routes {
	match := func(region string) relay.Match { return relay.Match{Headers: []string{"region=" + region}} }
	return relay.Routes{
		Name: "orders",
		Routes: []relay.Route{
			{Match: match("eu"), Subscription: relay.Subscription{Name: "eu", To: eu}},
			{Match: match("us"), Subscription: relay.Subscription{Name: "us", To: us}},
		},
		Fallback: &relay.Subscription{Name: "rest", To: rest},
	}
}

func TestARouteWhoseDestinationIsDownHoldsUpOnlyTheMessagesOfItsOwn(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, memstore.Options{}, membroker.Options{})
		eu, us, rest := membroker.New(membroker.Options{}), membroker.New(membroker.Options{}), membroker.New(membroker.Options{})
		routes := regions(eu, us, rest)
		subs, err := routes.Subscriptions()
		if err != nil {
			t.Fatal(err)
		}
		eu.SetDown(true)
		stop := w.run(w.logging(&logged{}, subs...))
		w.region("eu", 20, "a", "b")
		w.region("us", 20, "a", "c")
		w.region("asia", 5, "d")
		<-time.After(time.Minute)
		if eu.Len() != 0 || us.Len() != 20 || rest.Len() != 5 {
			t.Fatalf("with eu down %d, %d and %d messages are delivered", eu.Len(), us.Len(), rest.Len())
		}
		o, err := w.store.Overview(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		waiting := map[string]int64{}
		for _, s := range o.Boxes[0].Subscriptions {
			waiting[s.Subscription] = min(s.Backlog, 1)
		}
		if want := map[string]int64{"orders.eu": 1, "orders.us": 0, "orders.rest": 0}; !maps.Equal(waiting, want) {
			t.Errorf("a backlog have %v, not %v", waiting, want)
		}
		eu.SetDown(false)
		<-time.After(5 * time.Minute)
		if eu.Len() != 20 || us.Len() != 20 || rest.Len() != 5 || eu.Inversions()+us.Inversions()+eu.Repeats()+us.Repeats() != 0 {
			t.Errorf("after the outage %d, %d and %d messages are delivered", eu.Len(), us.Len(), rest.Len())
		}
		stop()
	})
}

func TestRoutesOfAllMatchesSendAMessageToEachAndWhatNoneTakesIsFiltered(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, memstore.Options{}, membroker.Options{})
		eu, audit := membroker.New(membroker.Options{}), membroker.New(membroker.Options{})
		routes := relay.Routes{Name: "orders", All: true, NoFallback: true, Routes: []relay.Route{
			{Match: relay.Match{Headers: []string{"region=eu"}}, Subscription: relay.Subscription{Name: "eu", To: eu}},
			{Match: relay.Match{Headers: []string{"region=eu", "region=us"}}, Subscription: relay.Subscription{Name: "audit", To: audit}},
		}}
		subs, err := routes.Subscriptions()
		if err != nil {
			t.Fatal(err)
		}
		stop := w.run(w.logging(&logged{}, subs...))
		w.region("eu", 3, "a")
		w.region("us", 2, "a")
		w.region("asia", 1, "a")
		<-time.After(time.Minute)
		if eu.Len() != 3 || audit.Len() != 5 {
			t.Errorf("%d and %d messages are delivered", eu.Len(), audit.Len())
		}
		for _, name := range []string{"orders.eu", "orders.audit"} {
			items, _, err := w.store.List(t.Context(), store.Query{Ref: store.Ref{Box: "outbox", Subscription: name}, State: store.StateFiltered})
			if want := map[string]int{"orders.eu": 3, "orders.audit": 1}[name]; err != nil || len(items) != want {
				t.Errorf("%d messages are shown as filtered by %s, not %d: %v", len(items), name, want, err)
			}
		}
		stop()
	})
}

func TestRoutesThatCannotBeMeantAreRefused(t *testing.T) {
	t.Parallel()
	to := membroker.New(membroker.Options{})
	route := func(name string, m relay.Match) relay.Route {
		return relay.Route{Match: m, Subscription: relay.Subscription{Name: name, To: to}}
	}
	topic := func(names ...string) relay.Match { return relay.Match{Topics: names} }
	rest := &relay.Subscription{Name: "rest", To: to}
	var many []relay.Route
	for i := range store.MaxExcept + 1 {
		many = append(many, route(fmt.Sprint("r", i), topic(fmt.Sprint("t", i))))
	}
	for want, r := range map[string]relay.Routes{
		"give a Fallback, or set NoFallback":   {Name: "o", Routes: []relay.Route{route("a", topic("a"))}},
		"NoFallback is set; choose one":        {Name: "o", Routes: []relay.Route{route("a", topic("a"))}, Fallback: rest, NoFallback: true},
		"there is no route":                    {Name: "o", Fallback: rest},
		"Name is missing; the names":           {Routes: []relay.Route{route("a", topic("a"))}, Fallback: rest},
		"route 1: it has no Name":              {Name: "o", Routes: []relay.Route{route("", topic("a"))}, Fallback: rest},
		"two routes are named \"o.a\"":         {Name: "o", Routes: []relay.Route{route("a", topic("a")), route("a", topic("b"))}, Fallback: rest},
		"route 2 gets no message: route 1":     {Name: "o", Routes: []relay.Route{route("a", topic("x.*")), route("b", topic("x.y"))}, Fallback: rest},
		"route 1 takes all messages":           {Name: "o", Routes: []relay.Route{route("a", relay.Match{})}, NoFallback: true},
		"route 2 takes all messages":           {Name: "o", All: true, Routes: []relay.Route{route("a", topic("a")), route("b", relay.Match{})}, Fallback: rest},
		"route 1 is wrong: \"a*\" is no topic": {Name: "o", Routes: []relay.Route{route("a", topic("a*"))}, Fallback: rest},
		"route 101 is one too many: the last filter would have 101 exceptions, 100 at most": {Name: "o", Routes: many, Fallback: rest},
		"leave them out, Match": {Name: "o", Routes: []relay.Route{
			{Match: topic("a"), Subscription: relay.Subscription{Name: "a", To: to, Types: []string{"t"}}},
		}, Fallback: rest},
		"its Box is other": {Name: "o", Routes: []relay.Route{
			{Match: topic("a"), Subscription: relay.Subscription{Name: "a", To: to, Box: "other"}},
		}, Fallback: rest},
		"the fallback: ": {Name: "o", Routes: []relay.Route{route("a", topic("a"))}, Fallback: &relay.Subscription{Name: "A", To: to}},
	} {
		if subs, err := r.Subscriptions(); err == nil || !strings.Contains(err.Error(), want) || subs != nil {
			t.Errorf("routes that are to be refused with %q: %v", want, err)
		}
	}
	good := relay.Routes{Name: "o", Routes: []relay.Route{route("a", topic("x.y")), route("b", topic("x.*"))}, Fallback: rest}
	subs, err := good.Subscriptions()
	if err != nil || len(subs) != 3 {
		t.Fatalf("%d subscriptions: %v", len(subs), err)
	}
	if subs[0].Name != "o.a" || len(subs[0].Where.Except) != 0 || len(subs[1].Where.Except) != 1 || len(subs[2].Where.Except) != 2 || len(subs[2].Where.Topics) != 0 {
		t.Errorf("the subscriptions are %+v", subs)
	}
}

func TestAMatchCoversWhatAsksForMore(t *testing.T) {
	t.Parallel()
	type m = relay.Match
	for i, c := range []struct {
		all, some m
		covers    bool
	}{
		{m{}, m{}, true},
		{m{}, m{Types: []string{"a"}}, true},
		{m{Types: []string{"a"}}, m{}, false},
		{m{Types: []string{"a.*"}}, m{Types: []string{"a.b", "a.c.*"}}, true},
		{m{Types: []string{"a.*"}}, m{Types: []string{"a"}}, false},
		{m{Types: []string{"a.b"}}, m{Types: []string{"a.*"}}, false},
		{m{Topics: []string{"a"}}, m{Types: []string{"a"}}, false},
		{m{Topics: []string{"a", "b"}}, m{Topics: []string{"b"}, Headers: []string{"x"}}, true},
		{m{Headers: []string{"x"}}, m{Headers: []string{"x=1", "y"}}, true},
		{m{Headers: []string{"x=1"}}, m{Headers: []string{"x"}}, false},
		{m{Headers: []string{"x=1", "x=2"}}, m{Headers: []string{"x=2"}}, true},
		{m{Headers: []string{"x=1"}}, m{Headers: []string{"x=1", "x=2"}}, false},
		{m{Headers: []string{"x", "y"}}, m{Headers: []string{"x"}}, false},
	} {
		if c.all.Covers(&c.some) != c.covers {
			t.Errorf("%d: whether %s covers %s is not %v", i, c.all.String(), c.some.String(), c.covers)
		}
	}
}
