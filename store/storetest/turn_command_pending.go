package storetest

import (
	"errors"
	"slices"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/store"
)

// pendingCases are about operators' commands for messages that are not parked.
func pendingCases() []scenario {
	return []scenario{
		{name: "A discard of a pending message comes with every turn until it is done", needs: editing, run: pendingComes},
		{name: "A pending message that is discarded is shown and counted as that", needs: editing, run: pendingDiscarded},
		{name: "A command of a pending message that the position passes is closed", needs: editing, run: pendingPassed},
		{name: "A command of a pending message stays in the middle of a window", needs: editing, run: pendingWindow},
		{name: "A command of a pending message that is parked meanwhile comes with its row", needs: editing, run: pendingParked},
		{name: "Only a discard is taken for a pending message, and none for one whose fate is settled", needs: editing, run: pendingKinds},
		{name: "A message that is not committed takes no command", needs: editingBeside, run: pendingOpen},
		{name: "Pending messages under command are bounded, and nothing is queued beyond", needs: editing, run: pendingBound},
		{name: "Commands of pending messages come beside a thousand of parked ones", needs: editing, run: pendingBeside},
		{name: "Each subscription's owner gets its own commands of pending messages", needs: editing, run: pendingOthers},
	}
}

func editing(f store.Features) bool { return f.Editing }

// editingBeside: a command is taken while a transaction of an application is open.
func editingBeside(f store.Features) bool { return f.Editing && f.ConcurrentWriters }

// unread is a lot whose messages nobody has read: its position is the beginning.
func (e *env) unread(keys ...string) *lot {
	e.Helper()
	e.open(1)
	r := e.relay("r")
	l := &lot{env: e, s: e.Store, r: r, lease: r.take(ref)[0]}
	l.more(keys...)
	return l
}

// asked returns the commands that a turn brings which reads nothing.
func (l *lot) asked() []store.Command {
	l.Helper()
	return l.turn(store.Turn{Read: []store.Request{{Ref: ref, Slots: []store.Slots{store.AllSlots}}}}).Commands
}

// about fails the case unless the commands are discards of the messages numbered want,
// as pending.
func (l *lot) about(got []store.Command, want ...int) {
	l.Helper()
	var seqs, wanted []int64
	for _, c := range got {
		seqs = append(seqs, c.Park.Seq)
		i := slices.IndexFunc(l.records, func(r store.Record) bool { return r.Seq == c.Park.Seq })
		if i < 0 {
			continue
		}
		r := l.at(i)
		if c.Kind != store.Discard || c.Ref != ref || c.Message != r.ID || c.Topic != r.Topic || c.Park != (store.Park{Seq: r.Seq, Slot: r.Slot, Hash: r.Hash}) {
			l.Errorf("the command of pending message %d is %+v", i, c)
		}
	}
	for _, i := range want {
		wanted = append(wanted, l.at(i).Seq)
	}
	if !slices.Equal(seqs, wanted) {
		l.Fatalf("waiting are commands of seqs %v, not of %v", seqs, wanted)
	}
}

func pendingComes(e *env) {
	e.operator()
	l := e.unread("a", "b", "a")
	if n := l.order(store.Discard, 2, 0); n != 2 {
		e.Fatalf("a discard of two pending messages was queued for %d", n)
	}
	if n := l.order(store.Discard, 0); n != 0 {
		e.Errorf("a discard that is queued already was queued again for %d", n)
	}
	for range 3 {
		l.about(l.asked(), 0, 2)
	}
	if it := e.shown(l.msgs[0].ID); len(it) != 1 || it[0].State != store.StatePending || it[0].Queued != store.Discard {
		e.Errorf("a pending message with a discard queued is shown as %+v", it)
	}
	l.about(e.turn(store.Turn{Settle: []store.Settlement{{Lease: l.lease}}}).Commands, 0, 2)
}

func pendingDiscarded(e *env) {
	e.inspector()
	l := e.unread("a", "b")
	l.order(store.Discard, 0)
	done := l.asked()[0].Done()
	st := store.Settlement{
		Lease: l.lease, To: l.next, Done: []store.Done{done},
		Tally: slices.Concat(tally(store.TallyDiscarded, l.at(0)), tally(store.TallyDelivered, l.at(1))),
	}
	for range 2 { // the second as if its answer had been lost
		if v := e.turn(store.Turn{Settle: []store.Settlement{st}}).Verdicts[0]; !v.Applied {
			e.Fatal("a settlement, or its repeat, is lost")
		}
	}
	l.lease.Version++
	l.about(l.asked())
	l.due(store.Due{}) // nothing
	for i, want := range []store.State{store.StateDiscarded, store.StateDelivered} {
		if it := e.shown(l.msgs[i].ID)[0]; it.State != want || it.Queued != 0 {
			e.Errorf("message %d is shown as %q, queued %d; want %q", i, it.State, it.Queued, want)
		}
	}
	l.listed("discarded", store.Query{State: store.StateDiscarded}, 0)
	if s := e.overlooked(); s.Discarded != 1 || s.Delivered != 1 || s.Commands != 0 {
		e.Errorf("one message was discarded and one delivered; the overview says %d and %d, and %d commands", s.Discarded, s.Delivered, s.Commands)
	}
}

// overlooked returns the default subscription in an overview.
func (e *env) overlooked() store.SubscriptionView {
	e.Helper()
	o, err := e.inspector().Overview(e.ctx)
	e.check(err, "overview")
	if len(o.Boxes) != 1 || len(o.Boxes[0].Subscriptions) == 0 {
		e.Fatalf("an overview has %d boxes", len(o.Boxes))
	}
	return o.Boxes[0].Subscriptions[0]
}

func pendingPassed(e *env) {
	e.inspector()
	l := e.unread("a", "b")
	l.order(store.Discard, 0, 1)
	st := store.Settlement{Lease: l.lease, To: l.next, Tally: tally(store.TallyDelivered, l.records...)}
	if got := e.turn(store.Turn{Settle: []store.Settlement{st}}).Commands; len(got) != 0 {
		e.Errorf("the turn whose settlement passes the messages brings %d commands of them", len(got))
	}
	l.lease.Version++
	l.about(l.asked())
	if it := e.shown(l.msgs[0].ID)[0]; it.State != store.StateDelivered || it.Queued != 0 {
		e.Errorf("a message that was delivered although a discard was queued is shown as %q, queued %d", it.State, it.Queued)
	}
}

func pendingWindow(e *env) {
	e.operator()
	l := e.unread("a", "b", "c", "d")
	req := store.Request{Ref: ref, Slots: []store.Slots{store.AllSlots}, Limit: 100, Bytes: 1 << 20}
	b := e.turn(store.Turn{Read: []store.Request{req}}).Batches[0]
	if len(b.Records) != 4 {
		e.Fatalf("of four messages %d are read", len(b.Records))
	}
	l.order(store.Discard, 0, 2, 3)
	l.settle(store.Settlement{To: b.At(1), Tally: tally(store.TallyDelivered, b.Records[:2]...)})
	l.about(l.asked(), 2, 3)
}

func pendingParked(e *env) {
	e.operator()
	l := e.unread("a", "b")
	l.order(store.Discard, 0)
	p := park(l.at(0), store.ParkRetrying)
	p.Attempts, p.Reason = 1, "no"
	l.park(p)
	got := l.waiting()
	if len(got) != 1 || got[0].Park.State != store.ParkRetrying || got[0].Park.Attempts != 1 {
		e.Fatalf("waiting are %+v, not the discard of the parked message", got)
	}
	l.settle(store.Settlement{Resolve: []store.Resolved{l.resolved(0)}, Done: []store.Done{got[0].Done()}})
	if it := e.shown(l.msgs[0].ID)[0]; it.State != store.StateDiscarded {
		e.Errorf("a message whose discard came while it was pending is shown as %q", it.State)
	}
}

func pendingKinds(e *env) {
	o := e.operator()
	l := e.unread("a", "b", "c")
	if n := l.order(store.Retry, 0, 1); n != 0 {
		e.Errorf("a retry of pending messages was queued for %d", n)
	}
	l.settle(store.Settlement{To: l.next, Tally: tally(store.TallyDelivered, l.records...)})
	if n := l.order(store.Discard, 0, 1, 2); n != 0 {
		e.Errorf("a discard of delivered messages was queued for %d", n)
	}
	n, err := o.Command(e.ctx, why, ref, store.Discard, []int64{l.at(2).Seq + 1000, 0, -5})
	if e.check(err, "command"); n != 0 {
		e.Errorf("a discard of what is in no row was queued for %d", n)
	}
	got, err := o.Audited(e.ctx, 10)
	if e.check(err, "audit log"); len(got) != 0 {
		e.Errorf("commands that did nothing left %d entries in the audit log", len(got))
	}
}

func pendingOpen(e *env) {
	o := e.operator()
	l := e.unread("a")
	tx := e.begin()
	e.append(tx, e.message("b"))
	n, err := o.Command(e.ctx, why, ref, store.Discard, []int64{l.at(0).Seq + 1, l.at(0).Seq + 2})
	e.rollback(tx)
	if e.check(err, "command"); n != 0 {
		e.Errorf("a discard of what is not committed was queued for %d", n)
	}
}

func pendingBound(e *env) {
	o := e.operator()
	l := e.unread()
	l.msgs = e.publish(e.messages(store.MaxPendingCommands+2, "")...)
	l.records = l.pager().expect(l.msgs...)
	var seqs []int64
	for _, r := range l.records {
		seqs = append(seqs, r.Seq)
	}
	if n, err := o.Command(e.ctx, why, ref, store.Discard, seqs); !errors.Is(err, store.ErrTooManyCommands) || n != 0 {
		e.Fatalf("a discard of %d pending messages was queued for %d: %v", len(seqs), n, err)
	}
	l.about(l.asked())
	n, err := o.Command(e.ctx, why, ref, store.Discard, seqs[:store.MaxPendingCommands])
	if e.check(err, "command"); n != store.MaxPendingCommands {
		e.Fatalf("a discard of %d pending messages was queued for %d", store.MaxPendingCommands, n)
	}
	if n, err := o.Command(e.ctx, why, ref, store.Discard, seqs[store.MaxPendingCommands:]); !errors.Is(err, store.ErrTooManyCommands) || n != 0 {
		e.Fatalf("with %d waiting, a discard of 2 more was queued for %d: %v", store.MaxPendingCommands, n, err)
	}
	n, err = o.Command(e.ctx, why, ref, store.Discard, seqs[:10])
	if e.check(err, "the same again"); n != 0 {
		e.Errorf("a discard that is queued already was queued again for %d", n)
	}
	if got := l.asked(); len(got) != store.MaxPendingCommands {
		e.Errorf("%d commands wait, not %d", len(got), store.MaxPendingCommands)
	}
	l.settle(store.Settlement{To: l.end(), Tally: tally(store.TallyDelivered, l.records...)})
	l.about(l.asked())
	l.more("late")
	if n := l.order(store.Discard, len(l.records)-1); n != 1 {
		e.Errorf("once the others are settled, a discard is queued for %d, not 1", n)
	}
}

func pendingBeside(e *env) {
	o := e.operator()
	l := e.unread()
	parked := e.publish(e.messages(1100, "")...)
	c := e.pager()
	records := c.expect(parked...)
	var ps []store.Park
	var seqs []int64
	for _, r := range records {
		ps = append(ps, park(r, store.ParkDead))
		seqs = append(seqs, r.Seq)
	}
	l.settle(store.Settlement{To: c.req.From, Park: ps})
	for part := range slices.Chunk(seqs, 300) {
		_, err := o.Command(e.ctx, why, ref, store.Discard, part)
		e.check(err, "command")
	}
	late := e.publish(e.messages(3, "")...)
	l.records = l.pager().from(c.req.From).expect(late...)
	l.order(store.Discard, 0, 1, 2)
	got := l.asked()
	pending := slices.DeleteFunc(slices.Clone(got), func(c store.Command) bool { return c.Park.State != 0 })
	if len(got) > 1000+3 {
		e.Errorf("a turn brings %d commands", len(got))
	}
	l.about(pending, 0, 1, 2)
}

func pendingOthers(e *env) {
	o := e.operator()
	l := e.unread("a", "b")
	other := store.Ref{Box: box, Subscription: "other"}
	e.declareFirst(other)
	l.order(store.Discard, 0)
	n, err := o.Command(e.ctx, why, other, store.Discard, []int64{l.at(0).Seq, l.at(1).Seq})
	if e.check(err, "command"); n != 2 {
		e.Fatalf("a discard for another subscription was queued for %d, not 2", n)
	}
	l.settle(store.Settlement{To: l.next, Tally: tally(store.TallyDelivered, l.records...)})
	l.about(l.asked())
	got := e.turn(store.Turn{Read: []store.Request{{Ref: other, Slots: []store.Slots{store.AllSlots}}}}).Commands
	if len(got) != 2 || got[0].Ref != other || got[0].Message == (postbag.ID{}) {
		e.Errorf("after one subscription has passed the messages, the other has %d commands: %+v", len(got), got)
	}
}

// end reads all there is, and returns the position behind it.
func (l *lot) end() store.Position {
	l.Helper()
	c := l.pager()
	c.all()
	return c.req.From
}
