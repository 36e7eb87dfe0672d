package engine_test

import (
	"testing"
	"time"

	"github.com/postbag/postbag/broker"
	"github.com/postbag/postbag/internal/engine"
	"github.com/postbag/postbag/store"
)

func TestThePositionMovesOverResolvedMessagesOnly(t *testing.T) {
	t.Parallel()
	d := oneShard(t, engine.Config{Batch: 1})
	d.feed("1", messages(1, 1, 2, 3)...)
	one, two, three := d.call(1), d.call(2), d.call(3)
	d.answer(one, broker.Accepted)
	d.answer(three, broker.Accepted)
	s := d.settle()
	equal(t, "position", s.To, "1@1")
	equal(t, "counted", s.Tally[0].Count, int64(1))
	d.answer(two, broker.Accepted)
	s = d.settle()
	equal(t, "position", s.To, "1")
	equal(t, "version", s.Version, int64(2))
}

func TestTheLedgerCountsByFateAndSpan(t *testing.T) {
	t.Parallel()
	d := oneShard(t, engine.Config{TallySpan: 2})
	msgs := messages(1, 1, 2, 3, 4)
	msgs[3].Filtered = true
	d.feed("1", msgs...)
	d.answer(d.call(1, 2, 3), broker.Accepted, broker.Accepted, broker.Rejected)
	s := d.settle()
	want := []store.Tally{
		{Span: 0, Fate: store.TallyDelivered, Count: 2, SeqSum: 3, IDSum: 3000},
		{Span: 1, Fate: store.TallyParked, Count: 1, SeqSum: 3, IDSum: 3000},
		{Span: 1, Fate: store.TallyFiltered, Count: 1, SeqSum: 4, IDSum: 4000},
	}
	equal(t, "lines", len(s.Tally), len(want))
	for i := range want {
		equal(t, "line", s.Tally[i], want[i])
	}
	d.lot(parked(3, 3, 1))
	d.deliver(3)
	s = d.settle(keyHash(3))
	equal(t, "delivered", s.Tally[0], store.Tally{Span: 1, Fate: store.TallyDelivered, Count: 1, SeqSum: 3, IDSum: 3000})
	equal(t, "not parked", s.Tally[1], store.Tally{Span: 1, Fate: store.TallyParked, Count: -1, SeqSum: 1<<64 - 3, IDSum: 1<<64 - 3000})
	d.empty()
}

func TestASettlementWaitsForMoreButNotLong(t *testing.T) {
	t.Parallel()
	d := oneShard(t, engine.Config{SettleEvery: 50 * ms, PollMin: time.Second})
	d.feed("1", messages(1, 1)...)
	d.deliver(1)
	turn := d.turn()
	equal(t, "settled at once", len(turn.Settle), 0)
	d.land(turn)
	equal(t, "wakes", d.f.Wake(d.now, true, true), d.now+50*ms)
	d.now += 50 * ms
	equal(t, "settled", len(d.turn().Settle), 1)
}

func TestHalfOfInFlightIsSettledAtOnce(t *testing.T) {
	t.Parallel()
	d := oneShard(t, engine.Config{InFlight: 4})
	d.feed("1", messages(1, 1, 2, 3, 4)...)
	d.deliver(1, 2, 3, 4)
	equal(t, "settled", len(d.turn().Settle), 1)
}

func TestAPositionThatPassedNoMessageIsSettledRarely(t *testing.T) {
	t.Parallel()
	d := oneShard(t, engine.Config{})
	began := d.now
	for i := 0; ; i++ {
		turn := d.f.Turn(d.now)
		if len(turn.Settle) > 0 {
			break
		}
		d.land(turn, page(store.Position(rune('A'+i))))
		d.now = d.f.Wake(d.now, true, true)
		if d.now > time.Minute {
			t.Fatal("not within a minute")
		}
	}
	if d.now-began < 30*time.Second {
		t.Fatalf("settled after %v", d.now-began)
	}
}

func TestNothingIsSettledWhileATurnIsOut(t *testing.T) {
	t.Parallel()
	d := oneShard(t, engine.Config{InFlight: 2})
	d.feed("1", messages(1, 1, 2)...)
	d.deliver(1, 2)
	turn := d.turn()
	d.now += time.Minute
	d.noTurn()
	d.land(turn)
}

func TestALostSettlementLosesItsShardAndNoOther(t *testing.T) {
	t.Parallel()
	d := newDesk(t, engine.Config{})
	d.f.Add(lease(0, 2048, 1, 1), "0", store.Blocks{})
	d.f.Add(lease(2048, 4096, 2, 7), "0", store.Blocks{})
	d.feed("1", messages(1, 1, 2, 1)...)
	d.deliver(1, 2)
	d.now += 60 * ms
	turn := d.turn()
	equal(t, "settlements", len(turn.Settle), 2)
	d.f.Landed(d.now, []store.Verdict{{Applied: true}, {}}, nil)
	d.audit()
	leases := d.f.Leases()
	equal(t, "shards", len(leases), 1)
	equal(t, "the one that stays", leases[0], lease(0, 2048, 1, 2))
}

// After a refused settlement a relay went on to send what it had of its other
// shards, a window for each, although they were another's by then as well.
func TestARefusedSettlementStopsSending(t *testing.T) {
	t.Parallel()
	d := newDesk(t, engine.Config{Batch: 2})
	d.f.Add(lease(0, 2048, 1, 1), "0", store.Blocks{})
	d.f.Add(lease(2048, 4096, 2, 1), "0", store.Blocks{})
	d.feed("1", messages(1, 1, 3, 2, 4)...)
	d.deliver(1, 2)
	d.now += 60 * ms
	d.turn()
	d.f.Landed(d.now, []store.Verdict{{Applied: true}, {}}, nil)
	d.noCall()
	d.f.Expire(time.Hour) // the heartbeat says that the rest is still ours
	d.deliver(3, 4)
}

func TestSentButUnsettledMessagesAreBounded(t *testing.T) {
	t.Parallel()
	d := oneShard(t, engine.Config{InFlight: 3, Batch: 2})
	d.feed("1", messages(1, 1, 2, 3, 4, 5)...)
	d.deliver(1, 2)
	c := d.call(3)
	d.noCall()
	turn := d.turn()
	d.noCall()
	d.land(turn)
	d.call(4, 5)
	d.answer(c, broker.Accepted)
}

// What was sent behind the message that kept the window from moving filled
// InFlight, so that this one could not be sent, and nothing could be settled.
func TestTheMessageThatHoldsUpAWindowCanBeSent(t *testing.T) {
	t.Parallel()
	d := oneShard(t, engine.Config{InFlight: 4, Batch: 1, Calls: 4})
	d.feed("1", messages(1, 1, 1, 2, 3, 4, 5, 6, 7)...)
	first := d.call(1)
	d.deliver(3)
	d.deliver(4)
	last := d.call(5)
	d.answer(first, broker.Accepted)
	d.settle()
	d.call(2)
	d.answer(last, broker.Accepted)
}

// A settlement that is repeated must be what it was.
func TestASettlementDoesNotChangeAfterItWasHandedOut(t *testing.T) {
	t.Parallel()
	d := oneShard(t, engine.Config{Batch: 1, Calls: 4})
	d.feed("1", messages(1, 1, 2)...)
	d.answer(d.call(1), broker.Rejected)
	d.now += 60 * ms
	turn := d.turn()
	equal(t, "rows", len(turn.Settle[0].Park), 1)
	d.answer(d.call(2), broker.Rejected)
	equal(t, "rows", len(turn.Settle[0].Park), 1)
	equal(t, "row", turn.Settle[0].Park[0].Seq, int64(1))
	d.land(turn)
	equal(t, "rows of the next", d.settle().Park[0].Seq, int64(2))
}

// In a log that was emptied and numbered again, a settlement named the seq of a message that
// was gone and of one that came after it. A store refuses such a settlement.
func TestOfTwoMessagesWithOneSeqASettlementParksTheLater(t *testing.T) {
	t.Parallel()
	d := oneShard(t, engine.Config{Batch: 1, Calls: 4})
	d.feed("1", messages(1, 1)...)
	d.answer(d.call(1), broker.Rejected)
	d.feed("2", messages(1, 2)...)
	d.answer(d.call(1), broker.Rejected)
	s := d.settle()
	equal(t, "rows", len(s.Park), 1)
	equal(t, "hash", s.Park[0].Hash, keyHash(2))
	equal(t, "position", s.To, "2")
}

// The late answer to a message that was gone removed the row of the one that has its seq now,
// which was lost.
func TestALateAnswerLeavesTheRowOfAnotherMessageWithItsSeq(t *testing.T) {
	t.Parallel()
	d := oneShard(t, engine.Config{Batch: 1, Calls: 4, SettleEvery: 10 * time.Second})
	d.feed("1", messages(1, 1, 2)...)
	gone := d.call(1)
	d.deliver(2)
	d.now += 2 * time.Second
	d.f.Slow(d.now)
	d.feed("2", messages(1, 3)...)
	d.answer(d.call(1), broker.Rejected)
	d.land(d.f.Turn(d.now)) // both rows are drafted
	d.answer(gone, broker.Accepted)
	d.now += 11 * time.Second
	s := d.settle()
	equal(t, "rows", len(s.Park), 1)
	equal(t, "hash", s.Park[0].Hash, keyHash(3))
	equal(t, "ended", len(s.Resolve), 0)
}

func TestHurrySettlesResolvedMessagesAtOnce(t *testing.T) {
	t.Parallel()
	d := oneShard(t, engine.Config{PollMin: time.Second})
	d.feed("1", messages(1, 1)...)
	d.deliver(1)
	equal(t, "urgent", d.f.Urgent(), true)
	d.f.Hurry()
	turn := d.turn()
	equal(t, "settlements", len(turn.Settle), 1)
	d.land(turn)
	equal(t, "urgent", d.f.Urgent(), false)
}

// A relay whose heartbeat has expired begins again once nothing is urgent. It waited
// for half a minute to write that there was nothing.
func TestAPositionThatPassedNoMessageIsNotUrgent(t *testing.T) {
	t.Parallel()
	d := oneShard(t, engine.Config{})
	d.feed("1")
	equal(t, "urgent", d.f.Urgent(), false)
}
