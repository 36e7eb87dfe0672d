package storetest

import (
	"slices"
	"strings"
	"time"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/store"
)

// editCases are about what an Editor changes, and what is still known of messages after
// their end.
func editCases() []scenario {
	return []scenario{
		{name: "The errors of a message are shown after its end", needs: editing, run: pastShown},
		{name: "The errors of a message are forgotten with its row", needs: editing, run: pastForgotten},
		{name: "The audit log names messages by id and topic, and what selected them", needs: editing, run: auditNames},
		{name: "A scheduled message is published at once, or discarded", needs: editing, run: editScheduled},
		{name: "An erased message has no payload, headers or key, and is where it was", needs: editing, run: eraseDelivered},
		{name: "A message that is still to be delivered is not erased", needs: editing, run: eraseRefused},
		{name: "A message that was published twice is erased in both places, or in none", needs: editing, run: eraseTwice},
		{name: "An erased message is delivered to nobody again, and retention goes on", needs: editing, run: eraseRetained},
		{name: "An erased message that is read again is filtered by everybody, and the ledgers agree", needs: editing, run: eraseAgain},
		{name: "Retention goes on over a difference of the ledger that was accepted", needs: editing, run: acceptLedger},
		{name: "An accepted difference stands for itself, and not for the next", needs: editing, run: acceptOnce},
		{name: "Edits without who or why are refused and do nothing", needs: editing, run: editsAudited},
		{name: "An edited message is published and audited, or neither", needs: editing, run: revises},
		{name: "An overview counts parked messages exactly", needs: editing, run: countsParked},
		{name: "A shard whose owner's heartbeat is over is shown as free", needs: editing, run: ghostOwner},
	}
}

func (e *env) editor() store.Editor {
	e.Helper()
	ed, ok := e.Store.(store.Editor)
	if !ok {
		e.Fatal("the store declares Editing and is no Editor")
	}
	return ed
}

func pastShown(e *env) {
	e.inspector()
	l := e.parked("a", "b", "c")
	var ps []store.Park
	for i := range 2 {
		p := park(l.at(i), store.ParkRetrying)
		p.Attempts, p.Reason = 1, "first"
		ps = append(ps, p)
	}
	l.park(append(ps, in(park(l.at(2), store.ParkBlocked), 0))...)
	for i := range ps {
		ps[i].Attempts, ps[i].Reason, ps[i].State = 2, "second", store.ParkDead
	}
	l.park(ps...)
	l.order(store.Discard, 0)
	l.settle(store.Settlement{
		Resolve: []store.Resolved{l.resolved(0), l.resolved(1), l.resolved(2)},
		Done:    []store.Done{l.waiting()[0].Done()},
	})
	for i, want := range []store.State{store.StateDiscarded, store.StateDelivered} {
		it := e.shown(l.msgs[i].ID)[0]
		if it.State != want || it.Attempts != 2 || it.Reason != "second" {
			e.Errorf("message %d is shown as %q, %d attempts, the last error %q; want %q, 2, second", i, it.State, it.Attempts, it.Reason, want)
		}
		if h := it.History; len(h) != 2 || h[0].Reason != "first" || h[1].State != store.ParkDead || h[1].Reason != "second" {
			e.Errorf("message %d is shown with the history %+v, not its two errors", i, h)
		}
	}
	l.listed("discarded with that error", store.Query{State: store.StateDiscarded, Error: "SECOND"}, 0)
	l.listed("delivered with that error", store.Query{State: store.StateDelivered, Error: "second"}, 1)
}

func pastForgotten(e *env) {
	e.inspector()
	h := e.history(1)
	p := loose(park(h.records[0], store.ParkRetrying))
	p.Attempts, p.Reason = 1, "no"
	h.settleAll(store.Settlement{
		Park:  []store.Park{p},
		Tally: slices.Concat(tally(store.TallyParked, h.records[0]), tally(store.TallyDelivered, h.records[1:]...)),
	})
	e.settle(&h.leases[0], store.Settlement{
		Resolve: []store.Resolved{{Seq: p.Seq, Hash: p.Hash}},
		Tally:   append(less(tally(store.TallyParked, h.records[0])), tally(store.TallyDelivered, h.records[0])...),
	})
	h.dropped()
	if got := e.shown(h.records[0].ID); len(got) != 0 {
		e.Errorf("a message that is gone from the log is shown %d times: %+v", len(got), got)
	}
}

func auditNames(e *env) {
	o := e.operator()
	l := e.parked("a", "b")
	l.park(park(l.at(0), store.ParkDead), park(l.at(1), store.ParkDead))
	a := why
	a.Filter = "--error refused --type order.*"
	_, err := o.Command(e.ctx, a, ref, store.Retry, []int64{l.at(0).Seq, l.at(1).Seq})
	e.check(err, "command")
	e.audits("retry", ref.String(), l.at(0).Topic, l.at(0).ID.String(), l.at(1).ID.String(), a.Filter)
}

// audits fails the case unless the latest entry of the audit log has these words.
func (e *env) audits(words ...string) {
	e.Helper()
	got, err := e.operator().Audited(e.ctx, 1)
	e.check(err, "audit log")
	if len(got) != 1 || got[0].Who != why.Who || got[0].Why != why.Why {
		e.Fatalf("the latest entry of the audit log is %+v", got)
	}
	for _, w := range words {
		if !strings.Contains(got[0].What, w) {
			e.Errorf("the audit log says %q, without %q", got[0].What, w)
		}
	}
}

func editScheduled(e *env) {
	ed := e.editor()
	e.open(1)
	u := e.upkeep()
	msgs := []postbag.Message{e.message("a"), e.message("b"), e.message("c")}
	for i := range msgs {
		msgs[i] = at(msgs[i], e.now().Add(longAfter))
	}
	e.publish(msgs...)
	nobody := e.message("").ID
	n, err := ed.Scheduled(e.ctx, why, box, store.Discard, []postbag.ID{msgs[0].ID, nobody, msgs[0].ID})
	if e.check(err, "discard"); n != 1 {
		e.Errorf("a discard of one scheduled message changed %d", n)
	}
	e.audits("discard", box, msgs[0].ID.String())
	n, err = ed.Scheduled(e.ctx, why, box, store.Retry, []postbag.ID{msgs[1].ID})
	if e.check(err, "publish now"); n != 1 {
		e.Errorf("a retry of one scheduled message changed %d", n)
	}
	e.audits("retry", box, msgs[1].ID.String())
	c := e.pager()
	e.eventually("the message that is due now is promoted", func() bool {
		u.round()
		c.page()
		return len(c.got) > 0
	})
	if len(c.got) != 1 || c.got[0].ID != msgs[1].ID || string(c.got[0].Payload) != string(msgs[1].Payload) {
		e.Errorf("of three scheduled messages, one discarded and one due at once, %d came", len(c.got))
	}
	for i, want := range []int{0, 1, 1} {
		if got := e.shown(msgs[i].ID); len(got) != want {
			e.Errorf("message %d is shown %d times, not %d", i, len(got), want)
		}
	}
	n, err = ed.Scheduled(e.ctx, why, box, store.Discard, []postbag.ID{msgs[0].ID, msgs[1].ID})
	if e.check(err, "discard"); n != 0 {
		e.Errorf("a discard of what is not scheduled any more changed %d", n)
	}
}

func eraseDelivered(e *env) {
	ed := e.editor()
	l := e.parked("a", "b")
	p := park(l.at(1), store.ParkDead)
	p.Attempts, p.Reason = 1, "no"
	l.settle(store.Settlement{To: l.next, Park: []store.Park{p}, Tally: tally(store.TallyDelivered, l.at(0))})
	l.resolve(1)
	got, err := ed.Erase(e.ctx, why, box, []postbag.ID{l.msgs[0].ID, l.msgs[1].ID, e.message("").ID})
	if e.check(err, "erase"); got.Messages != 2 || len(got.Refused) != 0 {
		e.Fatalf("two delivered messages: %d are erased, %d refused", got.Messages, len(got.Refused))
	}
	e.audits("erase", box, l.msgs[0].ID.String())
	for i := range l.msgs {
		items := e.shown(l.msgs[i].ID)
		if len(items) != 1 {
			e.Fatalf("an erased message is shown %d times", len(items))
		}
		it := items[0]
		if it.State != store.StateDelivered || len(it.Payload) > 0 || it.Key != "" || it.ShardKey != "" {
			e.Errorf("an erased message is shown as %q, with %d bytes, key %q", it.State, len(it.Payload), it.Key)
		}
		if len(it.Headers) != 1 || !store.IsErased(it.Headers) {
			e.Errorf("an erased message is shown with the headers %q, not its mark alone", it.Headers)
		}
		if it.Topic != l.msgs[i].Topic || it.Type != l.msgs[i].Type || it.Seq != l.at(i).Seq || it.Slot != l.at(i).Slot {
			e.Errorf("an erased message has topic %q, type %q, seq %d, slot %d", it.Topic, it.Type, it.Seq, it.Slot)
		}
	}
	l.listed("its key", store.Query{Key: "a"})
	got, err = ed.Erase(e.ctx, why, box, []postbag.ID{l.msgs[0].ID})
	if e.check(err, "erase again"); got.Messages != 1 {
		e.Errorf("a message that is erased already: %d are found", got.Messages)
	}
}

func eraseRefused(e *env) {
	ed := e.editor()
	l := e.parked("a", "b")
	l.park(park(l.at(0), store.ParkDead))
	pending := e.publish(e.message("c"))[0]
	later := e.publish(at(e.message("d"), e.now().Add(longAfter)))[0]
	ids := []postbag.ID{l.msgs[0].ID, pending.ID, later.ID}
	got, err := ed.Erase(e.ctx, why, box, ids)
	e.check(err, "erase")
	byID := func(a, b postbag.ID) int { return slices.Compare(a[:], b[:]) }
	if slices.SortFunc(got.Refused, byID); got.Messages != 0 || !slices.Equal(got.Refused, ids) {
		e.Fatalf("a parked, a pending and a scheduled message: %d are erased, %d refused", got.Messages, len(got.Refused))
	}
	for _, m := range []postbag.Message{l.msgs[0], pending, later} {
		if it := e.shown(m.ID)[0]; string(it.Payload) != string(m.Payload) || it.Key != m.Key {
			e.Errorf("a message that was not erased is shown with %d bytes and key %q", len(it.Payload), it.Key)
		}
	}
	other := store.Ref{Box: box, Subscription: "other"}
	e.declareFirst(other)
	if got, err = ed.Erase(e.ctx, why, box, []postbag.ID{l.msgs[1].ID}); err != nil || got.Messages != 0 || len(got.Refused) != 1 {
		e.Errorf("a message that another subscription is still to deliver: %d are erased, %d refused: %v", got.Messages, len(got.Refused), err)
	}
	entries, err := e.operator().Audited(e.ctx, 10)
	if e.check(err, "audit log"); len(entries) != 0 {
		e.Errorf("what was refused left %d entries in the audit log", len(entries))
	}
}

func eraseRetained(e *env) {
	ed := e.editor()
	h := e.history(2)
	h.settleAll()
	var ids []postbag.ID
	for _, m := range h.msgs[:6] {
		ids = append(ids, m.ID)
	}
	got, err := ed.Erase(e.ctx, why, box, ids)
	if e.check(err, "erase"); got.Messages != len(ids) {
		e.Fatalf("of %d delivered messages %d are erased", len(ids), got.Messages)
	}
	if again := e.pager().from(h.next).all(); len(again) != 0 {
		e.Errorf("behind the position %d messages come again after they were erased", len(again))
	}
	h.dropped()
	if len(h.total.Faults) > 0 {
		e.Errorf("after messages were erased, retention finds fault: %q", h.total.Faults)
	}
}

// eraseAgain: the first of the messages has no key.
func eraseAgain(e *env) {
	ed := e.editor()
	h := e.history(1)
	h.settleAll()
	const gone = 3
	var ids []postbag.ID
	for _, m := range h.msgs[:gone] {
		ids = append(ids, m.ID)
	}
	got, err := ed.Erase(e.ctx, why, box, ids)
	if e.check(err, "erase"); got.Messages != gone {
		e.Fatalf("of %d delivered messages %d are erased", gone, got.Messages)
	}
	narrow := where(nil, nil, nil, store.Match{Headers: []string{"never"}})
	for name, f := range map[string]store.Filter{"all": {}, "types": {Types: []string{"order.*"}}, "narrow": narrow} {
		sub := store.Ref{Box: box, Subscription: name}
		e.declare(specOf(sub, f))
		c := e.pager().of(sub)
		if c.await(len(h.records)); len(c.got) != len(h.records) {
			e.Fatalf("of %d messages %d come", len(h.records), len(c.got))
		}
		for _, r := range c.got {
			if r.Filtered != slices.Contains(ids, r.ID) {
				e.Errorf("subscription %s: of a message that was erased (%v), filtered is %v", name, !r.Filtered, r.Filtered)
			}
			if r.Filtered {
				checkBare(e, r)
			}
		}
		lease := e.relay(name, sub).take(sub)[0]
		e.settle(&lease, store.Settlement{To: c.req.From, Tally: tallyJudged(c.got)})
	}
	for _, it := range e.shown(ids[0]) {
		if it.State != store.StateDelivered {
			e.Errorf("subscription %s: an erased message that is passed is shown as %q", it.Subscription, it.State)
		}
	}
	h.dropped()
}

func acceptLedger(e *env) {
	ed := e.editor()
	h := e.history(1)
	lines, err := ed.AcceptLedger(e.ctx, why, box)
	if e.check(err, "accept"); len(lines) != 0 {
		e.Fatalf("a ledger that agrees: accepted is %q", lines)
	}
	h.settleAll(store.Settlement{Tally: tally(store.TallyDelivered, h.records[1:]...)})
	h.faulty("the ledger lacks one")
	lines, err = ed.AcceptLedger(e.ctx, why, box)
	if e.check(err, "accept"); len(lines) != 1 || !strings.Contains(lines[0], ref.String()) {
		e.Fatalf("a ledger that lacks one: accepted is %q", lines)
	}
	e.audits("accept", box, ref.String())
	h.dropped()
	if len(h.total.Faults) > 0 {
		e.Errorf("after its difference was accepted the ledger is at fault: %q", h.total.Faults)
	}
}

func acceptOnce(e *env) {
	ed := e.editor()
	h := e.history(1)
	h.settleAll(store.Settlement{Tally: tally(store.TallyDelivered, h.records[1:]...)})
	h.faulty("the ledger lacks one")
	_, err := ed.AcceptLedger(e.ctx, why, box)
	e.check(err, "accept")
	again := tally(store.TallyDelivered, h.records[2])
	e.settle(&h.leases[0], store.Settlement{Tally: again})
	h.faulty("the ledger has one twice, which nobody has accepted")
	e.settle(&h.leases[0], store.Settlement{Tally: less(again)})
	h.dropped()
}

func editsAudited(e *env) {
	ed := e.editor()
	l := e.parked("a")
	l.settle(store.Settlement{To: l.next, Tally: tally(store.TallyDelivered, l.records...)})
	later := e.publish(at(e.message("b"), e.now().Add(longAfter)))[0]
	for _, a := range []store.Audit{{}, {Who: "x"}, {Why: "x"}} {
		if _, err := ed.Erase(e.ctx, a, box, []postbag.ID{l.msgs[0].ID}); err == nil {
			e.Errorf("an erasure by %q for %q was taken", a.Who, a.Why)
		}
		if _, err := ed.Scheduled(e.ctx, a, box, store.Discard, []postbag.ID{later.ID}); err == nil {
			e.Errorf("a discard by %q for %q was taken", a.Who, a.Why)
		}
		if _, err := ed.AcceptLedger(e.ctx, a, box); err == nil {
			e.Errorf("a ledger was accepted by %q for %q", a.Who, a.Why)
		}
	}
	if _, err := ed.Erase(e.ctx, why, "nowhere", []postbag.ID{later.ID}); err == nil {
		e.Error("an erasure in a box that is not there was taken")
	}
	if it := e.shown(l.msgs[0].ID)[0]; it.Key != "a" || len(e.shown(later.ID)) != 1 {
		e.Error("edits that were refused did something")
	}
}

// countsParked: more than a count that stops early has.
func countsParked(e *env) {
	e.inspector()
	e.open(1)
	lease := e.relay("r").take(ref)[0]
	const many = 10_050
	for range many / 1050 {
		e.publish(e.messages(1050, "")...)
	}
	e.publish(e.messages(many%1050, "")...)
	c := e.pager()
	c.await(many)
	for part := range slices.Chunk(c.got, 3000) {
		var ps []store.Park
		for _, r := range part {
			ps = append(ps, park(r, store.ParkDead))
		}
		e.settle(&lease, store.Settlement{Park: ps})
	}
	e.settle(&lease, store.Settlement{To: c.req.From})
	if got := e.overlooked().Parked[store.ParkDead]; got != many {
		e.Errorf("%d messages are dead, and the overview counts %d", many, got)
	}
}

func ghostOwner(e *env) {
	e.inspector()
	e.open(2)
	r := e.relay("r")
	r.take(ref)
	for _, sh := range e.overlooked().Shards {
		if sh.Owner != "r" {
			e.Fatalf("a shard that a live relay owns is shown as owned by %q", sh.Owner)
		}
	}
	r.beat(store.Beat{TTL: time.Millisecond})
	e.pass(50 * time.Millisecond)
	for _, sh := range e.overlooked().Shards {
		if sh.Owner != "" {
			e.Errorf("a shard whose owner's heartbeat is over is shown as owned by %q", sh.Owner)
		}
	}
}
