package simulation

import (
	"time"

	"github.com/postbag/postbag/broker"
	"github.com/postbag/postbag/internal/engine"
)

// handled is a transaction in which a handler applies a message: its mark, the handler's
// effect, and the COMMIT. It is the relay's side, as inbox.Destination is; what the server
// does is in marks. What a process does itself happens in it: it waits while that is stopped.
// What is on its way, and what the server does of itself, happens whatever becomes of it.
type handled struct {
	d *delivery
	m *message

	began  bool // the handler was called: no earlier transaction has committed
	ending bool // its COMMIT was sent

	mark   *mark // that it wrote, or waits for; nil: the statement has not arrived
	ended  bool  // by the server
	hungUp bool  // its connection is closed, which the server will see
}

// drawHandlers makes the destination a handler. Each message is a call of its own.
func (w *world) drawHandlers(c *engine.Config) {
	p := &w.plan
	p.handlers = true
	p.streams, p.dedupe = false, 0
	c.Transactions, c.MaxBatch, c.Prober = false, 1, true
	c.CountFirst = w.coin()
}

// The pauses of a call before it runs its transaction again: see inbox.Destination.
const (
	firstRerun = 5 * time.Millisecond
	lastRerun  = time.Second
)

// handle begins a transaction for the message of a call.
func (d *delivery) handle() {
	r, w := d.r, d.r.w
	t := &handled{d: d, m: w.message(d.call.Items[0].Record)}
	d.handled = t
	d.runs++
	there, comes := w.broker.way(w.plan.timeout)
	if comes {
		w.after(there, nil, func() {
			if !d.arrived && !t.ended {
				d.arrived = true
				w.broker.checkAttempt(d.call.Items[0])
			}
			w.broker.marks.mark(t)
		})
	}
	t.hears(r.own(w.plan.timeout-w.plan.timeout/10), func() { t.fails(errorLate) })
}

// hears plans what the process does about a transaction, unless it has done with it.
func (t *handled) hears(after time.Duration, do func()) {
	t.d.r.w.after(after, t.d.r, func() {
		if !t.d.over && t.d.handled == t {
			do()
		}
	})
}

// marked calls the handler, unless the message is applied already.
func (t *handled) marked(fresh bool) {
	if !fresh {
		t.d.reply(engine.Answer{Outcome: broker.Accepted})
		return
	}
	t.began = true
	t.hears(t.d.r.w.slowness(), t.work)
}

// work is the end of the handler: its error, or a COMMIT.
func (t *handled) work() {
	w := t.d.r.w
	if w.broker.away() {
		t.fails(errorBroken)
		return
	}
	if a := w.broker.judge(t.m); a.Outcome != broker.Accepted {
		a.After = 0 // an error has none
		t.drop(w.lag())
		t.d.reply(a)
		return
	}
	t.ending = true
	if there, comes := w.broker.way(w.plan.timeout); comes {
		w.after(there, nil, func() { w.broker.marks.commit(t) })
	}
}

// committed is the answer to a COMMIT.
func (t *handled) committed() { t.d.reply(engine.Answer{Outcome: broker.Accepted}) }

// drop sends a ROLLBACK.
func (t *handled) drop(there time.Duration) {
	t.d.r.w.after(there, nil, func() { t.d.r.w.broker.marks.rollBack(t) })
}

// handlerError is what went wrong with a transaction.
type handlerError uint8

const (
	errorAgain   handlerError = iota // it met another one, and was rolled back
	errorUnknown                     // its COMMIT has no answer
	errorBroken                      // its connection is closed
	errorLate                        // its time is over
)

// fails says what an error means, as inbox.Destination does: the transaction runs again, or
// the call has its answer.
func (t *handled) fails(e handlerError) {
	d, w := t.d, t.d.r.w
	if t.ending && e != errorAgain {
		e = errorUnknown
	}
	d.doubt = e == errorUnknown || d.doubt && !t.began
	w.broker.marks.hangUp(t)
	d.handled = nil
	a := engine.Answer{Outcome: broker.Unavailable, Reason: "away"}
	switch {
	case e == errorAgain, e == errorUnknown, e == errorLate && !t.began && !w.broker.away():
		d.rerun()
		return
	case d.doubt:
		a = engine.Answer{}
	case t.began && !w.broker.away(): // an empty transaction works
		t.m.rejections++
		w.refused(t.m)
		a = engine.Answer{Outcome: broker.Rejected, Reason: "failed", Dead: w.dooms(t.m)}
	}
	d.reply(a)
}

// rerun runs the transaction again after a pause.
func (d *delivery) rerun() {
	r, w := d.r, d.r.w
	pause := min(firstRerun<<min(d.runs-1, 10), lastRerun)
	w.after(r.own(pause), r, func() {
		if !d.over {
			d.handle()
		}
	})
}

// reply answers the call.
func (d *delivery) reply(a engine.Answer) {
	d.answers[0] = a
	d.finish()
}

// abandon ends the call without the answer of its handler.
func (d *delivery) abandon() {
	w := d.r.w
	a := engine.Answer{Outcome: broker.NotSent, Reason: "late"}
	if t := d.handled; t != nil {
		w.broker.marks.hangUp(t)
		if t.began {
			a = engine.Answer{}
		}
	}
	if d.doubt {
		a = engine.Answer{}
	}
	d.reply(a)
}

// disconnect closes the connection of the call's transaction.
func (d *delivery) disconnect() {
	if t := d.handled; t != nil {
		d.r.w.broker.marks.hangUp(t)
		t.hears(0, func() { t.fails(errorBroken) })
	}
}

// hangUp closes the connections of a process that has ended.
func (r *relay) hangUp() {
	for _, d := range r.calls {
		if t := d.handled; t != nil {
			r.w.broker.marks.hangUp(t)
		}
	}
}
