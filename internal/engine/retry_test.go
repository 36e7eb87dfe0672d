package engine_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/postbag/postbag/broker"
	"github.com/postbag/postbag/internal/engine"
	"github.com/postbag/postbag/store"
)

// began is the time of the database at time zero of a desk.
var began = time.Date(2026, 11, 26, 12, 0, 0, 0, time.UTC)

// aged is a desk whose database has a clock.
func aged(t *testing.T, c engine.Config) *desk {
	t.Helper()
	d := oneShard(t, c)
	d.f.Clock(d.now, began)
	return d
}

// stored is a message that was stored so long after time zero.
func stored(seq int64, key int, at time.Duration) store.Record {
	m := message(seq, key)
	m.At = began.Add(at)
	return m
}

// reject answers a call of one message.
func (d *desk) reject(seq int64, a engine.Answer) store.Park {
	d.t.Helper()
	a.Outcome = broker.Rejected
	d.answers(d.call(seq), a)
	s := d.settle()
	if len(s.Park) != 1 || s.Park[0].Seq != seq {
		d.t.Fatalf("the rows are %+v, want one of %d", s.Park, seq)
	}
	return s.Park[0]
}

func TestPausesAreWhatTheyAreAndTheLastIsRepeated(t *testing.T) {
	t.Parallel()
	d := oneShard(t, engine.Config{Retry: engine.Retry{Pauses: []time.Duration{0, time.Minute, 3 * time.Second}}})
	for attempts, want := range []time.Duration{0, time.Minute, 3 * time.Second, 3 * time.Second, 3 * time.Second} {
		d.lot(parked(5, 1, attempts))
		p := d.reject(5, engine.Answer{Reason: "no"})
		if p.Delay != want || p.State != store.ParkRetrying {
			t.Errorf("attempt %d waits %v, %v; want %v", attempts+1, p.Delay, p.State, want)
		}
	}
}

func TestAMaxBelowTheDefaultOfMinBoundsTheFirstWait(t *testing.T) {
	t.Parallel()
	d := oneShard(t, engine.Config{Retry: engine.Retry{Max: 2 * time.Second}})
	d.lot(parked(5, 1, 0))
	equal(t, "wait", d.reject(5, engine.Answer{Reason: "no"}).Delay, 1500*ms) // the upper half is left to chance
}

func TestAnAnswerNamesTheRuleOfItsMessage(t *testing.T) {
	t.Parallel()
	rules := []engine.Retry{
		{Pauses: []time.Duration{time.Minute}, MaxAttempts: 2},
		{Pauses: []time.Duration{time.Hour}},
	}
	d := oneShard(t, engine.Config{Retry: engine.Retry{Pauses: []time.Duration{time.Second}}, Rules: rules, RuleOf: func(string) int { return 0 }})
	for rule, want := range map[int]time.Duration{-1: time.Second, 0: time.Second, 1: time.Minute, 2: time.Hour, 3: time.Second} {
		d.lot(parked(5, 1, 0))
		if p := d.reject(5, engine.Answer{Rule: rule}); p.Delay != want {
			t.Errorf("rule %d waits %v, want %v", rule, p.Delay, want)
		}
	}
	d.lot(parked(5, 1, 1))
	if p := d.reject(5, engine.Answer{Rule: 1}); p.State != store.ParkDead {
		t.Errorf("after the attempts of its rule it is %v", p.State)
	}
}

func TestAnUnreadableMessageHasTheRuleOfItsType(t *testing.T) {
	t.Parallel()
	d := oneShard(t, engine.Config{Rules: []engine.Retry{{MaxAttempts: 1}}, RuleOf: func(typ string) int {
		if typ == "order" {
			return 1
		}
		return 0
	}})
	orders, others := message(5, 1), message(6, 2)
	orders.Type, orders.Err, others.Err = "order", errRead, errRead
	d.feed("1", orders, others)
	d.noCall()
	s := d.settle()
	if len(s.Park) != 2 || s.Park[0].State != store.ParkDead || s.Park[1].State != store.ParkRetrying {
		t.Errorf("the rows are %+v, want 5 dead and 6 retrying", s.Park)
	}
}

func TestAMessageThatIsToBeDeadHasNoOtherAttempt(t *testing.T) {
	t.Parallel()
	d := oneShard(t, engine.Config{Retry: engine.Retry{MaxAttempts: 20, Quick: 5}})
	d.feed("1", message(5, 1), message(6, 1))
	p := d.reject2(5, engine.Answer{Dead: true, Reason: "gone"})
	if p.State != store.ParkDead || p.Reason != "gone" || !p.Blocking || p.Attempts != 1 {
		t.Errorf("its row is %+v, want a dead one with a counted attempt", p)
	}
}

// reject2 is reject for a message with others behind it.
func (d *desk) reject2(seq int64, a engine.Answer) store.Park {
	d.t.Helper()
	a.Outcome = broker.Rejected
	d.answers(d.call(seq), a)
	return d.settle().Park[0]
}

func TestAMessageThatIsTooOldIsDeadAndNotSent(t *testing.T) {
	t.Parallel()
	for _, on := range []engine.OnReject{engine.Block, engine.Skip} {
		d := aged(t, engine.Config{OnReject: on, Retry: engine.Retry{MaxAge: time.Minute}})
		d.feed("1", stored(5, 1, -time.Minute), stored(6, 1, 0), stored(7, 2, -time.Hour), stored(8, 3, -59*time.Second))
		if on == engine.Block {
			d.deliver(8)
		} else {
			d.deliver(6, 8)
		}
		s := d.settle()
		states := map[int64]store.ParkState{}
		for _, p := range s.Park {
			states[p.Seq] = p.State
			if p.State == store.ParkDead && (!strings.HasPrefix(p.Reason, engine.ReasonExpired) || p.Attempts != 0 || p.Blocking != (on == engine.Block)) {
				t.Errorf("on reject %v: the row is %+v", on, p)
			}
		}
		if states[5] != store.ParkDead || states[7] != store.ParkDead || (on == engine.Block) != (states[6] == store.ParkBlocked) {
			t.Errorf("on reject %v: the rows are %v", on, states)
		}
		equal(t, "dead", d.f.Stats().Dead, int64(2))
		equal(t, "rejected", d.f.Stats().Rejected, int64(0))
	}
}

func TestWhatStandsBehindATooOldMessageIsNotSentIfItMustNotBe(t *testing.T) {
	t.Parallel()
	for what, change := range map[string]func(*desk, *store.Record){
		"unreadable": func(_ *desk, m *store.Record) { m.Err = errRead },
		"paused": func(d *desk, m *store.Record) {
			m.Type = "held"
			d.f.Hold(d.now, []store.Pause{{Scope: store.PauseType, Value: "held"}})
		},
	} {
		d := aged(t, engine.Config{OnReject: engine.Skip, Retry: engine.Retry{MaxAge: time.Minute}})
		next := stored(6, 1, 0)
		change(d, &next)
		d.feed("1", stored(5, 1, -time.Minute), next, stored(7, 2, 0))
		d.deliver(7)
		if p := d.settle().Park; len(p) != 2 || p[0].State != store.ParkDead || p[1].Seq != 6 {
			t.Errorf("%s: the rows are %+v, want 5 dead and one of 6", what, p)
		}
	}
}

func TestAMessageAgesWhileItIsQueuedAndWhileTheCircuitIsOpen(t *testing.T) {
	t.Parallel()
	d := aged(t, engine.Config{Batch: 1, Calls: 1, Retry: engine.Retry{MaxAge: time.Minute}})
	d.feed("1", stored(5, 1, 0), stored(6, 2, 0), stored(7, 3, 30*time.Second))
	c := d.call(5)
	d.now = time.Minute
	d.answer(c, broker.Unavailable)
	d.noCall() // the circuit is open
	if p := d.settle().Park; len(p) != 2 || p[0].State != store.ParkDead || p[1].State != store.ParkDead {
		t.Errorf("the rows are %+v, want 5 and 6 dead", p)
	}
}

func TestARejectedMessageIsDeadWhenItIsTooOldForAnotherAttempt(t *testing.T) {
	t.Parallel()
	d := aged(t, engine.Config{Retry: engine.Retry{MaxAge: time.Minute, Pauses: []time.Duration{time.Hour}}})
	d.feed("1", stored(5, 1, 0))
	d.now = 45 * time.Second
	if p := d.reject(5, engine.Answer{Reason: "no"}); p.State != store.ParkRetrying || p.Delay != 15*time.Second {
		t.Errorf("its row is %+v, want it due when it is too old", p)
	}
	row := parked(5, 1, 1)
	row.At, row.Reason = began, "no"
	d.lot(row)
	c := d.call(5)
	d.now = time.Minute
	d.answers(c, engine.Answer{Outcome: broker.Rejected, Reason: "why"})
	d.row(d.settle(), 5, store.ParkDead, 2, engine.ReasonExpired+": why")
	d.lot(row)
	d.noCall()
	d.row(d.settle(), 5, store.ParkDead, 1, engine.ReasonExpired)
}

func TestAMessageThatAnOperatorRetriesIsSentOnceWhateverItsAge(t *testing.T) {
	t.Parallel()
	d := aged(t, engine.Config{Retry: engine.Retry{MaxAge: time.Minute}})
	row := found(5, 1, 0, engine.ReasonRetried)
	row.At = began.Add(-time.Hour)
	d.lot(row)
	d.answers(d.call(5), engine.Answer{Outcome: broker.Rejected, Reason: "still no"})
	d.row(d.settle(), 5, store.ParkDead, 1, engine.ReasonExpired+": still no")

	row.Attempts, row.Reason = 1, "a lost answer"
	d.lot(row)
	d.noCall()
	d.row(d.settle(), 5, store.ParkDead, 1, engine.ReasonExpired)
}

// A store makes a row in flight Retrying once its owner is gone. It was taken for one that an operator had
// retried, and sent whatever its age.
func TestAMessageThatAnEarlierOwnerParkedAsInFlightAges(t *testing.T) {
	t.Parallel()
	before, _ := late(t, engine.Config{})
	p := before.settle().Park[0]
	equal(t, "state", p.State, store.ParkInFlight)
	p.State = store.ParkRetrying
	d := aged(t, engine.Config{Retry: engine.Retry{MaxAge: time.Minute}})
	d.lot(parkedOf(stored(1, 1, -time.Hour), p))
	d.noCall()
	d.row(d.settle(), 1, store.ParkDead, 0, engine.ReasonExpired)
}

// Where attempts are counted first, an outage has the row written again. It lost what the operator wanted.
func TestWhatAnOperatorRetriesIsTriedAfterAnOutage(t *testing.T) {
	t.Parallel()
	d := counts(t, engine.Config{Retry: engine.Retry{MaxAttempts: 3, MaxAge: time.Minute}})
	d.f.Clock(d.now, began)
	row := found(5, 1, 0, engine.ReasonRetried)
	row.At = began.Add(-time.Hour)
	d.lot(row)
	d.noCall()
	d.counted(d.settle(), 5, 1, engine.ReasonBegun)
	d.answer(d.call(5), broker.Unavailable)
	d.row(d.settle(), 5, store.ParkRetrying, 0, engine.ReasonRetried)
}

// An earlier owner may have delivered it in a transaction, and only the next one tells.
func TestWhatAnOperatorRetriesIsTriedOnceItsTopicWorks(t *testing.T) {
	t.Parallel()
	d := oneShard(t, topical(engine.Config{Retry: engine.Retry{MaxAge: time.Minute}}))
	d.f.Clock(d.now, began)
	old := stored(5, 1, -time.Hour)
	old.Topic = "orders"
	d.lot(parkedOf(old, store.Park{State: store.ParkRetrying, Blocking: true, Reason: engine.ReasonRetried}))
	d.answers(d.call(5), noTopic())
	s := d.settle()
	if len(s.Park) != 1 || s.Park[0].State != store.ParkHeld || !strings.HasSuffix(s.Park[0].Reason, "no such topic") {
		t.Fatalf("the rows are %+v, want one that is held", s.Park)
	}
	d.now += time.Second
	d.probe("orders")
	d.fetched(parkedOf(old, s.Park[0]))
	if p := d.reject(5, engine.Answer{Reason: "no"}); p.State != store.ParkDead || p.Attempts != 1 {
		t.Errorf("after its attempt the row is %+v, want it dead", p)
	}
}

func TestADeadMessageLeavesALetterWithItsCause(t *testing.T) {
	t.Parallel()
	d := aged(t, engine.Config{DeadTo: "dead", OnReject: engine.Skip, Retry: engine.Retry{MaxAge: time.Hour, MaxAttempts: 2}})
	d.feed("1", stored(5, 1, -time.Hour), stored(6, 2, 0), stored(7, 3, 0))
	d.answers(d.call(6, 7), engine.Answer{Outcome: broker.Rejected, Dead: true, Reason: "gone"}, engine.Answer{Outcome: broker.Rejected, Reason: "no"})
	want := map[int64]store.DeathCause{5: store.CauseExpired, 6: store.CauseRejected, 7: 0, 8: store.CauseAttempts}
	s := d.settle()
	d.lot(parked(8, 4, 1))
	d.answers(d.call(8), engine.Answer{Outcome: broker.Rejected, Reason: "no"})
	rows := slices.Concat(s.Park, d.settle().Park)
	for _, p := range rows {
		if dead := p.State == store.ParkDead; p.Cause != want[p.Seq] || dead != (want[p.Seq] != 0) || dead != (p.DeadTo == "dead") {
			t.Errorf("the row is %+v, want the cause %v", p, want[p.Seq])
		}
	}
	if n := d.f.Stats(); len(rows) != 4 || n.Dead != 3 || n.DeadBy != [4]int64{0, 1, 1, 1} {
		t.Errorf("there are %d rows, and dead are %d: %v", len(rows), n.Dead, n.DeadBy)
	}
}

func TestAMessageOfATransactionIsTriedBeforeItIsDeadByItsAge(t *testing.T) {
	t.Parallel()
	d := aged(t, engine.Config{Transactions: true, Ordered: true, OnReject: engine.Skip, Retry: engine.Retry{MaxAge: time.Minute}})
	d.feed("1", stored(5, 1, -time.Hour), stored(6, 2, -time.Hour))
	d.answers(d.call(5, 6), engine.Answer{Outcome: broker.Accepted}, engine.Answer{Outcome: broker.Rejected, Reason: "no"})
	d.row(d.settle(), 6, store.ParkDead, 1, engine.ReasonExpired+": no")
	d.empty()
}

func TestASuspectThatIsTooOldIsDead(t *testing.T) {
	t.Parallel()
	d := counts(t, engine.Config{Retry: engine.Retry{MaxAttempts: 5, MaxAge: time.Minute}})
	d.f.Clock(d.now, began)
	row := found(5, 1, 1, engine.ReasonSuspect)
	row.At = began.Add(-time.Hour)
	d.lot(row)
	d.noCall()
	d.row(d.settle(), 5, store.ParkDead, 1, engine.ReasonExpired)
}

// The call was made before the outage, or the pause, and held.
func TestACountedCallWithAMessageThatGotTooOldIsNotMade(t *testing.T) {
	t.Parallel()
	d := counts(t, engine.Config{Retry: engine.Retry{MaxAttempts: 3, MaxAge: time.Minute}})
	d.f.Clock(d.now, began)
	d.feed("1", stored(5, 1, 0))
	d.noCall()
	d.counted(d.settle(), 5, 1, engine.ReasonBegun)
	d.f.Pause(true)
	d.noCall()
	d.now = time.Minute
	d.f.Pause(false)
	d.noCall()
	d.audit()
	d.row(d.settle(), 5, store.ParkRetrying, 0, "")
	row := found(5, 1, 0, "")
	row.At = began
	d.lot(row)
	d.noCall()
	d.row(d.settle(), 5, store.ParkDead, 0, engine.ReasonExpired)
}

// With the call of the message before it, it came to keep the window from moving.
func TestACountedCallTakesNothingTooOldThatKeepsAWindow(t *testing.T) {
	t.Parallel()
	d := counts(t, engine.Config{Calls: 2, Rules: []engine.Retry{{MaxAge: time.Minute}}, RuleOf: func(typ string) int {
		if typ == "code" {
			return 1
		}
		return 0
	}})
	d.f.Clock(d.now, began)
	old := stored(6, 3, -time.Hour)
	old.Type = "code"
	d.feed("1", stored(5, 1, 0), old)
	d.noCall()
	d.counted(d.settle(), 5, 1, engine.ReasonBegun)
	d.deliver(5)
	d.row(d.settle(keyHash(1)), 6, store.ParkDead, 0, engine.ReasonExpired)
}

// The difference of two such times has no place in a duration, and came out as a great age.
func TestAMessageThatWasStoredWhileTheClockWasFarAheadIsNotOld(t *testing.T) {
	t.Parallel()
	d := aged(t, engine.Config{Retry: engine.Retry{MaxAge: time.Minute}})
	m := message(5, 1)
	m.At = began.AddDate(400, 0, 0)
	d.feed("1", m)
	d.deliver(5)
}

func TestNothingAgesWithoutAClock(t *testing.T) {
	t.Parallel()
	d := oneShard(t, engine.Config{Retry: engine.Retry{MaxAge: time.Minute}})
	d.feed("1", stored(5, 1, -time.Hour))
	d.deliver(5)
}

func TestAnExpiredMessageThatKeepsAWindowMakesRoomForWhatIsBehindIt(t *testing.T) {
	t.Parallel()
	d := aged(t, engine.Config{InFlight: 1, OnReject: engine.Skip, Retry: engine.Retry{MaxAge: time.Minute}})
	d.feed("1", stored(5, 1, 0), stored(6, 1, 0), stored(7, 2, time.Minute))
	d.now = time.Minute
	d.deliver(7)
}

func TestEachMessageThatBecomesDeadIsToldOfOnce(t *testing.T) {
	t.Parallel()
	d := aged(t, engine.Config{Retry: engine.Retry{MaxAttempts: 2, MaxAge: time.Minute}})
	d.feed("1", stored(5, 1, 0), stored(6, 2, -time.Hour), stored(7, 3, 0))
	d.answers(d.call(5), engine.Answer{Outcome: broker.Rejected, Reason: "first"})
	d.answers(d.call(7), engine.Answer{Outcome: broker.Rejected, Dead: true, Reason: "at once"})
	deaths, more := d.f.Deaths()
	if len(deaths) != 2 || more != 0 || deaths[0].Seq != 6 || deaths[0].Reason != engine.ReasonExpired || deaths[1].Seq != 7 || deaths[1].Reason != "at once" || deaths[1].Attempts != 1 {
		t.Errorf("deaths are %+v and %d more, want 6 by its age and 7 at once", deaths, more)
	}
	d.settle()
	row := parked(5, 1, 1)
	row.At, row.Reason = began, "first"
	d.lot(row)
	d.answers(d.call(5), engine.Answer{Outcome: broker.Rejected, Reason: "second"})
	if deaths, _ := d.f.Deaths(); len(deaths) != 1 || deaths[0].Seq != 5 || deaths[0].Attempts != 2 || deaths[0].Reason != "second" {
		t.Errorf("deaths are %+v, want 5 after two attempts", deaths)
	}
}

func TestAHandlerThatKilledItsProcessAgainIsToldOfAsDead(t *testing.T) {
	t.Parallel()
	d := counts(t, engine.Config{})
	d.lot(found(5, 1, 3, engine.ReasonAlone))
	if deaths, _ := d.f.Deaths(); len(deaths) != 1 || deaths[0].Seq != 5 || deaths[0].Attempts != 3 {
		t.Errorf("deaths are %+v, want 5 after three attempts", deaths)
	}
}

func TestOfVeryManyDeathsTheRestIsCounted(t *testing.T) {
	t.Parallel()
	d := aged(t, engine.Config{Page: 3000, InFlight: 3000, Retry: engine.Retry{MaxAge: time.Minute}})
	old := make([]store.Record, 1500)
	for i := range old {
		old[i] = stored(int64(i)+1, 0, -time.Hour)
	}
	d.feed("1", old...)
	d.noCall()
	if deaths, more := d.f.Deaths(); len(deaths) != 1000 || more != 500 {
		t.Errorf("%d deaths are told, and %d more; want 1000 and 500", len(deaths), more)
	}
}
