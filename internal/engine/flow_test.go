package engine_test

import (
	"testing"
	"time"

	"github.com/postbag/postbag/broker"
	"github.com/postbag/postbag/internal/engine"
	"github.com/postbag/postbag/store"
)

func TestAFlowWithoutShardsAsksForNothing(t *testing.T) {
	t.Parallel()
	d := newDesk(t, engine.Config{})
	d.noTurn()
	d.noCall()
	d.noDue()
	if at := d.f.Wake(d.now, true, true); at <= d.now {
		t.Fatalf("now is %v, wakes at %v", d.now, at)
	}
}

// The time to ask for commands was over, and Turn does not ask without shards.
func TestAFlowThatLostItsShardsDoesNotWakeItsCaller(t *testing.T) {
	t.Parallel()
	d := oneShard(t, engine.Config{})
	d.feed("1")
	d.f.Lost(0)
	d.now += time.Hour
	d.noTurn()
	if at := d.f.Wake(d.now, true, true); at <= d.now {
		t.Fatalf("now is %v, wakes at %v", d.now, at)
	}
}

func TestALostShardIsForgotten(t *testing.T) {
	t.Parallel()
	d := newDesk(t, engine.Config{Batch: 1})
	d.f.Add(lease(0, 2048, 1, 1), "0", store.Blocks{Keys: []uint64{keyHash(6)}})
	d.f.Add(lease(2048, 4096, 2, 1), "0", store.Blocks{})
	d.lot(parked(1, 6, 1))
	d.feed("1", messages(5, 2, 2, 1, 4, 6)...)
	retry, live, other := d.call(5), d.call(1), d.call(7)
	turn := d.turn()
	d.f.Lost(0)
	d.audit()
	d.land(turn)
	d.answer(retry, broker.Rejected)
	d.answer(live, broker.Accepted)
	d.answer(other, broker.Accepted)
	d.noCall()
	s := d.settle()
	equal(t, "settled", s.Lo, 2048)
	equal(t, "position", s.To, "1")
	d.empty()
	equal(t, "lost", d.f.Stats().Lost, int64(1))
}

func TestAPageOfALostShardThatReturnedElsewhereIsIgnored(t *testing.T) {
	t.Parallel()
	d := newDesk(t, engine.Config{})
	d.f.Add(lease(0, 2048, 1, 1), "0", store.Blocks{})
	d.f.Add(lease(2048, 4096, 2, 1), "0", store.Blocks{})
	turn := d.reading("0")
	d.f.Lost(2048)
	d.f.Add(lease(2048, 4096, 3, 4), "5", store.Blocks{})
	d.land(turn, page("1", messages(1, 2, 1)...)) // the other group reads message 2 itself, if it has not passed it
	d.deliver(1)
	s := d.settle()
	equal(t, "settled", s.Lo, 0)
	equal(t, "counted", s.Tally[0].Count, int64(1))
}

func TestAPageOfALeavingShardIsIgnored(t *testing.T) {
	t.Parallel()
	d := newDesk(t, engine.Config{})
	d.f.Add(lease(0, 2048, 1, 1), "0", store.Blocks{})
	d.f.Add(lease(2048, 4096, 2, 1), "0", store.Blocks{})
	turn := d.reading("0")
	d.f.Leave(2048)
	d.land(turn, page("1", messages(1, 2, 1)...))
	d.deliver(1)
	d.noCall()
	equal(t, "left", d.left()[0], lease(2048, 4096, 2, 1))
}

func TestTheAnswerOfATurnFromBeforeAResetIsIgnored(t *testing.T) {
	t.Parallel()
	d := oneShard(t, engine.Config{})
	d.feed("1", messages(1, 1, 2)...)
	c := d.call(1, 2)
	turn := d.turn()
	d.f.Reset()
	d.f.Add(lease(0, 4096, 9, 4), "0", store.Blocks{})
	d.noTurn() // the one that is out comes first
	d.land(turn, page("5", messages(3, 3)...))
	d.answer(c, broker.Accepted)
	d.noCall()
	d.reading("0")
}

func TestAResetEndsWithAnEmptyAnswer(t *testing.T) {
	t.Parallel()
	d := oneShard(t, engine.Config{})
	d.feed("1", messages(1, 1)...)
	d.deliver(1)
	d.now += 60 * ms
	d.turn()
	d.f.Landed(d.now, nil, nil)
	d.f.Reset()
	d.empty()
}

// quiesced makes turns until the flow is quiet.
func (d *desk) quiesced() {
	d.t.Helper()
	for range 10 {
		if d.f.Quiet() {
			return
		}
		d.land(d.f.Turn(d.now))
		d.now += 10 * ms
	}
	d.t.Fatalf("not quiet: %s", d.f.Describe())
}

func TestAQuietFlowFinishesWhatItHasAndReadsNoMore(t *testing.T) {
	t.Parallel()
	d := oneShard(t, engine.Config{})
	d.feed("1", messages(1, 1, 1)...)
	equal(t, "quiet unasked", d.f.Quiet(), false)
	c := d.call(1)
	d.f.Quiesce(true)
	equal(t, "quiet too early", d.f.Quiet(), false)
	d.answer(c, broker.Accepted)
	d.deliver(2)
	d.quiesced()
	turn := d.f.Turn(d.now)
	for _, r := range turn.Read {
		equal(t, "limit", r.Limit, 0)
	}
	d.land(turn)
	d.f.Quiesce(false)
	d.now += time.Second
	d.reading("1")
}

func TestAQuietFlowReadsItsGroupsUpToOnePosition(t *testing.T) {
	t.Parallel()
	d := twoShards(t, engine.Config{})
	d.f.Quiesce(true)
	d.land(d.reading("9"), part("10"))
	d.land(d.reading("10", "3"), page("11"), part("4"))
	d.land(d.reading("4-11"), page("11"))
	d.quiesced()
	equal(t, "groups", d.f.Groups(), 1)
}

// A flow with parked messages to be tried never became quiet, because it went on to
// fetch them.
func TestAFlowWithParkedMessagesBecomesQuiet(t *testing.T) {
	t.Parallel()
	d := manned(t, engine.Config{})
	d.lot(parked(1, 1, 1))
	c := d.call(1)
	d.f.Quiesce(true)
	d.answer(c, broker.Rejected)
	d.f.NextDue(d.now, 0)
	d.noDue()
	d.quiesced()
}

func TestAFlowIsDrainedWhenNothingCanBeDelivered(t *testing.T) {
	t.Parallel()
	d := blocked(t, engine.Config{})
	drained := func(when string, want bool) {
		t.Helper()
		equal(t, "drained "+when, d.f.Drained(d.now), want)
	}
	drained("before anything is known", false)
	d.f.DueLanded(d.now, nil)
	d.feed("1")
	d.now += 100 * ms
	d.land(d.turn())
	drained("with nothing read and nothing due", true)
	d.f.NextDue(d.now, time.Hour)
	drained("with something due later", true)
	d.lot(parked(1, 1, 1))
	drained("with something in hand", false)
	d.deliver(1)
	drained("with something to settle", false)
	d.settle(keyHash(1))
	d.now += 100 * ms
	d.land(d.f.Turn(d.now))
	drained("again", true)
	d.feed("2", messages(5, 4)...)
	drained("with messages", false)
}

// While a destination is down, and while a parked message waits, there is something
// that is not settled, though nothing can be delivered.
func TestAFlowIsSettledWhenAllWasReadAndNothingIsParked(t *testing.T) {
	t.Parallel()
	d := oneShard(t, engine.Config{})
	settled := func(when string, want bool) {
		t.Helper()
		equal(t, "settled "+when, d.f.Settled(), want)
	}
	settled("before anything is known", false)
	d.f.DueLanded(d.now, nil)
	d.feed("1")
	d.now += 100 * ms
	d.land(d.turn())
	settled("with nothing read and nothing parked", true)
	d.f.NextDue(d.now, time.Hour)
	settled("with something due later", false)
	d.lot(parked(1, 1, 1))
	settled("with something in hand", false)
	d.answer(d.call(1), broker.Unavailable)
	equal(t, "circuit", d.f.Circuit(), engine.Open)
	settled("with a destination that is down", false)
}

// What waits behind a dead message has no time of its own: it may be in the broker all
// the same, and is sent when an operator says so.
func TestAFlowWithABlockedKeyIsNotSettled(t *testing.T) {
	t.Parallel()
	for name, order := range map[string]engine.Order{"by key": engine.ByKey, "by shard": engine.ByShard} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := blocked(t, engine.Config{Order: order})
			d.f.DueLanded(d.now, nil)
			d.feed("1")
			d.now += 100 * ms
			d.land(d.turn())
			equal(t, "idle", d.f.Idle(), true)
			equal(t, "settled", d.f.Settled(), false)
		})
	}
}

func TestThePauseBetweenReadsCanBeShortened(t *testing.T) {
	t.Parallel()
	d := oneShard(t, engine.Config{PollMax: time.Minute})
	d.now = time.Hour
	d.land(d.reading("0"))
	equal(t, "wakes", d.f.Wake(d.now, true, true) > d.now+20*time.Second, true)
	d.f.PollMax(time.Second)
	d.now += time.Minute
	d.land(d.reading("0"))
	equal(t, "wakes", d.f.Wake(d.now, true, true), d.now+time.Second)
}

func TestStatsCount(t *testing.T) {
	t.Parallel()
	d := oneShard(t, engine.Config{})
	msgs := messages(1, 1, 2, 3, 3)
	msgs[1].Filtered = true
	d.feed("1", msgs...)
	d.answer(d.call(1, 3), broker.Accepted, broker.Rejected)
	d.settle()
	equal(t, "stats", d.f.Stats(), engine.Stats{
		Read: 4, Sent: 2, Accepted: 1, Rejected: 1, Parked: 2, Delivered: 1, Filtered: 1, Settles: 1, Chains: 1,
	})
}

// A reshape resets the flow. A parked message that was in hand was sent while the
// reshape was on its way, and once more after it.
func TestAQuietFlowSendsNoParkedMessage(t *testing.T) {
	t.Parallel()
	d := manned(t, engine.Config{InFlight: 1, Batch: 1})
	d.lot(parked(1, 1, 1), parked(2, 2, 1))
	c := d.call(1) // the other one waits for its turn
	d.f.Quiesce(true)
	d.answer(c, broker.Accepted)
	d.quiesced()
	d.noCall()
}

func TestARenewedFlowBeginsEmpty(t *testing.T) {
	t.Parallel()
	d := oneShard(t, engine.Config{Batch: 1})
	d.feed("1", messages(1, 1, 2, 3)...)
	d.answer(d.call(1), broker.Rejected)
	d.call(2)
	d.f.Renew(engine.Config{})
	d.empty()
	equal(t, "shards", len(d.f.Leases()), 0)
	equal(t, "counts", d.f.Stats(), engine.Stats{})
	d.noTurn()
	d.f.Expire(time.Hour)
	d.f.Add(lease(0, 4096, 2, 1), "0", store.Blocks{})
	d.feed("1", messages(1, 1, 2)...)
	d.deliver(1, 2)
}
