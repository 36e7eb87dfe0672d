package engine_test

import (
	"fmt"
	"reflect"
	"testing"
	"time"

	"github.com/postbag/postbag/broker"
	"github.com/postbag/postbag/internal/engine"
	"github.com/postbag/postbag/store"
)

// superseding is a desk of one shard whose log was read.
func superseding(t *testing.T, c engine.Config, waiting ...store.Waiting) *desk {
	t.Helper()
	c.OnReject = engine.Supersede
	d := newDesk(t, c)
	d.f.Add(lease(0, 4096, 1, 1), "0", store.Blocks{Waiting: waiting})
	return d
}

// caughtUp reads until a window has ended that began after the shard came.
func (d *desk) caughtUp() {
	d.t.Helper()
	for range 3 {
		d.now += 2 * time.Second
		d.land(d.f.Turn(d.now))
	}
	d.f.Woken()
}

// waiting is a row that waits for a newer message of its key.
func waiting(seq int64, key, attempts int) store.Parked {
	p := parked(seq, key, attempts)
	p.Blocking, p.State, p.Reason = false, store.ParkRetrying, "no"
	return p
}

// one returns the only row of a settlement.
func (d *desk) one(s store.Settlement) store.Park {
	d.t.Helper()
	if len(s.Park) != 1 {
		d.t.Fatalf("the rows are %+v, want one", s.Park)
	}
	return s.Park[0]
}

func TestARejectedMessageWaitsAndItsKeyGoesOnOnceThatIsSettled(t *testing.T) {
	t.Parallel()
	d := superseding(t, engine.Config{})
	d.feed("1", messages(1, 1, 1, 2)...)
	d.answer(d.call(1, 3), broker.Rejected, broker.Accepted)
	d.noCall() // 2 would be delivered, and a next owner would not know that 1 waits
	p := d.one(d.settle())
	if p.Seq != 1 || p.State != store.ParkRetrying || p.Blocking {
		t.Errorf("the row is %+v, want one of 1 that waits", p)
	}
	d.deliver(2)
	s := d.settle()
	if len(s.Supersede) != 1 || s.Supersede[0] != (store.Superseding{Hash: keyHash(1), Seq: 2, ID: message(2, 1).ID}) {
		t.Errorf("it names %+v, want the key with message 2", s.Supersede)
	}
}

// ordered is a desk of a destination that keeps the order of a key within a call, with a call of 1, 2 and
// 3. Of 1 there is this answer, 2 was rejected, and 3 was not sent.
func ordered(t *testing.T, first broker.Outcome) *desk {
	t.Helper()
	d := superseding(t, engine.Config{Ordered: true})
	d.feed("1", messages(1, 1, 1, 1)...)
	c := d.call(1, 2, 3)
	d.f.Reported(d.now, c.ID, 1, engine.Answer{Outcome: broker.Rejected, Reason: "no"})
	d.answer(c, first, broker.Unknown, broker.NotSent)
	return d
}

// The rejection of 2 is settled with what stands before it: with 1, which waited for that.
func TestAMessageBeforeARejectedOneIsSentAlthoughThatIsNotSettled(t *testing.T) {
	t.Parallel()
	for _, first := range []broker.Outcome{broker.Unknown, broker.NotSent} {
		d := ordered(t, first)
		d.deliver(1)
		d.noCall() // 3 waits until it is settled that 2 waits
		s := d.settle()
		if p := d.one(s); p.Seq != 2 || p.State != store.ParkRetrying || p.Blocking || len(s.Tally) != 2 {
			t.Errorf("the settlement is %+v, want 1 delivered and 2 waiting", s)
		}
		d.deliver(3)
	}
}

func TestTwoRejectedMessagesOfAKeyAreSettledTogether(t *testing.T) {
	t.Parallel()
	d := ordered(t, broker.Unknown)
	d.answer(d.call(1), broker.Rejected)
	d.noCall()
	if s := d.settle(); len(s.Park) != 2 || s.Park[0].Seq != 1 || s.Park[1].Seq != 2 {
		t.Errorf("the rows are %+v, want those of 1 and 2", s.Park)
	}
	d.deliver(3)
	if s := d.settle(); len(s.Supersede) != 1 || s.Supersede[0].Seq != 3 {
		t.Errorf("it names %+v, want the key with message 3", s.Supersede)
	}
}

func TestNothingIsNamedWhereNothingWaits(t *testing.T) {
	t.Parallel()
	d := superseding(t, engine.Config{})
	d.feed("1", messages(1, 1, 1, 0)...)
	d.deliver(1, 3)
	d.deliver(2)
	if s := d.settle(); len(s.Supersede) != 0 {
		t.Errorf("it names %+v", s.Supersede)
	}
}

func TestAMessageWithoutAKeyIsTriedAgainAsUnderSkip(t *testing.T) {
	t.Parallel()
	d := superseding(t, engine.Config{})
	d.feed("1", messages(1, 0, 0)...)
	d.answer(d.call(1, 2), broker.Rejected, broker.Accepted)
	if s := d.settle(); len(s.Supersede) != 0 || s.Park[0].Blocking {
		t.Errorf("the settlement is %+v", s)
	}
	d.lot(waiting(1, 0, 1))
	d.deliver(1)
}

func TestAMessageThatWaitsIsClaimedBeforeItIsTried(t *testing.T) {
	t.Parallel()
	d := superseding(t, engine.Config{}, store.Waiting{Hash: keyHash(1), Seq: 1})
	d.caughtUp()
	d.lot(waiting(1, 1, 3))
	d.noCall()
	p := d.one(d.settle(keyHash(9)))
	if p.Seq != 1 || !p.Blocking || p.State != store.ParkRetrying || p.Attempts != 3 || p.Delay != 0 || p.Reason != "no" {
		t.Errorf("the row is %+v, want one that blocks and is due", p)
	}
	d.f.Woken()
	d.feed("2", message(5, 1)) // waits for it, as its answer may get lost
	d.noCall()
	d.settle()
	d.lot(parked(1, 1, 3))
	d.deliver(1)
}

func TestAMessageThatWaitsIsNotTriedBeforeTheLogIsRead(t *testing.T) {
	t.Parallel()
	d := superseding(t, engine.Config{}, store.Waiting{Hash: keyHash(1), Seq: 1})
	d.lot(waiting(1, 1, 1))
	d.noCall()
	if p := d.one(d.settle()); p.Blocking || p.Delay != time.Second {
		t.Errorf("the row is %+v, want one that is due in a second", p)
	}
}

func TestAMessageThatWaitsIsNotTriedWhileANewerOneIsInHandOrDelivered(t *testing.T) {
	t.Parallel()
	d := superseding(t, engine.Config{}, store.Waiting{Hash: keyHash(1), Seq: 1})
	d.caughtUp()
	d.feed("2", message(5, 1))
	c := d.call(5)
	d.lot(waiting(1, 1, 1))
	if p := d.one(d.settle()); p.Blocking || p.Delay != time.Second {
		t.Errorf("the row is %+v, want one that is due in a second", p)
	}
	d.answer(c, broker.Unknown)
	d.answer(d.trialOf(5), broker.Accepted)
	d.lot(waiting(1, 1, 1))
	d.noCall()
	s := d.settle()
	if len(s.Park) != 0 || len(s.Supersede) != 1 || s.Supersede[0].Seq != 5 {
		t.Errorf("the settlement parks %+v and names %+v, want nothing and 5", s.Park, s.Supersede)
	}
}

// trialOf returns the trial of a message, once the circuit's pause is over.
func (d *desk) trialOf(seq int64) *engine.Call {
	d.t.Helper()
	d.wait()
	d.f.Check(d.now)
	c := d.f.Trial(d.now)
	equal(d.t, "trial", c.Items[0].Seq, seq)
	return c
}

func TestOfSeveralThatWaitOnlyTheNewestIsTried(t *testing.T) {
	t.Parallel()
	d := superseding(t, engine.Config{Retry: engine.Retry{MaxAttempts: 3}}, store.Waiting{Hash: keyHash(1), Seq: 4})
	d.caughtUp()
	d.lot(waiting(1, 1, 1))
	if p := d.one(d.settle()); p.Blocking || p.Delay <= time.Second {
		t.Errorf("the row is %+v, want one that is tried later", p)
	}
	d.lot(waiting(4, 1, 2))
	if p := d.one(d.settle(keyHash(9))); p.Seq != 4 || !p.Blocking {
		t.Errorf("the row is %+v, want one of 4 that blocks", p)
	}
	d.lot(parked(4, 1, 2))
	d.answer(d.call(4), broker.Rejected)
	turn := d.turn()
	if s := turn.Settle[0]; s.Park[0].State != store.ParkDead || len(s.Supersede) != 1 || s.Supersede[0] != (store.Superseding{Hash: keyHash(1)}) {
		t.Errorf("the settlement is %+v, want 4 dead and a question of what waits", s)
	}
	d.f.Landed(d.now, []store.Verdict{{Applied: true, Cleared: []uint64{keyHash(1)}, Waiting: []store.Waiting{{Hash: keyHash(1), Seq: 1}}}}, make([]store.Batch, len(turn.Read)))
	d.lot(waiting(1, 1, 1))
	if p := d.one(d.settle(keyHash(9))); p.Seq != 1 || !p.Blocking {
		t.Errorf("the row is %+v, want one of 1 that blocks", p)
	}
}

func TestACommandForAMessageThatIsOvertakenWaits(t *testing.T) {
	t.Parallel()
	d := superseding(t, engine.Config{}, store.Waiting{Hash: keyHash(1), Seq: 1})
	d.caughtUp()
	d.feed("2", message(5, 1))
	d.deliver(5)
	for _, kind := range []store.CommandKind{store.Retry, store.Discard} {
		c := command(kind, 1, 1, store.ParkRetrying)
		c.Park.Blocking = false
		d.f.Commands(d.now, []store.Command{c})
	}
	if s := d.settle(); len(s.Done)+len(s.Resolve)+len(s.Park) != 0 || len(s.Supersede) != 1 {
		t.Errorf("the settlement is %+v, want it to name the key alone", s)
	}
}

func TestADiscardOfTheNewestThatWaitsAsksForTheNext(t *testing.T) {
	t.Parallel()
	d := superseding(t, engine.Config{}, store.Waiting{Hash: keyHash(1), Seq: 4})
	d.caughtUp()
	c := command(store.Discard, 4, 1, store.ParkRetrying)
	c.Park.Blocking = false
	d.f.Commands(d.now, []store.Command{c})
	if s := d.settle(); len(s.Resolve) != 1 || len(s.Supersede) != 1 || s.Supersede[0].Seq != 0 {
		t.Errorf("the settlement is %+v, want 4 resolved and a question", s)
	}
}

// An answer that was on its way showed a row that was gone, and it was written again.
func TestARowThatIsGoneIsNotTakenFromAnAnswerOfBefore(t *testing.T) {
	t.Parallel()
	d := superseding(t, engine.Config{}, store.Waiting{Hash: keyHash(1), Seq: 1})
	d.caughtUp()
	d.feed("2", message(5, 1))
	d.deliver(5)
	d.f.NextDue(d.now, 0)
	d.due()
	d.settle()
	d.f.DueLanded(d.now, []store.Parked{waiting(1, 1, 1)})
	d.audit()
	d.now += 60 * ms
	for _, s := range d.f.Turn(d.now).Settle {
		if len(s.Park) > 0 {
			t.Errorf("it parks %+v", s.Park)
		}
	}
}

func TestSupersededMessagesAreCounted(t *testing.T) {
	t.Parallel()
	d := superseding(t, engine.Config{}, store.Waiting{Hash: keyHash(1), Seq: 1})
	d.feed("2", message(5, 1))
	d.deliver(5)
	d.now += 60 * ms
	turn := d.turn()
	d.f.Landed(d.now, []store.Verdict{{Applied: true, Superseded: 3}}, make([]store.Batch, len(turn.Read)))
	equal(t, "superseded", d.f.Stats().Superseded, int64(3))
}

// landMore answers a turn of one settlement: more rows end than one may have.
func (d *desk) landMore(turn store.Turn) {
	d.t.Helper()
	batches := make([]store.Batch, len(turn.Read))
	for i, r := range turn.Read {
		batches[i] = store.Batch{Next: r.From, Whole: true}
	}
	d.f.Landed(d.now, []store.Verdict{{More: true, Superseded: 1000}}, batches)
	d.f.Absorb(d.now)
	d.audit()
}

func TestASettlementThatEndsMoreThanOneMayIsMadeAgain(t *testing.T) {
	t.Parallel()
	d := superseding(t, engine.Config{}, store.Waiting{Hash: keyHash(1), Seq: 1})
	d.caughtUp()
	d.feed("2", messages(5, 1, 2)...)
	d.deliver(5, 6)
	d.now += time.Second
	turn := d.turn()
	first := turn.Settle[0]
	d.landMore(turn)
	if at := d.f.Wake(d.now, true, true); at > d.now {
		t.Errorf("the next part waits for %s", at-d.now)
	}
	d.f.Woken()
	d.feed("3", message(7, 2)) // brings the second part, which the store takes whole
	d.deliver(7)
	s := d.settle()
	if s.Version != first.Version+1 || s.To != "3" || len(s.Supersede) != 0 {
		t.Errorf("the settlement behind it is %+v, want the next version, with what was delivered since", s)
	}
}

func TestWhatIsDraftedMeanwhileWaitsForTheRestOfASettlement(t *testing.T) {
	t.Parallel()
	d := superseding(t, engine.Config{}, store.Waiting{Hash: keyHash(1), Seq: 1})
	d.caughtUp()
	d.feed("2", messages(5, 1, 2, 2)...)
	d.deliver(5, 6)
	d.now += time.Second
	turn := d.turn()
	first := turn.Settle[0]
	d.landMore(turn)
	d.deliver(7)
	d.now += time.Second
	turn = d.turn()
	if len(turn.Settle) != 1 || !reflect.DeepEqual(turn.Settle[0], first) {
		t.Fatalf("the turn settles %+v, want %+v again", turn.Settle, first)
	}
	d.lot(waiting(1, 1, 1)) // older than what was delivered
	d.noCall()
	d.land(turn)
	if s := d.settle(); s.Version != first.Version+1 || s.To != "2" || len(s.Tally) != 1 || s.Tally[0].Count != 1 {
		t.Errorf("the settlement behind it is %+v, want message 7 delivered", s)
	}
}

// When a lease ends, a relay waits only for what is urgent before it drops all that it has.
func TestASettlementOfWhichPartsAreLeftIsUrgent(t *testing.T) {
	t.Parallel()
	d := superseding(t, engine.Config{}, store.Waiting{Hash: keyHash(1), Seq: 1})
	d.caughtUp()
	d.feed("2", message(5, 1))
	d.deliver(5)
	d.now += time.Second
	d.landMore(d.turn())
	if !d.f.Urgent() {
		t.Error("between two parts nothing is urgent, although a message was accepted that is not settled")
	}
	d.settle()
	if d.f.Urgent() {
		t.Error("with nothing left to settle, something is urgent")
	}
}

// Messages that are parked unsent, behind a row that blocks, count neither as unsent nor as out.
func TestNoMoreIsReadWhileManyRowsWaitForASettlementOfWhichPartsAreLeft(t *testing.T) {
	t.Parallel()
	c := engine.Config{Page: 2, OnReject: engine.Supersede}
	d := newDesk(t, c)
	d.f.Add(lease(0, 4096, 1, 1), "0", store.Blocks{Waiting: []store.Waiting{{Hash: keyHash(1), Seq: 1}}, Keys: []uint64{keyHash(2)}})
	d.caughtUp()
	d.feed("2", message(5, 1))
	d.deliver(5)
	d.now += time.Second
	d.landMore(d.turn())
	read := 0
	for i := range int64(10) {
		d.now += time.Second
		d.f.Woken()
		turn := d.turn()
		batches := make([]store.Batch, len(turn.Read))
		for k, r := range turn.Read {
			batches[k] = store.Batch{Next: r.From, Whole: true}
			if r.Limit > 0 {
				batches[k] = page(store.Position(fmt.Sprint(3+i)), messages(6+2*i, 2, 2)...)
				read += 2
			}
		}
		d.f.Landed(d.now, []store.Verdict{{More: true, Superseded: 1000}}, batches)
		d.f.Absorb(d.now)
		d.noCall()
		d.audit()
	}
	if read < 4 || read > 6 {
		t.Errorf("%d messages are read while parts are left, want 4, and a page more at most", read)
	}
	if s := d.settle(); len(s.Park) != 0 { // the last part
		t.Errorf("the last part has rows of later messages: %+v", s.Park)
	}
	if s := d.settle(); len(s.Park) != read {
		t.Errorf("%d rows are settled behind it, not %d", len(s.Park), read)
	}
	d.now += time.Minute
	d.f.Woken()
	d.feed("99", message(90, 3))
	d.deliver(90)
}

// A subscription that ends stops reading in the middle of a window, and no window ends any more. What waits is tried
// once the end was read.
func TestWhatWaitsIsTriedWhereASubscriptionHasEnded(t *testing.T) {
	t.Parallel()
	for end, tried := range map[store.Position]bool{"1": true, "2": false} {
		d := superseding(t, engine.Config{Ends: func(p store.Position) bool { return p >= end }}, store.Waiting{Hash: keyHash(1), Seq: 1})
		for range 3 {
			d.now += 2 * time.Second
			d.land(d.f.Turn(d.now), store.Batch{Next: "1"})
		}
		d.f.Woken()
		d.lot(waiting(1, 1, 3))
		if p := d.one(d.settle()); p.Blocking != tried {
			t.Errorf("with an end at %s the row is %+v", end, p)
		}
	}
}
