package engine_test

import (
	"testing"
	"time"

	"github.com/postbag/postbag/broker"
	"github.com/postbag/postbag/internal/engine"
	"github.com/postbag/postbag/store"
)

// transacting is a desk of one shard whose calls are transactions.
func transacting(t *testing.T, c engine.Config) *desk {
	t.Helper()
	c.Transactions, c.Ordered = true, true
	return oneShard(t, c)
}

func TestATransactionTakesTheFirstMessagesOfAnyKeys(t *testing.T) {
	t.Parallel()
	d := transacting(t, engine.Config{Batch: 4})
	d.feed("1", messages(1, 1, 2, 1, 3, 1, 2)...)
	c := d.call(1, 2, 3, 4)
	d.noCall()
	d.answer(c, broker.Accepted)
	d.noCall() // before it is settled
	s := d.settle()
	equal(t, "position", s.To, "1@4")
	equal(t, "delivered", s.Tally[0].Count, 4)
	d.deliver(5, 6)
	equal(t, "position", d.settle().To, "1")
	d.empty()
}

func TestNothingIsSettledWhileATransactionIsOut(t *testing.T) {
	t.Parallel()
	d := transacting(t, engine.Config{})
	d.feed("1", messages(1, 1)...)
	c := d.call(1)
	refused := message(2, 2)
	refused.Filtered = true
	d.feed("2", refused)
	for range 10 {
		d.now += time.Second
		turn := d.f.Turn(d.now)
		equal(t, "settlements", len(turn.Settle), 0)
		equal(t, "urgent", !turn.Empty() && d.f.Urgent(), !turn.Empty()) // a turn that is out ends, no settlement waits
		d.land(turn)
		equal(t, "urgent", d.f.Urgent(), false)
	}
	d.answer(c, broker.Accepted)
	equal(t, "position", d.settle().To, "2")
	d.empty()
}

func TestAMessageThatAbortedATransactionIsParkedAndTheRestSent(t *testing.T) {
	t.Parallel()
	d := transacting(t, engine.Config{})
	d.feed("1", messages(1, 1, 2, 3, 2)...)
	d.answer(d.call(1, 2, 3, 4), broker.NotSent, broker.Rejected, broker.NotSent, broker.NotSent)
	d.deliver(1, 3)
	s := d.settle()
	equal(t, "position", s.To, "1")
	equal(t, "parked", len(s.Park), 2)
	equal(t, "the first", s.Park[0].Seq, 2)
	equal(t, "waits for its attempt", s.Park[0].State, store.ParkRetrying)
	equal(t, "behind it", s.Park[1].State, store.ParkBlocked)
}

func TestParkedMessagesAreSentInTransactions(t *testing.T) {
	t.Parallel()
	d := transacting(t, engine.Config{Batch: 4, RetryBatch: 1})
	d.feed("1", messages(1, 1, 2, 3, 4, 5)...)
	d.f.Pause(false)
	d.lot(parked(100, 6, 1), parked(101, 8, 1))
	d.deliver(1, 2, 3, 100)
	s := d.settle()
	equal(t, "resolved", len(s.Resolve), 1)
	equal(t, "position", s.To, "1@3")
	d.deliver(4, 5, 101)
	equal(t, "resolved", len(d.settle().Resolve), 1)
}

func TestATrialOfTransactionsIsTheFirstMessage(t *testing.T) {
	t.Parallel()
	d := transacting(t, engine.Config{})
	d.feed("1", messages(1, 1, 2, 3)...)
	d.answer(d.call(1, 2, 3), broker.Unavailable)
	d.noCall()
	d.now += 200 * ms
	equal(t, "check", d.f.Check(d.now), engine.TryOne)
	trial := d.f.Trial(d.now)
	equal(t, "messages of the trial", len(trial.Items), 1)
	equal(t, "the trial", trial.Items[0].Seq, 1)
	d.answer(trial, broker.Accepted)
	equal(t, "position", d.settle().To, "1@1")
	d.deliver(2, 3)
}

func TestAnOpenCircuitIsNotTriedBeforeTheLastTransactionIsSettled(t *testing.T) {
	t.Parallel()
	d := transacting(t, engine.Config{})
	d.feed("1", messages(1, 1, 2, 3)...)
	d.answer(d.call(1, 2, 3), broker.Accepted, broker.Unavailable)
	d.now += 200 * ms
	turn := d.turn()
	equal(t, "settlements", len(turn.Settle), 1)
	equal(t, "check", d.f.Check(d.now), engine.NoCheck)
	d.land(turn)
	equal(t, "check", d.f.Check(d.now), engine.TryOne)
}

func TestUnderStrictOrderATransactionHoldsOneKeyAtATime(t *testing.T) {
	t.Parallel()
	d := transacting(t, engine.Config{Order: engine.ByShard})
	d.feed("1", messages(1, 1, 1, 2, 2, 0, 0)...)
	for _, seqs := range [][]int64{{1, 2}, {3, 4}, {5}, {6}} {
		d.deliver(seqs...)
		d.settle()
	}
	d.empty()
}

// A parked message took the next one of its key along, out of the middle of a window.
// The settlement behind the transaction could not cover that one, and the relay that came
// after a crash sent it again.
func TestATransactionTakesNothingFromTheMiddleOfAWindow(t *testing.T) {
	t.Parallel()
	d := oneShard(t, engine.Config{Transactions: true, Ordered: true, OnReject: engine.Skip, Batch: 4, RetryBatch: 3})
	d.lot(parkedOf(message(2, 1), store.Park{State: store.ParkRetrying, Attempts: 1}))
	d.feed("1", message(10, 2), message(11, 3), message(20, 1))
	d.call(10, 2)
}

// A parked message that was postponed stood behind one without a place within
// InFlight, and both waited for ever.
func TestAPostponedParkedMessageIsTriedFirst(t *testing.T) {
	t.Parallel()
	d := oneShard(t, engine.Config{Transactions: true, Ordered: true, InFlight: 1, CircuitMin: ms, CircuitMax: ms})
	d.lot(parked(1, 1, 1), parked(2, 2, 1))
	d.answer(d.call(1), broker.NotSent)
	for range 20 {
		d.now += 10 * ms
		if d.f.Check(d.now) == engine.TryOne {
			break
		}
	}
	d.f.Trial(d.now)
	d.audit()
	if n := d.f.Stats().Sent; n != 2 {
		t.Errorf("%d messages were sent: %s", n, d.f.Describe())
	}
}
