package engine_test

import (
	"slices"
	"testing"

	"github.com/postbag/postbag/internal/engine"
)

// order brings a command about a parked message with a turn's answer.
func (d *desk) order(kind engine.Kind, seq int64, key int, state engine.ParkState) {
	d.t.Helper()
	d.f.Order(d.now, []engine.Command{command(kind, seq, key, state)})
	d.audit()
}

func command(kind engine.Kind, seq int64, key int, state engine.ParkState) engine.Command {
	m := message(seq, key)
	return engine.Command{
		ID: seq*10 + int64(kind), Kind: kind, Message: m,
		Park: engine.Park{Seq: seq, Slot: m.Slot, Hash: m.Key, State: state, Blocking: true, Attempts: 7, Reason: "why"},
	}
}

// manned is a desk with parked keys that has made a turn.
func manned(t *testing.T, c engine.Config) *desk {
	t.Helper()
	d := blocked(t, c)
	d.f.DueLanded(d.now, nil)
	d.feed("1")
	return d
}

func TestRetryMakesADeadMessageDueWithItsAttemptsBegunAnew(t *testing.T) {
	t.Parallel()
	d := manned(t, engine.Config{})
	d.order(engine.RetryNow, 1, 1, engine.Dead)
	s := d.settle()
	equal(t, "done", s.Done[0], engine.Done{ID: 11, Kind: engine.RetryNow, Seq: 1})
	p := s.Park[0]
	equal(t, "row", p, engine.Park{Seq: 1, Slot: p.Slot, Hash: keyHash(1), State: engine.Waiting, Blocking: true})
}

func TestDiscardRemovesTheRowAndTheKeyGoesOn(t *testing.T) {
	t.Parallel()
	d := manned(t, engine.Config{})
	d.order(engine.DiscardIt, 1, 1, engine.Dead)
	s := d.settle()
	equal(t, "resolved", s.Resolve[0], engine.Resolved{Seq: 1, Hash: keyHash(1)})
	equal(t, "discarded", s.Tally[0], engine.Tally{Fate: engine.Discarded, Count: 1, SeqSum: 1, IDSum: 1000})
	equal(t, "stats", d.f.Stats().Discarded, int64(1))
	d.lot(parked(4, 1, 0))
	d.deliver(4)
}

func TestACommandIsCarriedOutOnce(t *testing.T) {
	t.Parallel()
	d := manned(t, engine.Config{})
	d.order(engine.DiscardIt, 1, 1, engine.Dead)
	d.order(engine.DiscardIt, 1, 1, engine.Dead)
	turn := d.turn()
	d.order(engine.DiscardIt, 1, 1, engine.Dead) // it was read before the settlement
	d.land(turn)
	equal(t, "done", len(turn.Settle[0].Done), 1)
	d.now += 60 * ms
	equal(t, "settlements", len(d.f.Turn(d.now).Settle), 0)
}

// After a fail-over to an older state the store gave the id of an order out again, and
// the new order was taken for the old one.
func TestAnOrderThatHasTheIDOfAnotherWasNotCarriedOut(t *testing.T) {
	t.Parallel()
	d := manned(t, engine.Config{})
	d.order(engine.RetryNow, 1, 1, engine.Dead)
	c := command(engine.DiscardIt, 2, 2, engine.Dead)
	c.ID = 11
	d.f.Order(d.now, []engine.Command{c})
	var done []engine.Done
	for _, s := range d.turn().Settle {
		done = append(done, s.Done...)
	}
	equal(t, "done", slices.Equal(done, []engine.Done{{ID: 11, Kind: engine.RetryNow, Seq: 1}, {ID: 11, Kind: engine.DiscardIt, Seq: 2}}), true)
}

func TestADiscardWaitsForTheAnswerThatIsOut(t *testing.T) {
	t.Parallel()
	d := manned(t, engine.Config{})
	d.lot(parked(1, 1, 2))
	c := d.call(1)
	d.order(engine.DiscardIt, 1, 1, engine.Waiting)
	turn := d.f.Turn(d.now)
	equal(t, "settlements", len(turn.Settle), 0)
	d.land(turn)
	d.answer(c, engine.Rejected)
	d.settle()
	d.order(engine.DiscardIt, 1, 1, engine.Waiting)
	equal(t, "resolved", len(d.settle().Resolve), 1)
}

func TestADiscardOfWhatIsInHandSendsThoseBehindItBackToTheirRows(t *testing.T) {
	t.Parallel()
	d := manned(t, engine.Config{Calls: 1, Batch: 1})
	d.lot(parked(3, 3, 1), parked(1, 1, 2), parked(4, 1, 0))
	c := d.call(3)
	d.order(engine.DiscardIt, 1, 1, engine.Waiting)
	d.answer(c, engine.Accepted)
	d.noCall()
	equal(t, "resolved", len(d.settle().Resolve), 2)
	d.lot(parked(4, 1, 0))
	d.deliver(4)
}

func TestARetryOfWhatIsInHandBeginsItsAttemptsAnew(t *testing.T) {
	t.Parallel()
	d := manned(t, engine.Config{Calls: 1, Batch: 1})
	d.lot(parked(3, 3, 1), parked(1, 1, 19))
	c := d.call(3)
	d.order(engine.RetryNow, 1, 1, engine.Waiting)
	d.answer(c, engine.Accepted)
	c = d.call(1)
	equal(t, "attempt", c.Items[0].Attempt, 1)
	d.answer(c, engine.Rejected)
	for _, p := range d.settle().Park {
		equal(t, "state", p.State, engine.Waiting)
	}
}

func TestARetryOfABlockedMessageChangesNothing(t *testing.T) {
	t.Parallel()
	d := manned(t, engine.Config{})
	d.order(engine.RetryNow, 4, 1, engine.Blocked)
	s := d.settle()
	equal(t, "done", len(s.Done), 1)
	equal(t, "rows", len(s.Park), 0)
}

func TestAMessageInFlightOfAnEarlierOwnerCanBeDiscarded(t *testing.T) {
	t.Parallel()
	d := manned(t, engine.Config{})
	d.order(engine.DiscardIt, 1, 1, engine.InFlight)
	equal(t, "resolved", len(d.settle().Resolve), 1)
}

func TestAMessageInFlightOfOursIsWaitedFor(t *testing.T) {
	t.Parallel()
	d, slow := late(t, engine.Config{})
	d.settle()
	d.order(engine.DiscardIt, 1, 1, engine.InFlight)
	d.answer(slow, engine.Accepted)
	s := d.settle()
	equal(t, "done", len(s.Done), 0)
	equal(t, "delivered", s.Tally[0].Fate, engine.Delivered)
}

// A command that was under way when its shard was lost was taken for known when it
// came again, and never carried out.
func TestACommandWasForgottenWithItsShard(t *testing.T) {
	t.Parallel()
	d := manned(t, engine.Config{})
	d.order(engine.DiscardIt, 1, 1, engine.Dead)
	d.f.Lost(0)
	d.f.Add(engine.Lease{Lo: 0, Hi: 4096, Token: 3, Version: 5}, "1", []uint64{keyHash(1)})
	d.land(d.f.Turn(d.now))
	d.order(engine.DiscardIt, 1, 1, engine.Dead)
	equal(t, "done", len(d.settle().Done), 1)
}

// A command that was read before its shard was lost and came back was carried out
// on a row that another owner had changed since.
func TestACommandFromBeforeItsShardWasLostWasCarriedOut(t *testing.T) {
	t.Parallel()
	d := manned(t, engine.Config{})
	d.now += 60 * ms
	turn := d.turn()
	d.f.Lost(0)
	d.f.Add(engine.Lease{Lo: 0, Hi: 4096, Token: 3, Version: 5}, "1", []uint64{keyHash(1)})
	d.land(turn)
	d.order(engine.DiscardIt, 1, 1, engine.Dead)
	d.now += 60 * ms
	equal(t, "settlements", len(d.f.Turn(d.now).Settle), 0)
}
