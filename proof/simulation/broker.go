package simulation

import (
	"slices"
	"time"

	"github.com/postbag/postbag/broker"
	"github.com/postbag/postbag/internal/engine"
)

// destination is the simulated broker. What it stores, it stores for good, and
// stores again when it is sent again, unless it remembers the id.
type destination struct {
	w      *world
	stored []*message // in the order of storing, repeats too
	times  []time.Duration
	firsts int
	down   broker.Outcome            // Accepted: up
	after  time.Duration             // what a throttled one asks to wait
	topics [maxTopics]broker.Outcome // how those that fail do; zero: they do not
	recent []int                     // ids that it remembers, the latest last
	lanes  lanes
	marks  marks

	numbers map[int]numbers // by relay
	streams map[int]*stream // by key
}

func newDestination(w *world) *destination {
	return &destination{w: w, down: broker.Accepted, numbers: map[int]numbers{}, streams: map[int]*stream{}, marks: marks{w: w, of: map[int]*mark{}}}
}

// patience is how often the broker rejects a message before it takes it.
func (b *destination) patience(m *message) int {
	w := b.w
	switch {
	case w.pardon || m.sum%1000 >= uint64(w.plan.poison):
		return 0
	case m.sum/1000%4 == 0:
		return 1 << 30
	default:
		return int(m.sum/4000%4) + 1
	}
}

// receive stores what a call brings, and fills in what it answers.
func (b *destination) receive(d *delivery) {
	w := b.w
	if b.breaks(d) {
		return
	}
	var failed [128]bool // keys, for a destination that keeps order
	for i, item := range d.call.Items {
		m := b.w.message(item.Record)
		b.checkAttempt(item)
		if w.plan.cfg.Ordered && m.key != 0 && failed[m.key] {
			d.set(i, engine.Answer{Outcome: broker.NotSent})
			continue
		}
		a := b.one(d, m)
		failed[m.key] = failed[m.key] || a.Outcome != broker.Accepted
		d.set(i, a)
	}
}

// breaks has a message that breaks its call do so, if there is one. Nothing of the call
// is stored.
func (b *destination) breaks(d *delivery) bool {
	at := slices.IndexFunc(d.call.Items, func(i engine.Item) bool { return b.breaker(b.w.message(i.Record)) })
	if at < 0 || b.down != broker.Accepted {
		return false
	}
	m := b.w.message(d.call.Items[at].Record)
	panics := m.panics()
	for i, item := range d.call.Items {
		b.checkAttempt(item)
		d.set(i, engine.Answer{Reason: "broken", Broken: panics})
	}
	if panics && len(d.call.Items) == 1 {
		m.rejections++
		b.w.refused(m)
		d.set(0, engine.Answer{Outcome: broker.Rejected, Reason: "panic"})
	}
	return true
}

// breaker says whether a message breaks the calls that it is in. One that cuts the
// connection does so until faults end: where no other comes through, nobody can tell it
// from an outage, and it is tried for ever.
func (b *destination) breaker(m *message) bool {
	over := b.w.calm
	if m.panics() {
		over = b.w.pardon
	}
	return !over && m.sum/7%1000 < uint64(b.w.plan.breakers)
}

func (m *message) panics() bool { return m.sum/1000%2 == 0 }

// checkAttempt holds the number of an attempt against what counts as one.
func (b *destination) checkAttempt(item engine.Item) {
	m := b.w.message(item.Record)
	if m.damaged {
		b.w.failf("P6", "message %d is sent, whose row cannot be read", m.id)
	}
	if item.Attempt > m.attempts()+m.cut+1 {
		b.w.failf("P1", "message %d is sent as attempt %d after %d", m.id, item.Attempt, m.attempts())
	}
}

// attempts is how many may have been counted: for rejections, and for lost answers to
// calls of its own, three of which are one. Those of a row that could not be read are
// counted where nobody else sees it.
func (m *message) attempts() int { return m.rejections + m.lone/3 + m.unread }

// set fills in an answer, unless nobody waits for it any more.
func (d *delivery) set(i int, a engine.Answer) {
	if !d.over {
		d.answers[i] = a
	}
}

// one takes one message.
func (b *destination) one(d *delivery, m *message) engine.Answer {
	a := b.judge(m)
	if a.Outcome != broker.Accepted {
		return a
	}
	if grows, instead := b.grows(d, m); !grows {
		return instead
	}
	b.w.checkNewer(d, m)
	b.store(d.r, m)
	if !b.w.plan.sequences && b.w.fault(Lies, 10) {
		b.w.excuse("lie", "broker", 1)
		return engine.Answer{}
	}
	return a
}

// judge says whether a message can be stored now.
func (b *destination) judge(m *message) engine.Answer {
	if b.down == broker.Misconfigured && m.key%3 == 0 || b.down != broker.Accepted && b.down != broker.Misconfigured {
		return engine.Answer{Outcome: b.down, Reason: "down", After: b.after}
	}
	if o := b.topics[m.topic]; o != broker.Unknown {
		return engine.Answer{Outcome: o, Scope: broker.ScopeTopic, Reason: "no topic"}
	}
	if m.accepted == 0 && m.rejections < b.patience(m) {
		m.rejections++
		b.w.refused(m)
		return engine.Answer{Outcome: broker.Rejected, Reason: "bad", Dead: b.w.dooms(m)}
	}
	return engine.Answer{Outcome: broker.Accepted}
}

// store takes a message for good.
func (b *destination) store(r *relay, m *message) {
	w := b.w
	if b.remembers(m) {
		return
	}
	b.stored = append(b.stored, m)
	b.times = append(b.times, w.instant())
	if m.accepted++; m.accepted == 1 {
		b.firsts++
	}
	w.tell(eventStored, r.number, int64(m.id), int64(m.accepted))
}

// remembers says whether the broker has seen the id lately, and has it remember
// it.
func (b *destination) remembers(m *message) bool {
	window := b.w.plan.dedupe
	if window == 0 {
		return false
	}
	if slices.Contains(b.recent, m.id) {
		return true
	}
	if len(b.recent) >= window {
		b.recent = b.recent[1:]
	}
	b.recent = append(b.recent, m.id)
	return false
}

// wipe has the broker lose what it keeps repeats out by: the ids that it remembers, and what it knows of producers, as a topic does that
// is deleted and made again. What was sent to the one that was there is not taken by the other. There are no streams then: see
// drawKeeping.
func (b *destination) wipe() {
	b.recent = nil
	if !b.w.plan.sequences {
		return
	}
	for r, n := range b.numbers {
		b.numbers[r] = numbers{epoch: n.epoch + 1}
	}
	for _, r := range b.w.relays {
		r.newEpoch()
		b.numbers[r.number] = numbers{epoch: r.producer.epoch}
	}
}
