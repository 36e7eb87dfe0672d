package engine_test

import (
	"testing"
	"time"

	"github.com/postbag/postbag/broker"
	"github.com/postbag/postbag/internal/engine"
	"github.com/postbag/postbag/store"
)

// late is a desk where message 1 of key 1 has no answer, 2 of its key waits, and
// others that were sent after it came through, more than a second ago.
func late(t *testing.T, c engine.Config) (*desk, *engine.Call) {
	t.Helper()
	c.Batch = 1
	d := oneShard(t, c)
	d.feed("1", messages(1, 1, 1, 2, 3)...)
	slow := d.call(1)
	d.deliver(3)
	d.deliver(4)
	d.now += 1001 * ms
	d.f.Slow(d.now)
	d.audit()
	return d, slow
}

func TestALateAnswerIsParkedAsInFlightAndItsKeyWaits(t *testing.T) {
	t.Parallel()
	d, _ := late(t, engine.Config{})
	s := d.settle()
	equal(t, "position", s.To, "1")
	equal(t, "rows", len(s.Park), 2)
	equal(t, "first", s.Park[0].State, store.ParkInFlight)
	equal(t, "attempts", s.Park[0].Attempts, 0)
	equal(t, "behind it", s.Park[1].State, store.ParkBlocked)
	d.noCall()
}

func TestALateAnswerResolvesTheRow(t *testing.T) {
	t.Parallel()
	d, slow := late(t, engine.Config{})
	d.settle()
	d.answer(slow, broker.Accepted)
	s := d.settle()
	equal(t, "resolved", s.Resolve[0].Seq, int64(1))
	equal(t, "delivered", s.Tally[0], store.Tally{Fate: store.TallyDelivered, Count: 1, SeqSum: 1, IDSum: 1000})
	d.lot(parked(2, 1, 0))
	d.deliver(2)
	d.settle(keyHash(1))
	d.empty()
}

func TestALateRejectionIsCounted(t *testing.T) {
	t.Parallel()
	d, slow := late(t, engine.Config{})
	d.settle()
	d.answer(slow, broker.Rejected)
	s := d.settle()
	equal(t, "state", s.Park[0].State, store.ParkRetrying)
	equal(t, "attempts", s.Park[0].Attempts, 1)
}

func TestALateUnknownAnswerIsRetriedAsAParkedMessage(t *testing.T) {
	t.Parallel()
	d, slow := late(t, engine.Config{})
	d.settle()
	d.answer(slow, broker.Unknown)
	d.noCall()
	s := d.settle()
	equal(t, "state", s.Park[0].State, store.ParkRetrying)
	equal(t, "attempts", s.Park[0].Attempts, 0)
	equal(t, "circuit", d.f.Circuit(), engine.Closed)
}

func TestAnAnswerBeforeTheRowIsWrittenNeedsNoRow(t *testing.T) {
	t.Parallel()
	d, slow := late(t, engine.Config{})
	d.answer(slow, broker.Accepted)
	s := d.settle()
	equal(t, "rows", len(s.Park), 1) // that of message 2, which was parked behind it
	equal(t, "row", s.Park[0].Seq, int64(2))
	equal(t, "resolved", len(s.Resolve), 0)
}

func TestAnAnswerWhileTheRowIsBeingWrittenResolvesItInTheNextSettlement(t *testing.T) {
	t.Parallel()
	d, slow := late(t, engine.Config{})
	d.now += 60 * ms
	turn := d.turn()
	d.answer(slow, broker.Accepted)
	d.land(turn)
	s := d.settle()
	equal(t, "resolved", s.Resolve[0].Seq, int64(1))
}

func TestWhatIsInFlightCountsUntilItIsAnswered(t *testing.T) {
	t.Parallel()
	d, slow := late(t, engine.Config{})
	d.settle()
	equal(t, "unsettled", d.f.Stats().Unsettled, 1)
	d.answer(slow, broker.Accepted)
	d.settle()
	equal(t, "unsettled", d.f.Stats().Unsettled, 0)
}

func TestAMessageIsSlowTooWhenManyOvertakeIt(t *testing.T) {
	t.Parallel()
	d := oneShard(t, engine.Config{Batch: 1, InFlight: 4, SlowBehind: 3, Calls: 2})
	d.feed("1", messages(1, 1, 2, 3, 4, 5, 6)...)
	d.call(1)
	d.deliver(2)
	d.deliver(3)
	d.f.Slow(d.now)
	equal(t, "parked too early", d.f.Stats().Unsettled, 3)
	d.deliver(4)
	d.f.Slow(d.now)
	s := d.settle()
	equal(t, "state", s.Park[0].State, store.ParkInFlight)
}

func TestASlowCallDoesNotCountTowardsTheCallLimit(t *testing.T) {
	t.Parallel()
	d := oneShard(t, engine.Config{Batch: 1, Calls: 2})
	d.feed("1", messages(1, 1, 2, 3, 4)...)
	d.call(1)
	d.deliver(2)
	d.now += 1001 * ms
	d.f.Slow(d.now)
	d.call(3)
	d.call(4)
}

func TestAMessageThatNothingOvertakesIsNotSlow(t *testing.T) {
	t.Parallel()
	d := oneShard(t, engine.Config{Batch: 1})
	d.feed("1", messages(1, 1, 2)...)
	one, two := d.call(1), d.call(2)
	d.now += 10 * time.Second
	d.f.Slow(d.now)
	d.answer(one, broker.Unknown)
	equal(t, "circuit", d.f.Circuit(), engine.Open)
	d.answer(two, broker.Unknown)
	turn := d.turn()
	equal(t, "settlements", len(turn.Settle), 0)
}

func TestAParkedMessageIsNotSentBesideASlowOneOfItsKey(t *testing.T) {
	t.Parallel()
	d, slow := late(t, engine.Config{OnReject: engine.Skip})
	d.settle()
	skipped := parked(9, 1, 1)
	skipped.Blocking = false
	d.lot(skipped)
	d.noCall()
	d.answer(slow, broker.Accepted)
	d.deliver(9)
}

// When a destination stopped to answer, what had been sent just before was parked,
// because calls that had begun still earlier were accepted after it was sent.
func TestTheBeginningOfAnOutageParksNothing(t *testing.T) {
	t.Parallel()
	d := oneShard(t, engine.Config{Batch: 1})
	d.feed("1", messages(1, 1, 2)...)
	early := d.call(1)
	d.call(2)
	d.answer(early, broker.Accepted)
	d.now += 2 * time.Second
	d.f.Slow(d.now)
	s := d.settle()
	equal(t, "position", s.To, "1@1")
	equal(t, "rows", len(s.Park), 0)
}

// A key stayed blocked, with nothing parked, when a late answer came before its
// row was written.
func TestALateAnswerUnblocksItsKey(t *testing.T) {
	t.Parallel()
	d := oneShard(t, engine.Config{Batch: 1})
	d.feed("1", messages(1, 1, 2)...)
	slow := d.call(1)
	d.deliver(2)
	d.now += 1001 * ms
	d.f.Slow(d.now)
	d.answer(slow, broker.Accepted)
	d.feed("2", messages(3, 1)...)
	d.deliver(3)
	d.settle()
	d.empty()
}
