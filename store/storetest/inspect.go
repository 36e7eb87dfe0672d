package storetest

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/store"
)

// inspectorCases are about listings, for stores that have them.
func inspectorCases() []scenario {
	return []scenario{
		{name: "Listings by state hold those messages and no others", run: listStates},
		{name: "Listings by topic, key, type, id and error hold those messages and no others", run: listFields},
		{name: "Listings by time hold what was stored between", run: listTimes},
		{name: "Paged by a cursor a listing is whole and repeats nothing", run: listPages},
		{name: "A listing of the log while messages come repeats nothing", run: listWhile},
		{name: "A listing by key has what was parked under strict order", run: listStrict},
		{name: "A listing finds a few errors, keys and discarded messages among many", run: listFew},
		{name: "A listing asks a filter for headers wherever it finds a message", run: fewHeaded},
		{name: "A bare listing has all but headers and payloads, and their size does not end it", run: listBare},
		{name: "Show gives each subscription's copy with its history", run: show},
		{name: "History grows and keeps the latest twenty", run: history20},
		{name: "What only postpones a message is not in its history", run: historyPostponed},
		{name: "A repeated settlement is in the history once", run: historyRepeat},
		{name: "A discarded message is shown as that", run: showDiscarded},
		{name: "A scheduled message is listed and shown until it is promoted", run: showScheduled},
		{name: "An overview counts what there is", run: overview},
	}
}

// inspector returns the store as an Inspector, or skips the case.
func (e *env) inspector() store.Inspector {
	e.Helper()
	i, ok := e.Store.(store.Inspector)
	if !ok {
		e.Skip("the store is no Inspector")
	}
	return i
}

// list returns all that a query finds, page after page.
func (e *env) list(q store.Query) []store.Item {
	e.Helper()
	if q.Box == "" {
		q.Ref = ref
	}
	limit := q.Limit
	if limit == 0 {
		limit = 50
	}
	var out []store.Item
	for range 100_000 {
		items, next, err := e.inspector().List(e.ctx, q)
		e.check(err, "list")
		if len(items) > limit {
			e.Fatalf("a page of at most %d messages has %d", limit, len(items))
		}
		out = append(out, items...)
		if next == "" {
			return out
		}
		q.Cursor = next
	}
	e.Fatal("a listing has more pages without end")
	return nil
}

// listed fails the case unless the query finds the messages numbered want, newest
// first.
func (l *lot) listed(what string, q store.Query, want ...int) []store.Item {
	l.Helper()
	got := l.list(q)
	var ids, wanted []postbag.ID
	for _, it := range got {
		ids = append(ids, it.ID)
	}
	for _, i := range want {
		wanted = append(wanted, l.msgs[i].ID)
	}
	if !slices.Equal(ids, wanted) {
		l.Errorf("%s: %d messages are listed, not exactly those %v in that order", what, len(ids), want)
	}
	return got
}

// oneOfEach is a lot with a message in each state, by number: 0 waiting, 1 blocked
// behind it, 2 in flight, 3 dead, 4 delivered, 5 filtered, 6 and 7 pending.
func (e *env) oneOfEach() *lot {
	e.Helper()
	e.inspector()
	e.check(e.Create(e.ctx, box), "create the box")
	e.declare(store.Spec{Ref: ref, Shards: 1, Types: []string{"order.*"}})
	r := e.relay("r")
	l := &lot{env: e, s: e.Store, r: r, lease: r.take(ref)[0]}
	l.msgs = e.messages(6, "a", "a", "b", "c", "d", "e")
	l.msgs[5].Type = "user.created"
	for _, m := range l.msgs {
		e.publish(m)
	}
	c := e.pager()
	c.await(6)
	l.records, l.next = c.got, c.req.From
	slices.SortFunc(l.records, func(a, b store.Record) int { return int(a.Seq - b.Seq) })
	waiting := in(park(l.at(0), store.ParkRetrying), time.Hour)
	waiting.Reason, waiting.Attempts = "Connection REFUSED by broker", 3
	dead := park(l.at(3), store.ParkDead)
	dead.Reason, dead.Attempts = "too large", 20
	l.settle(store.Settlement{
		To:   l.next,
		Park: []store.Park{waiting, in(park(l.at(1), store.ParkBlocked), 0), park(l.at(2), store.ParkInFlight), dead},
		Tally: slices.Concat(tally(store.TallyParked, l.records[:4]...), tally(store.TallyDelivered, l.at(4)),
			tally(store.TallyFiltered, l.at(5))),
	})
	l.msgs = append(l.msgs, e.publish(e.messages(2, "f")...)...)
	return l
}

func listStates(e *env) {
	l := e.oneOfEach()
	for state, want := range map[store.State][]int{
		store.StateRetrying: {0}, store.StateBlocked: {1}, store.StateInFlight: {2}, store.StateDead: {3},
		store.StateDelivered: {4}, store.StateFiltered: {5}, store.StatePending: {7, 6}, store.StateDiscarded: nil,
		"": {7, 6, 5, 4, 3, 2, 1, 0},
	} {
		for _, it := range l.listed(fmt.Sprintf("state %q", state), store.Query{State: state}, want...) {
			if it.Subscription != ref.Subscription || (state != "" && it.State != state) {
				e.Errorf("state %q: message %x is listed as %q of %q", state, it.ID, it.State, it.Subscription)
			}
		}
		back := slices.Clone(want)
		slices.Reverse(back)
		l.listed(fmt.Sprintf("state %q, oldest first", state), store.Query{State: state, Oldest: true}, back...)
	}
	it := l.listed("retrying", store.Query{State: store.StateRetrying}, 0)[0]
	if it.Attempts != 3 || !strings.Contains(it.Reason, "REFUSED") || it.Due < 50*time.Minute || it.Due > time.Hour {
		e.Errorf("a message waiting for an hour after 3 attempts is listed with %d, due in %s", it.Attempts, it.Due)
	}
	checkWhole(e.TB, &it.Record, &l.msgs[0])
}

func listFields(e *env) {
	l := e.oneOfEach()
	m := e.message("g")
	m.Topic, m.Type = "elsewhere", "user.deleted"
	l.msgs = append(l.msgs, e.publish(m)...)
	l.listed("topic", store.Query{Topic: "elsewhere"}, 8)
	l.listed("topic of another case", store.Query{Topic: "ELSEWHERE"})
	l.listed("key", store.Query{Key: "a"}, 1, 0)
	l.listed("key and state", store.Query{Key: "a", State: store.StateBlocked}, 1)
	l.listed("key of no message", store.Query{Key: "aa"})
	l.listed("exact type", store.Query{Type: "user.created"}, 5)
	l.listed("type by its prefix", store.Query{Type: "user.*"}, 8, 5)
	l.listed("type that is a prefix of others", store.Query{Type: "user"})
	l.listed("two types", store.Query{Types: []string{"user.created", "user.deleted"}}, 8, 5)
	l.listed("a type and others by their prefix", store.Query{Type: "user.created", Types: []string{"nothing", "order.*"}}, 7, 6, 5, 4, 3, 2, 1, 0)
	l.listed("a type of two, twice, and an empty text", store.Query{Types: []string{"user.created", "", "user.created"}}, 5)
	l.listed("two types that no message has", store.Query{Types: []string{"user", "ORDER.*"}})
	l.listed("two types and a state", store.Query{Types: []string{"user.created", "order.*"}, State: store.StateDead}, 3)
	l.listed("a type that is no text beside one", store.Query{Types: []string{"user.created", "\xff"}}, 5)
	l.listed("a type that is no text", store.Query{Types: []string{"\xff"}})
	l.listed("id", store.Query{ID: l.msgs[4].ID}, 4)
	l.listed("id and another state", store.Query{ID: l.msgs[4].ID, State: store.StatePending})
	l.listed("error", store.Query{Error: "connection refused"}, 0)
	l.listed("error and state", store.Query{Error: "LARGE", State: store.StateDead}, 3)
	l.listed("error of none", store.Query{Error: "%"})
}

func listTimes(e *env) {
	e.inspector()
	l := e.parked()
	var marks []time.Time
	for range 3 {
		l.msgs = append(l.msgs, e.publish(e.messages(2, "k")...)...)
		e.pass(20 * time.Millisecond)
		marks = append(marks, e.now())
		e.pass(20 * time.Millisecond)
	}
	l.listed("after the first two", store.Query{After: marks[0]}, 5, 4, 3, 2)
	l.listed("before the last two", store.Query{Before: marks[1]}, 3, 2, 1, 0)
	l.listed("in the middle", store.Query{After: marks[0], Before: marks[1]}, 3, 2)
	l.listed("after all", store.Query{After: marks[2]})
	l.listed("before all", store.Query{Before: marks[0].Add(-time.Hour)})
}

func listPages(e *env) {
	e.inspector()
	e.open(1)
	lease := e.relay("r").take(ref)[0]
	msgs := e.publish(e.messages(130, "a", "b", "")...)
	c := e.pager()
	records := c.expect(msgs...)
	var ps []store.Park
	for i := 0; i < len(records); i += 2 {
		ps = append(ps, loose(park(records[i], store.ParkDead)))
	}
	e.settle(&lease, store.Settlement{To: c.req.From, Park: ps})
	for _, q := range []store.Query{{}, {State: store.StateDead}, {State: store.StateDelivered}, {Key: "a"}, {State: store.StateDead, Key: "b"}} {
		q.Limit = 1000
		whole := e.list(q)
		if len(whole) == 0 {
			e.Fatalf("query %+v finds nothing", q)
		}
		for _, limit := range []int{1, 7, 64} {
			for _, oldest := range []bool{false, true} {
				q.Limit, q.Oldest = limit, oldest
				got := e.list(q)
				if oldest {
					slices.Reverse(got)
				}
				if !slices.EqualFunc(got, whole, func(a, b store.Item) bool { return a.ID == b.ID && a.State == b.State }) {
					e.Errorf("state %q, key %q in pages of %d, oldest first %v: %d messages, at once %d, or others",
						q.State, q.Key, limit, oldest, len(got), len(whole))
				}
			}
		}
	}
}

func listWhile(e *env) {
	in := e.inspector()
	e.open(1)
	e.publish(e.messages(60, "a")...)
	seen := map[postbag.ID]bool{}
	q := store.Query{Ref: ref, Limit: 7}
	for {
		items, next, err := in.List(e.ctx, q)
		e.check(err, "list")
		for _, it := range items {
			if seen[it.ID] {
				e.Fatal("a listing repeats a message when others come meanwhile")
			}
			seen[it.ID] = true
		}
		if next == "" {
			break
		}
		q.Cursor = next
		e.publish(e.messages(5, "b")...)
	}
	if len(seen) < 60 {
		e.Errorf("a listing holds %d of 60 messages when others come meanwhile", len(seen))
	}
}

// shown returns the copies of a message.
func (e *env) shown(id postbag.ID) []store.Item {
	e.Helper()
	got, err := e.inspector().Show(e.ctx, box, id)
	e.check(err, "show")
	return got
}

func show(e *env) {
	e.inspector()
	l := e.parked("a", "b")
	other := store.Ref{Box: box, Subscription: "other"}
	e.declareFirst(other)
	for i := range 3 {
		p := park(l.at(0), store.ParkRetrying)
		p.Attempts, p.Reason = i+1, name("reason ", i+1)
		l.park(p)
	}
	got := e.shown(l.msgs[0].ID)
	slices.SortFunc(got, func(a, b store.Item) int { return strings.Compare(a.Subscription, b.Subscription) })
	if len(got) != 2 || got[0].Subscription != "default" || got[1].Subscription != "other" {
		e.Fatalf("a message of two subscriptions is shown %d times", len(got))
	}
	checkWhole(e.TB, &got[0].Record, &l.msgs[0])
	if got[0].State != store.StateRetrying || got[1].State != store.StatePending || len(got[1].History) > 0 {
		e.Errorf("a message parked by one subscription is shown as %q and %q", got[0].State, got[1].State)
	}
	h := got[0].History
	if len(h) != 3 || h[0].Reason != "reason 1" || h[2].Reason != "reason 3" || h[2].State != store.ParkRetrying || h[2].At.Before(h[0].At) {
		e.Errorf("a message parked three times has the history %+v", h)
	}
	if got := e.shown(e.message("").ID); len(got) != 0 {
		e.Errorf("a message that is not there is shown %d times", len(got))
	}
}

func history20(e *env) {
	e.inspector()
	l := e.parked("a")
	for i := range 25 {
		p := park(l.at(0), store.ParkRetrying)
		p.Attempts, p.Reason = i+1, name("reason ", i+1)
		l.park(p)
	}
	h := e.shown(l.msgs[0].ID)[0].History
	if len(h) != 20 || h[0].Reason != "reason 6" || h[19].Reason != "reason 25" {
		e.Errorf("parked 25 times a message has a history of %d; want the latest 20, oldest first", len(h))
	}
}

// historyPostponed: without it an outage would push the failures out of the history.
func historyPostponed(e *env) {
	e.inspector()
	l := e.parked("a")
	again := func(n int, state store.ParkState, attempts int, reason string) {
		p := park(l.at(0), state)
		p.Attempts, p.Reason = attempts, reason
		for range n {
			l.park(p)
		}
	}
	again(1, store.ParkRetrying, 1, "refused")
	again(1, store.ParkRetrying, 2, "refused again")
	again(25, store.ParkRetrying, 2, "the broker is away")
	it := e.shown(l.msgs[0].ID)[0]
	if h := it.History; len(h) != 2 || h[0].Reason != "refused" || h[1].Reason != "refused again" {
		e.Errorf("a message that failed twice and was postponed 25 times has the history %+v", h)
	}
	if it.Attempts != 2 || it.Reason != "the broker is away" {
		e.Errorf("a message that is postponed is shown with %d attempts and the error %q", it.Attempts, it.Reason)
	}
	again(1, store.ParkDead, 2, "dead")
	again(1, store.ParkRetrying, 0, "retried")
	again(2, store.ParkInFlight, 0, "begun")
	again(2, store.ParkDead, 0, "dead again")
	var got []string
	for _, a := range e.shown(l.msgs[0].ID)[0].History {
		got = append(got, a.Reason)
	}
	want := []string{"refused", "refused again", "dead", "retried", "begun", "dead again", "dead again"}
	if !slices.Equal(got, want) {
		e.Errorf("the history is %q, not %q: another state and each death are in it", got, want)
	}
}

func historyRepeat(e *env) {
	e.inspector()
	l := e.parked("a")
	st := l.full()
	st.Lease = l.lease
	for range 3 {
		e.turn(store.Turn{Settle: []store.Settlement{st}})
	}
	if h := e.shown(l.msgs[0].ID)[0].History; len(h) != 1 {
		e.Errorf("a settlement sent three times left a history of %d", len(h))
	}
}

func showDiscarded(e *env) {
	e.inspector()
	e.operator()
	l := e.parked("a", "b")
	l.park(park(l.at(0), store.ParkDead), park(l.at(1), store.ParkDead))
	l.order(store.Discard, 0)
	if it := e.shown(l.msgs[0].ID)[0]; it.State != store.StateDead || it.Queued != store.Discard {
		e.Errorf("a dead message with a discard queued is shown as %q, queued %d", it.State, it.Queued)
	}
	l.settle(store.Settlement{
		Resolve: []store.Resolved{l.resolved(0), l.resolved(1)},
		Done:    []store.Done{l.waiting()[0].Done()},
	})
	for i, want := range []store.State{store.StateDiscarded, store.StateDelivered} {
		if it := e.shown(l.msgs[i].ID)[0]; it.State != want || it.Queued != 0 {
			e.Errorf("message %d is shown as %q, queued %d; want %q", i, it.State, it.Queued, want)
		}
	}
	l.listed("discarded", store.Query{State: store.StateDiscarded}, 0)
}

func showScheduled(e *env) {
	e.inspector()
	e.open(1)
	u := e.upkeep()
	later := e.publish(at(e.message("b"), e.now().Add(2*longAfter)), e.message("c"))[0]
	var soon postbag.Message
	c, _ := u.before(400*time.Millisecond, func(when time.Time) any {
		soon = at(e.message("a"), when)
		e.publish(soon)
		return nil
	})
	l := &lot{env: e, s: e.Store, msgs: []postbag.Message{soon, later}}
	got := e.list(store.Query{State: store.StateScheduled})
	if len(got) != 2 {
		e.Errorf("of two scheduled messages %d are listed", len(got))
	}
	l.listed("scheduled, by key", store.Query{State: store.StateScheduled, Key: "b"}, 1)
	items := e.shown(later.ID)
	if len(items) != 1 || items[0].State != store.StateScheduled || items[0].Due < longAfter || items[0].Due > 2*longAfter {
		e.Errorf("a scheduled message is shown %d times: %+v", len(items), items)
	}
	c.all()
	u.sentinel(c, soon)
	if items := e.shown(soon.ID); len(items) != 1 || items[0].State != store.StatePending {
		e.Errorf("a promoted message is shown %d times, not once as pending", len(items))
	}
	l.listed("scheduled", store.Query{State: store.StateScheduled}, 1)
}

func overview(e *env) {
	in := e.inspector()
	l := e.oneOfEach()
	e.publish(at(e.message("s"), e.now().Add(time.Hour)))
	e.pass(5 * time.Millisecond)
	o, err := in.Overview(e.ctx)
	e.check(err, "overview")
	if d := o.Now.Sub(e.now()); d.Abs() > e.patience || len(o.Relays) != 1 || len(o.Boxes) != 1 {
		e.Fatalf("an overview %s off with %d relays and %d boxes; want 1 and 1", d, len(o.Relays), len(o.Boxes))
	}
	b := o.Boxes[0]
	if b.Name != box || b.Last < int64(len(l.msgs)) || b.Rows < 1 || b.Scheduled != 1 || len(b.Subscriptions) != 1 {
		e.Fatalf("the box: %d rows, last %d, %d scheduled, %d subscriptions", b.Rows, b.Last, b.Scheduled, len(b.Subscriptions))
	}
	s := b.Subscriptions[0]
	if s.Ref != ref || !slices.Equal(s.Types, []string{"order.*"}) || len(s.Shards) != 1 || s.Shards[0].Owner != "r" {
		e.Errorf("the subscription: %s, types %q, %d shards", s.Ref, s.Types, len(s.Shards))
	}
	if s.Backlog < 1 || s.Oldest <= 0 || s.Oldest > time.Hour || s.Delivered != 1 || s.Discarded != 0 {
		e.Errorf("backlog %d, oldest %s, delivered %d, discarded %d; want some, any age, 1, 0",
			s.Backlog, s.Oldest, s.Delivered, s.Discarded)
	}
	for _, state := range []store.ParkState{store.ParkRetrying, store.ParkBlocked, store.ParkInFlight, store.ParkDead} {
		if s.Parked[state] != 1 {
			e.Errorf("%d messages are %s, not 1", s.Parked[state], state)
		}
	}
}
