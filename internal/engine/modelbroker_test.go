package engine_test

import (
	"time"

	"github.com/postbag/postbag/internal/engine"
)

// modelBroker is the destination of the mini-world. What it stores, it stores for
// good, and accepts again when it is sent again.
type modelBroker struct {
	w          *world
	accepted   []int64 // in the order of storing, repeats too
	first      map[int64]int
	rejections map[int64]int
	lies       int            // stored, and the answer lost
	down       engine.Outcome // Accepted: up
}

func newModelBroker(w *world) *modelBroker {
	return &modelBroker{w: w, first: map[int64]int{}, rejections: map[int64]int{}, down: engine.Accepted}
}

// patience is how often the broker rejects a message before it takes it.
func (b *modelBroker) patience(seq int64) int {
	switch m := b.w.log.msgs[seq-1]; {
	case b.w.pardon || m.sum%1000 >= uint64(b.w.odds.poison*1000):
		return 0
	case m.sum/1000%4 == 0:
		return 1 << 30
	default:
		return int(m.sum/4000%4) + 1
	}
}

// receive stores what a call brings, and says what it answers.
func (b *modelBroker) receive(items []engine.Item) []engine.Answer {
	if b.w.cfg.Transactions {
		return b.transact(items)
	}
	return b.take(items)
}

// transact stores all of a call, or nothing.
func (b *modelBroker) transact(items []engine.Item) []engine.Answer {
	before, repeats := len(b.accepted), b.w.repeats
	answers := b.take(items)
	whole, fault := true, false
	for i := range answers {
		whole = whole && answers[i].Outcome == engine.Accepted
		fault = fault || answers[i].Outcome == engine.Rejected || answers[i].Outcome == engine.Misconfigured
	}
	if whole {
		return answers
	}
	for i, seq := range b.accepted[before:] {
		if b.first[seq] == before+i {
			delete(b.first, seq)
		}
	}
	b.accepted, b.w.repeats = b.accepted[:before], repeats
	for i := range answers {
		switch answers[i].Outcome {
		case engine.Rejected, engine.Misconfigured:
		default:
			answers[i] = engine.Answer{Outcome: engine.Unavailable}
			if fault {
				answers[i].Outcome = engine.NotSent
			}
		}
	}
	return answers
}

func (b *modelBroker) take(items []engine.Item) []engine.Answer {
	answers := make([]engine.Answer, len(items))
	failed := map[int]bool{} // keys, for a destination that keeps order
	for i, item := range items {
		m := b.w.log.msgs[item.Seq-1]
		if item.Attempt > b.rejections[item.Seq]+1 {
			b.w.failf("message %d is sent as attempt %d after %d rejections", item.Seq, item.Attempt, b.rejections[item.Seq])
		}
		if b.w.cfg.Ordered && m.key != 0 && failed[m.key] {
			answers[i].Outcome = engine.NotSent
			continue
		}
		answers[i] = b.one(m)
		failed[m.key] = failed[m.key] || answers[i].Outcome != engine.Accepted
	}
	return answers
}

func (b *modelBroker) one(m *logMessage) engine.Answer {
	w := b.w
	if b.down == engine.Misconfigured && m.key%3 == 0 || b.down != engine.Accepted && b.down != engine.Misconfigured {
		a := engine.Answer{Outcome: b.down, Reason: "down"}
		if w.chance(0.1) {
			a.After = time.Duration(w.rng.IntN(2000)) * time.Millisecond
		}
		return a
	}
	_, stored := b.first[m.seq]
	switch {
	case stored || b.rejections[m.seq] >= b.patience(m.seq):
		if w.chance(w.odds.silent) {
			return engine.Answer{}
		}
		if stored {
			w.repeats++
			if w.trace {
				w.tracef("repeat of %d", m.seq)
			}
		} else {
			b.first[m.seq] = len(b.accepted)
		}
		b.accepted = append(b.accepted, m.seq)
		if w.chance(w.odds.lying) {
			b.lies++
			if w.trace {
				w.tracef("lie about %d", m.seq)
			}
			return engine.Answer{}
		}
		return engine.Answer{Outcome: engine.Accepted}
	default:
		b.rejections[m.seq]++
		return engine.Answer{Outcome: engine.Rejected, Reason: "bad"}
	}
}
