package storetest

import (
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/postbag/postbag/store"
)

// operationCases are about long operations, for stores that keep them.
func operationCases() []scenario {
	return []scenario{
		{name: "An operation gives its command step by step, and ends with the last message", run: operationSteps},
		{name: "An operation is recorded as it was planned, and the newest is listed first", run: operationRecorded},
		{name: "A step that cannot queue its commands leaves the record as it was", needs: editing, run: operationFull},
		{name: "A step that is said again gives nothing again", run: operationAgain},
		{name: "A step with an old token gives nothing", run: operationLost},
		{name: "A lease that has not ended is not taken", run: operationHeld},
		{name: "In a pause a step gives nothing and keeps the lease", run: operationPaused},
		{name: "A worker in trouble is seen until a step is made", run: operationTroubled},
		{name: "A claim that names other messages gives nothing", needs: editing, run: operationOtherOf},
		{name: "An operation that is over stays over, and one that failed can be resumed", run: operationOver},
		{name: "An operation that failed and is cancelled still says why it failed", run: operationGivenUp},
		{name: "Only an operation with all its messages begins", run: operationWhole},
		{name: "A step leaves a message that died again", run: operationDiedAgain},
		{name: "A step leaves a message that another command waits for", run: operationCommanded},
		{name: "A step leaves a message that is not the one with that id", run: operationOtherID},
		{name: "A step counts messages that have the command, or need none, as passed", run: operationPassed},
		{name: "A step ends where the subscription was removed and declared again", run: operationRemoved},
		{name: "Scheduled messages are published now by an operation", needs: editing, run: operationScheduled},
		{name: "Pending messages are discarded by an operation", needs: editing, run: operationPending},
		{name: "An operation of a later version is shown, paused and cancelled, and not worked", run: operationLater},
		{name: "As many operations as there can be are planned, and no more", run: operationsMost},
		{name: "An operation that cannot be is refused, and nothing is written", run: operationRefused},
		{name: "Housekeeping removes the records that nobody changed for long", run: operationsForgotten},
		{name: "An operation of many parts gives each message the command once", run: operationParts},
	}
}

// operationLease is how long workers of operations have the lease here.
const operationLease = time.Minute

// books returns the store as a Bookkeeper, or skips the case.
func (e *env) books() store.Bookkeeper {
	e.Helper()
	b, ok := e.Store.(store.Bookkeeper)
	if !ok {
		e.Skip("the store is no Bookkeeper")
	}
	e.operator()
	return b
}

// dead returns a lot whose messages are dead.
func (e *env) dead(keys ...string) *lot {
	e.Helper()
	l := e.parked(keys...)
	l.die()
	return l
}

// die has all messages of the lot die.
func (l *lot) die() {
	l.Helper()
	var ps []store.Park
	for i := range l.records {
		ps = append(ps, park(l.at(i), store.ParkDead))
	}
	l.park(ps...)
}

// confirmed returns messages of the lot as an operation has them.
func (l *lot) confirmed(is ...int) []store.OperationMessage {
	var out []store.OperationMessage
	for _, i := range is {
		out = append(out, store.OperationMessage{Seq: l.at(i).Seq, ID: l.at(i).ID})
	}
	return out
}

// planned is what an operation of a kind is planned with.
func (e *env) planned(kind store.OperationKind, of store.State, n int) store.Operation {
	e.Helper()
	now, err := e.books().Clock(e.ctx)
	e.check(err, "clock")
	return store.Operation{Ref: ref, Kind: kind, Of: of, Matched: int64(n), AsOf: now, Chosen: `{"filter":"--all"}`}
}

// begun plans and begins an operation.
func (e *env) begun(o store.Operation, of []store.OperationMessage) store.OperationID {
	e.Helper()
	b := e.books()
	id, err := b.PlanOperation(e.ctx, why, o)
	e.check(err, "plan")
	for from, part := range slices.Collect(slices.Chunk(of, store.OperationPart)) {
		e.check(b.AddMessages(e.ctx, id, int64(from*store.OperationPart), part), "add messages")
	}
	e.check(b.BeginOperation(e.ctx, why, id), "begin")
	return id
}

// claimed takes the lease of an operation.
func (e *env) claimed(id store.OperationID) store.OperationClaim {
	e.Helper()
	o, err := e.books().ClaimOperation(e.ctx, id, "worker", operationLease)
	e.check(err, "claim")
	if o.Worker != "worker" || !o.LeaseEnds.After(o.Touched) {
		e.Errorf("a claimed operation has worker %q and a lease until %s, touched %s", o.Worker, o.LeaseEnds, o.Touched)
	}
	return store.OperationClaim{ID: id, Token: o.Token, Lease: operationLease, Of: o.Of}
}

// stepped steps, and fails the case unless the record then has these counts.
func (e *env) stepped(c store.OperationClaim, from int64, n int, state store.OperationState, at, given, changed, passed int64) {
	e.Helper()
	o, err := e.books().StepOperation(e.ctx, c, from, n)
	e.check(err, "step")
	e.counted(o, state, at, given, changed, passed)
	if kept := e.kept(c.ID); kept != o {
		e.Errorf("the step answers %+v, and the record is %+v", o, kept)
	}
}

// kept returns the record of an operation.
func (e *env) kept(id store.OperationID) store.Operation {
	e.Helper()
	o, err := e.books().Operation(e.ctx, id)
	e.check(err, "look at the operation")
	return o
}

func (e *env) counted(o store.Operation, state store.OperationState, at, given, changed, passed int64) {
	e.Helper()
	if o.State != state || o.At != at || o.Given != given || o.Changed != changed || o.Passed != passed {
		e.Errorf("the operation is %s at %d, %d given, %d changed, %d passed; want %s at %d, %d, %d, %d",
			o.State, o.At, o.Given, o.Changed, o.Passed, state, at, given, changed, passed)
	}
}

// refuses fails the case unless err is want.
func (e *env) refuses(err, want error, doing string) {
	e.Helper()
	if !errors.Is(err, want) {
		e.Errorf("%s: %v, not %v", doing, err, want)
	}
}

func operationSteps(e *env) {
	e.books()
	l := e.dead("a", "b", "c")
	a := e.begun(e.planned(store.OperationDiscard, store.StateDead, 3), l.confirmed(0, 1, 2))
	e.audits("begin operation", "discard", ref.String(), "3 dead")
	c := e.claimed(a)
	e.stepped(c, 0, 0, store.OperationRunning, 0, 0, 0, 0)
	e.stepped(c, 0, 2, store.OperationRunning, 2, 2, 0, 0)
	if got := l.waiting(); len(got) != 2 || got[0].Kind != store.Discard || got[0].Park.Seq != l.at(0).Seq || got[1].Park.Seq != l.at(1).Seq {
		e.Errorf("after a step over two of three messages these commands wait: %+v", got)
	}
	e.stepped(c, 2, 2, store.OperationDone, 3, 3, 0, 0)
	if got := l.waiting(); len(got) != 3 {
		e.Errorf("after the last step %d commands wait, not 3", len(got))
	}
	e.audits("end operation", "done", "3 of 3", "3 given")
	o := e.kept(a)
	if o.Worker != "" || o.Ended.IsZero() || o.Begun.IsZero() || o.Ended.Before(o.Begun) {
		e.Errorf("an operation that is done has worker %q, begun %s, ended %s", o.Worker, o.Begun, o.Ended)
	}
	e.stepped(c, 3, 1, store.OperationDone, 3, 3, 0, 0)
	_, err := e.books().ClaimOperation(e.ctx, a, "worker", operationLease)
	e.refuses(err, store.ErrOperationState, "claim what is done")
}

func operationRecorded(e *env) {
	b := e.books()
	l := e.dead("a")
	o := e.planned(store.OperationDelete, store.StateDead, 1)
	o.Rate, o.Chosen = 7, `{"filter":"`+strings.Repeat(`ü'%_`, 2000)+`"}`
	first := e.begun(o, l.confirmed(0))
	second, err := b.PlanOperation(e.ctx, store.Audit{Who: "anna", Why: "later"}, e.planned(store.OperationRetry, store.StateDead, 2))
	e.check(err, "plan")
	got := e.kept(first)
	if got.ID != first || got.Ref != ref || got.Version != store.OperationVersion || got.Kind != o.Kind || got.Of != o.Of || got.Chosen != o.Chosen ||
		got.Rate != 7 || got.Matched != 1 || got.Who != why.Who || got.Why != why.Why || got.State != store.OperationRunning {
		e.Errorf("the record is %+v, planned as %+v", got, o)
	}
	if d := got.AsOf.Sub(o.AsOf).Abs(); d > time.Microsecond || got.Made.IsZero() || got.Touched.Before(got.Made) || !got.Ended.IsZero() {
		e.Errorf("the record is as of %s, made %s, touched %s, ended %s; planned as of %s", got.AsOf, got.Made, got.Touched, got.Ended, o.AsOf)
	}
	all, err := b.Operations(e.ctx, 10)
	e.check(err, "list")
	if len(all) != 2 || all[0].ID != second || all[0].Who != "anna" || all[0].State != store.OperationPlanned || all[1] != got {
		e.Errorf("two operations are listed as %+v", all)
	}
	if some, err := b.Operations(e.ctx, 1); err != nil || len(some) != 1 || some[0].ID != second {
		e.Errorf("of two operations the newest is listed as %+v: %v", some, err)
	}
	_, err = b.Operation(e.ctx, second+100)
	e.refuses(err, store.ErrNoOperation, "an operation that is not there")
}

func operationFull(e *env) {
	o := e.operator()
	e.books()
	const n = store.MaxPendingCommands
	l := e.unread(make([]string, n+3)...)
	var seqs []int64
	var list []store.OperationMessage
	for i := range l.records {
		if i < n {
			seqs = append(seqs, l.at(i).Seq)
		} else {
			list = append(list, l.confirmed(i)...)
		}
	}
	_, err := o.Command(e.ctx, why, ref, store.Discard, seqs)
	e.check(err, "command")
	c := e.claimed(e.begun(e.planned(store.OperationDiscard, store.StatePending, 3), list))
	before := e.kept(c.ID)
	_, err = e.books().StepOperation(e.ctx, c, 0, 2)
	e.refuses(err, store.ErrTooManyCommands, "a step that would have too many commands wait")
	if after := e.kept(c.ID); after != before {
		e.Errorf("a step that failed left the record as %+v, and it was %+v", after, before)
	}
	if got := len(l.asked()); got != n {
		e.Errorf("a step that failed left %d commands, and there were %d", got, n)
	}
}

func operationAgain(e *env) {
	e.books()
	l := e.dead("a", "b", "c")
	c := e.claimed(e.begun(e.planned(store.OperationRetry, store.StateDead, 3), l.confirmed(0, 1, 2)))
	e.stepped(c, 0, 1, store.OperationRunning, 1, 1, 0, 0)
	for _, cmd := range l.waiting() { // the owner carries it out
		p := cmd.Park
		p.State, p.Delay = store.ParkDead, 0
		l.settle(store.Settlement{Park: []store.Park{p}, Done: []store.Done{cmd.Done()}})
	}
	e.stepped(c, 0, 1, store.OperationRunning, 1, 1, 0, 0)
	if got := l.waiting(); len(got) != 0 {
		e.Errorf("a step that was made again queued %d commands", len(got))
	}
}

func operationLost(e *env) {
	b := e.books()
	l := e.dead("a", "b")
	id := e.begun(e.planned(store.OperationRetry, store.StateDead, 2), l.confirmed(0, 1))
	o, err := b.ClaimOperation(e.ctx, id, "sleeper", 200*time.Millisecond)
	e.check(err, "claim")
	old := store.OperationClaim{ID: id, Token: o.Token, Lease: 200 * time.Millisecond}
	e.pass(300 * time.Millisecond)
	fresh := e.claimed(id)
	if fresh.Token <= old.Token {
		e.Fatalf("the token is %d after %d", fresh.Token, old.Token)
	}
	_, err = b.StepOperation(e.ctx, old, 0, 1)
	e.refuses(err, store.ErrOperationLost, "a step with an old token")
	_, err = b.StepOperation(e.ctx, old, 0, 0)
	e.refuses(err, store.ErrOperationLost, "a renewal with an old token")
	e.refuses(b.ReleaseOperation(e.ctx, old, "it failed"), store.ErrOperationLost, "a release with an old token")
	if got := l.waiting(); len(got) != 0 {
		e.Errorf("a step with an old token queued %d commands", len(got))
	}
	e.stepped(fresh, 0, 1, store.OperationRunning, 1, 1, 0, 0)
}

func operationHeld(e *env) {
	b := e.books()
	l := e.dead("a")
	id := e.begun(e.planned(store.OperationRetry, store.StateDead, 1), l.confirmed(0))
	c := e.claimed(id)
	_, err := b.ClaimOperation(e.ctx, id, "another", operationLease)
	e.refuses(err, store.ErrOperationHeld, "claim what another works")
	if got := e.kept(id); got.Worker != "worker" || got.Token != c.Token {
		e.Errorf("a claim that was refused left worker %q with token %d", got.Worker, got.Token)
	}
	e.check(b.ReleaseOperation(e.ctx, c, ""), "release")
	if got := e.kept(id); got.Worker != "" || got.State != store.OperationRunning {
		e.Errorf("an operation that was released has worker %q and is %s", got.Worker, got.State)
	}
	o, err := b.ClaimOperation(e.ctx, id, "another", operationLease)
	e.check(err, "claim what was released")
	if o.Worker != "another" || o.Token <= c.Token {
		e.Errorf("the next claim has worker %q and token %d after %d", o.Worker, o.Token, c.Token)
	}
}

func operationPaused(e *env) {
	b := e.books()
	l := e.dead("a", "b")
	id := e.begun(e.planned(store.OperationRetry, store.StateDead, 2), l.confirmed(0, 1))
	c := e.claimed(id)
	anna := store.Audit{Who: "anna", Why: "too much at once"}
	e.check(b.SetOperation(e.ctx, anna, id, store.OperationPaused), "pause")
	e.check(b.SetOperation(e.ctx, anna, id, store.OperationPaused), "pause again")
	e.stepped(c, 0, 1, store.OperationPaused, 0, 0, 0, 0)
	if got := l.waiting(); len(got) != 0 {
		e.Errorf("a step in a pause queued %d commands", len(got))
	}
	before := e.kept(id)
	if before.By != "anna" || before.ByWhy != anna.Why || before.Worker != "worker" {
		e.Errorf("a paused operation is paused by %q for %q, with worker %q", before.By, before.ByWhy, before.Worker)
	}
	e.pass(20 * time.Millisecond)
	e.stepped(c, 0, 0, store.OperationPaused, 0, 0, 0, 0)
	if after := e.kept(id); !after.LeaseEnds.After(before.LeaseEnds) {
		e.Errorf("the lease ends at %s, and ended at %s before it was renewed in a pause", after.LeaseEnds, before.LeaseEnds)
	}
	e.check(b.SetOperation(e.ctx, why, id, store.OperationRunning), "resume")
	e.stepped(c, 0, 2, store.OperationDone, 2, 2, 0, 0)
}

func operationOver(e *env) {
	b := e.books()
	l := e.dead("a", "b")
	id := e.begun(e.planned(store.OperationRetry, store.StateDead, 2), l.confirmed(0, 1))
	c := e.claimed(id)
	e.stepped(c, 0, 1, store.OperationRunning, 1, 1, 0, 0)
	e.check(b.ReleaseOperation(e.ctx, c, "the subscription is gone"), "fail")
	e.audits("end operation", "failed", "1 of 2")
	if o := e.kept(id); o.State != store.OperationFailed || o.Error != "the subscription is gone" || o.Ended.IsZero() || o.Worker != "" {
		e.Errorf("an operation that failed is %+v", o)
	}
	e.refuses(b.SetOperation(e.ctx, why, id, store.OperationPaused), store.ErrOperationState, "pause what failed")
	e.check(b.SetOperation(e.ctx, why, id, store.OperationRunning), "resume what failed")
	if o := e.kept(id); o.State != store.OperationRunning || o.Error != "" || !o.Ended.IsZero() || o.At != 1 {
		e.Errorf("an operation that failed and was resumed is %+v", o)
	}
	c = e.claimed(id)
	e.check(b.SetOperation(e.ctx, why, id, store.OperationCancelled), "cancel")
	e.audits("end operation", "cancelled", "1 of 2")
	e.stepped(c, 1, 1, store.OperationCancelled, 1, 1, 0, 0)
	if got := l.waiting(); len(got) != 1 {
		e.Errorf("a step of a cancelled operation left %d commands, not the one from before", len(got))
	}
	e.check(b.SetOperation(e.ctx, why, id, store.OperationCancelled), "cancel again")
	e.refuses(b.SetOperation(e.ctx, why, id, store.OperationRunning), store.ErrOperationState, "resume what was cancelled")
	e.check(b.ReleaseOperation(e.ctx, c, "it failed"), "release what was cancelled")
	if o := e.kept(id); o.State != store.OperationCancelled {
		e.Errorf("a cancelled operation is %s", o.State)
	}
}

func operationGivenUp(e *env) {
	b := e.books()
	l := e.dead("a", "b")
	id := e.begun(e.planned(store.OperationRetry, store.StateDead, 2), l.confirmed(0, 1))
	e.check(b.ReleaseOperation(e.ctx, e.claimed(id), "the subscription is gone"), "fail")
	e.check(b.SetOperation(e.ctx, why, id, store.OperationCancelled), "cancel")
	if o := e.kept(id); o.State != store.OperationCancelled || o.Error != "the subscription is gone" || o.By != why.Who {
		e.Errorf("an operation that failed and was cancelled is %+v", o)
	}
}

func operationWhole(e *env) {
	b := e.books()
	l := e.dead("a", "b")
	id, err := b.PlanOperation(e.ctx, why, e.planned(store.OperationRetry, store.StateDead, 2))
	e.check(err, "plan")
	e.refuses(b.BeginOperation(e.ctx, why, id), store.ErrOperationState, "begin without messages")
	if err := b.AddMessages(e.ctx, id, 0, l.confirmed(0)); err == nil {
		e.Error("one of two messages was taken for all")
	}
	if err := b.AddMessages(e.ctx, id, 1, l.confirmed(1)); err == nil {
		e.Error("a message was taken where no part begins")
	}
	_, err = b.ClaimOperation(e.ctx, id, "worker", operationLease)
	e.refuses(err, store.ErrOperationState, "claim what is planned")
	e.refuses(b.SetOperation(e.ctx, why, id, store.OperationRunning), store.ErrOperationState, "resume what is planned")
	e.check(b.AddMessages(e.ctx, id, 0, l.confirmed(1, 0)), "add messages")
	e.check(b.AddMessages(e.ctx, id, 0, l.confirmed(0, 1)), "add them again")
	e.check(b.BeginOperation(e.ctx, why, id), "begin")
	e.refuses(b.AddMessages(e.ctx, id, 0, l.confirmed(0, 1)), store.ErrOperationState, "add messages to what runs")
	e.refuses(b.BeginOperation(e.ctx, why, id), store.ErrOperationState, "begin again")
	e.stepped(e.claimed(id), 0, 1, store.OperationRunning, 1, 1, 0, 0)
	if got := l.waiting(); len(got) != 1 || got[0].Park.Seq != l.at(0).Seq {
		e.Errorf("the first of two messages has the command: %+v", got)
	}
}
