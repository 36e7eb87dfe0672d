package storetest

import (
	"errors"
	"slices"
	"strings"
	"sync"

	"github.com/postbag/postbag/store"
)

// commandCases are about operators' commands, for stores that take them.
func commandCases() []scenario {
	return []scenario{
		{name: "A command comes with every turn until it is done", run: commandComes},
		{name: "A command comes to the owner of its slots, with the row as it is", run: commandSlots},
		{name: "A command for what is not parked is skipped, and one queued already", run: commandCounts},
		{name: "A command whose message is resolved meanwhile is closed", run: commandClosed},
		{name: "A retry makes a dead message due again", run: commandRetry},
		{name: "Commands come oldest first, a thousand at most", run: commandMany},
		{name: "A lost settlement leaves its commands", run: commandLost},
		{name: "A settlement leaves a command that has the id of another", run: commandOfAnother},
		{name: "A message is discarded though its command is forgotten", run: commandForgotten},
		{name: "Commands queued by many at a time are queued once", run: commandRace},
	}
}

var why = store.Audit{Who: "an operator", Why: "the suite"}

// operator returns the store as an Operator, or skips the case.
func (e *env) operator() store.Operator {
	e.Helper()
	o, ok := e.Store.(store.Operator)
	if !ok {
		e.Skip("the store is no Operator")
	}
	return o
}

// order queues a command for messages of the lot.
func (l *lot) order(kind store.CommandKind, is ...int) int {
	l.Helper()
	var seqs []int64
	for _, i := range is {
		seqs = append(seqs, l.at(i).Seq)
	}
	n, err := l.operator().Command(l.ctx, why, ref, kind, seqs)
	l.check(err, "command")
	return n
}

// waiting returns the commands that a turn brings.
func (l *lot) waiting() []store.Command {
	l.Helper()
	return l.turn(store.Turn{Read: []store.Request{{Ref: ref, Slots: []store.Slots{store.AllSlots}, From: l.next}}}).Commands
}

func commandComes(e *env) {
	e.operator()
	l := e.parked("a", "b")
	l.park(park(l.at(0), store.ParkDead), park(l.at(1), store.ParkDead))
	if n := l.order(store.Discard, 0); n != 1 {
		e.Fatalf("a command for one parked message was queued for %d", n)
	}
	for range 3 {
		if got := l.waiting(); len(got) != 1 || got[0].Kind != store.Discard || got[0].Park.Seq != l.at(0).Seq || got[0].Ref != ref {
			e.Fatalf("waiting are the commands %+v, not the one discard", got)
		}
	}
	got := l.waiting()[0]
	st := store.Settlement{Lease: l.lease}
	if brought := e.turn(store.Turn{Settle: []store.Settlement{st}}).Commands; len(brought) != 1 {
		e.Errorf("a turn that only settles the shard brings %d commands, not 1", len(brought))
	}
	l.lease.Version++
	l.settle(store.Settlement{Resolve: []store.Resolved{l.resolved(0)}, Done: []store.Done{got.Done()}})
	if got := l.waiting(); len(got) != 0 {
		e.Errorf("%d commands wait after the only one was done", len(got))
	}
}

func commandSlots(e *env) {
	o := e.operator()
	leases, records := e.fourShards()
	for i, r := range records {
		if _, err := o.Command(e.ctx, why, ref, store.Retry, []int64{r.Seq}); err != nil {
			e.Fatalf("command: %v", err)
		}
		p := park(r, store.ParkDead)
		p.Attempts, p.Reason = 9, "given up"
		st := store.Settlement{Lease: leases[i], Park: []store.Park{p}}
		res := e.turn(store.Turn{Settle: []store.Settlement{st}})
		if len(res.Commands) != 1 {
			e.Fatalf("the owner of shard %d gets %d commands, not its own", i, len(res.Commands))
		}
		got := res.Commands[0]
		if got.Park.Delay = 0; got.Message != r.ID || got.Topic != r.Topic || got.Park != p {
			e.Errorf("the command of shard %d comes with the row %+v of message %x of topic %q", i, got.Park, got.Message, got.Topic)
		}
	}
}

func commandCounts(e *env) {
	e.operator()
	l := e.parked("a", "b", "c")
	l.park(park(l.at(0), store.ParkDead), park(l.at(1), store.ParkRetrying))
	if n := l.order(store.Retry, 0, 1, 2); n != 2 {
		e.Errorf("a command for three messages, of which two are parked, was queued for %d", n)
	}
	if n := l.order(store.Retry, 1, 0); n != 0 {
		e.Errorf("a command that is queued already was queued again for %d", n)
	}
	if n := l.order(store.Discard, 0); n != 1 {
		e.Errorf("another command for one of them was queued for %d", n)
	}
	if got := l.waiting(); len(got) != 3 {
		e.Errorf("%d commands wait, not 3", len(got))
	}
}

func commandClosed(e *env) {
	e.operator()
	l := e.parked("a", "b")
	l.park(park(l.at(0), store.ParkDead), park(l.at(1), store.ParkDead))
	l.order(store.Retry, 0, 1)
	st := store.Settlement{Lease: l.lease, Resolve: []store.Resolved{l.resolved(0)}}
	res := e.turn(store.Turn{Settle: []store.Settlement{st}})
	l.lease.Version++
	if len(res.Commands) != 1 || res.Commands[0].Park.Seq != l.at(1).Seq {
		e.Errorf("the turn that resolves one of two messages brings %d commands, not that of the other", len(res.Commands))
	}
	l.park(park(l.at(0), store.ParkDead))
	if got := l.waiting(); len(got) != 1 {
		e.Errorf("a command closed when its message was resolved came back with it: %d wait", len(got))
	}
}

func commandRetry(e *env) {
	e.operator()
	l := e.parked("a", "a")
	l.park(park(l.at(0), store.ParkDead), park(l.at(1), store.ParkBlocked))
	l.order(store.Retry, 0)
	l.due(store.Due{Followers: 5}) // nothing: the owner carries it out
	p := park(l.at(0), store.ParkRetrying)
	p.Attempts = 0
	l.settle(store.Settlement{Park: []store.Park{p}, Done: []store.Done{l.waiting()[0].Done()}})
	if got := l.due(store.Due{Followers: 5}, 0, 1); got[0].Attempts != 0 {
		e.Errorf("after its retry a message has %d attempts", got[0].Attempts)
	}
	if got := l.waiting(); len(got) != 0 {
		e.Errorf("%d commands wait after the only one was done", len(got))
	}
}

func commandMany(e *env) {
	o := e.operator()
	e.open(1)
	lease := e.relay("r").take(ref)[0]
	msgs := e.publish(e.messages(1200, "")...)
	c := e.pager()
	records := c.expect(msgs...)
	var ps []store.Park
	var seqs []int64
	for _, r := range records {
		ps = append(ps, park(r, store.ParkDead))
		seqs = append(seqs, r.Seq)
	}
	e.settle(&lease, store.Settlement{Park: ps})
	for part := range slices.Chunk(seqs, 300) {
		n, err := o.Command(e.ctx, why, ref, store.Discard, part)
		e.check(err, "command")
		if n != len(part) {
			e.Fatalf("a command for %d parked messages was queued for %d", len(part), n)
		}
	}
	done := 0
	for last := store.CommandID(0); done < len(seqs); {
		got := e.turn(store.Turn{Read: []store.Request{{Ref: ref, Slots: []store.Slots{store.AllSlots}}}}).Commands
		if len(got) == 0 || len(got) > 1000 {
			e.Fatalf("with %d commands to be done a turn brings %d", len(seqs)-done, len(got))
		}
		var st store.Settlement
		for _, cmd := range got {
			if cmd.ID <= last {
				e.Fatal("a command that was done came again, or a newer one before an older")
			}
			last = cmd.ID
			st.Done = append(st.Done, cmd.Done())
			st.Resolve = append(st.Resolve, store.Resolved{Seq: cmd.Park.Seq, Hash: cmd.Park.Hash})
		}
		e.settle(&lease, st)
		done += len(got)
	}
}

func commandLost(e *env) {
	e.operator()
	l := e.parked("a")
	l.park(park(l.at(0), store.ParkDead))
	l.order(store.Discard, 0)
	st := store.Settlement{Lease: l.lease, Resolve: []store.Resolved{l.resolved(0)}, Done: []store.Done{l.waiting()[0].Done()}}
	st.Token += 1000
	e.turn(store.Turn{Settle: []store.Settlement{st}})
	if got := l.waiting(); len(got) != 1 {
		e.Errorf("%d commands wait after a lost settlement that did the only one", len(got))
	}
}

// commandOfAnother: after a fail-over to an older state ids are given out again.
func commandOfAnother(e *env) {
	e.operator()
	l := e.parked("a", "b", "c")
	l.park(park(l.at(0), store.ParkDead), park(l.at(1), store.ParkDead), park(l.at(2), store.ParkDead))
	l.order(store.Retry, 0)
	was := l.waiting()[0].Done()
	for what, done := range map[string]store.Done{
		"another message": {ID: was.ID, Kind: was.Kind, Seq: l.at(1).Seq},
		"another kind":    {ID: was.ID, Kind: store.Discard, Seq: was.Seq},
		"another id":      {ID: was.ID + 1000, Kind: was.Kind, Seq: was.Seq},
	} {
		l.settle(store.Settlement{Park: []store.Park{park(l.at(2), store.ParkDead)}, Done: []store.Done{done}})
		if got := l.waiting(); len(got) != 1 || got[0].Done() != was {
			e.Fatalf("a settlement that did a command of %s leaves %+v, not the one retry", what, got)
		}
	}
}

func commandForgotten(e *env) {
	e.inspector()
	e.operator()
	l := e.parked("a", "b")
	l.park(park(l.at(0), store.ParkDead), park(l.at(1), store.ParkDead))
	l.order(store.Retry, 0, 1)
	id := l.waiting()[1].ID
	l.settle(store.Settlement{
		Resolve: []store.Resolved{l.resolved(0)}, Done: []store.Done{{ID: id, Kind: store.Discard, Seq: l.at(0).Seq}},
	})
	if it := e.shown(l.msgs[0].ID)[0]; it.State != store.StateDiscarded {
		e.Errorf("a message whose discard was forgotten meanwhile is shown as %q", it.State)
	}
	if got := l.waiting(); len(got) != 1 || got[0].ID != id {
		e.Errorf("waiting are %+v, not the retry that has the id of the discard", got)
	}
}

func commandRace(e *env) {
	o := e.operator()
	l := e.parked("a", "b", "c")
	l.park(park(l.at(0), store.ParkDead), park(l.at(1), store.ParkDead), park(l.at(2), store.ParkDead))
	var mu sync.Mutex
	var all sync.WaitGroup
	total := 0
	for range 6 {
		all.Go(func() {
			n, err := o.Command(e.ctx, why, ref, store.Retry, []int64{l.at(0).Seq, l.at(1).Seq, l.at(2).Seq})
			if err != nil {
				e.Errorf("command: %v", err)
			}
			mu.Lock()
			defer mu.Unlock()
			total += n
		})
	}
	all.Wait()
	if got := l.waiting(); total != 3 || len(got) != 3 {
		e.Errorf("six operators' equal commands for three messages were queued %d times, and %d wait", total, len(got))
	}
}

// operatorCases are about the rest of an Operator.
func operatorCases() []scenario {
	return []scenario{
		{name: "Commands are audited with who, why and what", run: audited},
		{name: "A command without who or why is refused and does nothing", run: auditNeeded},
		{name: "A subscription is paused until it is resumed", run: pausedUntilResumed},
		{name: "The number of shards asked for is shown until it is reached", run: shardsWanted},
	}
}

func audited(e *env) {
	o := e.operator()
	l := e.parked("a", "b")
	l.park(park(l.at(0), store.ParkDead), park(l.at(1), store.ParkDead))
	before := e.now()
	l.order(store.Discard, 0)
	e.check(o.SetShards(e.ctx, store.Audit{Who: "another", Why: "more speed"}, ref, 6), "set shards")
	l.order(store.Retry, 1)
	got, err := o.Audited(e.ctx, 2)
	e.check(err, "audit log")
	if len(got) != 2 || got[1].Audit != (store.Audit{Who: "another", Why: "more speed"}) || got[0].Audit != why {
		e.Fatalf("the latest two entries of the audit log are %+v", got)
	}
	got, err = o.Audited(e.ctx, 100)
	e.check(err, "audit log")
	if len(got) != 3 {
		e.Fatalf("three commands left %d entries", len(got))
	}
	for i, words := range [][]string{
		{"retry", ref.String(), seqText(l.at(1))}, {ref.String(), "6"}, {"discard", ref.String(), seqText(l.at(0))},
	} {
		for _, w := range words {
			if !strings.Contains(got[i].What, w) {
				e.Errorf("entry %d of the audit log says %q, without %q", i, got[i].What, w)
			}
		}
		if d := got[i].At.Sub(before); d < -e.patience || d > 2*e.patience {
			e.Errorf("entry %d of the audit log is dated %s", i, got[i].At)
		}
	}
}

func seqText(r store.Record) string { return name("", int(r.Seq)) }

func auditNeeded(e *env) {
	o := e.operator()
	l := e.parked("a")
	l.park(park(l.at(0), store.ParkDead))
	for _, a := range []store.Audit{{}, {Who: "x"}, {Why: "x"}} {
		if _, err := o.Command(e.ctx, a, ref, store.Retry, []int64{l.at(0).Seq}); err == nil {
			e.Errorf("a command by %q for %q was taken", a.Who, a.Why)
		}
		if err := o.SetShards(e.ctx, a, ref, 3); err == nil {
			e.Errorf("a number of shards by %q for %q was taken", a.Who, a.Why)
		}
		if err := o.SetPaused(e.ctx, a, ref, true); err == nil {
			e.Errorf("a pause by %q for %q was taken", a.Who, a.Why)
		}
	}
	got, err := o.Audited(e.ctx, 10)
	e.check(err, "audit log")
	if len(l.waiting()) > 0 || e.look(ref).Wanted != 1 || len(got) > 0 {
		e.Errorf("commands that were refused left %d commands, %d shards wanted, %d entries", len(l.waiting()), e.look(ref).Wanted, len(got))
	}
}

// pausedUntilResumed: a pause is in the view and in the overview. Its epoch changes only with a change.
func pausedUntilResumed(e *env) {
	o := e.operator()
	e.open(2)
	other := store.Ref{Box: box, Subscription: "other"}
	e.declareFirst(other)
	e.look(ref)
	for _, want := range []struct{ paused, moves bool }{{true, true}, {true, false}, {false, true}, {false, false}} {
		before := e.epochOf()
		e.check(o.SetPaused(e.ctx, why, ref, want.paused), "pause or resume")
		moved := e.epochOf() != before
		if got := e.look(ref); got.Paused != want.paused || len(got.Shards) != 2 {
			e.Errorf("a subscription that is to be paused (%v) is shown as paused (%v), with %d shards", want.paused, got.Paused, len(got.Shards))
		}
		if e.look(other).Paused {
			e.Error("a pause is one of another subscription, too")
		}
		if moved != want.moves {
			e.Errorf("the epoch changes (%v) with a pause (%v), want %v", moved, want.paused, want.moves)
		}
	}
	if err := o.SetPaused(e.ctx, why, store.Ref{Box: box, Subscription: "unknown"}, true); !errors.Is(err, store.ErrNoSubscription) {
		e.Errorf("a pause of a subscription that is not there: %v", err)
	}
	got, err := o.Audited(e.ctx, 10)
	e.check(err, "audit log")
	if len(got) != 4 || got[0].Audit != why || !strings.Contains(got[0].What, "resume "+ref.String()) || !strings.Contains(got[3].What, "pause "+ref.String()) {
		e.Errorf("the audit log has %+v, want four entries that name the subscription", got)
	}
}

func shardsWanted(e *env) {
	o := e.operator()
	e.open(2)
	r := e.relay("r")
	leases := r.take(ref)
	before := e.epochOf()
	e.check(o.SetShards(e.ctx, why, ref, 5), "set shards")
	if st := e.look(ref); st.Wanted != 5 || len(st.Shards) != 2 {
		e.Fatalf("with 5 shards asked for, %d are wanted and %d there", st.Wanted, len(st.Shards))
	}
	if e.epochOf() == before {
		e.Error("a command for the shards leaves the epoch; relays would not hear of it")
	}
	r.reshape(ref, 5, leases)
	if st := e.look(ref); st.Wanted != 5 || len(st.Shards) != 5 {
		e.Errorf("reshaped, %d shards are wanted and %d there", st.Wanted, len(st.Shards))
	}
}
