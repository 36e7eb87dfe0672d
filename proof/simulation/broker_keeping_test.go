package simulation

import (
	"testing"
	"time"

	"github.com/postbag/postbag/internal/engine"
)

// numberedWorld is a world without faults whose broker numbers what a producer sends,
// and a call of its first relay that is never in its turn.
func numberedWorld(t *testing.T) (*world, *delivery) {
	t.Helper()
	w := newWorld()
	w.reset(false)
	o := DefaultOptions(1)
	o.Faults, o.Drawn, o.Relays, o.Messages = Sequences, false, 1, 1
	o.normal()
	w.begin(o)
	if !w.plan.sequences {
		t.Fatal("nothing is numbered")
	}
	r := w.relays[0]
	d := &delivery{r: r, call: &engine.Call{Items: make([]engine.Item, 1)}, answers: make([]engine.Answer, 1), first: 7}
	r.calls = append(r.calls, d)
	return w, d
}

// planned is how many events of the call are to come.
func (w *world) planned(d *delivery) (n int) {
	for _, e := range w.later {
		n += int(bit(w.events[e.place].to == d))
	}
	for _, place := range w.ready {
		n += int(bit(w.events[place].to == d))
	}
	return n
}

func (w *world) pass(t *testing.T, d time.Duration) {
	t.Helper()
	end := w.now + d
	w.run("waiting", time.Hour, func() bool { return w.now >= end })
	if w.failed != nil {
		t.Fatal(w.failed)
	}
}

func TestAnEndedProcessSendsNothingAgain(t *testing.T) {
	t.Parallel()
	w, d := numberedWorld(t)
	d.arriveInSequence()
	w.newRelay()
	w.pass(t, time.Second)
	if n := w.planned(d); n != 1 {
		t.Fatalf("a call that is not in its turn has %d events to come, not that it is sent again", n)
	}
	d.r.exit()
	w.pass(t, time.Second)
	if n := w.planned(d); n != 0 {
		t.Fatalf("%d events of a call are to come, whose process has ended", n)
	}
}

func TestACallWhoseConnectionClosesIsResentOnceAtATime(t *testing.T) {
	t.Parallel()
	w, d := numberedWorld(t)
	for range 10 {
		w.closeConnections()
		w.pass(t, 100*time.Millisecond)
		if n := w.planned(d); n != 1 {
			t.Fatalf("a call has %d events to come, not one", n)
		}
	}
}

func TestAWipedBrokerStoresNothingSentBeforeTheWipe(t *testing.T) {
	t.Parallel()
	w, d := numberedWorld(t)
	d.first = 0
	w.broker.wipe()
	if now, later := w.broker.inSequence(d); now || later {
		t.Error("a request of before the wipe is taken, or may come again")
	}
	if n := w.planned(d); n != 1 {
		t.Errorf("a call to a broker that is no more has %d events to come, not that it is given up", n)
	}
	next := &delivery{r: d.r, call: d.call}
	d.r.numbered(next)
	if now, _ := w.broker.inSequence(next); !now {
		t.Error("the first call after the wipe is not taken")
	}
}

func TestEveryDatabaseGenerationHasANumber(t *testing.T) {
	t.Parallel()
	w, d := numberedWorld(t)
	d.r.calls = nil
	w.pass(t, time.Second)
	if first := w.relays[0].core.Life(); first == 0 {
		t.Fatal("the first life of the database has the number of one that nobody knows")
	}
}
