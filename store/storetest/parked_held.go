package storetest

import (
	"slices"
	"time"

	"github.com/postbag/postbag/store"
)

// heldCases are about messages that are parked because their topic does not work.
func heldCases() []scenario {
	out := []scenario{
		{name: "A held message comes back whole, with its topic", run: heldWhole},
		{name: "Held messages come only when asked for their topic", run: heldApart},
		{name: "Held messages of a topic come lowest seq first, of a key only the first", run: heldFirst},
		{name: "Held messages of several topics come in one line", run: heldTopicsTogether},
		{name: "A held message behind an earlier one of its key does not come", run: heldBehind},
		{name: "Held messages of a topic come a page at a time", run: heldPages},
		{name: "Held messages that the caller has in hand are left out, with their key", run: heldSkip},
		{name: "Held messages are those of the slots asked for", run: heldSlots},
		{name: "A held message blocks its key, and what is behind it is due when it is gone", run: heldBlocks},
		{name: "Blocked names the held topics", run: heldNamed},
		{name: "Taking a shard leaves held messages held", run: heldTakeover},
		{name: "A reshape leaves held messages held", run: heldReshape},
		{name: "A held message can be parked otherwise, and others can be held", run: heldChanges},
		{name: "Topics are compared byte for byte", run: heldExact},
		{name: "Held messages can be retried and discarded, listed and counted", run: heldOperated},
	}
	for i := range out {
		out[i].needs = heldTopics
	}
	return append(out, scenario{name: "Without held topics none are named", needs: noHeldTopics, run: heldNowhere})
}

// held returns a park of a message whose topic does not work.
func held(r store.Record, topic string) store.Park {
	p := park(r, store.ParkHeld)
	p.Attempts, p.Topic, p.Reason = 0, topic, "no stream stores it"
	return p
}

// heldTopics returns what Blocked names, by topic.
func (l *lot) heldTopics() map[string]int64 {
	l.Helper()
	got, err := l.s.Blocked(l.ctx, l.lease)
	l.check(err, "held topics")
	out := map[string]int64{}
	for _, t := range got.Held {
		if _, twice := out[t.Topic]; twice {
			l.Errorf("Blocked names topic %q twice", t.Topic)
		}
		out[t.Topic] = t.Messages
	}
	return out
}

// holds fails the case unless Blocked names these topics.
func (l *lot) holds(want map[string]int64) {
	l.Helper()
	got := l.heldTopics()
	same := len(got) == len(want)
	for topic, n := range want {
		same = same && got[topic] == n
	}
	if !same {
		l.Errorf("Blocked names the held topics %v, not %v", got, want)
	}
}

func topics(names ...string) store.Due { return store.Due{Topics: names, Followers: 5} }

func heldWhole(e *env) {
	l := e.parked("k", "")
	p, q := held(l.at(0), "orders"), held(l.at(1), "orders")
	p.Attempts, q.Reason = 3, ""
	l.park(p, q)
	got := l.due(topics("orders"), 0, 1)
	for i, want := range []store.Park{p, q} {
		if want.Hash == 0 {
			want.Blocking = false
		}
		if g := got[i].Park; g != want {
			e.Errorf("message %d was parked as %+v and came back as %+v", i, want, g)
		}
	}
}

func heldApart(e *env) {
	l := e.parked("a", "", "c", "d")
	l.park(held(l.at(0), "x"), held(l.at(1), "x"), held(l.at(2), "y"), park(l.at(3), store.ParkRetrying))
	l.due(store.Due{Followers: 5}, 3)
	l.due(topics("x"), 0, 1)
	l.due(topics("y"), 2)
	l.due(topics("z")) // nothing
	l.resolve(3)
	if d := l.nextDue(); d >= 0 {
		e.Errorf("with nothing parked but held messages the next is due in %s; want a negative time", d)
	}
}

func heldFirst(e *env) {
	l := e.parked("a", "b", "a", "", "b", "c")
	for _, i := range []int{5, 3, 4, 2, 1, 0} { // held late, or early: it is the seq that counts
		l.park(held(l.at(i), "x"))
		e.pass(2 * time.Millisecond)
	}
	l.due(topics("x"), 0, 1, 3, 5)
	l.resolve(0)
	l.due(topics("x"), 1, 2, 3, 5)
	l.resolve(1)
	l.due(topics("x"), 2, 3, 4, 5)
}

func heldTopicsTogether(e *env) {
	l := e.parked("a", "b", "c", "d")
	l.park(held(l.at(0), "x"), held(l.at(1), "y"), held(l.at(2), "x"), held(l.at(3), "z"))
	l.due(topics("y", "x"), 0, 1, 2)
	l.due(topics("y", "y"), 1)
	one := topics("x", "y")
	one.Limit = 2
	l.due(one, 0, 1)
}

func heldBehind(e *env) {
	l := e.parked("a", "a", "b", "b", "c", "c")
	l.park(
		in(park(l.at(0), store.ParkRetrying), time.Hour), held(l.at(1), "x"), // behind one that retries
		held(l.at(2), "y"), held(l.at(3), "x"), // behind one of another topic
		park(l.at(4), store.ParkDead), held(l.at(5), "x"),
	)
	l.due(topics("x")) // nothing
	l.due(topics("x", "y"), 2)
	l.resolve(0, 2, 4)
	l.due(topics("x"), 1, 3, 5)
}

func heldPages(e *env) {
	l := e.parked("a", "b", "c", "", "e")
	for i := range 5 {
		l.park(held(l.at(i), "x"))
	}
	page := topics("x")
	page.Limit = 1
	l.due(page, 0)
	page.Limit = 3
	l.due(page, 0, 1, 2)
	l.resolve(0, 1, 2)
	l.due(page, 3, 4)
	page.Bytes = 1
	l.due(page, 3)
}

func heldSkip(e *env) {
	l := e.parked("a", "a", "b", "", "c")
	for i := range 5 {
		l.park(held(l.at(i), "x"))
	}
	d := topics("x")
	d.Skip = []int64{l.at(0).Seq, l.at(3).Seq}
	l.due(d, 2, 4)
}

func heldSlots(e *env) {
	leases, records := e.fourShards()
	for i := range leases {
		e.settle(&leases[i], store.Settlement{Park: []store.Park{held(records[i], "x")}})
	}
	for i, l := range leases {
		d := store.Due{Ref: ref, Slots: []store.Slots{l.Slots}, Topics: []string{"x"}, Limit: 10, Bytes: 1 << 20}
		got, err := e.Store.Due(e.ctx, d)
		e.check(err, "due")
		if len(got) != 1 || got[0].ID != records[i].ID {
			e.Errorf("in shard %d are %d messages held, not its own", i, len(got))
		}
		b, err := e.Store.Blocked(e.ctx, l)
		e.check(err, "held topics")
		if len(b.Held) != 1 || b.Held[0] != (store.HeldTopic{Topic: "x", Messages: 1}) {
			e.Errorf("shard %d has the held topics %v, not its own", i, b.Held)
		}
	}
}

func heldBlocks(e *env) {
	l := e.parked("a", "a", "b")
	l.park(held(l.at(0), "x"), park(l.at(1), store.ParkBlocked))
	if got, want := l.blocked(), l.hashes(0); !slices.Equal(got, want) {
		e.Errorf("the blocked keys are %x, not %x", got, want)
	}
	l.due(store.Due{Followers: 5}) // nothing
	l.due(topics("x"), 0)          // without followers
	if v := l.resolve(0); len(v.Cleared) > 0 {
		e.Errorf("the key is cleared while a message waits behind the held one")
	}
	l.due(store.Due{Followers: 5}, 1)
	l.due(topics("x")) // nothing
}

func heldNamed(e *env) {
	l := e.parked("a", "a", "b", "", "d")
	l.holds(nil)
	l.park(held(l.at(0), "x"), park(l.at(1), store.ParkBlocked), held(l.at(2), "y"), held(l.at(3), "x"), park(l.at(4), store.ParkRetrying))
	l.holds(map[string]int64{"x": 2, "y": 1})
	l.resolve(3)
	l.holds(map[string]int64{"x": 1, "y": 1})
	l.resolve(0, 2)
	l.holds(nil)
}

func heldTakeover(e *env) {
	l := e.parked("a", "a", "")
	l.park(held(l.at(0), "x"), park(l.at(1), store.ParkBlocked), held(l.at(2), "x"))
	l.r.beat(store.Beat{Leave: true})
	l.r = e.relay("next")
	l.lease = l.r.take(ref)[0]
	l.holds(map[string]int64{"x": 2})
	l.due(store.Due{Followers: 5}) // nothing
	for i, p := range l.due(topics("x"), 0, 2) {
		if p.State != store.ParkHeld || p.Park.Topic != "x" || p.Attempts != 0 {
			e.Errorf("after a take message %d is %s for topic %q with %d attempts", i, p.State, p.Park.Topic, p.Attempts)
		}
	}
}

func heldReshape(e *env) {
	l := e.parked("a", "b", "c")
	l.park(held(l.at(0), "x"), held(l.at(1), "x"), held(l.at(2), "x"))
	leases := l.r.reshape(ref, 4, []store.Lease{l.lease})
	l.due(topics("x"), 0, 1, 2)
	total := int64(0)
	for _, s := range leases {
		b, err := e.Store.Blocked(e.ctx, s)
		e.check(err, "held topics")
		for _, t := range b.Held {
			total += t.Messages
		}
	}
	if total != 3 {
		e.Errorf("after a reshape the shards name %d held messages, not 3", total)
	}
}

func heldChanges(e *env) {
	l := e.parked("a", "b", "c")
	l.park(park(l.at(0), store.ParkRetrying), held(l.at(1), "x"), park(l.at(2), store.ParkInFlight))
	l.park(held(l.at(0), "x"), park(l.at(1), store.ParkRetrying), held(l.at(2), "y"))
	l.due(store.Due{}, 1)
	l.due(topics("x"), 0)
	l.due(topics("y"), 2)
	l.park(held(l.at(2), "x")) // another topic
	l.due(topics("y"))         // nothing
	l.due(topics("x"), 0, 2)
	blocked := park(l.at(0), store.ParkBlocked)
	l.park(blocked) // never replaces another
	l.due(topics("x"), 0, 2)
	if got := l.due(store.Due{}, 1)[0]; got.Park.Topic != "" {
		e.Errorf("a message that is no longer held keeps its topic %q", got.Park.Topic)
	}
	l.holds(map[string]int64{"x": 2})
}

func heldExact(e *env) {
	names := []string{"Orders", "orders", "orders ", "órders", "orders_"}
	l := e.parked("a", "b", "c", "d", "e")
	for i, name := range names {
		l.park(held(l.at(i), name))
	}
	for i, name := range names {
		l.due(topics(name), i)
	}
	want := map[string]int64{}
	for _, name := range names {
		want[name] = 1
	}
	l.holds(want)
}

func heldOperated(e *env) {
	l := e.parked("a", "b", "c")
	l.park(held(l.at(0), "x"), held(l.at(1), "x"), held(l.at(2), "y"))
	if in, ok := e.Store.(store.Inspector); ok {
		e.heldShown(in)
	}
	op, ok := e.Store.(store.Operator)
	if !ok {
		e.Skip("the store takes no orders")
	}
	n, err := op.Command(e.ctx, store.Audit{Who: "w", Why: "y"}, ref, store.Retry, []int64{l.at(0).Seq, l.at(2).Seq})
	e.check(err, "retry held messages")
	if n != 2 {
		e.Fatalf("a retry of two held messages was queued for %d", n)
	}
	res := l.turn(store.Turn{Read: []store.Request{{Ref: ref, Slots: []store.Slots{store.AllSlots}, From: l.next}}})
	if len(res.Commands) != 2 || res.Commands[0].Park.State != store.ParkHeld || res.Commands[0].Park.Topic != "x" {
		e.Fatalf("the commands are %+v, not those of two held messages", res.Commands)
	}
	l.settle(store.Settlement{Park: []store.Park{park(l.at(0), store.ParkRetrying)}, Done: []store.Done{res.Commands[0].Done()}})
	l.due(store.Due{}, 0)
	l.due(topics("x"), 1)
}

// heldShown looks at three held messages, two of topic x, as people do.
func (e *env) heldShown(in store.Inspector) {
	e.Helper()
	items, _, err := in.List(e.ctx, store.Query{Ref: ref, State: store.StateHeld})
	e.check(err, "list held messages")
	if len(items) != 3 {
		e.Errorf("%d messages are listed as held, not 3", len(items))
	}
	o, err := in.Overview(e.ctx)
	e.check(err, "overview")
	for _, b := range o.Boxes {
		for _, s := range b.Subscriptions {
			if s.Ref != ref {
				continue
			}
			why := held(store.Record{}, "").Reason
			if want := []store.HeldTopic{{Topic: "x", Messages: 2, Reason: why}, {Topic: "y", Messages: 1, Reason: why}}; !slices.Equal(s.Held, want) || s.Parked[store.ParkHeld] != 3 {
				e.Errorf("the overview names the held topics %v, and %d held messages, not %v and 3", s.Held, s.Parked[store.ParkHeld], want)
			}
		}
	}
}

func heldNowhere(e *env) {
	l := e.parked("a")
	lost := l.lease
	_, err := l.s.Turn(l.ctx, store.Turn{Settle: []store.Settlement{{Lease: lost, Park: []store.Park{held(l.at(0), "x")}}}})
	if err != nil {
		return // it refuses such a row
	}
	l.holds(nil)
}
