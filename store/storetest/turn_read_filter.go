package storetest

import (
	"bytes"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/store"
)

// filterCases are about subscriptions that take some types only.
func filterCases() []scenario {
	return []scenario{
		{name: "Messages that the filter refuses come without their content", run: filtered},
		{name: "Subscriptions of one box have filters of their own", run: ownFilters},
		{name: "A filter does not hold up a chain", run: filterPages},
	}
}

var filterTypes = []struct {
	typ   string
	taken bool // by order.* and user.created
}{
	{"order.created", true},
	{"order.created.v2", true},
	{"user.created", true},
	{"user.created.v2", false},
	{"user.deleted", false},
	{"order", false},
	{"orders.created", false},
	{"ORDER.created", false},
	{"reorder.created", false},
	{"order_created", false},
	{"orderXcreated", false},
	{"", false},
}

// typed publishes a message of each type.
func (e *env) typed() []postbag.Message {
	msgs := e.messages(len(filterTypes), "a", "b")
	for i, t := range filterTypes {
		msgs[i].Type = t.typ
	}
	return e.publish(msgs...)
}

func filtered(e *env) {
	e.check(e.Create(e.ctx, box), "create the box")
	e.declare(store.Spec{Ref: ref, Types: []string{"order.*", "user.created"}})
	msgs := e.typed()
	c := e.pager()
	c.await(len(msgs))
	if len(c.got) != len(msgs) {
		e.Fatalf("%d of %d messages came; those that are refused must come too", len(c.got), len(msgs))
	}
	byID := map[postbag.ID]store.Record{}
	for _, r := range c.got {
		byID[r.ID] = r
	}
	for i, t := range filterTypes {
		r, m := byID[msgs[i].ID], msgs[i]
		if r.Filtered == t.taken {
			e.Errorf("type %q: filtered is %v", t.typ, r.Filtered)
			continue
		}
		if t.taken {
			checkWhole(e.TB, &r, &m)
			continue
		}
		checkBare(e, r)
		if r.Slot != store.SlotOf(&m) || r.Seq < 1 {
			e.Errorf("type %q: its slot is %d, not %d, and its seq %d", t.typ, r.Slot, store.SlotOf(&m), r.Seq)
		}
	}
}

// checkBare fails the case unless r holds nothing of a message but its id.
func checkBare(e *env, r store.Record) {
	e.Helper()
	if r.Topic != "" || r.Key != "" || r.ShardKey != "" || r.Type != "" || len(r.Headers) > 0 || !bytes.Equal(r.Payload, nil) {
		e.Errorf("a filtered message comes with more than its id: topic %q, type %q, %d headers, %d bytes",
			r.Topic, r.Type, len(r.Headers), len(r.Payload))
	}
}

func ownFilters(e *env) {
	e.open(1)
	other := store.Ref{Box: box, Subscription: "other"}
	e.declare(store.Spec{Ref: other, Types: []string{"user.deleted"}})
	msgs := e.typed()
	e.pager().expect(msgs...)
	taken := 0
	for _, r := range e.pager().of(other).all() {
		if !r.Filtered {
			taken++
		}
	}
	if taken != 1 {
		e.Errorf("a filter of one type takes %d of %d messages", taken, len(msgs))
	}
}

func filterPages(e *env) {
	e.check(e.Create(e.ctx, box), "create the box")
	e.declare(store.Spec{Ref: ref, Types: []string{"rare"}})
	msgs := e.messages(300, "a", "b", "")
	rare := []int{0, 150, 299}
	for _, i := range rare {
		msgs[i].Type = "rare"
	}
	e.publish(msgs...)
	c := e.pager().limit(10)
	c.await(len(msgs))
	taken := 0
	for _, r := range c.got {
		if !r.Filtered {
			taken++
		}
	}
	if len(c.got) != len(msgs) || taken != len(rare) {
		e.Errorf("of %d messages %d came and %d were taken, not %d", len(msgs), len(c.got), taken, len(rare))
	}
}
