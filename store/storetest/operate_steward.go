package storetest

import (
	"errors"
	"slices"
	"strings"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/store"
)

// stewardCases are about subscriptions that operators change while relays run.
func stewardCases() []scenario {
	return []scenario{
		{name: "Every read that begins after a command for the filter goes by it, in every process", run: typesSet},
		{name: "A filter that an operator set stays, whatever is declared", run: typesStay},
		{name: "The ledger agrees although the filter changed between two reads", run: typesLedger},
		{name: "A command for the filter is refused if it names what is no type", run: typesRefused},
		{name: "Of a removed subscription nothing is left, and others stay", run: removedWhole},
		{name: "What only a removed subscription kept is dropped", run: removedRetention},
		{name: "A removed subscription is not declared again until it is readmitted", run: removedDeclare},
		{name: "A subscription that a live relay works is removed only if it is paused, or by force", run: removedWorked},
		{name: "Settlements under the leases of a removed subscription are lost", run: removedLeases},
		{name: "A change of a subscription without who or why is refused", run: stewardAudit},
	}
}

// steward returns the store as a Steward, or skips the case.
func (e *env) steward() store.Steward {
	e.Helper()
	o, ok := e.Store.(store.Steward)
	if !ok {
		e.Skip("the store is no Steward")
	}
	return o
}

// ofTypes publishes a message of each of some types.
func (e *env) ofTypes(types ...string) []postbag.Message {
	e.Helper()
	msgs := e.messages(len(types), "a", "b")
	for i := range msgs {
		msgs[i].Type = types[i]
	}
	return e.publish(msgs...)
}

// expectTaken fails the case unless what comes are n messages, of which the filter takes just those.
func (c *pager) expectTaken(n int, taken ...postbag.Message) []store.Record {
	c.Helper()
	c.got = nil
	c.await(n)
	var ids []postbag.ID
	for _, r := range c.got {
		if !r.Filtered {
			ids = append(ids, r.ID)
		}
	}
	var want []postbag.ID
	for i := range taken {
		want = append(want, taken[i].ID)
	}
	byID := func(a, b postbag.ID) int { return slices.Compare(a[:], b[:]) }
	slices.SortFunc(ids, byID)
	slices.SortFunc(want, byID)
	if len(c.got) != n || !slices.Equal(ids, want) {
		c.Fatalf("%d messages came, of which the filter takes %d; want %d, of which it takes %d", len(c.got), len(ids), n, len(want))
	}
	return c.got
}

func typesSet(e *env) {
	s := e.steward()
	e.check(e.Create(e.ctx, box), "create the box")
	e.declare(store.Spec{Ref: ref, Types: []string{"a", "b.*"}, Shards: 1})
	here, there := e.pager(), e.pager()
	there.s = e.other()
	for i, change := range []struct {
		types []string
		takes []int // of types a, b.x and c
	}{
		{[]string{"a", "b.*"}, []int{0, 1}}, {[]string{"c"}, []int{2}}, {nil, []int{0, 1, 2}}, {[]string{"b.*", "c"}, []int{1, 2}},
	} {
		if i > 0 {
			before := e.epochOf()
			e.check(s.SetFilter(e.ctx, why, ref, store.Filter{Types: change.types}), "set the types")
			if e.epochOf() == before {
				e.Error("a command for the filter leaves the epoch; relays would not hear of it")
			}
		}
		msgs := e.ofTypes("a", "b.x", "c")
		var taken []postbag.Message
		for _, k := range change.takes {
			taken = append(taken, msgs[k])
		}
		for _, c := range []*pager{there, here} { // by what each has read before
			c.expectTaken(len(msgs), taken...)
		}
		if got := slices.Sorted(slices.Values(e.look(ref).Types)); !slices.Equal(got, change.types) {
			e.Errorf("the view has types %q, not %q", got, change.types)
		}
	}
	o, ok := e.Store.(store.Operator)
	if !ok {
		return
	}
	got, err := o.Audited(e.ctx, 10)
	e.check(err, "audit log")
	if len(got) != 3 || got[0].Audit != why || got[0].What != "types "+ref.String()+" b.*,c" || !strings.HasSuffix(got[1].What, " all") {
		e.Errorf("the audit log has %+v, want three entries that say the types", got)
	}
}

func typesStay(e *env) {
	s := e.steward()
	e.check(e.Create(e.ctx, box), "create the box")
	e.declare(store.Spec{Ref: ref, Types: []string{"a"}, Shards: 1})
	if by := e.look(ref).TypesBy; by != "" {
		e.Errorf("the filter of a declaration is said to be set by %q", by)
	}
	e.check(s.SetFilter(e.ctx, why, ref, store.Filter{Types: []string{"b", "a"}}), "set the types")
	for _, types := range [][]string{{"a"}, nil, {"a", "b"}, {"c"}} {
		e.declare(store.Spec{Ref: ref, Types: types})
		e.check(e.other().Declare(e.ctx, []store.Spec{{Ref: ref, Types: types}}), "declare")
	}
	st := e.look(ref)
	if st.TypesBy != why.Who || !slices.Equal(slices.Sorted(slices.Values(st.Types)), []string{"a", "b"}) {
		e.Errorf("the filter is %q, set by %q; want what the operator set", st.Types, st.TypesBy)
	}
	e.pager().expectTaken(3, e.ofTypes("a", "b", "c")[:2]...)
	view := e.viewOr(ref)
	if view.TypesBy != why.Who || len(view.Types) != 2 || view.Made.IsZero() {
		e.Errorf("the overview has types %q by %q, made %v", view.Types, view.TypesBy, view.Made)
	}
	o := e.operator()
	if view.WantedBy != "" {
		e.Errorf("the number of shards of a declaration is said to be asked for by %q", view.WantedBy)
	}
	e.check(o.SetShards(e.ctx, why, ref, 3), "set the shards")
	if by := e.viewOr(ref).WantedBy; by != why.Who {
		e.Errorf("the number of shards is said to be asked for by %q, not the operator", by)
	}
}

// viewOr is viewOf, with the zero view in place of none.
func (e *env) viewOr(r store.Ref) store.SubscriptionView {
	e.Helper()
	if v := e.viewOf(r); v != nil {
		return *v
	}
	return store.SubscriptionView{}
}

func typesLedger(e *env) {
	s := e.steward()
	h := e.history(1)
	read := h.records // under the filter that took all
	e.check(s.SetFilter(e.ctx, why, ref, store.Filter{Types: []string{"none"}}), "set the types")
	h.msgs = append(h.msgs, h.publish(h.messages(5, "a")...)...)
	h.publish(h.message("last")) // some stores keep the last row
	c := h.pager().from(h.next)
	later := c.expectTaken(6)
	h.next = c.req.From
	e.settle(&h.leases[0], store.Settlement{
		To:    h.next,
		Tally: slices.Concat(tally(store.TallyDelivered, read...), tally(store.TallyFiltered, later...)),
	})
	h.dropped()
}

func typesRefused(e *env) {
	s := e.steward()
	e.open(1)
	for _, types := range [][]string{{""}, {"a", "b*"}, {"*"}, {"a\x00"}, {"\xff"}} {
		if err := s.SetFilter(e.ctx, why, ref, store.Filter{Types: types}); err == nil {
			e.Errorf("types %q were taken", types)
		}
	}
	if err := s.SetFilter(e.ctx, why, store.Ref{Box: box, Subscription: "unknown"}, store.Filter{Types: nil}); !errors.Is(err, store.ErrNoSubscription) {
		e.Errorf("types of a subscription that is not there: %v", err)
	}
	if st := e.look(ref); len(st.Types) > 0 || st.TypesBy != "" {
		e.Errorf("commands that were refused left the types %q by %q", st.Types, st.TypesBy)
	}
}

func removedWhole(e *env) {
	s := e.steward()
	l := e.parked("a", "b", "c", "d")
	other := store.Ref{Box: box, Subscription: "other"}
	e.declareFirst(other)
	dead := park(l.at(0), store.ParkDead)
	l.settle(store.Settlement{
		To: l.next, Park: []store.Park{dead, park(l.at(1), store.ParkRetrying)},
		Tally: append(tally(store.TallyParked, l.at(0), l.at(1)), tally(store.TallyDelivered, l.at(2), l.at(3))...),
	})
	l.resolve(1)
	l.order(store.Retry, 0)
	l.r.beat(store.Beat{Leave: true})
	before := e.epochOf()
	e.check(s.Remove(e.ctx, why, ref, false), "remove")
	if e.epochOf() == before {
		e.Error("a removal leaves the epoch; relays would not hear of it")
	}
	if st := e.look(ref); len(st.Shards) > 0 {
		e.Fatalf("a removed subscription is in a view, with %d shards", len(st.Shards))
	}
	res, err := e.Store.Turn(e.ctx, store.Turn{Read: []store.Request{{Ref: ref, Slots: []store.Slots{store.AllSlots}, Limit: 10, Bytes: 1 << 20}}})
	e.check(err, "turn")
	if !errors.Is(res.Batches[0].Err, store.ErrNoSubscription) || len(res.Commands) > 0 {
		e.Errorf("a read of a removed subscription: %v, and %d commands", res.Batches[0].Err, len(res.Commands))
	}
	if v := e.viewOr(ref); len(v.Shards) > 0 {
		e.Error("a removed subscription is in the overview")
	}
	e.pager().of(other).expect(l.msgs...)
	e.check(s.Readmit(e.ctx, why, ref), "readmit")
	e.declareFirst(ref)
	v := e.viewOr(ref)
	if v.Delivered != 0 || v.Commands != 0 || v.Parked[store.ParkDead] != 0 || v.Backlog != int64(len(l.msgs)) {
		e.Errorf("declared again, it has %d delivered, %d commands, %v parked and a backlog of %d; want a new one", v.Delivered, v.Commands, v.Parked, v.Backlog)
	}
	e.pager().expect(l.msgs...)
	items, _, err := e.inspector().List(e.ctx, store.Query{Ref: ref})
	e.check(err, "list")
	for _, it := range items {
		if it.State != store.StatePending || it.Reason != "" {
			e.Errorf("declared again, a message is shown as %s, with the reason %q", it.State, it.Reason)
		}
	}
}

func removedRetention(e *env) {
	s := e.steward()
	h := e.history(1)
	stays := store.Ref{Box: box, Subscription: "behind"}
	e.declareFirst(stays)
	behind := e.relay("r2", stays).take(stays)
	e.settle(&behind[0], store.Settlement{
		To: h.next, Park: []store.Park{park(h.records[0], store.ParkDead)},
		Tally: append(tally(store.TallyParked, h.records[0]), tally(store.TallyDelivered, h.records[1:]...)...),
	})
	h.kept("a subscription has passed nothing")
	e.check(s.Remove(e.ctx, why, ref, true), "remove")
	e.eventually("what only the removed one kept is dropped", func() bool {
		h.round()
		there := map[postbag.ID]bool{}
		for _, r := range h.pager().of(stays).all() {
			there[r.ID] = true
		}
		return !slices.ContainsFunc(h.msgs, func(m postbag.Message) bool { return there[m.ID] })
	})
	if len(h.total.Faults) > 0 {
		e.Errorf("dropped with faults: %q", h.total.Faults)
	}
	due, err := e.Store.Due(e.ctx, store.Due{Ref: stays, Slots: []store.Slots{store.AllSlots}, Limit: 10, Bytes: 1 << 20})
	e.check(err, "due")
	if v := e.viewOf(stays); v.Parked[store.ParkDead] != 1 || len(due) > 0 {
		e.Errorf("the other subscription has %v parked, and %d due; want its dead message to stay", v.Parked, len(due))
	}
}

func removedDeclare(e *env) {
	s := e.steward()
	e.open(2)
	if err := s.Readmit(e.ctx, why, ref); !errors.Is(err, store.ErrNoSubscription) {
		e.Errorf("readmitted though it was never removed: %v", err)
	}
	e.check(s.Remove(e.ctx, why, ref, false), "remove")
	other := store.Ref{Box: box, Subscription: "other"}
	for _, st := range []store.Store{e.Store, e.other()} {
		e.check(st.Declare(e.ctx, []store.Spec{{Ref: ref}, {Ref: other}, {Ref: ref, From: store.Start{Now: true}}}), "declare")
	}
	if len(e.look(ref).Shards) > 0 || len(e.look(other).Shards) == 0 {
		e.Fatal("a removed subscription was declared again, or another one was not")
	}
	o, err := e.inspector().Overview(e.ctx)
	e.check(err, "overview")
	if got := o.Boxes[0].Removed; len(got) != 1 || got[0].Name != ref.Subscription || got[0].By != why.Who || got[0].At.IsZero() {
		e.Errorf("the overview has removed %+v", got)
	}
	if err := s.Remove(e.ctx, why, ref, false); !errors.Is(err, store.ErrNoSubscription) {
		e.Errorf("removed twice: %v", err)
	}
	before := e.epochOf()
	e.check(s.Readmit(e.ctx, why, ref), "readmit")
	if e.epochOf() == before {
		e.Error("readmission leaves the epoch")
	}
	e.declare(store.Spec{Ref: ref, Shards: 3})
	if n := len(e.look(ref).Shards); n != 3 {
		e.Errorf("declared after it was readmitted, it has %d shards", n)
	}
	lines, err := e.operator().Audited(e.ctx, 10)
	e.check(err, "audit log")
	if len(lines) != 2 || lines[0].What != "readmit "+ref.String() || lines[1].What != "remove "+ref.String() || lines[1].Audit != why {
		e.Errorf("the audit log has %+v, want a removal and a readmission", lines)
	}
}

func removedWorked(e *env) {
	s, o := e.steward(), e.operator()
	e.open(2)
	r := e.relay("r")
	r.take(ref)
	refused := func(what string) {
		e.Helper()
		if err := s.Remove(e.ctx, why, ref, false); !errors.Is(err, store.ErrWorked) {
			e.Errorf("removed while %s: %v", what, err)
		}
		if len(e.look(ref).Shards) != 2 {
			e.Fatalf("it is gone, though the removal was refused while %s", what)
		}
	}
	refused("a relay works it")
	e.check(o.SetPaused(e.ctx, why, ref, true), "pause")
	e.check(s.Remove(e.ctx, why, ref, false), "remove what is paused")
	e.check(s.Readmit(e.ctx, why, ref), "readmit")
	e.declare(store.Spec{Ref: ref, Shards: 2})
	r.take(ref)
	refused("a relay works it again")
	e.check(s.Remove(e.ctx, why, ref, true), "remove by force")
	e.check(s.Readmit(e.ctx, why, ref), "readmit")
	e.declare(store.Spec{Ref: ref, Shards: 2})
	r.take(ref)
	r.expire()
	e.check(s.Remove(e.ctx, why, ref, false), "remove what a dead relay worked")
	maintenance := store.Ref{Box: box, Subscription: store.Maintenance}
	if err := s.Remove(e.ctx, why, maintenance, true); !errors.Is(err, store.ErrNoSubscription) {
		e.Errorf("the right to maintain a box was removed: %v", err)
	}
}

func removedLeases(e *env) {
	s := e.steward()
	l := e.parked("a", "b")
	lease, st := l.lease, store.Settlement{To: l.next, Park: []store.Park{park(l.at(0), store.ParkRetrying)}, Tally: tally(store.TallyParked, l.at(0))}
	e.check(s.Remove(e.ctx, why, ref, true), "remove")
	e.refuse(lease, "its subscription is removed")
	e.check(s.Readmit(e.ctx, why, ref), "readmit")
	e.declareFirst(ref)
	st.Lease = lease
	if v := e.turn(store.Turn{Settle: []store.Settlement{st}}).Verdicts[0]; v.Applied {
		e.Error("a settlement under a lease of the one that was removed is applied to the one that took its name")
	}
	again := l.r.take(ref)
	if again[0].Token == lease.Token {
		e.Error("the token of a lease repeats")
	}
	b, err := e.Store.Blocked(e.ctx, again[0])
	e.check(err, "blocked")
	if len(b.Keys) > 0 {
		e.Errorf("a new subscription has %d blocked keys", len(b.Keys))
	}
	e.settle(&again[0], store.Settlement{To: l.next, Tally: tally(store.TallyDelivered, l.records...)})
}

func stewardAudit(e *env) {
	s := e.steward()
	e.open(1)
	e.look(ref)
	before := e.epochOf()
	for _, a := range []store.Audit{{}, {Who: "x"}, {Why: "x"}} {
		if err := s.SetFilter(e.ctx, a, ref, store.Filter{Types: []string{"a"}}); err == nil {
			e.Errorf("a filter by %q for %q was taken", a.Who, a.Why)
		}
		if err := s.Remove(e.ctx, a, ref, true); err == nil {
			e.Fatalf("a removal by %q for %q was taken", a.Who, a.Why)
		}
		if err := s.Readmit(e.ctx, a, ref); err == nil || errors.Is(err, store.ErrNoSubscription) {
			e.Errorf("a readmission by %q for %q: %v", a.Who, a.Why, err)
		}
	}
	if st := e.look(ref); len(st.Shards) != 1 || len(st.Types) > 0 || e.epochOf() != before {
		e.Errorf("changes that were refused left %d shards, types %q, or another epoch", len(st.Shards), st.Types)
	}
}
