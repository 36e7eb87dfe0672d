package storetest

import (
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/store"
)

func operationDiedAgain(e *env) {
	e.books()
	l := e.dead("a", "b")
	e.pass(5 * time.Millisecond)
	c := e.claimed(e.begun(e.planned(store.OperationDiscard, store.StateDead, 2), l.confirmed(0, 1)))
	e.pass(5 * time.Millisecond)
	p := park(l.at(0), store.ParkRetrying)
	l.settle(store.Settlement{Park: []store.Park{p}})
	p.State, p.Attempts = store.ParkDead, 2
	l.settle(store.Settlement{Park: []store.Park{p}})
	e.stepped(c, 0, 2, store.OperationDone, 2, 1, 1, 0)
	if got := l.waiting(); len(got) != 1 || got[0].Park.Seq != l.at(1).Seq {
		e.Errorf("of two messages the first died again, and these commands wait: %+v", got)
	}
}

func operationCommanded(e *env) {
	e.books()
	l := e.dead("a", "b", "c")
	c := e.claimed(e.begun(e.planned(store.OperationDelete, store.StateDead, 3), l.confirmed(0, 1, 2)))
	l.order(store.Retry, 0)
	p := park(l.at(1), store.ParkRetrying)
	l.settle(store.Settlement{Park: []store.Park{p}})
	e.stepped(c, 0, 3, store.OperationDone, 3, 1, 2, 0)
	got := l.waiting()
	if len(got) != 2 || !slices.ContainsFunc(got, func(c store.Command) bool { return c.Kind == store.Retry && c.Park.Seq == l.at(0).Seq }) ||
		!slices.ContainsFunc(got, func(c store.Command) bool { return c.Kind == store.Discard && c.Park.Seq == l.at(2).Seq }) {
		e.Errorf("of three messages one is to be retried, and one is not dead any more; these commands wait: %+v", got)
	}
}

func operationOtherID(e *env) {
	e.books()
	l := e.dead("a", "b")
	list := l.confirmed(0, 1)
	list[0].ID = e.message("").ID
	c := e.claimed(e.begun(e.planned(store.OperationRetry, store.StateDead, 2), list))
	e.stepped(c, 0, 2, store.OperationDone, 2, 1, 1, 0)
	if got := l.waiting(); len(got) != 1 || got[0].Park.Seq != l.at(1).Seq {
		e.Errorf("of two messages the first is another by its id, and these commands wait: %+v", got)
	}
}

func operationPassed(e *env) {
	e.books()
	l := e.parked("a", "b", "c", "d")
	l.park(park(l.at(0), store.ParkHeld), park(l.at(1), store.ParkHeld), park(l.at(2), store.ParkHeld))
	c := e.claimed(e.begun(e.planned(store.OperationRetry, store.StateHeld, 4), l.confirmed(0, 1, 2, 3)))
	l.order(store.Retry, 0)
	l.resolve(1)
	e.stepped(c, 0, 4, store.OperationDone, 4, 1, 0, 3)
	if got := l.waiting(); len(got) != 2 || got[1].Park.Seq != l.at(2).Seq {
		e.Errorf("of four messages one has the command, and two are settled; these commands wait: %+v", got)
	}
}

func operationRemoved(e *env) {
	b := e.books()
	st := e.steward()
	l := e.dead("a")
	c := e.claimed(e.begun(e.planned(store.OperationRetry, store.StateDead, 1), l.confirmed(0)))
	e.check(st.Remove(e.ctx, why, ref, true), "remove")
	_, err := b.StepOperation(e.ctx, c, 0, 1)
	e.refuses(err, store.ErrNoSubscription, "a step of a subscription that was removed")
	e.check(st.Readmit(e.ctx, why, ref), "readmit")
	e.declare(store.Spec{Ref: ref, Shards: 1})
	again := &lot{env: e, s: e.Store, r: l.r, lease: l.r.take(ref)[0], msgs: l.msgs}
	again.more()
	again.die()
	_, err = b.StepOperation(e.ctx, c, 0, 1)
	e.refuses(err, store.ErrNoSubscription, "a step of a subscription that was declared again")
	if got := again.waiting(); len(got) != 0 {
		e.Errorf("the subscription that was declared again has %d commands", len(got))
	}
	if o := e.kept(c.ID); o.At != 0 || o.State != store.OperationRunning {
		e.Errorf("a step that failed left the operation %s at %d", o.State, o.At)
	}
}

func operationScheduled(e *env) {
	e.books()
	e.open(1)
	u := e.upkeep()
	msgs := []postbag.Message{e.message("a"), e.message("b"), e.message("c")}
	var list []store.OperationMessage
	for i := range msgs {
		msgs[i] = at(msgs[i], e.now().Add(longAfter))
		list = append(list, store.OperationMessage{ID: msgs[i].ID})
	}
	list[1].ID = e.message("").ID
	e.publish(msgs...)
	c := e.claimed(e.begun(e.planned(store.OperationPublishNow, store.StateScheduled, 3), list))
	e.stepped(c, 0, 2, store.OperationRunning, 2, 1, 0, 1)
	e.stepped(c, 2, 2, store.OperationDone, 3, 2, 0, 1)
	reader := e.pager()
	e.eventually("the messages that are due now are promoted", func() bool {
		u.round()
		reader.page()
		return len(reader.got) >= 2
	})
	if got := e.shown(msgs[1].ID); len(got) != 1 || got[0].State != store.StateScheduled {
		e.Errorf("a message that the operation does not have is shown as %+v", got)
	}
	d := e.claimed(e.begun(e.planned(store.OperationDiscard, store.StateScheduled, 1), []store.OperationMessage{{ID: msgs[1].ID}}))
	e.stepped(d, 0, 1, store.OperationDone, 1, 1, 0, 0)
	if got := e.shown(msgs[1].ID); len(got) != 0 {
		e.Errorf("a scheduled message that was discarded is shown as %+v", got)
	}
}

func operationPending(e *env) {
	e.books()
	l := e.unread("a", "b", "c")
	c := e.claimed(e.begun(e.planned(store.OperationDiscard, store.StatePending, 2), l.confirmed(0, 2)))
	e.stepped(c, 0, 2, store.OperationDone, 2, 2, 0, 0)
	l.about(l.asked(), 0, 2)
}

func operationTroubled(e *env) {
	b := e.books()
	l := e.dead("a", "b", "c")
	c := e.claimed(e.begun(e.planned(store.OperationRetry, store.StateDead, 3), l.confirmed(0, 1, 2)))
	says := func(doing, want string) {
		e.Helper()
		if o := e.kept(c.ID); o.Error != want {
			e.Errorf("after %s the operation, which is %s, says %q, not %q", doing, o.State, o.Error, want)
		}
	}
	troubled := c
	troubled.Trouble = "the disk is full \x00"
	e.stepped(troubled, 0, 0, store.OperationRunning, 0, 0, 0, 0)
	says("a renewal in trouble", "the disk is full \uFFFD")
	e.stepped(c, 0, 1, store.OperationRunning, 1, 1, 0, 0)
	says("a step", "")
	e.stepped(troubled, 1, 0, store.OperationRunning, 1, 1, 0, 0)
	e.stepped(c, 1, 0, store.OperationRunning, 1, 1, 0, 0)
	says("a renewal without trouble", "")
	e.stepped(troubled, 1, 0, store.OperationRunning, 1, 1, 0, 0)
	e.check(b.SetOperation(e.ctx, why, c.ID, store.OperationPaused), "pause")
	says("a pause", "")
	e.stepped(troubled, 1, 0, store.OperationPaused, 1, 1, 0, 0)
	says("a renewal in a pause", "")
	e.check(b.SetOperation(e.ctx, why, c.ID, store.OperationRunning), "resume")
	e.stepped(troubled, 1, 0, store.OperationRunning, 1, 1, 0, 0)
	e.stepped(troubled, 1, 2, store.OperationDone, 3, 3, 0, 0)
	says("the last step", "")
}

func operationOtherOf(e *env) {
	b := e.books()
	l := e.dead("a")
	c := e.claimed(e.begun(e.planned(store.OperationRetry, store.StateDead, 1), l.confirmed(0)))
	other := c
	other.Of = store.StateScheduled
	if _, err := b.StepOperation(e.ctx, other, 0, 1); err == nil {
		e.Error("a claim that names scheduled messages steps over dead ones")
	}
	if o := e.kept(c.ID); o.At != 0 || len(l.waiting()) != 0 {
		e.Errorf("a claim that names other messages left the operation at %d, with %d commands", o.At, len(l.waiting()))
	}
	c.Of = ""
	e.stepped(c, 0, 1, store.OperationDone, 1, 1, 0, 0)
}

func operationLater(e *env) {
	b := e.books()
	if e.ChangeOperation == nil {
		e.Skip("the harness changes no records of operations")
	}
	l := e.dead("a", "b")
	id := e.begun(e.planned(store.OperationRetry, store.StateDead, 2), l.confirmed(0, 1))
	c := e.claimed(id)
	e.check(e.ChangeOperation(e.ctx, id, store.OperationVersion+1, 0), "change the record")
	_, err := b.StepOperation(e.ctx, c, 0, 1)
	e.refuses(err, store.ErrOperationVersion, "a step of what a later version made")
	e.check(b.ReleaseOperation(e.ctx, c, ""), "release")
	_, err = b.ClaimOperation(e.ctx, id, "worker", operationLease)
	e.refuses(err, store.ErrOperationVersion, "claim what a later version made")
	if all, err := b.Operations(e.ctx, 1); err != nil || len(all) != 1 || all[0].ID != id || all[0].Version != store.OperationVersion+1 {
		e.Errorf("what a later version made is listed as %+v: %v", all, err)
	}
	e.check(b.SetOperation(e.ctx, why, id, store.OperationPaused), "pause")
	e.check(b.SetOperation(e.ctx, why, id, store.OperationCancelled), "cancel")
	if o := e.kept(id); o.State != store.OperationCancelled || o.At != 0 || len(l.waiting()) != 0 {
		e.Errorf("what a later version made is %s at %d, with %d commands", o.State, o.At, len(l.waiting()))
	}
}

func operationsMost(e *env) {
	b := e.books()
	e.open(1)
	o := e.planned(store.OperationRetry, store.StateDead, 1)
	var first store.OperationID
	for i := range store.MaxOperations {
		id, err := b.PlanOperation(e.ctx, why, o)
		if e.check(err, "plan"); i == 0 {
			first = id
		}
	}
	_, err := b.PlanOperation(e.ctx, why, o)
	e.refuses(err, store.ErrTooManyOperations, "one more than there can be")
	e.check(b.SetOperation(e.ctx, why, first, store.OperationCancelled), "cancel")
	if _, err := b.PlanOperation(e.ctx, why, o); err != nil {
		e.Errorf("after one was cancelled another cannot be planned: %v", err)
	}
}

func operationRefused(e *env) {
	b := e.books()
	e.open(1)
	good := e.planned(store.OperationRetry, store.StateDead, 1)
	for what, change := range map[string]func(*store.Operation){
		"no kind":           func(o *store.Operation) { o.Kind = "wash" },
		"no messages":       func(o *store.Operation) { o.Matched = 0 },
		"too many messages": func(o *store.Operation) { o.Matched = store.MaxOperationMessages + 1 },
		"no time":           func(o *store.Operation) { o.AsOf = time.Time{} },
		"a retry of pending messages": func(o *store.Operation) {
			o.Of = store.StatePending
		},
		"a delete of scheduled messages": func(o *store.Operation) { o.Kind, o.Of = store.OperationDelete, store.StateScheduled },
		"a long choice":                  func(o *store.Operation) { o.Chosen = strings.Repeat("c", store.MaxOperationChosen+1) },
		"a negative rate":                func(o *store.Operation) { o.Rate = -1 },
	} {
		o := good
		change(&o)
		if _, err := b.PlanOperation(e.ctx, why, o); err == nil {
			e.Errorf("an operation with %s is planned", what)
		}
	}
	if _, err := b.PlanOperation(e.ctx, store.Audit{Who: "anna"}, good); err == nil {
		e.Error("an operation without a reason is planned")
	}
	none := good
	none.Subscription = "nobody"
	_, err := b.PlanOperation(e.ctx, why, none)
	e.refuses(err, store.ErrNoSubscription, "an operation of no subscription")
	none.Box = "nowhere"
	if _, err = b.PlanOperation(e.ctx, why, none); !errors.Is(err, store.ErrNoBox) && !errors.Is(err, store.ErrNoSubscription) {
		e.Errorf("an operation of no box: %v", err)
	}
	if all, err := b.Operations(e.ctx, 10); err != nil || len(all) != 0 {
		e.Errorf("%d operations that cannot be are listed: %v", len(all), err)
	}
}

func operationsForgotten(e *env) {
	b := e.books()
	if e.ChangeOperation == nil {
		e.Skip("the harness changes no records of operations")
	}
	l := e.dead("a")
	u := e.upkeep()
	made := func(older time.Duration, begin bool) store.OperationID {
		e.Helper()
		var id store.OperationID
		if begin {
			id = e.begun(e.planned(store.OperationRetry, store.StateDead, 1), l.confirmed(0))
		} else {
			var err error
			id, err = b.PlanOperation(e.ctx, why, e.planned(store.OperationRetry, store.StateDead, 1))
			e.check(err, "plan")
			e.check(b.AddMessages(e.ctx, id, 0, l.confirmed(0)), "add messages")
		}
		e.check(e.ChangeOperation(e.ctx, id, store.OperationVersion, older), "change the record")
		return id
	}
	gone := []store.OperationID{made(store.OperationKept+time.Minute, true), made(store.OperationPlannedKept+time.Minute, false)}
	stays := []store.OperationID{made(store.OperationKept-time.Hour, true), made(store.OperationPlannedKept-time.Hour, false)}
	u.round()
	for _, id := range gone {
		_, err := b.Operation(e.ctx, id)
		e.refuses(err, store.ErrNoOperation, "an operation that nobody changed for long")
	}
	for _, id := range stays {
		e.kept(id)
	}
	e.stepped(e.claimed(stays[0]), 0, 1, store.OperationDone, 1, 1, 0, 0)
}

func operationParts(e *env) {
	e.books()
	const n = 2*store.OperationPart + 7
	l := e.parked()
	l.msgs = append(l.msgs, l.publish(l.messages(n)...)...)
	l.more()
	l.die()
	var is []int
	for i := range n {
		is = append(is, i)
	}
	id := e.begun(e.planned(store.OperationDiscard, store.StateDead, n), l.confirmed(is...))
	c := e.claimed(id)
	for at := int64(0); at < n; {
		o, err := e.books().StepOperation(e.ctx, c, at, 300)
		if e.check(err, "step"); o.At <= at {
			e.Fatalf("a step left the operation at %d", o.At)
		}
		at = o.At
	}
	e.counted(e.kept(id), store.OperationDone, n, n, 0, 0)
	carried := map[int64]int{}
	for range n {
		got := l.waiting()
		if len(got) == 0 {
			break
		}
		var st store.Settlement
		for _, cmd := range got {
			carried[cmd.Park.Seq]++
			st.Resolve = append(st.Resolve, store.Resolved{Seq: cmd.Park.Seq, Hash: cmd.Park.Hash})
			st.Done = append(st.Done, cmd.Done())
		}
		l.settle(st)
	}
	for i := range n {
		if carried[l.at(i).Seq] != 1 {
			e.Fatalf("message %d has the command %d times", i, carried[l.at(i).Seq])
		}
	}
}
