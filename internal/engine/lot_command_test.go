package engine_test

import (
	"slices"
	"testing"
	"time"

	"github.com/postbag/postbag/broker"
	"github.com/postbag/postbag/internal/engine"
	"github.com/postbag/postbag/store"
)

// order brings a command about a parked message with a turn's answer.
func (d *desk) order(kind store.CommandKind, seq int64, key int, state store.ParkState) {
	d.t.Helper()
	d.f.Commands(d.now, []store.Command{command(kind, seq, key, state)})
	d.audit()
}

func command(kind store.CommandKind, seq int64, key int, state store.ParkState) store.Command {
	m := message(seq, key)
	return store.Command{
		ID: store.CommandID(seq*10 + int64(kind)), Kind: kind, Message: m.ID,
		Park: store.Park{Seq: seq, Slot: m.Slot, Hash: m.Hash, State: state, Blocking: true, Attempts: 7, Reason: "why"},
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
	d.order(store.Retry, 1, 1, store.ParkDead)
	s := d.settle()
	equal(t, "done", s.Done[0], store.Done{ID: 11, Kind: store.Retry, Seq: 1})
	p := s.Park[0]
	equal(t, "row", p, store.Park{Seq: 1, Slot: p.Slot, Hash: keyHash(1), State: store.ParkRetrying, Blocking: true, Reason: engine.ReasonRetried})
}

// A subscription that is paused has messages that are due, so every turn says that something is. This one asks less and less.
func TestARetriedMessageIsAskedForAtOnceAlthoughRequestsBroughtNothing(t *testing.T) {
	t.Parallel()
	d := manned(t, engine.Config{})
	d.f.NextDue(d.now, 0)
	for range 4 {
		d.now += 10 * time.Second
		d.due()
		d.f.DueLanded(d.now, nil)
		d.f.NextDue(d.now, 0)
		d.noDue()
	}
	d.order(store.Retry, 1, 1, store.ParkDead)
	for settled := false; !settled; d.now += 60 * ms {
		t := d.turn()
		verdicts := make([]store.Verdict, len(t.Settle))
		for i := range verdicts {
			verdicts[i].Applied = true
		}
		d.f.Landed(d.now, verdicts, []store.Batch{{Next: t.Read[0].From, Whole: true}})
		d.f.NextDue(d.now, 0)
		settled = len(t.Settle) > 0
	}
	d.due()
}

func TestDiscardRemovesTheRowAndUnblocksItsKey(t *testing.T) {
	t.Parallel()
	d := manned(t, engine.Config{})
	d.order(store.Discard, 1, 1, store.ParkDead)
	s := d.settle()
	equal(t, "resolved", s.Resolve[0], store.Resolved{Seq: 1, Hash: keyHash(1)})
	equal(t, "discarded", s.Tally[0], store.Tally{Fate: store.TallyDiscarded, Count: 1, SeqSum: 1, IDSum: 1000})
	equal(t, "stats", d.f.Stats().Discarded, int64(1))
	d.lot(parked(4, 1, 0))
	d.deliver(4)
}

// A message is parked ahead of its window by another owner. The window brings it, too, and a pause holds it there.
func TestAKeyIsForgottenWhenItsRowIsDiscardedThatItsWindowWouldWriteAgain(t *testing.T) {
	t.Parallel()
	d := oneShard(t, topical(engine.Config{}))
	d.f.Hold(d.now, []store.Pause{topicPaused})
	d.feed("1", to("a", 1, 1))
	d.noCall()
	d.order(store.Discard, 1, 1, store.ParkBlocked)
	s := d.settle()
	equal(t, "rows", len(s.Park), 0)
	equal(t, "rows that end", s.Resolve[0].Seq, 1)
	d.empty()
}

func TestACommandIsCarriedOutOnce(t *testing.T) {
	t.Parallel()
	d := manned(t, engine.Config{})
	d.order(store.Discard, 1, 1, store.ParkDead)
	d.order(store.Discard, 1, 1, store.ParkDead)
	turn := d.turn()
	d.order(store.Discard, 1, 1, store.ParkDead) // it was read before the settlement
	d.land(turn)
	equal(t, "done", len(turn.Settle[0].Done), 1)
	d.now += 60 * ms
	equal(t, "settlements", len(d.f.Turn(d.now).Settle), 0)
}

// After a fail-over to an older state the store gave the id of a command out again, and
// the new command was taken for the old one.
func TestACommandThatReusesAnIDIsCarriedOut(t *testing.T) {
	t.Parallel()
	d := manned(t, engine.Config{})
	d.order(store.Retry, 1, 1, store.ParkDead)
	c := command(store.Discard, 2, 2, store.ParkDead)
	c.ID = 11
	d.f.Commands(d.now, []store.Command{c})
	var done []store.Done
	for _, s := range d.turn().Settle {
		done = append(done, s.Done...)
	}
	equal(t, "done", slices.Equal(done, []store.Done{{ID: 11, Kind: store.Retry, Seq: 1}, {ID: 11, Kind: store.Discard, Seq: 2}}), true)
}

func TestADiscardWaitsForTheOutstandingAnswer(t *testing.T) {
	t.Parallel()
	d := manned(t, engine.Config{})
	d.lot(parked(1, 1, 2))
	c := d.call(1)
	d.order(store.Discard, 1, 1, store.ParkRetrying)
	turn := d.f.Turn(d.now)
	equal(t, "settlements", len(turn.Settle), 0)
	d.land(turn)
	d.answer(c, broker.Rejected)
	d.settle()
	d.order(store.Discard, 1, 1, store.ParkRetrying)
	equal(t, "resolved", len(d.settle().Resolve), 1)
}

func TestDiscardingALoadedMessageReturnsItsFollowersToTheirRows(t *testing.T) {
	t.Parallel()
	d := manned(t, engine.Config{Calls: 1, Batch: 1})
	d.lot(parked(3, 3, 1), parked(1, 1, 2), parked(4, 1, 0))
	c := d.call(3)
	d.order(store.Discard, 1, 1, store.ParkRetrying)
	d.answer(c, broker.Accepted)
	d.noCall()
	equal(t, "resolved", len(d.settle().Resolve), 2)
	d.lot(parked(4, 1, 0))
	d.deliver(4)
}

func TestRetryingALoadedMessageResetsItsAttempts(t *testing.T) {
	t.Parallel()
	d := manned(t, engine.Config{Calls: 1, Batch: 1})
	d.lot(parked(3, 3, 1), parked(1, 1, 19))
	c := d.call(3)
	d.order(store.Retry, 1, 1, store.ParkRetrying)
	d.answer(c, broker.Accepted)
	c = d.call(1)
	equal(t, "attempt", c.Items[0].Attempt, 1)
	d.answer(c, broker.Rejected)
	for _, p := range d.settle().Park {
		equal(t, "state", p.State, store.ParkRetrying)
	}
}

func TestARetryOfABlockedMessageChangesNothing(t *testing.T) {
	t.Parallel()
	d := manned(t, engine.Config{})
	d.order(store.Retry, 4, 1, store.ParkBlocked)
	s := d.settle()
	equal(t, "done", len(s.Done), 1)
	equal(t, "rows", len(s.Park), 0)
}

func TestAMessageInFlightOfAnEarlierOwnerCanBeDiscarded(t *testing.T) {
	t.Parallel()
	d := manned(t, engine.Config{})
	d.order(store.Discard, 1, 1, store.ParkInFlight)
	equal(t, "resolved", len(d.settle().Resolve), 1)
}

func TestADiscardWaitsForOurOwnMessageInFlight(t *testing.T) {
	t.Parallel()
	d, slow := late(t, engine.Config{})
	d.settle()
	d.order(store.Discard, 1, 1, store.ParkInFlight)
	d.answer(slow, broker.Accepted)
	s := d.settle()
	equal(t, "done", len(s.Done), 0)
	equal(t, "delivered", s.Tally[0].Fate, store.TallyDelivered)
}

// A command that was under way when its shard was lost was taken for known when it
// came again, and never carried out.
func TestACommandIsCarriedOutAfterItsShardWasLostAndReturned(t *testing.T) {
	t.Parallel()
	d := manned(t, engine.Config{})
	d.order(store.Discard, 1, 1, store.ParkDead)
	d.f.Lost(0)
	d.f.Add(lease(0, 4096, 3, 5), "1", store.Blocks{Keys: []uint64{keyHash(1)}})
	d.land(d.f.Turn(d.now))
	d.order(store.Discard, 1, 1, store.ParkDead)
	equal(t, "done", len(d.settle().Done), 1)
}

// A command that was read before its shard was lost and came back was carried out
// on a row that another owner had changed since.
func TestACommandFromBeforeItsShardWasLostIsNotCarriedOut(t *testing.T) {
	t.Parallel()
	d := manned(t, engine.Config{})
	d.now += 60 * ms
	turn := d.turn()
	d.f.Lost(0)
	d.f.Add(lease(0, 4096, 3, 5), "1", store.Blocks{Keys: []uint64{keyHash(1)}})
	d.land(turn)
	d.order(store.Discard, 1, 1, store.ParkDead)
	d.now += 60 * ms
	equal(t, "settlements", len(d.f.Turn(d.now).Settle), 0)
}
