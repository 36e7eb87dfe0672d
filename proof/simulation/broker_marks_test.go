package simulation

import (
	"testing"
	"time"

	"github.com/postbag/postbag/internal/engine"
)

// handlersWorld is a world whose destination is a handler.
func handlersWorld(o Options) *world {
	w := newWorld()
	w.reset(false)
	o.Handlers = true
	o.normal()
	w.begin(o)
	return w
}

// applied is a world without faults in which a handler has applied everything.
func applied(t *testing.T) *world {
	t.Helper()
	w := handlersWorld(Options{Seed: 1, Relays: 2, Messages: 50})
	w.run("writing", writeLimit, w.producers.done)
	w.calmDown()
	w.run("delivering", deliverLimit, w.done(func() bool { return true }))
	if w.failed != nil || len(w.broker.stored) < 2 {
		t.Fatalf("%d messages are applied: %v", len(w.broker.stored), w.failed)
	}
	return w
}

func TestEffectsThatAreMissingDoubledOrOutOfOrderBreakP5(t *testing.T) {
	t.Parallel()
	for name, harm := range map[string]func(b *destination){
		"": func(*destination) {},
		"applied twice": func(b *destination) {
			b.stored, b.times = append(b.stored, b.stored[0]), append(b.times, b.times[0])
		},
		"applied, and nothing is left of it": func(b *destination) { b.stored, b.times = b.stored[1:], b.times[1:] },
		"out of order": func(b *destination) {
			first := b.stored[0]
			for i, m := range b.stored {
				if m.key == first.key && m.by != first.by && m.by.endBegun > first.by.endAnswered {
					b.stored[0], b.stored[i] = m, first
				}
			}
		},
	} {
		w := applied(t)
		for w.broker.stored[0].key == 0 { // it has no order
			w.broker.stored, w.broker.times = append(w.broker.stored[1:], w.broker.stored[0]), append(w.broker.times[1:], w.broker.times[0])
		}
		harm(w.broker)
		w.verdict(false)
		if name == "" != (w.failed == nil) || w.failed != nil && w.failed.Promise != "P5" {
			t.Errorf("%s: %v", name, w.failed)
		}
	}
}

func TestAHandlerWhoseMarksGetLostIsFound(t *testing.T) {
	t.Parallel()
	o := Options{Mode: Liveness, Faults: Lies | Closes | Kills}
	for o.Seed = range 20 {
		w := handlersWorld(o)
		var lose func()
		lose = func() {
			clear(w.broker.marks.of)
			w.after(100*time.Millisecond, nil, lose)
		}
		lose()
		w.play()
		if w.failed != nil && w.failed.Promise == "P5" {
			return
		}
	}
	t.Error("twenty runs without marks applied everything once")
}

// twoCalls are calls of two relays for one message, whose handlers are at work.
func twoCalls(t *testing.T) (w *world, first, second *delivery) {
	t.Helper()
	w = applied(t)
	w.newRelay()
	m := w.broker.stored[0]
	w.broker.marks.of = map[int]*mark{}
	w.plan.faults, w.calm = 0, true
	call := func(r *relay) *delivery {
		item := engine.Item{Attempt: 1}
		item.Record = new(m.record())
		d := &delivery{r: r, call: &engine.Call{Items: []engine.Item{item}}, answers: make([]engine.Answer, 1), known: make([]bool, 1), handed: make([]bool, 1)}
		d.handled = &handled{d: d, m: m}
		w.broker.marks.mark(d.handled)
		return d
	}
	return w, call(w.relays[0]), call(w.relays[1])
}

func TestTheSecondTransactionWithAMarkWaitsForTheFirst(t *testing.T) {
	t.Parallel()
	w, first, second := twoCalls(t)
	k := &w.broker.marks
	row, before := first.handled.mark, len(w.broker.stored)
	if row.holder != first.handled || len(row.waiting) != 1 || second.handled.ended {
		t.Fatalf("the mark is %+v", row)
	}
	k.rollBack(first.handled)
	if row.holder != second.handled || len(row.waiting) != 0 {
		t.Fatalf("after the rollback of the first the mark is %+v", row)
	}
	k.commit(second.handled)
	if !row.applied || row.holder != nil || len(k.open) != 0 || len(w.broker.stored) != before+1 {
		t.Errorf("after the commit of the second the mark is %+v, and %d transactions are open", row, len(k.open))
	}
}

func TestATransactionThatWaitsForACommittedMarkHasNoEffect(t *testing.T) {
	t.Parallel()
	w, first, second := twoCalls(t)
	k := &w.broker.marks
	before := len(w.broker.stored)
	k.commit(first.handled)
	if !second.handled.ended || len(k.open) != 0 {
		t.Fatalf("the second is open: %+v", second.handled)
	}
	k.commit(second.handled)
	if len(w.broker.stored) != before+1 {
		t.Errorf("two transactions with one mark have %d effects", len(w.broker.stored)-before)
	}
}

func TestACommitOnItsWayOutlivesItsProcess(t *testing.T) {
	t.Parallel()
	for _, sent := range []bool{false, true} {
		w, first, second := twoCalls(t)
		before := len(w.broker.stored)
		first.r.calls = append(first.r.calls, first)
		if sent {
			w.after(0, nil, func() { w.broker.marks.commit(first.handled) })
		} else {
			w.after(0, first.r, func() { w.broker.marks.commit(first.handled) })
		}
		row := first.handled.mark
		first.r.exit()
		second.over = true
		end := w.now + 10*time.Millisecond
		w.run("waiting", time.Minute, func() bool { return w.now >= end })
		switch {
		case sent && len(w.broker.stored) == before+1 && row.applied:
		case len(w.broker.stored) == before && row.holder == second.handled:
		default:
			t.Errorf("sent %v: %d effects, the mark is %+v", sent, len(w.broker.stored)-before, row)
		}
	}
}
