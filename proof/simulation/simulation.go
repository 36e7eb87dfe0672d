package simulation

import (
	"time"

	"github.com/postbag/postbag/broker"
	"github.com/postbag/postbag/proof/history"
	"github.com/postbag/postbag/store"
)

// Result is what came of a run.
type Result struct {
	// Violation is nil if every promise held.
	Violation *Violation
	// Steps is how many events happened, Time how long it took by the simulated
	// clock.
	Steps int
	Time  time.Duration
	// Hash is of all that happened.
	Hash   uint64
	Counts Counts
	// Drawn is what the run drew for itself.
	Drawn string
	// Tape is what chance drew, if it was recorded.
	Tape []uint32
}

// Simulator makes runs, one after another. It keeps its memory between them, and
// is used by one goroutine at a time.
type Simulator struct {
	w      world
	record bool
	also   func(w *world) // what else a test demands at the end of a run
}

// Run makes one run. It fails if o is not valid.
func (s *Simulator) Run(o Options) (Result, error) {
	if err := o.Validate(); err != nil {
		return Result{}, err
	}
	o.normal()
	w := &s.w
	if w.stage == nil {
		w.stage = &stage{}
	}
	w.reset(s.record)
	w.begin(o)
	w.play()
	if s.also != nil {
		s.also(w)
	}
	w.counts.Messages = len(w.producers.msgs)
	w.counts.Accepted, w.counts.Repeats = len(w.broker.stored), len(w.broker.stored)-w.broker.firsts
	for _, m := range w.producers.msgs {
		w.counts.Committed += int(bit(m.state == committed))
	}
	r := Result{Violation: w.failed, Steps: w.steps, Time: w.now, Hash: w.trace.hash, Counts: w.counts, Drawn: w.plan.String()}
	if s.record {
		r.Tape = append(r.Tape, w.chance.tape...)
	}
	return r, nil
}

func (w *world) reset(record bool) {
	w.agenda.reset()
	h := w.recorders.history
	if h == nil {
		h = &history.History{}
	}
	h.Reset()
	w.flows = append(w.flows, w.spent...)
	for _, r := range w.everyRelay() {
		w.flows = append(w.flows, r.flow)
	}
	w.rooms.empty()
	*w.stage = stage{flows: w.flows, rooms: w.rooms, agenda: w.agenda, chance: chance{tape: w.chance.tape[:0], record: record}}
	*w = world{stage: w.stage, recorders: recorders{history: h}, producers: producers{msgs: w.producers.msgs}}
}

// Bounds of a run, by the simulated clock. What faults leave behind takes its time:
// a call that hangs half a minute, the pauses of a circuit, a clock that was set
// back. That may be any time: deliverLimit is beside w.lingering.
const (
	writeLimit   = time.Hour
	deliverLimit = 10 * time.Minute
	safetyTime   = 20 * time.Second
)

// play is one run: trouble, then calm until everything is delivered that can be,
// then an operator who retries what is dead, until nothing is left.
func (w *world) play() {
	w.run("writing", writeLimit, w.producers.done)
	if w.options.Mode == Safety {
		end := w.now + safetyTime
		w.run("going on", time.Hour, func() bool { return w.now >= end })
		w.verdict(true)
		for _, a := range w.replays {
			a.judgeReplay()
		}
		return
	}
	w.calmDown()
	first := w.plan.faults.has(UnreadableFilters) && w.coin() // while much is to be delivered; the others find less then
	if first {
		w.passUnreadable()
	}
	w.passTopics()
	w.passPause()
	w.passReshape()
	w.passDrain()
	if !first {
		w.passUnreadable()
	}
	w.run("delivering", deliverLimit+w.lingering(), w.done(w.replaysSettled))
	w.pardon = true
	w.pardonReplays()
	for _, m := range w.producers.msgs {
		m.damaged, m.repaired = false, m.damaged
	}
	for i := range w.server.rows {
		w.server.order(store.Retry, w.server.rows[i].m)
	}
	w.run("retrying", deliverLimit+w.lingering(), w.done(func() bool { return len(w.server.rows)+len(w.replays) == 0 }))
	w.rest()
	w.verdict(false)
	w.checkLedger()
	w.checkLeftovers()
}

// done looks now and then whether all is settled.
func (w *world) done(and func() bool) func() bool {
	next := 0
	return func() bool {
		if w.steps < next {
			return false
		}
		next = w.steps + 16
		return and() && w.settled()
	}
}

// calmDown ends all faults.
func (w *world) calmDown() {
	w.calm = true
	w.tellf("faults end")
	w.calmed()
	for _, a := range w.replays {
		a.calmed()
	}
}

// calmed ends what faults have left of a subscription.
func (w *world) calmed() {
	w.server.paused, w.server.gone, w.server.later = false, w.replay.isOver(), false
	w.server.keepPauses(func(p *store.Pause) bool { return !p.Until.IsZero() })
	w.server.epoch++
	w.broker.down, w.broker.after = broker.Accepted, 0
	running := 0
	for _, r := range w.relays {
		running += int(bit(!r.told && !r.drains))
	}
	if running == 0 && !w.replay.isOver() {
		w.newRelay()
	}
}
