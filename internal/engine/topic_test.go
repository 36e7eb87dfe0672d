package engine_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/postbag/postbag/broker"
	"github.com/postbag/postbag/internal/engine"
	"github.com/postbag/postbag/store"
)

// topical is a configuration whose messages can be held, without chance.
func topical(c engine.Config) engine.Config {
	c.HoldTopics = true
	c.TopicMin, c.TopicMax = 100*ms, time.Second
	c.Rand = func() float64 { return 1 }
	return c
}

// to makes a message of a key for a topic.
func to(topic string, seq int64, key int) store.Record {
	m := message(seq, key)
	m.Topic = topic
	return m
}

// heldRow is a Held message as Due brings it.
func heldRow(topic string, seq int64, key int) store.Parked {
	return parkedOf(to(topic, seq, key), store.Park{State: store.ParkHeld, Blocking: key != 0, Topic: topic})
}

// noTopic is the answer to a message whose topic does not work.
func noTopic() engine.Answer {
	return engine.Answer{Outcome: broker.Misconfigured, Scope: broker.ScopeTopic, Reason: "no such topic"}
}

func accepted() engine.Answer { return engine.Answer{Outcome: broker.Accepted} }

// answers ends a call with an answer an item.
func (d *desk) answers(c *engine.Call, answers ...engine.Answer) {
	d.t.Helper()
	d.f.Answered(d.now, c.ID, answers)
	d.audit()
}

// probe returns the request for Held messages of a topic, once its pause is over.
func (d *desk) probe(topics ...string) store.Due {
	d.t.Helper()
	r := d.due()
	if !slices.Equal(r.Topics, topics) {
		d.t.Fatalf("messages of the topics %v are asked for, want %v", r.Topics, topics)
	}
	return r
}

// fetched answers the request under way.
func (d *desk) fetched(msgs ...store.Parked) {
	d.t.Helper()
	d.f.DueLanded(d.now, msgs)
	d.audit()
}

// failing is a desk on which message 1, of key 1 and topic bad, is held, and written.
func failing(t *testing.T, c engine.Config) *desk {
	t.Helper()
	d := oneShard(t, topical(c))
	d.feed("1", to("bad", 1, 1), to("good", 2, 2))
	d.answers(d.call(1, 2), noTopic(), accepted())
	s := d.settle()
	equal(t, "parked", len(s.Park), 1)
	return d
}

func TestAFailureOfOneTopicHoldsItsMessagesAndNoOthers(t *testing.T) {
	t.Parallel()
	d := oneShard(t, topical(engine.Config{}))
	d.feed("1", to("bad", 1, 1), to("good", 2, 2), to("good", 3, 1), to("bad", 4, 3), to("bad", 5, 0))
	c := d.call(1, 2, 4, 5)
	d.answers(c, noTopic(), accepted(), noTopic(), noTopic())
	d.noCall()
	equal(t, "circuit", d.f.Circuit(), engine.Closed)
	s := d.settle()
	equal(t, "position", s.To, "1")
	want := []store.Park{
		{Seq: 1, Slot: 2049, Hash: keyHash(1), State: store.ParkHeld, Blocking: true, Reason: "no such topic", Topic: "bad"},
		{Seq: 3, Slot: 2049, Hash: keyHash(1), State: store.ParkBlocked, Blocking: true},
		{Seq: 4, Slot: 2051, Hash: keyHash(3), State: store.ParkHeld, Blocking: true, Reason: "no such topic", Topic: "bad"},
		{Seq: 5, Slot: 0, State: store.ParkHeld, Reason: "no such topic", Topic: "bad"},
	}
	if !slices.Equal(s.Park, want) {
		t.Fatalf("parked are\n%+v, want\n%+v", s.Park, want)
	}
	d.feed("2", to("bad", 6, 4), to("good", 7, 5)) // nothing of it is sent any more
	d.deliver(7)
	s = d.settle()
	equal(t, "parked", len(s.Park), 1)
	equal(t, "state", s.Park[0].State, store.ParkHeld)
	equal(t, "attempts", s.Park[0].Attempts, 0)
	equal(t, "held", d.f.Stats().Held, 4)
	topics := d.f.Topics(10)
	equal(t, "topics", len(topics), 1)
	equal(t, "the topic", topics[0], engine.TopicState{Topic: "bad", Since: 0, Reason: "no such topic", Held: 4})
	equal(t, "events", slices.Equal(d.f.Events(), []engine.TopicEvent{{Topic: "bad", Reason: "no such topic"}}), true)
}

func TestWithoutHoldTopicsATopicsFailureIsTheDestinations(t *testing.T) {
	t.Parallel()
	d := oneShard(t, engine.Config{})
	d.feed("1", to("bad", 1, 1), to("good", 2, 2))
	d.answers(d.call(1, 2), noTopic(), accepted())
	equal(t, "circuit", d.f.Circuit(), engine.Open)
	equal(t, "held", d.f.Stats().Held, 0)
}

func TestAFailureOfTheDestinationParksNothing(t *testing.T) {
	t.Parallel()
	d := oneShard(t, topical(engine.Config{}))
	d.feed("1", to("bad", 1, 1), to("good", 2, 2))
	d.answer(d.call(1, 2), broker.Misconfigured)
	equal(t, "circuit", d.f.Circuit(), engine.Open)
	equal(t, "held", d.f.Stats().Held, 0)
	equal(t, "out", d.f.Stats().Unsettled, 2)
}

func TestWhenThePauseIsOverTheFirstHeldMessageIsTried(t *testing.T) {
	t.Parallel()
	d := failing(t, engine.Config{})
	d.noDue()
	d.now += 100 * ms
	r := d.probe("bad")
	equal(t, "limit", r.Limit, 1)
	equal(t, "followers", r.Followers, 0)
	d.fetched(heldRow("bad", 1, 1))
	d.answers(d.call(1), noTopic())
	d.noTurnWrites()
	d.now += 199 * ms
	d.noDue() // twice as long
	d.now += ms
	d.probe("bad")
	d.fetched(heldRow("bad", 1, 1))
	d.deliver(1)
	s := d.settle(keyHash(1))
	equal(t, "resolved", len(s.Resolve), 1)
	equal(t, "held", d.f.Stats().Held, 0)
	d.noCall()
	d.empty()
	events := d.f.Events()
	equal(t, "the last event", events[len(events)-1], engine.TopicEvent{Topic: "bad", Works: true, Reason: "no such topic", After: d.now})
}

// noTurnWrites checks that the next turns write nothing.
func (d *desk) noTurnWrites() {
	d.t.Helper()
	for range 3 {
		t := d.f.Turn(d.now)
		if len(t.Settle) > 0 {
			d.t.Fatalf("a settlement: %+v", t.Settle)
		}
		d.land(t)
	}
}

func TestAfterTheTrialTheOthersComePageByPage(t *testing.T) {
	t.Parallel()
	d := oneShard(t, topical(engine.Config{RetryBatch: 1}))
	d.feed("1", to("bad", 1, 1), to("bad", 2, 2), to("bad", 3, 3), to("bad", 4, 1))
	d.answers(d.call(1, 2, 3), noTopic(), noTopic(), noTopic())
	d.settle()
	d.now += time.Second
	d.probe("bad")
	d.fetched(heldRow("bad", 1, 1))
	d.feed("2", to("bad", 5, 4)) // the trial is out: nothing else of the topic goes
	d.answer(d.call(1), broker.Rejected)
	d.feed("3", to("bad", 6, 5)) // a key of which nothing is held goes at once
	d.deliver(6)
	r := d.probe("bad")
	equal(t, "limit", r.Limit, 2)
	d.fetched(heldRow("bad", 2, 2), heldRow("bad", 3, 3))
	d.deliver(2, 3)
	d.settle(keyHash(2), keyHash(3))
	d.probe("bad")
	d.fetched(heldRow("bad", 5, 4))
	d.deliver(5)
	d.settle(keyHash(4))
	equal(t, "held", d.f.Stats().Held, 0)
	d.f.NextDue(d.now, -1)
	d.noDue()
}

func TestHeldMessagesReadAfterAnotherFailureStayInTheirRows(t *testing.T) {
	t.Parallel()
	d := oneShard(t, topical(engine.Config{}))
	d.feed("1", to("bad", 1, 1), to("bad", 2, 2), to("bad", 3, 3))
	d.answers(d.call(1, 2, 3), noTopic(), noTopic(), noTopic())
	d.settle()
	d.now += time.Second
	d.probe("bad")
	d.fetched(heldRow("bad", 1, 1))
	d.deliver(1)
	d.settle(keyHash(1))
	d.f.Woken()
	d.feed("2", to("bad", 4, 4))
	c := d.call(4)
	d.probe("bad")
	d.answers(c, noTopic())
	d.fetched(heldRow("bad", 2, 2), heldRow("bad", 3, 3))
	d.noCall()
	s := d.settle()
	equal(t, "parked", len(s.Park), 1)
	equal(t, "the one parked", s.Park[0].Seq, int64(4))
	equal(t, "held", d.f.Stats().Held, 3)
}

func TestAMessageReadBeforeItsTopicFailedIsHeld(t *testing.T) {
	t.Parallel()
	d := oneShard(t, topical(engine.Config{Calls: 1, Batch: 1}))
	d.feed("1", to("bad", 1, 1), to("bad", 2, 2), to("good", 3, 2), to("good", 4, 3))
	d.answers(d.call(1), noTopic())
	d.deliver(4)
	s := d.settle()
	equal(t, "position", s.To, "1")
	equal(t, "parked", len(s.Park), 3)
	equal(t, "of message 2", s.Park[1].State, store.ParkHeld)
	equal(t, "of message 3", s.Park[2].State, store.ParkBlocked)
}

func TestAMessageWaitingForItsKeyIsHeldIfItsTopicFailed(t *testing.T) {
	t.Parallel()
	for _, transactions := range []bool{false, true} {
		d := oneShard(t, topical(engine.Config{Ordered: true, Transactions: transactions, Batch: 2}))
		d.feed("1", to("bad", 1, 1), to("good", 2, 2), to("bad", 3, 2), to("good", 4, 2), to("good", 5, 3))
		c := d.call(1, 2)
		d.answers(c, noTopic(), engine.Answer{Outcome: broker.NotSent})
		if transactions {
			d.land(d.turn())
			d.deliver(2)
			d.land(d.turn())
			d.deliver(5)
			d.land(d.turn())
		} else {
			d.deliver(2, 5)
		}
		d.noCall()
		equal(t, "held", d.f.Stats().Held, 2)
	}
}

func TestAParkedMessageWhoseTopicFailedMeanwhileIsHeld(t *testing.T) {
	t.Parallel()
	d := failing(t, engine.Config{})
	other := parkedOf(to("bad", 9, 9), store.Park{State: store.ParkRetrying, Attempts: 2, Blocking: true})
	d.f.NextDue(d.now, 0)
	r := d.due()
	equal(t, "topics", len(r.Topics), 0)
	d.fetched(other)
	d.noCall()
	s := d.settle()
	equal(t, "parked", len(s.Park), 1)
	equal(t, "attempts", s.Park[0].Attempts, 2)
	equal(t, "state", s.Park[0].State, store.ParkHeld)
	equal(t, "held", d.f.Stats().Held, 2)
}

func TestAnotherOwnerTriesHeldTopicsAtOnce(t *testing.T) {
	t.Parallel()
	d := newDesk(t, topical(engine.Config{}))
	d.f.Add(lease(0, 4096, 1, 1), "0", store.Blocks{Keys: []uint64{keyHash(1)}, Held: []store.HeldTopic{{Topic: "bad", Messages: 2}}})
	d.audit()
	equal(t, "held", d.f.Stats().Held, 2)
	d.feed("1", to("bad", 7, 2), to("good", 8, 3), to("good", 9, 1))
	d.deliver(8) // 7 waits for the probe
	d.probe("bad")
	d.fetched(heldRow("bad", 1, 1))
	d.deliver(1)
	s := d.settle()
	equal(t, "resolved", len(s.Resolve), 1)
	d.probe("bad")
	d.fetched(heldRow("bad", 5, 4), heldRow("bad", 7, 2))
	d.deliver(5, 7)
	d.f.Lost(0)
	d.audit()
	equal(t, "held", d.f.Stats().Held, 0)
	equal(t, "topics", len(d.f.Topics(10)), 0)
}

func TestTooManyHeldMessagesEndReading(t *testing.T) {
	t.Parallel()
	d := oneShard(t, topical(engine.Config{MaxHeld: 2}))
	d.feed("1", to("bad", 1, 1), to("bad", 2, 2))
	d.answers(d.call(1, 2), noTopic(), noTopic())
	d.settle()
	equal(t, "overfull", d.f.Overfull(), true)
	d.now += 2 * time.Second
	for _, r := range d.turn().Read {
		equal(t, "limit of a read", r.Limit, 0)
	}
	d.f.Landed(d.now, nil, nil)
	d.probe("bad")
	d.fetched(heldRow("bad", 1, 1))
	d.deliver(1)
	d.settle(keyHash(1))
	equal(t, "overfull", d.f.Overfull(), false)
	d.f.Woken()
	d.feed("2", to("good", 3, 3))
	d.deliver(3)
}

// A relay that took shards over stopped reading, for all keys, until an operator ended the
// dead messages that the held ones of a few keys waited behind.
func TestHeldMessagesBehindDeadOnesDoNotEndReading(t *testing.T) {
	t.Parallel()
	d := newDesk(t, topical(engine.Config{MaxHeld: 2}))
	d.f.Add(lease(0, 4096, 1, 1), "0", store.Blocks{Keys: []uint64{keyHash(1)}, Held: []store.HeldTopic{{Topic: "bad", Messages: 2}}})
	equal(t, "overfull", d.f.Overfull(), true)
	d.f.DueLanded(d.now, nil)
	d.f.NextDue(d.now, -1)
	d.now += 2 * time.Second
	d.probe("bad")
	d.fetched() // nothing can be tried
	equal(t, "overfull", d.f.Overfull(), false)
	d.f.Woken()
	d.feed("1", to("good", 3, 3))
	d.deliver(3)
}

func TestHeldMessagesCanBeRetriedAndDiscarded(t *testing.T) {
	t.Parallel()
	held := func(d *desk, kind store.CommandKind) {
		d.land(d.turn())
		c := command(kind, 1, 1, store.ParkHeld)
		c.Topic, c.Park.Topic = "bad", "bad"
		d.f.Commands(d.now, []store.Command{c})
		d.audit()
	}
	t.Run("discard", func(t *testing.T) {
		t.Parallel()
		d := failing(t, engine.Config{})
		d.now += 10 * time.Second
		held(d, store.Discard)
		s := d.settle(keyHash(1))
		equal(t, "resolved", len(s.Resolve), 1)
		equal(t, "held", d.f.Stats().Held, 0)
		equal(t, "topics", len(d.f.Topics(10)), 0)
	})
	t.Run("retry", func(t *testing.T) {
		t.Parallel()
		d := failing(t, engine.Config{})
		d.f.Pause(true) // so that it is not tried because of its time
		d.now += 10 * time.Second
		held(d, store.Retry)
		s := d.settle()
		equal(t, "state", s.Park[0].State, store.ParkRetrying)
		equal(t, "topic", s.Park[0].Topic, "")
		d.f.Pause(false)
		d.lot(parkedOf(to("bad", 1, 1), store.Park{State: store.ParkRetrying, Blocking: true}))
		d.answers(d.call(1), noTopic())
		s = d.settle()
		equal(t, "state", s.Park[0].State, store.ParkHeld)
		equal(t, "attempts", s.Park[0].Attempts, 0)
		equal(t, "held", d.f.Stats().Held, 1)
	})
}

// Another owner has parked the message, too. Its chain was kept for ever.
func TestADiscardCancelsAParkThatIsNotYetSettled(t *testing.T) {
	t.Parallel()
	d := oneShard(t, topical(engine.Config{SettleEvery: 10 * time.Second}))
	d.feed("1", to("bad", 1, 1))
	d.answers(d.call(1), noTopic())
	d.now += time.Second
	turn := d.turn()
	equal(t, "settlements", len(turn.Settle), 0)
	d.land(turn)
	c := command(store.Discard, 1, 1, store.ParkHeld)
	c.Topic, c.Park.Topic = "bad", "bad"
	d.f.Commands(d.now, []store.Command{c})
	d.audit()
	s := d.settle()
	equal(t, "parked", len(s.Park), 0)
	equal(t, "resolved", len(s.Resolve), 1)
	d.empty()
}

func TestADestinationTrialOnABadTopicContinuesWithAnotherTopic(t *testing.T) {
	t.Parallel()
	d := oneShard(t, topical(engine.Config{}))
	d.feed("1", to("bad", 1, 1), to("good", 2, 2))
	d.answer(d.call(1, 2), broker.Unavailable)
	d.now += 10 * time.Second
	equal(t, "check", d.f.Check(d.now), engine.TryOne)
	c := d.f.Trial(d.now)
	equal(t, "the first", c.Items[0].Seq, int64(1))
	d.answers(c, noTopic())
	equal(t, "circuit", d.f.Circuit(), engine.Open)
	d.now += 100 * ms
	equal(t, "check", d.f.Check(d.now), engine.TryOne)
	c = d.f.Trial(d.now)
	equal(t, "the second", c.Items[0].Seq, int64(2))
	d.answers(c, accepted())
	equal(t, "circuit", d.f.Circuit(), engine.Closed)
}

func TestATopicTrialWithALostAnswerIsTriedAgain(t *testing.T) {
	t.Parallel()
	d := failing(t, engine.Config{})
	d.now += 10 * time.Second
	d.probe("bad")
	d.fetched(heldRow("bad", 1, 1))
	d.answer(d.call(1), broker.Unknown)
	equal(t, "circuit", d.f.Circuit(), engine.Open) // nothing came through
	d.now += 10 * time.Second
	d.f.Check(d.now)
	c := d.f.Trial(d.now)
	d.answers(c, accepted())
	equal(t, "topics", len(d.f.Topics(10)), 0)
}

func TestATrialThatIsLeftToItsRowIsFollowedByAnother(t *testing.T) {
	t.Parallel()
	d := failing(t, engine.Config{})
	d.now += 10 * time.Second
	d.probe("bad")
	d.fetched(heldRow("bad", 1, 1))
	d.f.Quiesce(true)
	d.f.Quiesce(false)
	d.audit()
	d.probe("bad")
	d.fetched(heldRow("bad", 1, 1))
	d.deliver(1)
}

// Another owner has held a message, too, so that fewer are counted than there are. With the shard of the last one that is
// tried, nobody asked for its topic any more, and the flow kept it as one that does not work.
func TestATopicIsForgottenWithTheShardOfItsTrial(t *testing.T) {
	t.Parallel()
	d := failing(t, engine.Config{})
	d.now += 10 * time.Second
	d.probe("bad")
	d.fetched(heldRow("bad", 1, 1))
	call := d.call(1)
	d.land(d.turn())
	c := command(store.Discard, 9, 2, store.ParkHeld)
	c.Topic, c.Park.Topic = "bad", "bad"
	d.f.Commands(d.now, []store.Command{c})
	d.audit()
	equal(t, "topics while one is tried", len(d.f.Topics(10)), 1)
	d.f.Lost(0)
	d.audit()
	d.answer(call, broker.Unknown)
	equal(t, "topics", len(d.f.Topics(10)), 0)
	equal(t, "things of what is over", d.f.Held(), 0)
}

// The row of its last message was Held no more when the message was called. The flow kept the topic for good.
func TestWhereAttemptsAreCountedFirstATopicThatWorksAgainIsForgotten(t *testing.T) {
	t.Parallel()
	d := oneShard(t, topical(engine.Config{CountFirst: true}))
	d.feed("1", to("bad", 1, 1))
	d.noCall()
	d.land(d.turn())
	d.answers(d.call(1), noTopic())
	d.land(d.turn())
	d.now += 10 * time.Second
	d.probe("bad")
	d.fetched(heldRow("bad", 1, 1))
	d.noCall()
	d.land(d.turn())
	d.deliver(1)
	d.land(d.turn())
	d.f.Lost(0)
	d.audit()
	equal(t, "things of what is over", d.f.Held(), 0)
}

func TestUnderByShardAHeldMessageBlocksItsShard(t *testing.T) {
	t.Parallel()
	d := oneShard(t, topical(engine.Config{Order: engine.ByShard}))
	d.feed("1", to("good", 1, 1), to("bad", 2, 2), to("good", 3, 3))
	d.deliver(1)
	d.answers(d.call(2), noTopic())
	d.noCall()
	s := d.settle()
	equal(t, "parked", len(s.Park), 2)
	equal(t, "hash", s.Park[0].Hash, uint64(1))
	equal(t, "behind", s.Park[1].State, store.ParkBlocked)
}

// A row that ByShard and skip left behind blocks nothing. Held, it blocked a chain of
// one key of which nothing was known, and was asked for and refused without end.
func TestAfterAChangeFromStrictOrderASkippedMessageIsHeldAlone(t *testing.T) {
	t.Parallel()
	d := oneShard(t, topical(engine.Config{Order: engine.ByKey, OnReject: engine.Skip}))
	d.feed("1", to("bad", 5, 2))
	d.answers(d.call(5), noTopic())
	d.settle()
	skipped := strictParked(1, 1)
	skipped.Record.Topic, skipped.Blocking = "bad", false
	d.lot(skipped)
	d.noCall() // its topic does not work
	s := d.settle()
	equal(t, "parked", len(s.Park), 1)
	equal(t, "state", s.Park[0].State, store.ParkHeld)
	equal(t, "blocking", s.Park[0].Blocking, false)
	d.now += time.Second
	d.probe("bad")
	skipped.State, skipped.Park.Topic = store.ParkHeld, "bad"
	d.fetched(skipped)
	d.deliver(1)
	d.settle()
	d.probe("bad")
	d.fetched(heldRow("bad", 5, 2))
	d.deliver(5)
	d.settle(keyHash(2))
	d.empty()
}

func TestWithoutOrderEachMessageIsHeldAlone(t *testing.T) {
	t.Parallel()
	d := oneShard(t, topical(engine.Config{Order: engine.Unordered}))
	d.feed("1", to("bad", 1, 1), to("good", 2, 1))
	d.answers(d.call(1, 2), noTopic(), accepted())
	s := d.settle()
	equal(t, "parked", len(s.Park), 1)
	equal(t, "blocking", s.Park[0].Blocking, false)
}

func TestUnderSkipAHeldMessageBlocksItsKey(t *testing.T) {
	t.Parallel()
	d := oneShard(t, topical(engine.Config{OnReject: engine.Skip}))
	d.feed("1", to("bad", 1, 1), to("good", 2, 1))
	d.answers(d.call(1), noTopic())
	d.noCall()
	s := d.settle()
	equal(t, "parked", len(s.Park), 2)
	equal(t, "blocking", s.Park[0].Blocking, true)
}

func TestASlowMessageWhoseTopicFailsIsHeld(t *testing.T) {
	t.Parallel()
	d := oneShard(t, topical(engine.Config{Batch: 1, SlowAfter: 100 * ms}))
	d.feed("1", to("bad", 1, 1), to("good", 2, 2))
	slow := d.call(1)
	d.deliver(2)
	d.now += 200 * ms
	d.f.Slow(d.now)
	s := d.settle()
	equal(t, "in flight", s.Park[0].State, store.ParkInFlight)
	d.answers(slow, noTopic())
	s = d.settle()
	equal(t, "held", s.Park[0].State, store.ParkHeld)
	equal(t, "held", d.f.Stats().Held, 1)
}

func TestAMessageWithoutATopicIsRejected(t *testing.T) {
	t.Parallel()
	d := oneShard(t, topical(engine.Config{}))
	d.feed("1", to("", 1, 1))
	d.answers(d.call(1), noTopic())
	s := d.settle()
	equal(t, "state", s.Park[0].State, store.ParkRetrying)
	equal(t, "attempts", s.Park[0].Attempts, 1)
}

func TestManyTopicsAreTriedOneAfterTheOther(t *testing.T) {
	t.Parallel()
	d := oneShard(t, topical(engine.Config{}))
	d.feed("1", to("a", 1, 1), to("b", 2, 2), to("c", 3, 3))
	d.answers(d.call(1, 2, 3), noTopic(), noTopic(), noTopic())
	d.settle()
	d.now += time.Second
	d.probe("a")
	d.fetched(heldRow("a", 1, 1))
	d.answers(d.call(1), noTopic())
	d.noDue() // a failure has the next one wait
	d.now += 25 * ms
	d.probe("b")
	d.fetched(heldRow("b", 2, 2))
	d.deliver(2)
	d.settle(keyHash(2))
	d.probe("c") // and a success has not
	d.fetched(heldRow("c", 3, 3))
	d.deliver(3)
	equal(t, "topics", len(d.f.Topics(10)), 1)
}

func TestUnderStrictOrderEachTopicIsAskedForInEachShard(t *testing.T) {
	t.Parallel()
	d := newDesk(t, topical(engine.Config{Order: engine.ByShard}))
	held := []store.HeldTopic{{Topic: "a", Messages: 1}, {Topic: "b", Messages: 1}}
	d.f.Add(lease(0, 2048, 1, 1), "0", store.Blocks{Keys: []uint64{1}, Held: held})
	d.f.Add(lease(2048, 4096, 2, 1), "0", store.Blocks{Keys: []uint64{1}, Held: held})
	asked := map[string]bool{}
	for range 100 {
		if r, ok := d.f.Due(d.now); ok {
			for _, topic := range r.Topics {
				for _, slots := range r.Slots {
					asked[fmt.Sprint(topic, slots.Lo)] = true
				}
			}
			d.fetched() // it waits for another message of its shard
		}
		d.now += 50 * ms
	}
	for _, want := range []string{"a0", "a2048", "b0", "b2048"} {
		if !asked[want] {
			t.Errorf("of %s nothing was asked in five seconds: %v", want, asked)
		}
	}
}
