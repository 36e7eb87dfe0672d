package simulation

import (
	"slices"
	"time"

	"github.com/postbag/postbag/broker"
	"github.com/postbag/postbag/internal/engine"
)

// lanes is what the broker has of the lane: see broker.Transactional. Only what a
// reader of committed messages sees is stored.
type lanes struct {
	epoch  int64 // of the relay that opened it last
	record []byte
}

// session is a lane as somebody opened it.
type session struct {
	epoch  int64
	record []byte
	over   bool
}

// open has the lane opened: everybody who opened it before is fenced.
func (b *destination) open(r *relay, answer func(*session)) {
	w := b.w
	there, comes := b.way(storeTimeout)
	if !comes {
		return
	}
	w.after(there, nil, func() {
		var s *session
		if b.down == broker.Accepted {
			b.lanes.epoch++
			s = &session{epoch: b.lanes.epoch, record: b.lanes.record}
			w.tell(eventOpen, r.number, s.epoch, int64(len(s.record)))
		}
		w.after(w.slowness(), r, func() { answer(s) })
	})
}

// way is how long a request is under way to the broker, and whether it gets there.
func (b *destination) way(timeout time.Duration) (there time.Duration, comes bool) {
	w := b.w
	there = w.lag()
	switch {
	case w.fault(Silence, 10):
		return 0, false
	case w.fault(LateDeliveries, 10):
		there += timeout + time.Duration(w.below(10_000))*time.Millisecond
	}
	return there, true
}

// commit is a transaction on its way: its messages first, and its end only once the
// answer to them is there.
type commit struct {
	r       *relay
	held    *session
	items   []engine.Item
	record  []byte
	answers []engine.Answer
	ending  bool // its end was sent
	cut     bool // the connection was, before whatever is under way arrived
}

// allAnswer answers every message of a transaction alike.
func (t *commit) allAnswer(o broker.Outcome) {
	t.answers = make([]engine.Answer, len(t.items))
	for i := range t.answers {
		t.answers[i].Outcome = o
	}
}

// commit stores all of a transaction, or nothing.
func (b *destination) commit(t *commit, answer func(broker.TxOutcome)) {
	if t.held.over {
		t.allAnswer(broker.NotSent)
		answer(broker.Aborted)
		return
	}
	b.send(t, func() {
		fenced, whole := b.fences(t), b.take(t)
		b.w.after(b.w.slowness(), t.r, func() {
			switch {
			case t.held.over: // nobody waits for it any more
			case fenced:
				t.held.over = true
				answer(broker.Unresolved)
			case !whole:
				t.held.over = true
				answer(broker.Aborted)
			default:
				b.end(t, answer)
			}
		})
	})
}

// end sends the end of a transaction.
func (b *destination) end(t *commit, answer func(broker.TxOutcome)) {
	t.ending = true
	b.send(t, func() {
		outcome := broker.Unresolved
		if !b.fences(t) {
			b.keep(t)
			outcome = broker.Committed
		}
		if b.w.fault(Lies, 10) {
			return
		}
		b.w.after(b.w.slowness(), t.r, func() { answer(outcome) })
	})
}

// send brings a request of a transaction to the broker.
func (b *destination) send(t *commit, arrives func()) {
	there, comes := b.way(b.w.plan.timeout)
	if !comes {
		return
	}
	b.w.after(there, nil, func() {
		if !t.cut {
			arrives()
		}
	})
}

// fences says that somebody opened the lane later.
func (b *destination) fences(t *commit) bool { return t.held.epoch != b.lanes.epoch }

// take judges the messages of a transaction, and says whether it can be committed.
func (b *destination) take(t *commit) bool {
	whole := b.down == broker.Accepted || b.down == broker.Misconfigured
	t.answers = make([]engine.Answer, len(t.items))
	for i, item := range t.items {
		b.checkAttempt(item)
		t.answers[i] = b.judge(b.w.message(item.Record))
		whole = whole && t.answers[i].Outcome == broker.Accepted
	}
	if whole {
		return true
	}
	fault := slices.ContainsFunc(t.answers, func(a engine.Answer) bool {
		return a.Outcome == broker.Rejected || a.Outcome == broker.Misconfigured
	})
	for i := range t.answers {
		switch a := &t.answers[i]; {
		case a.Outcome == broker.Rejected, a.Outcome == broker.Misconfigured:
		case fault:
			*a = engine.Answer{Outcome: broker.NotSent}
		default:
			*a = engine.Answer{Outcome: broker.Unavailable, After: b.after}
		}
	}
	return false
}

// keep commits a transaction.
func (b *destination) keep(t *commit) {
	for _, item := range t.items {
		b.store(t.r, b.w.message(item.Record))
	}
	b.lanes.record = t.record
}
