package storetest

import (
	"slices"
	"time"

	"github.com/postbag/postbag/store"
)

// heartbeatCases are about relays' heartbeats.
func heartbeatCases() []scenario {
	return []scenario{
		{name: "A new heartbeat lives, is renewed, and New may be repeated", run: heartbeatNew},
		{name: "A heartbeat that was never made is not alive", run: heartbeatUnknown},
		{name: "A heartbeat whose time is over is never renewed", run: heartbeatExpired},
		{name: "A heartbeat that was marked dead is never renewed, nor made again", run: heartbeatDead},
		{name: "A beat that is not alive changes nothing else", run: deadBeatIdle},
		{name: "A view shows the live relays and what they work", run: viewRelays},
		{name: "A view has the time of the clock that messages are stored by", run: viewTime},
		{name: "A view shows the subscriptions asked for that exist", run: viewSubscriptions},
		{name: "The epoch changes with relays, leases, shards and subscriptions", run: epochChanges},
		{name: "The epoch stays while nothing changes hands", run: epochStays},
	}
}

func heartbeatNew(e *env) {
	e.open(1)
	r := e.relay("r")
	for _, b := range []store.Beat{{}, {New: true}, {}} {
		if v := r.beat(b); !v.Alive {
			e.Errorf("a live relay's beat (new: %v) is not alive", b.New)
		}
	}
}

func heartbeatUnknown(e *env) {
	e.open(1)
	r := &relay{env: e, s: e.Store, id: "unknown", works: []store.Ref{ref}}
	if v := r.beat(store.Beat{}); v.Alive {
		e.Error("a beat without New of an unknown relay is alive")
	}
	if v := e.relay("known").beat(store.Beat{}); len(v.Relays) != 1 {
		e.Errorf("a beat without New of an unknown relay made a row: %d relays live", len(v.Relays))
	}
}

func heartbeatExpired(e *env) {
	e.open(1)
	r := e.relay("r")
	r.expire()
	for _, b := range []store.Beat{{}, {New: true}} {
		if v := r.beat(b); v.Alive {
			e.Errorf("a beat (new: %v) renewed a heartbeat whose time was over", b.New)
		}
	}
}

func heartbeatDead(e *env) {
	e.open(1)
	r := e.relay("r")
	r.take(ref)
	r.expire()
	if v := e.relay("other").beat(store.Beat{}); shardsOf(v, ref)[0].Owner != "" {
		e.Errorf("a beat left the shard of a dead relay with %q", shardsOf(v, ref)[0].Owner)
	}
	for _, b := range []store.Beat{{}, {New: true}, {}} {
		if v := r.beat(b); v.Alive {
			e.Errorf("a beat (new: %v) renewed a heartbeat that was marked dead", b.New)
		}
	}
}

func deadBeatIdle(e *env) {
	e.open(2)
	r := e.relay("r")
	shards := e.look(ref).Shards
	r.beat(store.Beat{Take: []store.Shard{shards[0].Shard}})
	held := e.look(ref).Shards[0].Lease
	r.expire()
	v := r.beat(store.Beat{Give: []store.Lease{held}, Take: []store.Shard{shards[1].Shard}})
	if v.Alive {
		e.Fatal("a heartbeat whose time was over is alive")
	}
	if got := e.look(ref).Shards[1]; got.Owner != "" || got.Token != shards[1].Token {
		e.Errorf("a relay whose time was over took a shard: owner %q", got.Owner)
	}
}

// viewTime allows for a database whose times of messages are rounded to milliseconds.
func viewTime(e *env) {
	e.open(1)
	r := e.relay("r")
	before := r.beat(store.Beat{}).Now
	e.publish(e.messages(1, "a")...)
	after := r.beat(store.Beat{}).Now
	at := e.pager().all()[0].At
	if at.Before(before.Add(-2*time.Millisecond)) || at.After(after.Add(2*time.Millisecond)) {
		e.Errorf("a message that was stored between %s and %s, by views, has the time %s", before, after, at)
	}
}

func viewRelays(e *env) {
	e.open(1)
	other := store.Ref{Box: box, Subscription: "other"}
	e.declareFirst(other)
	b := e.relay("b", ref, other)
	a := e.relayOn(e.other(), "a", other)
	gone := e.relay("gone")
	gone.beat(store.Beat{Leave: true})
	for _, r := range []*relay{a, b} {
		relays := r.beat(store.Beat{TTL: time.Hour}).Relays
		if len(relays) != 2 || relays[0].ID != "a" || relays[1].ID != "b" {
			e.Fatalf("relay %s sees %d relays: %v; want a and b", r.id, len(relays), relays)
		}
		for i, want := range []*relay{a, b} {
			got := relays[i]
			if got.Name != "relay "+want.id || !slices.Equal(got.Works, want.works) {
				e.Errorf("relay %s is shown as %q working %v", want.id, got.Name, got.Works)
			}
			most := long
			if want == r {
				most = time.Hour
			}
			if got.Expires <= 0 || got.Expires > most {
				e.Errorf("relay %s expires in %s", want.id, got.Expires)
			}
		}
	}
}

func viewSubscriptions(e *env) {
	e.open(3)
	other := store.Ref{Box: box, Subscription: "other"}
	e.declareFirst(other)
	v := e.relay("r", ref, store.Ref{Box: box, Subscription: "missing"}, store.Ref{Box: "nowhere", Subscription: "x"}).beat(store.Beat{})
	if len(v.Subscriptions) != 1 || v.Subscriptions[0].Ref != ref {
		e.Fatalf("a relay that works one subscription which exists sees %d", len(v.Subscriptions))
	}
	for i, sh := range v.Subscriptions[0].Shards {
		if sh.Slots != store.Split(3)[i] || sh.Owner != "" || sh.Ref != ref {
			e.Errorf("shard %d of a new subscription is %s, owned by %q", i, sh.Shard, sh.Owner)
		}
	}
	if st := v.Subscriptions[0]; st.Wanted != 3 || st.Paused {
		e.Errorf("a new subscription of 3 shards wants %d, paused %v", st.Wanted, st.Paused)
	}
}

// epochOf asks for the epoch without changing anything.
func (e *env) epochOf() int64 {
	e.Helper()
	res := e.turn(store.Turn{})
	if res.Epoch == 0 {
		e.Fatal("the epoch is zero")
	}
	return res.Epoch
}

func epochChanges(e *env) {
	e.open(2)
	last := e.epochOf()
	changed := func(what string) {
		e.Helper()
		now := e.epochOf()
		if now == last {
			e.Errorf("%s, and the epoch is the same", what)
		}
		last = now
	}
	r := e.relay("r")
	changed("a relay came")
	leases := r.take(ref)
	changed("shards were taken")
	r.beat(store.Beat{Reshape: []store.Reshape{{Ref: ref, Shards: 3, Leases: leases}}})
	changed("a subscription was reshaped")
	r.beat(store.Beat{Give: r.owned(r.beat(store.Beat{}), ref, 3)[:1]})
	changed("a shard was given back")
	e.declareFirst(store.Ref{Box: box, Subscription: "other"})
	changed("a subscription was declared")
	second := e.relay("second")
	changed("another relay came")
	second.beat(store.Beat{Leave: true})
	changed("a relay left")
	r.expire()
	e.relay("third")
	changed("a relay died and another came")
}

func epochStays(e *env) {
	e.open(1)
	r := e.relay("r")
	l := r.take(ref)[0]
	e.publish(e.messages(3, "a")...)
	before := e.epochOf()
	c := e.pager()
	c.all()
	e.settle(&l, store.Settlement{To: c.req.From})
	if v := r.beat(store.Beat{}); v.Epoch != before {
		e.Error("a plain beat reports another epoch; relays would beat without end")
	}
	r.beat(store.Beat{Take: []store.Shard{l.Shard}})
	e.publish(e.message("a"))
	if e.epochOf() != before {
		e.Error("a settlement, a plain beat or a publish changed the epoch; relays would beat without end")
	}
}
