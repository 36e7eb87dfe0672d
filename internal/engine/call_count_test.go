package engine_test

import (
	"testing"
	"time"

	"github.com/postbag/postbag/broker"
	"github.com/postbag/postbag/internal/engine"
	"github.com/postbag/postbag/store"
)

// counts is a desk whose destination asks for attempts to be counted before calls.
func counts(t *testing.T, c engine.Config) *desk {
	t.Helper()
	c.CountFirst, c.Batch = true, 1
	if c.Retry.MaxAttempts == 0 {
		c.Retry = engine.Retry{Min: time.Second, Max: time.Minute, MaxAttempts: 3}
	}
	return oneShard(t, c)
}

// counted fails the test unless the settlement has one row, in flight with so many attempts and a reason.
func (d *desk) counted(s store.Settlement, seq int64, attempts int, reason string) {
	d.t.Helper()
	if len(s.Park) != 1 {
		d.t.Fatalf("the rows are %+v, want one", s.Park)
	}
	p := s.Park[0]
	if p.Seq != seq || p.State != store.ParkInFlight || !p.Blocking || p.Attempts != attempts || p.Reason != reason {
		d.t.Fatalf("the row is %+v, want %d in flight with attempt %d and %q", p, seq, attempts, reason)
	}
}

// row fails the test unless the settlement has this row alone.
func (d *desk) row(s store.Settlement, seq int64, state store.ParkState, attempts int, reason string) {
	d.t.Helper()
	if len(s.Park) != 1 {
		d.t.Fatalf("the rows are %+v, want one", s.Park)
	}
	if p := s.Park[0]; p.Seq != seq || p.State != state || p.Attempts != attempts || p.Reason != reason {
		d.t.Fatalf("the row is %+v, want %d %v with %d attempts and %q", p, seq, state, attempts, reason)
	}
}

// found is a row as the next owner finds it.
func found(seq int64, key, attempts int, reason string) store.Parked {
	m := parked(seq, key, attempts)
	m.Reason = reason
	return m
}

func TestAnAttemptIsWrittenBeforeItsCall(t *testing.T) {
	t.Parallel()
	d := counts(t, engine.Config{})
	d.feed("1", message(5, 1))
	d.noCall()
	turn := d.turn()
	d.counted(turn.Settle[0], 5, 1, engine.ReasonBegun)
	d.noCall() // it is on its way, and not there
	d.land(turn)
	c := d.call(5)
	equal(t, "attempt", c.Items[0].Attempt, 1)
	d.answer(c, broker.Accepted)
	s := d.settle(keyHash(1))
	equal(t, "rows", len(s.Park), 0)
	equal(t, "resolved", s.Resolve[0].Seq, 5)
	d.empty()
}

func TestARejectionKeepsTheAttemptThatWasWritten(t *testing.T) {
	t.Parallel()
	d := counts(t, engine.Config{})
	d.feed("1", message(5, 1))
	d.noCall()
	d.settle()
	d.answer(d.call(5), broker.Rejected)
	d.row(d.settle(), 5, store.ParkRetrying, 1, "why")
	d.lot(found(5, 1, 1, "why"))
	d.noCall()
	d.counted(d.settle(), 5, 2, engine.ReasonBegun)
	c := d.call(5)
	equal(t, "attempt", c.Items[0].Attempt, 2)
	d.answer(c, broker.Rejected)
	d.row(d.settle(), 5, store.ParkRetrying, 2, "why")
	d.lot(found(5, 1, 2, "why"))
	d.noCall()
	d.settle()
	d.answer(d.call(5), broker.Rejected)
	d.row(d.settle(), 5, store.ParkDead, 3, "why")
}

func TestAnAnswerThatIsNoRejectionGivesTheAttemptBack(t *testing.T) {
	t.Parallel()
	for _, o := range []broker.Outcome{broker.Unavailable, broker.NotSent, broker.Unknown} {
		d := counts(t, engine.Config{})
		d.feed("1", message(5, 1))
		d.noCall()
		d.settle()
		d.answer(d.call(5), o)
		d.row(d.settle(), 5, store.ParkRetrying, 0, "why")
		d.f.Probed(d.now, broker.Accepted)
		d.now += time.Second
		d.f.Check(d.now)
		d.f.Trial(d.now) // closes the circuit
		d.lot(found(5, 1, 0, "why"))
		d.noCall()
		d.counted(d.settle(), 5, 1, engine.ReasonBegun)
		d.answer(d.call(5), o)
		d.row(d.settle(), 5, store.ParkRetrying, 0, "why")
	}
}

func TestMessagesBehindOneThatIsCountedComeFromTheirRowsInSequence(t *testing.T) {
	t.Parallel()
	d := counts(t, engine.Config{})
	d.feed("1", messages(1, 1, 1, 3)...)
	d.noCall()
	s := d.settle()
	equal(t, "rows", len(s.Park), 3)
	equal(t, "the second of its key", s.Park[1].State, store.ParkBlocked)
	first, other := d.call(1), d.call(3)
	d.answer(first, broker.Accepted)
	d.answer(other, broker.Accepted)
	d.settle(keyHash(3))
	d.lot(parked(2, 1, 0))
	d.noCall()
	d.counted(d.settle(), 2, 1, engine.ReasonBegun)
	d.deliver(2)
	d.settle(keyHash(1))
	d.empty()
}

func TestAMessageAtWorkAsItsProcessEndedIsTriedLaterAndAlone(t *testing.T) {
	t.Parallel()
	d := counts(t, engine.Config{Calls: 4})
	d.f.DueLanded(d.now, nil)
	d.feed("1", message(7, 7))
	d.noCall()
	d.settle()
	busy := d.call(7)
	d.lot(found(5, 1, 1, engine.ReasonBegun))
	d.noCall()
	s := d.settle()
	d.row(s, 5, store.ParkRetrying, 1, engine.ReasonSuspect)
	if s.Park[0].Delay < time.Second/2 {
		t.Errorf("it is tried after %v, want the delay of an attempt", s.Park[0].Delay)
	}
	d.lot(found(5, 1, 1, engine.ReasonSuspect))
	d.noCall() // 7 is at work
	d.noTurn()
	d.answer(busy, broker.Accepted)
	d.settle(keyHash(7))
	d.noCall()
	d.counted(d.settle(), 5, 2, engine.ReasonAlone)
	d.feed("2", message(8, 8))
	alone := d.call(5)
	d.noCall() // nothing goes beside it
	if turn := d.f.Turn(d.now); len(turn.Settle) > 0 {
		t.Fatalf("another message is counted beside it: %+v", turn.Settle)
	} else if !turn.Empty() {
		d.land(turn)
	}
	d.answer(alone, broker.Accepted)
	d.noCall()
	d.settle(keyHash(1))
	d.deliver(8)
	d.settle(keyHash(8))
	d.empty()
}

// They came in one answer, and the second went first.
func TestWhatStandsBehindASuspectWaitsWithIt(t *testing.T) {
	t.Parallel()
	d := counts(t, engine.Config{})
	behind := parked(6, 1, 0)
	behind.State = store.ParkBlocked
	d.lot(found(5, 1, 1, engine.ReasonBegun), behind)
	d.noCall()
	d.row(d.settle(), 5, store.ParkRetrying, 1, engine.ReasonSuspect)
	d.noCall()
}

func TestAMessageIsDeadOnlyWhenItEndedItsProcessAlone(t *testing.T) {
	t.Parallel()
	d := counts(t, engine.Config{})
	d.lot(found(5, 1, 3, engine.ReasonBegun), found(6, 3, 2, engine.ReasonAlone), found(7, 5, 3, engine.ReasonAlone))
	rows := d.settle().Park
	for i, want := range []store.ParkState{store.ParkRetrying, store.ParkRetrying, store.ParkDead} {
		if rows[i].State != want {
			t.Errorf("the row of %d is %v, want %v", rows[i].Seq, rows[i].State, want)
		}
	}
}

func TestAShardThatLeavesGivesBackAttemptsOfCallsThatWereNotMade(t *testing.T) {
	t.Parallel()
	d := counts(t, engine.Config{})
	d.feed("1", message(5, 1))
	d.noCall()
	d.settle()
	d.f.Leave()
	d.row(d.settle(), 5, store.ParkRetrying, 0, "")
	d.noCall()
	equal(t, "shards that are given back", len(d.f.Left()), 1)
	d.empty()
}

func TestACallWhoseShardIsLostBeforeItsRowHasLandedIsNotMade(t *testing.T) {
	t.Parallel()
	d := counts(t, engine.Config{})
	d.feed("1", message(5, 1))
	d.noCall()
	d.turn()
	d.f.Lost(0)
	d.f.Landed(d.now, []store.Verdict{{Applied: true}}, nil)
	d.noCall()
	d.audit()
	d.empty()
}

func TestInAnOutageCountedCallsWaitAndAreTheTrial(t *testing.T) {
	t.Parallel()
	d := counts(t, engine.Config{Calls: 2})
	d.feed("1", messages(1, 1, 3)...)
	d.noCall()
	d.settle()
	first := d.call(1)
	d.answer(first, broker.Misconfigured)
	d.noCall()
	d.now += time.Second
	equal(t, "check", d.f.Check(d.now), engine.TryOne)
	if c := d.f.Trial(d.now); c != nil {
		t.Fatalf("a trial of %v was not counted", seqsOf(c))
	}
	d.deliver(2)
}

// A later message of its key keeps the window from moving, and waits for it.
func TestASuspectGoesBeforeWhatWasFetchedBeforeIt(t *testing.T) {
	t.Parallel()
	d := counts(t, engine.Config{OnReject: engine.Skip, InFlight: 1})
	other, suspect := found(4, 3, 1, "why"), found(5, 1, 1, engine.ReasonSuspect)
	other.Blocking, suspect.Blocking = false, false
	d.lot(other, suspect)
	d.feed("1", message(7, 1))
	d.noCall()
	d.row(d.settle(), 5, store.ParkInFlight, 2, engine.ReasonAlone)
	d.deliver(5)
	equal(t, "resolved", d.settle().Resolve[0].Seq, 5)
}

// The row of a message of a window waits for all that is before it, which may be behind a parked message.
func TestACountedCallHasParkedMessagesOrThoseOfAWindow(t *testing.T) {
	t.Parallel()
	d := oneShard(t, engine.Config{OnReject: engine.Skip, CountFirst: true, Batch: 10, Calls: 1})
	m := found(4, 1, 1, "why")
	m.Blocking = false
	d.lot(m)
	d.feed("1", message(6, 1), message(7, 3))
	d.noCall()
	d.row(d.settle(), 4, store.ParkInFlight, 2, engine.ReasonBegun)
	d.deliver(4)
}

// Its row was written under OnReject Skip, and blocked nothing until it was accused.
func TestMessagesWaitForASuspectWhoseRowBlockedNothingBefore(t *testing.T) {
	t.Parallel()
	d := counts(t, engine.Config{})
	d.feed("1", message(6, 1))
	m := found(5, 1, 1, engine.ReasonBegun)
	m.Blocking = false
	d.lot(m)
	d.noCall()
	rows := d.settle().Park
	if len(rows) != 2 || rows[0].State+rows[1].State != store.ParkRetrying+store.ParkBlocked {
		t.Fatalf("the rows are %+v, want that of the suspect and one behind it", rows)
	}
	d.noCall()
}

// It stood behind another parked message of its key, and a call was made meanwhile. That waited for the suspect, and the suspect for it.
func TestACallThatWaitsForASuspectIsCalledOff(t *testing.T) {
	t.Parallel()
	d := counts(t, engine.Config{OnReject: engine.Skip})
	first, suspect := found(4, 1, 1, "why"), found(5, 1, 1, engine.ReasonSuspect)
	first.Blocking, suspect.Blocking = false, false
	d.lot(first, suspect)
	d.feed("1", message(7, 1), message(8, 3))
	d.noCall()
	d.row(d.settle(), 4, store.ParkInFlight, 2, engine.ReasonBegun)
	d.deliver(4)
	d.noCall()
	d.audit()
	d.row(d.settle(), 5, store.ParkInFlight, 2, engine.ReasonAlone)
	d.deliver(5)
	d.noCall()
	rows := d.settle().Park
	if len(rows) != 2 || rows[0].Seq != 7 || rows[1].Seq != 8 || rows[1].State != store.ParkRetrying || rows[1].Attempts != 0 {
		t.Fatalf("the rows are %+v, want that of 7, and 8 as it was before its call", rows)
	}
	d.deliver(7)
}

func TestASuspectThatAnOperatorRetriesIsTriedAsAnyOther(t *testing.T) {
	t.Parallel()
	d := counts(t, engine.Config{})
	d.feed("1")
	d.lot(found(5, 1, 2, engine.ReasonSuspect))
	d.order(store.Retry, 5, 1, store.ParkRetrying)
	d.noCall()
	d.counted(d.settle(), 5, 1, engine.ReasonBegun)
	d.deliver(5)
}
