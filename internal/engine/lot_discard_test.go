package engine_test

import (
	"slices"
	"testing"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/broker"
	"github.com/postbag/postbag/internal/engine"
	"github.com/postbag/postbag/store"
)

// orderPending brings a discard of a message that is not parked with a turn's answer.
func (d *desk) orderPending(kind store.CommandKind, seq int64, key int) {
	d.t.Helper()
	c := command(kind, seq, key, 0)
	d.f.Commands(d.now, []store.Command{c})
	d.audit()
}

// busy is a desk with messages 1 of key 1, 2 of key 2 and 3 of key 1, of which none is
// sent.
func busy(t *testing.T, c engine.Config) *desk {
	t.Helper()
	d := oneShard(t, c)
	d.feed("1", messages(1, 1, 2, 1)...)
	return d
}

func TestAPendingMessageIsDiscardedInPlaceAndItsKeyGoesOn(t *testing.T) {
	t.Parallel()
	d := busy(t, engine.Config{})
	d.orderPending(store.Discard, 1, 1)
	d.deliver(2, 3)
	s := d.settle()
	equal(t, "position", s.To, "1")
	equal(t, "rows", len(s.Park)+len(s.Resolve), 0)
	equal(t, "done", slices.Equal(s.Done, []store.Done{{ID: 12, Kind: store.Discard, Seq: 1}}), true)
	equal(t, "discarded", slices.Contains(s.Tally, store.Tally{Fate: store.TallyDiscarded, Count: 1, SeqSum: 1, IDSum: 1000}), true)
	equal(t, "stats", d.f.Stats().Discarded, int64(1))
	d.empty()
}

// The command was done before the position had passed the message: the next owner would
// have found the message, and no order.
func TestACommandIsDoneWithTheSettlementThatPassesTheMessage(t *testing.T) {
	t.Parallel()
	d := busy(t, engine.Config{Calls: 4, Batch: 1})
	c := d.call(1)
	d.orderPending(store.Discard, 2, 2)
	for range 3 { // message 1 is out, so that the position stays
		turn := d.f.Turn(d.now)
		equal(t, "settlements", len(turn.Settle), 0)
		d.land(turn)
		d.orderPending(store.Discard, 2, 2)
		d.now += 60 * ms
	}
	d.answer(c, broker.Accepted)
	s := d.settle()
	equal(t, "done", len(s.Done), 1)
}

func TestAMessageThatIsNotReadYetIsDiscardedWhenItIsRead(t *testing.T) {
	t.Parallel()
	d := oneShard(t, engine.Config{})
	d.land(d.turn())
	d.orderPending(store.Discard, 2, 2)
	d.feed("1", messages(1, 1, 2, 1)...)
	d.orderPending(store.Discard, 2, 2) // it comes again with each turn
	d.deliver(1)
	d.deliver(3)
	s := d.settle()
	equal(t, "done", len(s.Done), 1)
	d.empty()
}

func TestADiscardReadTogetherWithItsMessageIsCarriedOut(t *testing.T) {
	t.Parallel()
	d := oneShard(t, engine.Config{})
	turn := d.turn()
	d.f.Landed(d.now, nil, []store.Batch{page("1", messages(1, 1, 2)...)})
	d.orderPending(store.Discard, 1, 1)
	d.f.Absorb(d.now)
	equal(t, "reads", len(turn.Read), 1)
	d.deliver(2)
	equal(t, "done", len(d.settle().Done), 1)
	d.empty()
}

func TestADiscardOfASentMessageWaitsForItsAnswer(t *testing.T) {
	t.Parallel()
	d := busy(t, engine.Config{})
	c := d.call(1, 2)
	d.land(d.f.Turn(d.now))
	d.orderPending(store.Discard, 1, 1)
	d.answer(c, broker.Accepted)
	s := d.settle()
	equal(t, "done", len(s.Done), 0)
	equal(t, "fate", s.Tally[0].Fate, store.TallyDelivered)
	d.deliver(3)
	d.settle()
	for range 3 { // the store has closed the command: it comes no more
		d.now += 2000 * ms
		d.land(d.f.Turn(d.now))
	}
	d.empty()
}

func TestAMessageThatWasHeldBackIsDiscarded(t *testing.T) {
	t.Parallel()
	d := busy(t, engine.Config{})
	d.answer(d.call(1, 2), broker.NotSent, broker.Accepted)
	d.orderPending(store.Discard, 1, 1)
	d.deliver(3)
	equal(t, "done", len(d.settle().Done), 1)
	d.empty()
}

func TestARejectedMessageIsDiscardedOnceItIsParked(t *testing.T) {
	t.Parallel()
	d := busy(t, engine.Config{})
	c := d.call(1, 2)
	d.land(d.f.Turn(d.now))
	d.orderPending(store.Discard, 1, 1)
	d.answer(c, broker.Rejected, broker.Accepted)
	d.settle()
	d.order(store.Discard, 1, 1, store.ParkRetrying)
	s := d.settle()
	equal(t, "resolved", len(s.Resolve), 1)
	equal(t, "done", len(s.Done), 1)
}

func TestARetryOfAPendingMessageIsDone(t *testing.T) {
	t.Parallel()
	d := busy(t, engine.Config{})
	d.orderPending(store.Retry, 1, 1)
	d.deliver(1, 2)
	equal(t, "done", len(d.settle().Done), 1)
}

// The store gives a seq out again after a fail-over.
func TestAnotherMessageWithTheSeqOfOneToBeDiscardedIsSent(t *testing.T) {
	t.Parallel()
	d := oneShard(t, engine.Config{})
	d.land(d.turn())
	c := command(store.Discard, 1, 1, 0)
	c.Park.State, c.Message = 0, postbag.ID{1}
	d.f.Commands(d.now, []store.Command{c})
	d.feed("1", messages(1, 1)...)
	d.deliver(1)
}

func TestADiscardInAWindowOfTransactionsIsSettledBehindTheTransaction(t *testing.T) {
	t.Parallel()
	d := busy(t, engine.Config{Transactions: true, Ordered: true, Batch: 1})
	c := d.call(1)
	d.orderPending(store.Discard, 2, 2)
	equal(t, "settlements", len(d.f.Turn(d.now).Settle), 0)
	d.f.Landed(d.now, nil, nil)
	d.answer(c, broker.Accepted)
	s := d.settle()
	equal(t, "done", len(s.Done), 1)
	d.deliver(3)
}
