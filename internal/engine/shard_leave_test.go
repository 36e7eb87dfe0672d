package engine_test

import (
	"testing"
	"time"

	"github.com/postbag/postbag/broker"
	"github.com/postbag/postbag/internal/engine"
	"github.com/postbag/postbag/store"
)

// left makes turns until the shards that leave have left, and returns them.
func (d *desk) left() []store.Lease {
	d.t.Helper()
	for range 5 {
		if l := d.f.Left(); len(l) > 0 {
			d.audit()
			return l
		}
		d.land(d.f.Turn(d.now))
		d.now += 10 * ms
	}
	d.t.Fatalf("nothing has left: %s", d.f.Describe())
	return nil
}

func (d *desk) notLeft() {
	d.t.Helper()
	if l := d.f.Left(); len(l) > 0 {
		d.t.Fatalf("%v has left", l)
	}
}

func TestAnIdleShardLeavesAtOnce(t *testing.T) {
	t.Parallel()
	d := oneShard(t, engine.Config{})
	d.f.Leave()
	equal(t, "left", d.f.Left()[0], lease(0, 4096, 1, 1))
	equal(t, "leases", len(d.f.Leases()), 0)
	d.empty()
}

func TestALeavingShardWaitsForItsAnswersAndSettlesThem(t *testing.T) {
	t.Parallel()
	d := oneShard(t, engine.Config{Batch: 2})
	d.feed("1", messages(1, 1, 2, 3)...)
	c := d.call(1, 2)
	d.f.Leave()
	d.noCall() // 3 is the next owner's
	d.notLeft()
	d.answer(c, broker.Accepted)
	turn := d.turn()
	equal(t, "position", turn.Settle[0].To, "1@2")
	d.notLeft()
	d.land(turn)
	equal(t, "version", d.left()[0].Version, int64(2))
	d.empty()
}

func TestALeavingShardSendsWhatMustGoBeforeWhatItHasSent(t *testing.T) {
	t.Parallel()
	d := oneShard(t, engine.Config{})
	d.feed("1", messages(1, 1, 1, 2, 2)...)
	c := d.call(1, 3)
	d.f.Leave()
	d.answer(c, broker.Accepted)
	d.deliver(2)
	s := d.settle()
	equal(t, "position", s.To, "1@3")
	d.left()
	d.empty()
}

func TestALeavingShardDoesNotWaitForTheOthersOfItsGroup(t *testing.T) {
	t.Parallel()
	d := newDesk(t, engine.Config{Batch: 1})
	d.f.Add(lease(0, 2048, 1, 1), "0", store.Blocks{})
	d.f.Add(lease(2048, 4096, 2, 1), "0", store.Blocks{})
	d.feed("1", messages(1, 2, 1)...)
	stays, leaves := d.call(1), d.call(2)
	d.f.Leave(2048)
	d.answer(leaves, broker.Accepted)
	equal(t, "left", d.left()[0].Lo, 2048)
	d.answer(stays, broker.Accepted)
	s := d.settle()
	equal(t, "position", s.To, "1")
	d.empty()
}

func TestALeavingShardTakesNoNewWork(t *testing.T) {
	t.Parallel()
	d := manned(t, engine.Config{})
	d.lot(parked(1, 1, 1), parked(2, 2, 1), parked(4, 2, 0))
	c := d.f.Next(d.now)
	d.f.Leave()
	d.f.NextDue(d.now, 0)
	d.noDue()
	d.order(store.Discard, 3, 3, store.ParkDead)
	d.answer(c, broker.Accepted)
	d.noCall()
	turn := d.turn()
	equal(t, "reads", len(turn.Read), 0)
	equal(t, "resolved", len(turn.Settle[0].Resolve), 2)
	d.land(turn)
	d.left()
	d.empty()
}

func TestALeavingShardLeavesAFailedRetryToTheNextOwner(t *testing.T) {
	t.Parallel()
	d := manned(t, engine.Config{})
	d.lot(parked(1, 1, 1))
	c := d.call(1)
	d.f.Leave()
	d.answer(c, broker.Unavailable)
	d.left()
	d.empty()
}

func TestALeavingShardDoesNotWaitForUnstoredMessages(t *testing.T) {
	t.Parallel()
	d := oneShard(t, engine.Config{})
	d.feed("1", messages(1, 1, 2)...)
	d.answer(d.call(1, 2), broker.Unavailable)
	d.f.Leave()
	d.left()
	d.empty()
}

// A shard that left while a slow call was out forgot that call, left before its
// answer, and the next owner sent the message once more.
func TestALeavingShardDoesNotForgetMessagesInFlight(t *testing.T) {
	t.Parallel()
	d := newDesk(t, engine.Config{Batch: 1})
	d.f.Add(lease(0, 2048, 1, 1), "0", store.Blocks{})
	d.f.Add(lease(2048, 4096, 2, 1), "0", store.Blocks{})
	d.feed("1", messages(1, 2, 1, 4)...)
	stays, slow := d.call(1), d.call(2)
	d.deliver(3)
	d.now += 1001 * ms
	d.f.Leave(2048)
	d.f.Slow(d.now)
	turn := d.turn()
	equal(t, "in flight", turn.Settle[0].Park[0].State, store.ParkInFlight)
	d.land(turn)
	d.notLeft()
	d.answer(stays, broker.Accepted) // the window moves over what is settled already
	equal(t, "settled", d.settle().Lo, 0)
	d.answer(slow, broker.Accepted)
	d.notLeft()
	turn = d.turn()
	equal(t, "resolved", turn.Settle[0].Resolve[0].Seq, int64(2))
	d.land(turn)
	equal(t, "left", d.left()[0].Lo, 2048)
}

// What a leaving shard had delivered was counted in the ledger before its position
// passed it, and again by the next owner when the shard was lost in between.
func TestALeavingShardCountsOnlyWhatItsPositionHasPassed(t *testing.T) {
	t.Parallel()
	d := oneShard(t, engine.Config{Batch: 1})
	d.feed("1", messages(1, 1, 2)...)
	one, two := d.call(1), d.call(2)
	d.f.Leave()
	d.answer(one, broker.Accepted)
	s := d.settle()
	equal(t, "counted", s.Tally[0].Count, int64(1))
	equal(t, "position", s.To, "1@1")
	d.answer(two, broker.Accepted)
	equal(t, "position", d.settle().To, "1@2")
}

// A shard whose loading took longer than it existed came when others had its slots,
// and took them along when it was lost: their messages were nobody's, and positions
// passed them.
func TestAShardAddedTooLateTakesNoSlotsOfOthers(t *testing.T) {
	t.Parallel()
	d := newDesk(t, engine.Config{})
	d.f.Add(lease(0, 1024, 3, 1), "0", store.Blocks{})
	d.f.Add(lease(1024, 2048, 4, 1), "0", store.Blocks{})
	d.f.Add(lease(2048, 4096, 5, 1), "0", store.Blocks{})
	d.f.Add(lease(0, 2048, 1, 1), "0", store.Blocks{})
	leases := d.f.Leases()
	equal(t, "shards", len(leases), 2)
	equal(t, "the one that has nothing in common", leases[0].Token, int64(5))
	equal(t, "the one that came", leases[1].Token, int64(1))
}

// A stop waited for ever for a message that the destination has no place for, kept what
// was accepted behind it unsettled, and its leases.
func TestALeavingShardParksWhatCannotBeSent(t *testing.T) {
	t.Parallel()
	d := oneShard(t, engine.Config{Batch: 1})
	d.feed("1", messages(1, 1, 1, 2, 3)...)
	wrong, good := d.call(1), d.call(3)
	d.answer(good, broker.Accepted)
	d.answer(wrong, broker.Misconfigured)
	d.f.Stop()
	s := d.settle()
	equal(t, "position", s.To, "1@3")
	equal(t, "rows", len(s.Park), 2)
	equal(t, "the first of its key", s.Park[0], store.Park{Seq: 1, Slot: 2049, Hash: keyHash(1), State: store.ParkInFlight, Blocking: true})
	equal(t, "behind it", s.Park[1].State, store.ParkBlocked)
	equal(t, "attempts", s.Park[1].Attempts, 0)
	d.left()
	d.empty()
}

// What is not answered is parked once it has had its time, so that the position passes
// what is; its answer resolves the row as long as the shard is here.
func TestALeavingShardParksWhatIsNotAnsweredInTime(t *testing.T) {
	t.Parallel()
	d := oneShard(t, engine.Config{Batch: 1})
	d.feed("1", messages(1, 1, 2)...)
	slow, good := d.call(1), d.call(2)
	d.answer(good, broker.Accepted)
	d.now += ms
	d.f.Leave()
	early := d.f.Turn(d.now)
	equal(t, "settled before the answer had its time", len(early.Settle), 0)
	d.land(early)
	equal(t, "wakes", d.f.Wake(d.now, true, true) <= d.now+250*ms, true)
	d.now += 250 * ms
	turn := d.turn()
	equal(t, "position", turn.Settle[0].To, "1@2")
	equal(t, "in flight", turn.Settle[0].Park[0].State, store.ParkInFlight)
	d.land(turn)
	d.now += time.Minute
	d.notLeft() // a shutdown waits for its answers
	d.answer(slow, broker.Accepted)
	equal(t, "resolved", d.settle().Resolve[0].Seq, int64(1))
	d.left()
	d.empty()
}

// Of a stop the caller ends a call that hangs, and one that does not end is not waited
// for.
func TestAStopEndsCallsThatHang(t *testing.T) {
	t.Parallel()
	d := oneShard(t, engine.Config{Batch: 1})
	d.feed("1", messages(1, 1, 2)...)
	slow, good := d.call(1), d.call(2)
	d.answer(good, broker.Accepted)
	d.f.Stop()
	equal(t, "hang", len(d.f.Hung(d.now)), 0)
	d.land(d.f.Turn(d.now))
	d.now += 999 * ms
	equal(t, "hang", len(d.f.Hung(d.now)), 0)
	d.now += ms
	hung := d.f.Hung(d.now)
	equal(t, "hang", len(hung), 1)
	equal(t, "call", hung[0], slow.ID)
	equal(t, "said twice", len(d.f.Hung(d.now)), 0)
	d.settle()
	d.notLeft()
	d.now += 250 * ms
	d.f.Hung(d.now)
	d.left()
	d.answer(slow, broker.Accepted) // too late: the shard is another's
	d.empty()
}

// A destination that takes its time for everything has it at a stop too.
func TestAStopWaitsForASlowDestination(t *testing.T) {
	t.Parallel()
	d := oneShard(t, engine.Config{Batch: 1})
	d.feed("1", messages(1, 1, 2)...)
	first := d.call(1)
	d.now += 3 * time.Second
	d.answer(first, broker.Accepted)
	d.call(2)
	d.f.Stop()
	d.f.Hung(d.now)
	d.now += 5 * time.Second
	equal(t, "hang", len(d.f.Hung(d.now)), 0)
	d.now += time.Second
	equal(t, "hang", len(d.f.Hung(d.now)), 1)
}

// When the time for a stop is out, what was accepted is settled nevertheless.
func TestAStopThatGivesUpSettlesWhatWasAccepted(t *testing.T) {
	t.Parallel()
	d := oneShard(t, engine.Config{Batch: 1})
	d.feed("1", messages(1, 1, 2)...)
	d.call(1)
	d.deliver(2)
	d.f.Stop()
	equal(t, "unanswered", d.f.GiveUp(), 1)
	s := d.settle()
	equal(t, "position", s.To, "1@2")
	equal(t, "in flight", s.Park[0].State, store.ParkInFlight)
	d.left()
}
