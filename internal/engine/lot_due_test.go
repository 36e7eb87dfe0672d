package engine_test

import (
	"slices"
	"testing"
	"time"

	"github.com/postbag/postbag/broker"
	"github.com/postbag/postbag/internal/engine"
	"github.com/postbag/postbag/store"
)

// blocked is a desk with one shard whose keys 1, 2 and 3 have parked messages.
func blocked(t *testing.T, c engine.Config) *desk {
	t.Helper()
	d := newDesk(t, c)
	d.f.Add(lease(0, 4096, 1, 1), "0", store.Blocks{Keys: []uint64{keyHash(1), keyHash(2), keyHash(3)}})
	return d
}

func TestParkedMessagesAreAskedForWhenTheyAreDue(t *testing.T) {
	t.Parallel()
	d := blocked(t, engine.Config{})
	d.f.DueLanded(d.now, nil)
	d.feed("1")
	d.f.NextDue(d.now, 10*time.Second)
	d.noDue()
	equal(t, "wakes", d.f.Wake(d.now, false, true), d.now+10*time.Second)
	d.now += 10 * time.Second
	d.due()
	d.noDue() // one request at a time
}

// What an operator had retried was not asked for before another message was due, an hour later: a request had
// brought nothing, and then a turn said that nothing was due before that.
func TestAMessageThatIsDueNowIsAskedForAlthoughTheOnesBeforeItWereNot(t *testing.T) {
	t.Parallel()
	d := blocked(t, engine.Config{})
	d.f.DueLanded(d.now, nil)
	d.due()
	d.f.DueLanded(d.now, nil) // what had been due is done
	d.hears(time.Hour)        // another message
	d.noDue()
	d.now += time.Minute
	d.hears(0) // it was retried
	d.due()
}

// hears makes the next turn, which finds nothing, and says how long until a parked message is due.
func (d *desk) hears(wait time.Duration) {
	d.t.Helper()
	t := d.turn()
	d.f.Landed(d.now, make([]store.Verdict, len(t.Settle)), []store.Batch{{Next: t.Read[0].From, Whole: true}})
	d.f.NextDue(d.now, wait)
	d.audit()
}

func TestParkedMessagesOfAKeyAreSentInTheirOrder(t *testing.T) {
	t.Parallel()
	d := blocked(t, engine.Config{})
	d.lot(parked(1, 1, 2), parked(4, 1, 0), parked(2, 2, 1))
	d.deliver(1, 2)
	c := d.call(4)
	equal(t, "attempt", c.Items[0].Attempt, 1)
	d.answer(c, broker.Accepted)
	s := d.settle(keyHash(1), keyHash(2))
	equal(t, "resolved", len(s.Resolve), 3)
}

func TestLoadedParkedMessagesAreNotAskedForAgain(t *testing.T) {
	t.Parallel()
	d := blocked(t, engine.Config{})
	d.lot(parked(1, 1, 2), parked(2, 2, 1))
	d.answer(d.call(1, 2), broker.Accepted, broker.Rejected)
	r := d.due() // their rows are about to change
	equal(t, "skips", slices.Equal(r.Skip, []int64{1, 2}), true)
	d.f.DueLanded(d.now, nil)
	d.settle(keyHash(1))
	d.f.NextDue(d.now, 0)
	d.now += time.Second
	r = d.due()
	equal(t, "skips", len(r.Skip), 0)
}

func TestARejectedParkedMessageSendsThoseBehindItBackToTheirRows(t *testing.T) {
	t.Parallel()
	d := blocked(t, engine.Config{})
	d.lot(parked(1, 1, 2), parked(4, 1, 0))
	d.answer(d.call(1), broker.Rejected)
	d.noCall()
	s := d.settle()
	equal(t, "rows", len(s.Park), 1)
	equal(t, "attempts", s.Park[0].Attempts, 3)
}

// A destination that keeps order rejected the first of a key's parked messages and
// held back the second; this one was sent again at once, before the first.
func TestAParkedMessageDoesNotOvertakeTheOneBeforeIt(t *testing.T) {
	t.Parallel()
	d := blocked(t, engine.Config{Ordered: true})
	d.lot(parked(1, 1, 2), parked(4, 1, 0), parked(5, 1, 0))
	c := d.call(1, 4, 5)
	d.answer(c, broker.Rejected, broker.NotSent)
	d.noCall()
	d.settle()
	d.lot(parked(1, 1, 3), parked(4, 1, 0))
	d.deliver(1, 4)
}

// The same, answered one by one: the rejected message was fetched again while an
// answer to the call was still out, and stood behind those it was to go before.
func TestAParkedMessageIsSentBeforeLaterOnesOfAnOpenCall(t *testing.T) {
	t.Parallel()
	d := blocked(t, engine.Config{Ordered: true})
	d.lot(parked(1, 1, 2), parked(4, 1, 0), parked(5, 1, 0))
	c := d.call(1, 4, 5)
	d.f.Reported(d.now, c.ID, 0, engine.Answer{Outcome: broker.Rejected})
	d.f.Reported(d.now, c.ID, 1, engine.Answer{Outcome: broker.NotSent})
	d.audit()
	d.settle()
	d.lot(parked(1, 1, 3), parked(4, 1, 0))
	d.noCall()
	d.f.Answered(d.now, c.ID, []engine.Answer{2: {Outcome: broker.NotSent}})
	d.audit()
	d.noCall()
	d.lot(parked(1, 1, 3), parked(4, 1, 0), parked(5, 1, 0))
	d.deliver(1, 4, 5)
}

// A store that was set back showed a message that was resolved as parked again, while
// those behind it were being tried: it stood behind them, and was sent after them.
func TestAParkedMessageOfARestoredStoreIsSentBeforeLaterOnes(t *testing.T) {
	t.Parallel()
	d := blocked(t, engine.Config{})
	d.lot(parked(2, 1, 2), parked(4, 1, 0), parked(6, 1, 0))
	d.deliver(2)
	d.settle()
	c := d.call(4)
	d.lot(parked(2, 1, 2), parked(4, 1, 0), parked(6, 1, 0)) // as it was
	d.noCall()
	d.answer(c, broker.Rejected)
	d.settle()
	d.lot(parked(2, 1, 2), parked(4, 1, 1), parked(6, 1, 0))
	d.deliver(2)
	d.deliver(4)
	d.deliver(6)
}

// A relay whose lease was out, and did not know, was shown a message of its window as
// its successor had parked it, under another order: it sent it beside itself.
func TestAMessageThatASuccessorParkedIsNotSentTwiceAtOnce(t *testing.T) {
	t.Parallel()
	d := oneShard(t, engine.Config{})
	d.feed("1", messages(1, 1)...)
	c := d.call(1)
	strict := parked(1, 1, 0)
	strict.Park.Hash = 1 // of every row under ByShard
	d.lot(strict)
	d.noCall()
	d.answer(c, broker.Accepted)
}

// A row that had changed since the request was refused, and the next of its key
// taken in its place.
func TestAMessageIsNotTakenInPlaceOfTheOneBeforeIt(t *testing.T) {
	t.Parallel()
	d := blocked(t, engine.Config{})
	d.f.DueLanded(d.now, nil)
	d.feed("1")
	d.f.NextDue(d.now, 0)
	d.now += time.Second
	d.due()
	d.order(store.Retry, 1, 1, store.ParkRetrying)
	d.f.DueLanded(d.now, []store.Parked{parked(1, 1, 2), parked(4, 1, 0)})
	d.noCall()
}

// An answer to Due that was under way while a row was resolved let the row be
// taken once more, when its resolution had been written and another was drafted.
func TestAnOldAnswerDoesNotBringBackASettledRow(t *testing.T) {
	t.Parallel()
	d := oneShard(t, engine.Config{Retry: engine.Retry{Min: ms, Max: ms}})
	d.due()
	d.feed("1", messages(1, 1)...)
	d.answer(d.call(1), broker.Rejected)
	d.settle() // writes the row while the answer is under way
	d.f.DueLanded(d.now, []store.Parked{parked(1, 1, 1)})
	d.f.NextDue(d.now, 0)
	d.due()
	d.deliver(1)
	d.f.DueLanded(d.now, nil)
	d.f.NextDue(d.now, 0)
	d.now += time.Second
	r := d.due()
	equal(t, "skips", slices.Equal(r.Skip, []int64{1}), true)
	d.f.DueLanded(d.now, []store.Parked{parked(1, 1, 1)})
	d.noCall()
}

// A shard was lost and came back while an answer to Due was under way: what it
// says of the shard is from another life.
func TestAnAnswerFromBeforeAShardWasLostIsIgnored(t *testing.T) {
	t.Parallel()
	d := blocked(t, engine.Config{})
	d.due()
	d.f.Lost(0)
	d.f.Add(lease(0, 4096, 3, 5), "1", store.Blocks{})
	d.f.DueLanded(d.now, []store.Parked{parked(1, 1, 2)})
	d.noCall()
}

// Rows whose change was drafted when the shard was lost were skipped for ever
// after it came back.
func TestARowIsTakenAgainAfterItsShardWasLostAndReturned(t *testing.T) {
	t.Parallel()
	d := blocked(t, engine.Config{})
	d.lot(parked(1, 1, 2))
	d.answer(d.call(1), broker.Rejected)
	d.f.Lost(0)
	d.f.Add(lease(0, 4096, 3, 5), "1", store.Blocks{Keys: []uint64{keyHash(1)}})
	d.lot(parked(1, 1, 2))
	d.deliver(1)
}

func TestDueRequestsThatFindNothingAreMadeLessOften(t *testing.T) {
	t.Parallel()
	d := blocked(t, engine.Config{})
	n := 0
	for d.now < time.Minute {
		if _, ok := d.f.Due(d.now); ok {
			n++
			d.f.DueLanded(d.now, nil)
		}
		d.f.NextDue(d.now, 0)
		d.now += 10 * ms
	}
	if n < 8 || n > 20 {
		t.Errorf("asked %d times in a minute", n)
	}
}

// When nothing was parked any more, the flow asked every six seconds none the less.
func TestDueRequestsStopWhenNothingIsParked(t *testing.T) {
	t.Parallel()
	d := blocked(t, engine.Config{})
	d.due()
	d.f.DueLanded(d.now, nil)
	for d.now < time.Minute {
		d.land(d.f.Turn(d.now))
		d.noDue()
		d.now += 100 * ms
	}
}

// The pause after an answer that brought nothing was kept although it had ended,
// so that a message that became due later was never asked for.
func TestAMessageThatBecomesDueIsAskedFor(t *testing.T) {
	t.Parallel()
	d := blocked(t, engine.Config{})
	d.due()
	d.f.DueLanded(d.now, nil)
	d.feed("1") // nothing is due
	d.f.NextDue(d.now, 0)
	d.due()
}

func TestParkedMessagesWaitForTheCircuit(t *testing.T) {
	t.Parallel()
	d := blocked(t, engine.Config{})
	d.lot(parked(1, 1, 2))
	d.answer(d.call(1), broker.Unavailable)
	d.f.NextDue(d.now, 0)
	d.noDue()
	turn := d.turn()
	equal(t, "settlements", len(turn.Settle), 0)
}

// Wake named a time that was over while Due would not ask: its caller spun.
func TestAPausedFlowWithDueMessagesDoesNotWakeItsCaller(t *testing.T) {
	t.Parallel()
	d := blocked(t, engine.Config{})
	d.f.Pause(true)
	d.f.NextDue(d.now, 0)
	d.noDue()
	if at := d.f.Wake(d.now, false, true); at <= d.now {
		t.Fatalf("now is %v, wakes at %v", d.now, at)
	}
}

func TestLoadedParkedMessagesAreBounded(t *testing.T) {
	t.Parallel()
	d := blocked(t, engine.Config{RetryBatch: 1})
	r := d.due()
	equal(t, "limit", r.Limit, 2)
	d.f.DueLanded(d.now, []store.Parked{parked(1, 1, 1), parked(2, 2, 1)})
	d.noDue()
}

func TestADueRequestThatFailedIsMadeAgain(t *testing.T) {
	t.Parallel()
	d := blocked(t, engine.Config{})
	d.due()
	d.f.DueFailed(d.now)
	d.noDue()
	d.now += time.Second
	d.due()
}

// All rows of a strict shard have one hash, and of a hash only the first counts:
// asked together, shards hid each other's.
func TestStrictShardsAreAskedForSeparately(t *testing.T) {
	t.Parallel()
	d := newDesk(t, engine.Config{Order: engine.ByShard})
	d.f.Add(lease(0, 2048, 1, 1), "0", store.Blocks{Keys: []uint64{1}})
	d.f.Add(lease(2048, 4096, 2, 1), "0", store.Blocks{Keys: []uint64{1}})
	first := d.due()
	d.f.DueLanded(d.now, nil)
	second := d.due()
	d.f.DueLanded(d.now, nil)
	d.noDue() // a round that brought nothing is over
	equal(t, "shards", len(first.Slots)+len(second.Slots), 2)
	if first.Slots[0] == second.Slots[0] {
		t.Fatalf("asked twice for %v", first.Slots[0])
	}
}

// strictParked is a message as an earlier or present ByShard has parked it.
func strictParked(seq int64, key int) store.Parked {
	m := parked(seq, key, 1)
	m.Park.Hash = 1
	return m
}

func TestAfterAChangeToStrictOrderOlderRowsGoFirst(t *testing.T) {
	t.Parallel()
	d := newDesk(t, engine.Config{Order: engine.ByShard})
	d.f.Add(lease(0, 4096, 1, 1), "0", store.Blocks{Keys: []uint64{keyHash(1), keyHash(2)}})
	d.f.DueLanded(d.now, nil)
	d.feed("1", messages(5, 1, 3)...)
	d.noCall()
	s := d.settle()
	equal(t, "rows", len(s.Park), 2)
	equal(t, "hash", s.Park[0].Hash, uint64(1))
	d.lot(strictParked(5, 1), strictParked(6, 3), parked(2, 2, 1))
	c := d.call(2) // not 5: key 1 has an older one
	d.answer(c, broker.Rejected)
	equal(t, "its row keeps its hash", d.settle().Park[0].Hash, keyHash(2))
	d.lot(parked(1, 1, 1))
	d.deliver(1)
	d.settle(keyHash(1))
	d.lot(strictParked(5, 1))
	d.noCall() // key 2 has an older one
	d.now += time.Second
	d.lot(parked(2, 2, 2))
	d.deliver(2)
	d.settle(keyHash(2))
	d.lot(strictParked(5, 1), strictParked(6, 3))
	d.deliver(5)
	d.deliver(6)
	d.settle(1)
	d.empty()
}

func TestAfterStrictOrderOldRowsKeepTheShardOneKey(t *testing.T) {
	t.Parallel()
	d := newDesk(t, engine.Config{Order: engine.ByKey})
	d.f.Add(lease(0, 4096, 1, 1), "0", store.Blocks{Keys: []uint64{1}})
	d.f.DueLanded(d.now, nil)
	d.feed("1", messages(5, 1, 2, 0)...)
	d.deliver(7) // it has no key
	s := d.settle()
	equal(t, "rows", len(s.Park), 2)
	equal(t, "hash", s.Park[1].Hash, uint64(1))
	d.lot(strictParked(2, 2), strictParked(5, 1), strictParked(6, 2))
	d.deliver(2)
	d.deliver(5)
	d.deliver(6)
	d.settle(1)
	d.feed("2", messages(8, 1, 2)...)
	d.deliver(8, 9)
	d.settle()
	d.empty()
}

// Only an earlier order parks it without a hash. No store has others wait for it, and no verdict says that it is over.
func TestARowWithoutAHashDoesNotBlockAStrictShard(t *testing.T) {
	t.Parallel()
	for _, first := range []bool{false, true} {
		d := oneShard(t, engine.Config{Order: engine.ByShard, CountFirst: first})
		m := parked(5, 0, 1)
		m.Blocking = false
		d.lot(m)
		if first {
			d.noCall()
			equal(t, "what is written before its call blocks", d.settle().Park[0].Blocking, false)
		}
		d.answer(d.call(5), broker.Rejected)
		p := d.settle().Park
		if len(p) != 1 || p[0].Seq != 5 || p[0].Hash != 0 || p[0].Blocking || p[0].State != store.ParkRetrying {
			t.Fatalf("the rows are %+v, want one that blocks nothing", p)
		}
		d.feed("1", message(6, 1))
		if first {
			d.noCall()
			d.settle()
		}
		d.deliver(6)
	}
}

// A slow message of no key is parked ahead of its window. Another owner reads it in the window and asks for it as a parked one.
func TestAMessageBothReadAndParkedIsSettledOnce(t *testing.T) {
	t.Parallel()
	d := oneShard(t, engine.Config{Retry: engine.Retry{MaxAttempts: 5, Min: time.Second, Max: time.Second}})
	d.feed("1", message(5, 0))
	window := d.call(5)
	d.lot(parked(5, 0, 2))
	row := d.call(5)
	d.answer(row, broker.Rejected)
	d.answer(window, broker.Rejected)
	s := d.settle()
	if len(s.Park) != 1 || s.Park[0].Seq != 5 {
		t.Errorf("the settlement parks %+v, want one row", s.Park)
	}
}

func TestAMessageDeliveredFromParkedIsNotParkedAgain(t *testing.T) {
	t.Parallel()
	d := oneShard(t, engine.Config{Retry: engine.Retry{MaxAttempts: 5, Min: time.Second, Max: time.Second}})
	d.feed("1", message(5, 0))
	window := d.call(5)
	d.lot(parked(5, 0, 2))
	d.answer(d.call(5), broker.Accepted)
	d.answer(window, broker.Rejected)
	s := d.settle()
	if len(s.Park) != 0 || len(s.Resolve) != 1 {
		t.Errorf("the settlement parks %+v and resolves %+v", s.Park, s.Resolve)
	}
}
