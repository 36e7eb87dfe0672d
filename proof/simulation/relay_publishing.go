package simulation

import (
	"slices"
	"time"

	"github.com/postbag/postbag/broker"
	"github.com/postbag/postbag/internal/engine"
)

// delivery is a call to the destination at work.
type delivery struct {
	r       *relay
	call    *engine.Call
	answers []engine.Answer
	known   []bool // the answer has come, one by one
	handed  []bool // and the flow has it
	streams bool   // they come one by one
	arrived bool
	over    bool // answered, or given up
	cut     bool // it was ended before it arrived

	begun        int   // the moment
	robbed       bool  // its relay was taken for dead by then, by a clock that jumped
	life         int64 // of the database, as the relay knew it
	epoch, first int   // under Sequences
	repeats      bool  // it is to be sent again, under Sequences

	handled *handled // its transaction, if the destination is a handler
	runs    int      // of the transaction
	doubt   bool     // an earlier one may have committed
}

// leastPause is the least time between two tries of a destination that is down: half of
// the engine's own, of which chance takes up to a half.
const leastPause = 50 * time.Millisecond

// triesAgain looks at a try of a destination that is down. Nobody may make one without a pause.
func (r *relay) triesAgain() {
	now := r.now()
	if since := now - r.tried; r.tried > 0 && since < leastPause {
		r.w.failf("P8", "relay %d tries a destination that is down again after %v", r.number, since)
	}
	r.tried = now
}

func (r *relay) probe() {
	w := r.w
	r.pending++
	w.after(w.lag(), nil, func() {
		o := w.broker.down
		switch {
		case w.plan.handlers && !w.broker.away(): // an empty transaction works
			o = broker.Accepted
		case o == broker.NotSent:
			o = broker.Unavailable
		}
		w.after(w.lag(), r, func() {
			r.pending--
			r.worked++
			r.flow.Probed(r.now(), o)
			r.wake()
		})
	})
}

// send sends a call to the broker; it gets there even if the relay dies.
func (r *relay) send(c *engine.Call) {
	w := r.w
	r.pending++
	r.hold(c)
	w.checkAges(c.Items)
	r.checkPauses(c.Items)
	r.checkBlind(c)
	r.checkEnded(c)
	r.checkRate(c)
	r.transactionBegins(c)
	w.tell(eventCall, r.number, c.ID, int64(len(c.Items)))
	if w.trace.out != nil {
		w.tellf("    call %d of relay %d has messages %v", c.ID, r.number, w.itemIDs(c.Items))
	}
	n := len(c.Items)
	d := w.rooms.deliveries.take()
	*d = delivery{r: r, call: c, answers: zeroed(d.answers, n), known: zeroed(d.known, n), handed: zeroed(d.handed, n)}
	r.calls = append(r.calls, d)
	d.begun, d.robbed = w.moment(), r.robbed()
	d.life = r.core.Life()
	if w.plan.cfg.Transactions {
		r.transact(d)
		return
	}
	if w.plan.handlers {
		w.schedule(r.own(w.plan.timeout), r, d, callGivenUp)
		d.handle()
		return
	}
	there := w.lag()
	if w.plan.sequences {
		r.numbered(d)
	}
	switch {
	case w.fault(Silence, 10):
		if w.plan.sequences {
			there += silentFor
			break
		}
		w.schedule(r.own(w.plan.timeout), r, d, callGivenUp)
		return
	case w.fault(LateDeliveries, 10):
		there += w.plan.timeout + time.Duration(w.below(10_000))*time.Millisecond
	}
	w.schedule(r.own(w.plan.timeout), r, d, callGivenUp)
	w.schedule(there, nil, d, callArrives)
}

// What happens to a delivery.
const (
	callArrives what = iota
	callSentAgain
	callAnswered
	callGivenUp
)

func (d *delivery) happen(as what) {
	switch as {
	case callArrives:
		d.arrive()
	case callSentAgain:
		d.sendAgain()
	case callAnswered:
		d.answered()
	case callGivenUp:
		d.giveUp()
	}
}

// arrive brings the call to the broker.
func (d *delivery) arrive() {
	r, w := d.r, d.r.w
	if d.cut {
		return
	}
	if w.plan.sequences {
		d.arriveInSequence()
		return
	}
	d.arrived = true
	w.broker.receive(d)
	last := w.slowness()
	if w.plan.streams && last > 100*time.Millisecond {
		if !d.streams && !d.over {
			d.streams = true
			r.core.Ongoing(r.now(), r.core.Flows[0], d.call.ID)
		}
		for i := range d.answers {
			if w.below(5) > 0 {
				w.after(min(w.slowness(), last), r, func() { d.known[i] = true })
			}
		}
	}
	w.schedule(last, r, d, callAnswered)
}

// slowness is the time that an answer of the broker takes.
func (w *world) slowness() time.Duration {
	if w.fault(SlowAnswers, 20) {
		return time.Duration(w.below(20_000)) * time.Millisecond
	}
	return w.lag()
}

// answered brings the answer to the relay.
func (d *delivery) answered() {
	if d.over {
		return
	}
	if d.r.w.plan.sequences && d.epoch == d.r.producer.epoch && d.interrupted() {
		d.r.newEpoch()
	}
	d.finish()
}

// giveUp ends the call without its answer: it took too long, or its connection was
// closed.
func (d *delivery) giveUp() {
	if d.over {
		return
	}
	if d.r.w.plan.handlers {
		d.abandon()
		return
	}
	lost := 0
	for i := range d.answers {
		if !d.known[i] {
			d.answers[i] = engine.Answer{}
			lost++
		}
	}
	d.r.w.excuse("no answer", "broker", lost)
	d.finish()
	if d.r.w.plan.sequences && d.epoch == d.r.producer.epoch {
		d.r.newEpoch()
	}
}

func (d *delivery) finish() {
	r, w := d.r, d.r.w
	d.over = true
	r.pending--
	r.worked++
	r.calls = slices.DeleteFunc(r.calls, func(o *delivery) bool { return o == d })
	accepted := int64(0)
	for i := range d.answers {
		d.release(i)
		accepted += bit(d.answers[i].Outcome == broker.Accepted)
	}
	w.tell(eventAnswer, r.number, d.call.ID, accepted)
	if w.trace.out != nil {
		w.tellf("    answers %s", showAnswers(d.answers))
	}
	d.lonely()
	r.transactionEnds(d)
	r.core.Answered(r.now(), r.core.Flows[0], d.call.ID, d.answers)
	r.wake()
}

// lonely notes that the answer to a call of one message got lost. Each third one that a relay sees is a failed attempt.
func (d *delivery) lonely() {
	if len(d.answers) != 1 || d.answers[0].Outcome != broker.Unknown || d.handed[0] {
		return
	}
	m := d.r.w.message(d.call.Items[0].Record)
	if m.lone++; m.lone >= 3 {
		m.no = d.r.w.moment()
	}
}

// collect hands in the answers of calls that go on.
func (r *relay) collect(now time.Duration) {
	calls := r.core.Collect(now)
	for k := range calls {
		o := &calls[k]
		d := r.calls[slices.IndexFunc(r.calls, func(d *delivery) bool { return d.call.ID == o.Call })]
		r.worked++
		places, answers := d.fresh()
		o.Reported(now, places, answers)
	}
}

// fresh returns the answers that have come, and that the flow does not have.
func (d *delivery) fresh() (places []int, answers []engine.Answer) {
	for i := range d.answers {
		if d.known[i] && !d.handed[i] {
			d.release(i)
			d.lonely()
			d.handed[i] = true
			places, answers = append(places, i), append(answers, d.answers[i])
		}
	}
	return places, answers
}

// out is how many messages of a key a call holds.
type out struct {
	call  int64
	count int
}

// hold checks that no two calls at a time hold messages of one key, and that one
// call does only if the destination keeps order within it.
func (r *relay) hold(c *engine.Call) {
	w := r.w
	cfg := &w.plan.cfg
	if len(c.Items) > cfg.Batch {
		w.failf("engine", "a call of %d messages, %d may be", len(c.Items), cfg.Batch)
	}
	r.checkTuned(c)
	if r.keys == nil {
		r.keys = make([]out, w.plan.keys+1)
	}
	for _, item := range c.Items {
		m := w.message(item.Record)
		if m.seq != item.Seq && m.state == committed {
			w.failf("engine", "message %d is sent as seq %d, and has %d", m.id, item.Seq, m.seq)
		}
		if m.key == 0 || cfg.Order == engine.Unordered || w.plan.faults.has(Policies) && cfg.OnReject != engine.Block {
			continue
		}
		o := &r.keys[m.key]
		if o.count > 0 && (o.call != c.ID || !cfg.Ordered) {
			w.failf("P3", "relay %d: message %d of key %d is sent beside another", r.number, m.id, m.key)
		}
		o.call, o.count = c.ID, o.count+1
	}
}

// release notes that the answer to an item is there.
func (d *delivery) release(i int) {
	if d.handed[i] || d.r.keys == nil {
		return
	}
	m := d.r.w.message(d.call.Items[i].Record)
	if o := &d.r.keys[m.key]; o.call == d.call.ID && o.count > 0 {
		o.count--
	}
}

// let forgets what is in calls of a range of slots, which is another's now.
func (r *relay) let(lo, hi int) {
	r.tx.let(lo, hi)
	for key := range r.keys {
		if slot := slotOf(key, 0); slot >= lo && slot < hi {
			r.keys[key] = out{}
		}
	}
}

func (w *world) itemIDs(items []engine.Item) []int {
	var ids []int
	for _, item := range items {
		ids = append(ids, w.message(item.Record).id)
	}
	return ids
}

var outcomeTexts = [...]string{"unknown", "accepted", "rejected", "misconfigured", "unavailable", "not sent"}

func showAnswers(answers []engine.Answer) []string {
	var texts []string
	for _, a := range answers {
		texts = append(texts, outcomeTexts[a.Outcome])
	}
	return texts
}
