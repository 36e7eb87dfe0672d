package engine_test

import (
	"slices"
	"testing"
	"time"

	"github.com/postbag/postbag/broker"
	"github.com/postbag/postbag/internal/engine"
	"github.com/postbag/postbag/store"
)

var (
	topicPaused = store.Pause{Scope: store.PauseTopic, Value: "a", Who: "anna", Why: "a bad deployment"}
	keyPaused   = store.Pause{Scope: store.PauseKey, Value: "2", Who: "anna", Why: "a bad customer"}
	typePaused  = store.Pause{Scope: store.PauseType, Value: "order.*", Who: "anna", Why: "a bad type"}
	holds       = []store.Pause{topicPaused, keyPaused, typePaused}
)

// pausedRow is a row that a pause holds, as Due brings it.
func pausedRow(p store.Pause, m store.Record) store.Parked {
	return parkedOf(m, store.Park{State: store.ParkHeld, Blocking: m.Hash != 0, Topic: p.HeldAs()})
}

// states are the rows of a settlement.
func states(s store.Settlement) (out []store.ParkState) {
	for _, p := range s.Park {
		out = append(out, p.State)
	}
	return out
}

func TestMessagesOfAPausedTopicWaitAndAllOthersGoOn(t *testing.T) {
	t.Parallel()
	d := oneShard(t, topical(engine.Config{}))
	d.f.Hold(d.now, []store.Pause{topicPaused})
	d.feed("1", to("a", 1, 1), to("b", 2, 2), to("b", 3, 1), to("a", 4, 0))
	d.deliver(2)
	s := d.settle()
	want := []store.Park{
		{Seq: 1, Slot: 2049, Hash: keyHash(1), State: store.ParkHeld, Blocking: true, Reason: "paused by anna: a bad deployment", Topic: topicPaused.HeldAs()},
		{Seq: 3, Slot: 2049, Hash: keyHash(1), State: store.ParkBlocked, Blocking: true},
		{Seq: 4, Slot: 0, State: store.ParkHeld, Reason: "paused by anna: a bad deployment", Topic: topicPaused.HeldAs()},
	}
	if !slices.Equal(s.Park, want) {
		t.Fatalf("parked are\n%+v, want\n%+v", s.Park, want)
	}
	equal(t, "held", d.f.Stats().Held, 2)
	equal(t, "topics that do not work", d.f.Stats().Topics, 0)
	equal(t, "topics shown", len(d.f.Topics(10)), 0)
	equal(t, "events", len(d.f.Events()), 0)
	for range 20 { // nothing finds out whether it can go
		d.now += time.Second
		d.noDue()
	}
	d.f.Hold(d.now, nil)
	d.probe(topicPaused.HeldAs())
	d.fetched(pausedRow(topicPaused, to("a", 1, 1)), pausedRow(topicPaused, to("a", 4, 0)))
	d.deliver(1, 4)
	equal(t, "resolved", len(d.settle().Resolve), 2)
	equal(t, "held", d.f.Stats().Held, 0)
}

func TestWhatWaitsToBeSentIsParkedAsAPauseBegins(t *testing.T) {
	t.Parallel()
	d := oneShard(t, topical(engine.Config{}))
	d.feed("1", to("a", 1, 1), to("b", 2, 2))
	d.f.Hold(d.now, []store.Pause{topicPaused})
	d.deliver(2)
	s := d.settle()
	equal(t, "parked", slices.Equal(states(s), []store.ParkState{store.ParkHeld}), true)
	equal(t, "attempts", s.Park[0].Attempts, 0)
	d.noCall()
}

func TestAMessageInFlightIsSettledByItsAnswerThoughItsPauseHasBegun(t *testing.T) {
	t.Parallel()
	d := oneShard(t, topical(engine.Config{}))
	d.feed("1", to("a", 1, 1), to("a", 2, 2), to("a", 3, 1))
	c := d.call(1, 2)
	d.f.Hold(d.now, []store.Pause{topicPaused})
	d.answer(c, broker.Accepted, broker.Unknown)
	d.noCall() // 2 would be sent again, and 3 was behind 1
	s := d.settle()
	equal(t, "parked", slices.Equal(states(s), []store.ParkState{store.ParkHeld, store.ParkHeld}), true)
	equal(t, "the first", s.Park[0].Seq, int64(2))
	equal(t, "the second", s.Park[1].Seq, int64(3))
}

func TestARetryingMessageIsNotTriedWhilePausedAndKeepsItsAttempts(t *testing.T) {
	t.Parallel()
	d := oneShard(t, topical(engine.Config{}))
	m := to("a", 1, 1)
	d.feed("1", m)
	d.answer(d.call(1), broker.Rejected)
	d.settle()
	d.f.Hold(d.now, []store.Pause{topicPaused})
	d.now += time.Minute
	d.lot(parkedOf(m, store.Park{State: store.ParkRetrying, Blocking: true, Attempts: 1}))
	d.noCall()
	s := d.settle()
	equal(t, "rows", len(s.Park), 1)
	equal(t, "state", s.Park[0].State, store.ParkHeld)
	equal(t, "attempts", s.Park[0].Attempts, 1)
	d.f.Hold(d.now, nil)
	d.probe(topicPaused.HeldAs())
	row := pausedRow(topicPaused, m)
	row.Attempts = 1
	d.fetched(row)
	c := d.call(1)
	equal(t, "the attempt", c.Items[0].Attempt, 2)
}

func TestAPauseByKeyAndByTypeHoldsWhatItNames(t *testing.T) {
	t.Parallel()
	d := oneShard(t, topical(engine.Config{}))
	d.f.Hold(d.now, []store.Pause{keyPaused, typePaused})
	ofKey, ofType, other := to("x", 1, 2), to("x", 2, 3), to("x", 3, 4)
	ofKey.Key, ofType.Type, other.Type = "2", "order.made", "orders"
	d.feed("1", ofKey, ofType, other)
	d.deliver(3)
	s := d.settle()
	equal(t, "rows", len(s.Park), 2)
	equal(t, "the key", s.Park[0].Topic, keyPaused.HeldAs())
	equal(t, "the type", s.Park[1].Topic, typePaused.HeldAs())
}

func TestAMessageOfTwoPausesWaitsForTheEndOfBoth(t *testing.T) {
	t.Parallel()
	d := oneShard(t, topical(engine.Config{}))
	m := to("a", 1, 2)
	m.Key = "2"
	d.f.Hold(d.now, []store.Pause{keyPaused, topicPaused})
	d.feed("1", m)
	d.settle()
	d.f.Hold(d.now, []store.Pause{topicPaused})
	d.probe(keyPaused.HeldAs())
	d.fetched(pausedRow(keyPaused, m))
	d.noCall()
	s := d.settle()
	equal(t, "rows", len(s.Park), 1)
	equal(t, "it is held for", s.Park[0].Topic, topicPaused.HeldAs())
	equal(t, "held", d.f.Stats().Held, 1)
	d.f.Hold(d.now, nil)
	d.probe(topicPaused.HeldAs())
	d.fetched(pausedRow(topicPaused, m))
	d.deliver(1)
}

// The owner before has parked them, and the pause has ended while nobody owned the shard.
func TestAPauseThatEndedBeforeTheShardCameLetsItsMessagesGo(t *testing.T) {
	t.Parallel()
	for _, paused := range []bool{true, false} {
		d := newDesk(t, topical(engine.Config{}))
		if paused {
			d.f.Hold(d.now, []store.Pause{topicPaused})
		}
		d.f.Add(lease(0, 4096, 1, 1), "0", store.Blocks{Keys: []uint64{keyHash(1)}, Held: []store.HeldTopic{{Topic: topicPaused.HeldAs(), Messages: 1}}})
		r, _ := d.f.Due(d.now)
		equal(t, "asked for", len(r.Topics) > 0, !paused)
	}
}

func TestARetryOfAPausedMessageCountsItsAttemptsFromZeroAndWaits(t *testing.T) {
	t.Parallel()
	d := oneShard(t, topical(engine.Config{}))
	d.f.Hold(d.now, []store.Pause{topicPaused})
	d.feed("1", to("a", 1, 1))
	row := d.settle().Park[0]
	row.Attempts = 3
	turn := d.f.Turn(d.now + time.Minute)
	d.land(turn)
	d.f.Commands(d.now, []store.Command{{ID: 1, Kind: store.Retry, Message: idOf(1), Park: row}})
	s := d.settle()
	equal(t, "rows", len(s.Park), 1)
	equal(t, "state", s.Park[0].State, store.ParkHeld)
	equal(t, "attempts", s.Park[0].Attempts, 0)
	equal(t, "held", d.f.Stats().Held, 1)
	d.noCall()
}

func TestACallThatWaitsForItsRowsIsNotMadeOfAPausedMessage(t *testing.T) {
	t.Parallel()
	d := oneShard(t, topical(engine.Config{CountFirst: true}))
	d.feed("1", to("a", 1, 1))
	d.noCall() // its row is written first
	d.f.Hold(d.now, []store.Pause{topicPaused})
	for range 5 {
		d.land(d.f.Turn(d.now))
		d.noCall()
	}
}

func TestAtTheBoundOfHeldMessagesAPausedSubscriptionReadsNothing(t *testing.T) {
	t.Parallel()
	d := oneShard(t, topical(engine.Config{MaxHeld: 2}))
	d.f.Hold(d.now, []store.Pause{topicPaused})
	d.feed("1", to("a", 1, 0), to("a", 2, 0))
	d.settle()
	equal(t, "overfull", d.f.Overfull(), true)
	d.f.Hold(d.now, nil)
	equal(t, "overfull when it has ended", d.f.Overfull(), false)
}

// A suspect is sent with no other, though a pause held it in between, and its owner may be gone since.
func TestASuspectIsTriedAloneAfterAPause(t *testing.T) {
	t.Parallel()
	c := topical(engine.Config{})
	c.CountFirst = true
	d := oneShard(t, c)
	d.feed("1", to("b", 9, 9))
	d.f.Hold(d.now, []store.Pause{topicPaused})
	row := parkedOf(to("a", 1, 1), store.Park{State: store.ParkRetrying, Blocking: true, Attempts: 1, Reason: engine.ReasonSuspect})
	d.lot(row)
	s := d.settle()
	i := slices.IndexFunc(s.Park, func(p store.Park) bool { return p.Seq == 1 })
	if i < 0 || s.Park[i].State != store.ParkHeld || s.Park[i].Attempts != 1 {
		t.Fatalf("parked are %+v, want 1 held", s.Park)
	}
	held := s.Park[i]
	next := newDesk(t, c) // another owner, after the pause
	next.f.Add(lease(0, 4096, 2, 1), "1", store.Blocks{Keys: []uint64{keyHash(1)}, Held: []store.HeldTopic{{Topic: held.Topic, Messages: 1}}})
	next.probe(held.Topic)
	next.fetched(parkedOf(to("a", 1, 1), held))
	next.noCall()
	if p := next.settle().Park; len(p) != 1 || p[0].Reason != engine.ReasonAlone {
		t.Errorf("the row before its call is %+v, want one that says that it is alone", p)
	}
}
