package engine_test

import (
	"testing"
	"time"

	"github.com/postbag/postbag/broker"
	"github.com/postbag/postbag/internal/engine"
)

// atRest is a desk with one shard whose log was read to its end, and whose lot holds nothing that is due.
func atRest(t *testing.T, c engine.Config) *desk {
	t.Helper()
	d := oneShard(t, c)
	d.feed("1", messages(1, 1)...)
	d.deliver(1)
	d.settle()
	d.dry()
	return d
}

// dry lets turns find nothing until the log is known to end.
func (d *desk) dry() {
	d.t.Helper()
	for range 3 {
		d.now += 100 * ms
		if t := d.f.Turn(d.now); !t.Empty() {
			d.land(t)
		}
	}
}

// rests checks what the flow says of itself.
func (d *desk) rests(when string, idle, drained bool) {
	d.t.Helper()
	if i, g := d.f.Idle(), d.f.Drained(d.now); i != idle || g != drained {
		d.t.Fatalf("%s: idle %v, drained %v; not %v, %v: %s", when, i, g, idle, drained, d.f.Describe())
	}
}

func TestAFlowIsNotDrainedWhileAnythingIsOnItsWay(t *testing.T) {
	t.Parallel()
	d := atRest(t, engine.Config{})
	d.rests("at rest", true, true)
	d.now += 10 * time.Second
	turn := d.turn()
	d.rests("with a turn out", false, false)
	d.land(turn, part("2"))
	d.rests("with more to read", false, false)
	d.feed("3", messages(2, 2)...)
	d.rests("with a message to send", false, false)
	c := d.call(2)
	d.rests("with a call out", false, false)
	d.answer(c, broker.Accepted)
	d.rests("with a settlement to make", false, false)
	d.settle()
	d.dry()
	d.rests("with all of it settled", true, true)
}

func TestAFlowIsNotDrainedBeforeItsLogWasReadToTheEnd(t *testing.T) {
	t.Parallel()
	d := oneShard(t, engine.Config{})
	d.rests("before the first read", true, false)
	d.feed("1", messages(1, 1)...)
	d.deliver(1)
	d.settle()
	d.dry()
	d.rests("at the end", true, true)
}

// A relay that takes over in the middle of a window reads it to its end, as of when the one
// before has begun it. What was committed since lies behind that.
func TestAFlowIsNotDrainedWithinAWindowBegunByAnother(t *testing.T) {
	t.Parallel()
	d := oneShard(t, engine.Config{})
	d.land(d.turn())
	d.rests("at the end of that window", true, false)
	d.feed("1", messages(1, 1)...)
	d.deliver(1)
	d.settle()
	d.dry()
	d.rests("at the end of the next one", true, true)
}

func TestAFlowIsNotDrainedWhileParkedMessagesMayBeDue(t *testing.T) {
	t.Parallel()
	d := atRest(t, engine.Config{})
	d.f.NextDue(d.now, 50*ms)
	d.rests("before one is due", true, true)
	d.now += 50 * ms
	d.rests("when one is due", true, false)
	d.due()
	d.rests("while they are asked for", true, false)
	for i := range 4 {
		d.f.DueLanded(d.now, nil)
		if i < 3 { // it may be one of another relay that is about to be freed
			d.now += 10 * ms
			d.rests("after an answer that brought nothing", true, false)
			d.now += 10 * time.Second
			d.due()
			continue
		}
		d.rests("after the last of them", true, true)
	}
}

func TestAFlowIsDrainedIfItsDestinationStaysUnavailable(t *testing.T) {
	t.Parallel()
	d := down(t, engine.Config{}, broker.Unavailable)
	if d.f.Drained(d.now) {
		t.Fatal("after one failure it is given up")
	}
	d.wait()
	equal(t, "check", d.f.Check(d.now), engine.TryOne)
	c := d.f.Trial(d.now)
	if d.f.Drained(d.now) {
		t.Fatal("it is given up while a trial is out")
	}
	d.answer(c, broker.Unavailable)
	for d.f.Circuit() != engine.Open {
		t.Fatal("the circuit closed")
	}
	d.land(d.f.Turn(d.now))
	if !d.f.Drained(d.now) {
		t.Fatalf("after two failures it is not given up: %s", d.f.Describe())
	}
	d.now += time.Minute
	turn := d.turn()
	if d.f.Drained(d.now) {
		t.Fatal("it is given up while a turn is out")
	}
	d.land(turn)
	if !d.f.Drained(d.now) {
		t.Fatal("it is not given up after the turn")
	}
}

func TestAFlowThatRecoveredIsDrainedOnceAllIsDelivered(t *testing.T) {
	t.Parallel()
	d := down(t, engine.Config{}, broker.Unavailable)
	d.wait()
	d.f.Check(d.now)
	d.answer(d.f.Trial(d.now), broker.Accepted)
	d.deliver(2, 3)
	if d.f.Drained(d.now) {
		t.Fatal("it is drained with messages in hand")
	}
	d.deliver(4)
	d.settle()
	d.dry()
	d.rests("when all is delivered", true, true)
}
