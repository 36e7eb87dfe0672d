package engine_test

import (
	"testing"

	"github.com/postbag/postbag/broker"
	"github.com/postbag/postbag/internal/engine"
	"github.com/postbag/postbag/store"
)

func TestMessagesOfDifferentKeysAreSentTogether(t *testing.T) {
	t.Parallel()
	d := oneShard(t, engine.Config{})
	d.feed("1", messages(1, 1, 2, 3, 0, 0)...)
	d.deliver(1, 2, 3, 4, 5)
	d.settle()
	d.empty()
}

func TestTheNextOfAKeyIsSentOnlyAfterAPositiveAnswer(t *testing.T) {
	t.Parallel()
	d := oneShard(t, engine.Config{})
	d.feed("1", messages(1, 1, 1, 2)...)
	c := d.call(1, 3)
	d.noCall()
	d.answer(c, broker.Accepted)
	d.deliver(2)
	d.settle()
	d.empty()
}

func TestAnUnknownAnswerIsSentAgainBeforeTheNextOfItsKey(t *testing.T) {
	t.Parallel()
	d := oneShard(t, engine.Config{})
	d.feed("1", messages(1, 1, 1, 2)...)
	d.answer(d.call(1, 3), broker.Unknown, broker.Accepted)
	d.answer(d.call(1), broker.Accepted)
	d.deliver(2)
}

func TestAnOrderedDestinationGetsAKeyInOneCallAtATime(t *testing.T) {
	t.Parallel()
	d := oneShard(t, engine.Config{Ordered: true, Batch: 3})
	d.feed("1", messages(1, 1, 1, 1, 1, 2)...)
	c := d.call(1, 2, 3)
	d.deliver(5)
	d.noCall()
	d.answer(c, broker.Accepted, broker.Unavailable, broker.NotSent)
	d.now += 200 * ms
	equal(t, "check", d.f.Check(d.now), engine.TryOne)
	d.answer(d.f.Trial(d.now), broker.Accepted)
	d.deliver(3, 4)
}

func TestUnorderedMessagesWaitForNoOthers(t *testing.T) {
	t.Parallel()
	d := oneShard(t, engine.Config{Order: engine.Unordered})
	d.feed("1", messages(1, 1, 1, 1)...)
	d.answer(d.call(1, 2, 3), broker.Rejected, broker.Accepted)
	s := d.settle()
	equal(t, "rows", len(s.Park), 1)
	equal(t, "blocking", s.Park[0].Blocking, false)
	d.empty()
}

func TestUnderStrictOrderAShardIsSentLikeOneKey(t *testing.T) {
	t.Parallel()
	d := newDesk(t, engine.Config{Order: engine.ByShard})
	d.f.Add(lease(0, 2048, 1, 1), "0", store.Blocks{})
	d.f.Add(lease(2048, 4096, 2, 1), "0", store.Blocks{})
	d.feed("1", messages(1, 2, 4, 1, 3)...)
	d.deliver(1, 3)
	d.deliver(2, 4)
}

// A destination keeps the order of each key within a call. Under strict order the
// messages behind one another are of different keys.
func TestStrictOrderDoesNotRelyOnADestinationsOrderPerKey(t *testing.T) {
	t.Parallel()
	d := oneShard(t, engine.Config{Order: engine.ByShard, Ordered: true})
	d.feed("1", messages(1, 2, 2, 4, 0, 0)...)
	d.deliver(1, 2)
	d.deliver(3)
	d.deliver(4)
	d.deliver(5)
}

// The chain of a key was put away once for each of its messages in a call, so
// that two other keys got the same chain afterwards.
func TestAChainIsReleasedOnce(t *testing.T) {
	t.Parallel()
	d := oneShard(t, engine.Config{Ordered: true})
	d.feed("1", messages(1, 1, 1)...)
	d.deliver(1, 2)
	d.feed("2", messages(3, 2, 3, 2, 3)...)
	d.audit()
	d.deliver(3, 5, 4, 6)
}

func TestARejectedMessageBlocksItsKeyAndNoOther(t *testing.T) {
	t.Parallel()
	d := oneShard(t, engine.Config{})
	d.feed("1", messages(1, 1, 1, 2, 2)...)
	d.answer(d.call(1, 3), broker.Rejected, broker.Accepted)
	d.deliver(4)
	s := d.settle()
	equal(t, "position", s.To, "1")
	equal(t, "rows", len(s.Park), 2)
	equal(t, "first", s.Park[0].State, store.ParkRetrying)
	equal(t, "attempts", s.Park[0].Attempts, 1)
	equal(t, "reason", s.Park[0].Reason, "why")
	equal(t, "second", s.Park[1].State, store.ParkBlocked)
	d.feed("2", messages(5, 1, 2)...)
	d.deliver(6)
	s = d.settle()
	equal(t, "a later one of the key", s.Park[0].Seq, int64(5))
}

func TestUnderSkipAKeyGoesOnBehindARejectedMessage(t *testing.T) {
	t.Parallel()
	d := oneShard(t, engine.Config{OnReject: engine.Skip})
	d.feed("1", messages(1, 1, 1)...)
	d.answer(d.call(1), broker.Rejected)
	d.deliver(2)
	s := d.settle()
	equal(t, "rows", len(s.Park), 1)
	equal(t, "blocking", s.Park[0].Blocking, false)
	d.empty()
}

func TestABlockedKeyIsSentAgainWhenASettlementClearsIt(t *testing.T) {
	t.Parallel()
	d := newDesk(t, engine.Config{})
	d.f.Add(lease(0, 4096, 1, 1), "0", store.Blocks{Keys: []uint64{keyHash(1)}})
	d.lot(parked(1, 1, 1))
	d.deliver(1)
	turn := d.turn()
	equal(t, "resolved", turn.Settle[0].Resolve[0], store.Resolved{Seq: 1, Hash: keyHash(1)})
	d.land(turn, page("1", messages(5, 1)...)) // the verdict does not clear the key
	d.noCall()
	equal(t, "parked", d.settle().Park[0].Seq, int64(5))
	d.lot(parked(5, 1, 0))
	d.deliver(5)
	d.settle(keyHash(1))
	d.feed("2", messages(6, 1)...)
	d.deliver(6)
	d.settle()
	d.empty()
}

// A verdict that cleared a key was ignored while another parked message of the
// key, one that blocks nothing, was in hand, and no other verdict came.
func TestAMessageThatBlocksNothingDoesNotBlockItsKey(t *testing.T) {
	t.Parallel()
	d := newDesk(t, engine.Config{OnReject: engine.Skip})
	d.f.Add(lease(0, 4096, 1, 1), "0", store.Blocks{Keys: []uint64{keyHash(1)}})
	skipped := parked(2, 1, 1)
	skipped.Blocking = false
	d.lot(parked(1, 1, 1), skipped)
	d.deliver(1)
	c := d.call(2)
	d.settle(keyHash(1))
	d.answer(c, broker.Accepted)
	d.settle()
	d.empty()
}
