package storetest

import (
	"bytes"
	"errors"
	"maps"
	"slices"
	"time"

	"github.com/postbag/postbag/store"
)

// damageCases are about what somebody else has done to the tables of a store.
func damageCases() []scenario {
	return []scenario{
		{name: "A row that nobody can read comes with an error, is parked and shown, and holds up no other", run: undecodable},
		{name: "A message with the header of a fault comes whole, with the fault as its error, and holds up no other", run: faulty},
		{name: "What is in a log that was emptied and numbered again is delivered, and told of", run: renumbered},
		{name: "Housekeeping deletes nothing of a log that was emptied and numbered again", run: renumberedKept},
	}
}

func undecodable(e *env) {
	if e.Undecodable == nil {
		e.Skip("every row of the database can be read")
	}
	odd := e.amid(func() { e.check(e.Undecodable(e.ctx, box), "plant a row that nobody can read") })
	if odd.Err.Error() == "" {
		e.Error("the row does not say what cannot be read")
	}
}

func faulty(e *env) {
	m := e.message("a")
	m.Headers = map[string]string{store.FaultHeader: "it is \"too\" large: 17 bytes", "other": "stays"}
	odd := e.amid(func() { e.publish(m) })
	if odd.Err.Error() != m.Headers[store.FaultHeader] {
		e.Errorf("the fault is told as %q", odd.Err)
	}
	if odd.ID != m.ID || odd.Topic != m.Topic || odd.Key != m.Key || !maps.Equal(odd.Headers, m.Headers) || !bytes.Equal(odd.Payload, m.Payload) {
		e.Errorf("the message came as %+v", odd.Message)
	}
	for _, it := range e.list(store.Query{State: store.StateDead}) {
		if !maps.Equal(it.Headers, m.Headers) || !bytes.Equal(it.Payload, m.Payload) {
			e.Errorf("the message is shown as %+v", it.Message)
		}
	}
}

// amid plants a row among others that is to come with an error, has a relay park it, and returns it.
func (e *env) amid(plant func()) store.Record {
	e.Helper()
	e.open(1)
	lease := e.relay("r").take(ref)[0]
	before := e.publish(e.messages(3, "a", "b")...)
	plant()
	behind := e.publish(e.messages(3, "a", "b")...)
	c := e.pager()
	c.await(7)
	if len(c.got) != 7 {
		e.Fatalf("of six messages and a row with a fault %d came", len(c.got))
	}
	bad := slices.IndexFunc(c.got, func(r store.Record) bool { return r.Err != nil })
	if bad < 0 {
		e.Fatal("a row with a fault came without an error")
	}
	odd := c.got[bad]
	good := slices.Delete(slices.Clone(c.got), bad, bad+1)
	checkExact(e.TB, good, slices.Concat(before, behind))
	if odd.Hash != store.KeyHash(odd.Key) {
		e.Error("the row has a hash that is not its key's")
	}
	reason := odd.Err.Error()
	p := store.Park{Seq: odd.Seq, Slot: odd.Slot, Hash: odd.Hash, State: store.ParkRetrying, Blocking: odd.Hash != 0, Attempts: 1, Reason: reason}
	e.settle(&lease, store.Settlement{
		To: c.req.From, Park: []store.Park{p},
		Tally: append(tally(store.TallyParked, odd), tally(store.TallyDelivered, good...)...),
	})
	due, err := e.Store.Due(e.ctx, store.Due{Ref: ref, Slots: []store.Slots{store.AllSlots}, Limit: 10, Bytes: 1 << 20})
	if e.check(err, "due"); len(due) != 1 || due[0].Record.Seq != odd.Seq || due[0].Err == nil {
		e.Errorf("when the row is due it comes as %v", due)
	}
	p.State = store.ParkDead
	e.settle(&lease, store.Settlement{Park: []store.Park{p}})
	if dead := e.list(store.Query{State: store.StateDead}); len(dead) != 1 || dead[0].Seq != odd.Seq || dead[0].Reason != reason || dead[0].Err == nil {
		e.Errorf("among the dead are %v", dead)
	}
	if n := len(e.list(store.Query{})); n != 7 {
		e.Errorf("of the seven rows %d are listed", n)
	}
	return odd
}

// renumbered empties a log behind a relay's back, and looks at what a new relay gets.
func renumbered(e *env) {
	if e.Renumber == nil {
		e.Skip("nobody can empty the log of the database")
	}
	e.open(1)
	before := e.relay("before")
	lease := before.take(ref)[0]
	e.publish(e.messages(10, "a", "b")...)
	c := e.pager()
	c.await(10)
	failed := c.got[4]
	e.settle(&lease, store.Settlement{
		To: c.req.From, Park: []store.Park{park(failed, store.ParkDead)},
		Tally: append(tally(store.TallyParked, failed), tally(store.TallyDelivered, slices.Delete(slices.Clone(c.got), 4, 5)...)...),
	})
	e.settle(&lease, store.Settlement{
		Resolve: []store.Resolved{{Seq: failed.Seq, Hash: failed.Hash}}, Done: []store.Done{{Kind: store.Discard, Seq: failed.Seq}},
		Tally: append(tally(store.TallyDiscarded, failed), less(tally(store.TallyParked, failed))...),
	})
	e.check(e.Renumber(e.ctx, box), "empty the log, and begin its numbering again")
	msgs := e.publish(e.messages(25, "a", "b")...)
	if _, err := e.Store.Turn(e.ctx, store.Turn{Read: []store.Request{c.req}}); !errors.Is(err, store.ErrMoved) {
		e.Errorf("the next turn says %v, not ErrMoved", err)
	}
	if _, err := e.Store.Check(e.ctx); !errors.Is(err, store.ErrMoved) {
		e.Errorf("Check says %v, not ErrMoved", err)
	}
	_, err := e.Store.Check(e.ctx)
	e.check(err, "check again")
	before.beat(store.Beat{Leave: true})
	lease = e.relay("after").take(ref)[0]
	c = e.pager().from(e.positions(ref)[0])
	got := c.expect(msgs...)
	e.settle(&lease, store.Settlement{To: c.req.From, Tally: tally(store.TallyDelivered, got...)})
	e.told(len(msgs))
}

// renumberedKept has a box maintained between the emptying of its log and the first look
// at that: what is written then has seqs that all had passed long ago.
func renumberedKept(e *env) {
	if e.Renumber == nil {
		e.Skip("nobody can empty the log of the database")
	}
	h := e.history(1)
	h.settleAll()
	h.dropped()
	e.check(e.Renumber(e.ctx, box), "empty the log, and begin its numbering again")
	msgs := e.publish(e.messages(25, "a", "b")...)
	for range 3 {
		_, err := e.Store.Maintain(e.ctx, store.Retention{Lease: h.lease, Keep: h.keep})
		if err != nil && !errors.Is(err, store.ErrMoved) {
			e.check(err, "maintain")
		}
		e.pass(5 * time.Millisecond)
	}
	if _, err := e.Store.Check(e.ctx); !errors.Is(err, store.ErrMoved) {
		e.Errorf("Check says %v, not ErrMoved", err)
	}
	_, err := e.Store.Check(e.ctx)
	e.check(err, "check again")
	e.pager().from(e.positions(ref)[0]).expect(msgs...)
}

// told fails the case unless people can see that the log was emptied, until they have
// acknowledged it, and see nothing of the messages before at those that are there.
func (e *env) told(n int) {
	e.Helper()
	for _, it := range e.list(store.Query{}) {
		if it.State != store.StateDelivered || it.Reason != "" || it.Attempts != 0 {
			e.Errorf("a new message of seq %d is shown as %s, with %d attempts and the error %q of one before", it.Seq, it.State, it.Attempts, it.Reason)
		}
	}
	entries, err := e.operator().Audited(e.ctx, 10)
	e.check(err, "audit log")
	if !slices.ContainsFunc(entries, func(a store.AuditEntry) bool { return a.Who == "postbag" }) {
		e.Errorf("the audit log says nothing: %v", entries)
	}
	notices := func() []store.Notice {
		o, err := e.inspector().Overview(e.ctx)
		if e.check(err, "overview"); len(o.Boxes) != 1 || o.Boxes[0].Rows != int64(n) {
			e.Fatalf("the overview shows %+v", o.Boxes)
		}
		return o.Boxes[0].Notices
	}
	if got := notices(); len(got) != 1 || got[0].What == "" || got[0].Why == "" {
		e.Errorf("the overview has the notices %v, not one", got)
	}
	if !e.features.Editing {
		return
	}
	_, err = e.editor().AcceptLedger(e.ctx, why, box)
	e.check(err, "accept")
	if got := notices(); len(got) != 0 {
		e.Errorf("after it was accepted the overview has %v", got)
	}
}
