package simulation

import (
	"github.com/postbag/postbag/broker"
	"github.com/postbag/postbag/internal/core"
	"github.com/postbag/postbag/internal/engine"
	"github.com/postbag/postbag/internal/lane"
	"github.com/postbag/postbag/store"
)

// exactly is what a relay has of the lane of its subscription under exactly once.
// What is decided is decided by packages lane and core, the very code of the relay.
type exactly struct {
	lane.Lifecycle

	held *session // nil: to be opened
	work *course  // an acquisition or a transaction under way
}

// course makes the steps of a core.Course, on models of the store and the broker.
type course struct {
	*core.Course

	r         *relay
	held      *session
	acquiring *core.Loading // for an acquisition
	d         *delivery     // for a transaction
	blocked   []store.Blocks

	step    int // grows with each, so that what comes late of an earlier one is known
	fail    func()
	talking bool  // to the broker
	ended   bool  // nobody waits for it: its life is over
	sent    []int // which items were
	answers []engine.Answer
	under   *commit
}

// enter enters the lane for shards that a view says are ours, which are all there are.
func (r *relay) enter(o *core.Loading) {
	c := r.course(core.NewAcquisition(o, r.exactly.held != nil))
	c.acquiring = o
	c.do(c.Start())
}

// course begins to make the steps of a course, with the lane in hand.
func (r *relay) course(of *core.Course) *course {
	x := &r.exactly
	c := &course{Course: of, r: r, held: x.held}
	x.held, x.work = nil, c
	r.pending++
	return c
}

// transact makes a call to the destination as a transaction.
func (r *relay) transact(d *delivery) {
	c := r.course(core.NewTransaction(r.core.Flows[0], d.call, r.exactly.held != nil))
	c.d = d
	c.do(c.Start())
}

// do does what is wanted next. What a life wanted that is over fails at once.
func (c *course) do(do lane.Do) {
	switch do {
	case lane.Over:
		c.over()
	case lane.Drop:
		c.held = nil
		c.do(c.Dropped())
	case lane.Pause:
		c.pause()
	case lane.Ask:
		c.ask()
	case lane.Open:
		c.open()
	case lane.Commit:
		c.commit()
	}
}

// begin begins a step, which fail ends without its answer. The function that it
// returns says whether the step is still waited for, and ends it.
func (c *course) begin(fail func()) (ends func() bool) {
	c.step++
	c.talking = false
	step := c.step
	ends = func() bool {
		mine := c.step == step && c.fail != nil
		if mine {
			c.fail = nil
		}
		return mine
	}
	c.fail = func() {
		if ends() {
			fail()
		}
	}
	if c.ended {
		c.r.w.after(0, c.r, c.fail)
	}
	return ends
}

// cancel ends the life in which c began: what is under way fails.
func (c *course) cancel() {
	c.ended = true
	if c.fail != nil {
		c.r.w.after(0, c.r, c.fail)
	}
}

// ask makes sure that the leases stand, and reads the blocked keys.
func (c *course) ask() {
	q := &leaseCall{c: c, ends: c.begin(func() { c.do(c.Asked(errTimeout)) })}
	c.r.ask(&q.asking, q, storeTimeout)
}

// leaseCall asks the store about leases.
type leaseCall struct {
	asking

	c       *course
	ends    func() bool
	blocked []store.Blocks
}

func (q *leaseCall) act() error {
	if err := q.r.adopt(); err != nil {
		return err
	}
	s := q.r.w.server
	for _, l := range q.c.Leases() {
		if sh := s.shard(l.Lo, l.Hi); sh == nil || sh.token != l.Token {
			return store.ErrLeaseLost
		}
		q.blocked = append(q.blocked, s.blocked(l.Lo, l.Hi))
	}
	return nil
}

func (q *leaseCall) answered(err error) {
	if !q.ends() {
		return
	}
	q.c.blocked = q.blocked
	q.c.do(q.c.Asked(err))
}

func (q *leaseCall) over() {}

// open opens the lane.
func (c *course) open() {
	fail := func() { c.do(c.Opened(nil, false)) }
	ends := c.begin(fail)
	c.r.w.after(c.r.own(storeTimeout), c.r, c.fail)
	c.talking = true
	c.r.w.broker.open(c.r, func(s *session) {
		if !ends() {
			return
		}
		if s == nil {
			fail()
			return
		}
		c.held = s
		c.do(c.Opened(s.record, true))
	})
}

// commit sends a transaction. Until its end is sent, it is not committed, and what
// has no answer is aborted.
func (c *course) commit() {
	w := c.r.w
	t := &commit{r: c.r, held: c.held, record: c.Record()}
	c.under = t
	timeout := storeTimeout
	if c.Messages() {
		timeout = w.plan.timeout
		c.sent = c.Sends()
		for _, i := range c.sent {
			t.items = append(t.items, c.d.call.Items[i])
		}
	}
	ends := c.begin(func() {
		t.held.over = true
		outcome := broker.Unresolved
		if !t.ending {
			outcome = broker.Aborted
			t.allAnswer(broker.Unavailable)
		}
		c.committed(t, outcome)
	})
	w.after(c.r.own(timeout), c.r, c.fail)
	c.talking = true
	w.broker.commit(t, func(o broker.TxOutcome) {
		if ends() {
			c.committed(t, o)
		}
	})
}

func (c *course) committed(t *commit, o broker.TxOutcome) {
	if len(t.items) > 0 {
		c.answers = t.answers
	}
	c.do(c.Committed(o))
}

// cut ends the connections to the broker.
func (c *course) cut() {
	w := c.r.w
	if c.fail == nil || !c.talking {
		return
	}
	if c.under != nil {
		c.under.cut = w.coin()
	}
	w.after(0, c.r, c.fail)
}

// pause waits before the lane is entered again.
func (c *course) pause() {
	over := func() { c.do(c.Paused(true)) }
	ends := c.begin(over)
	c.r.w.after(c.r.own(c.Pause(c.r.w.sixteenth())), c.r, func() {
		if ends() {
			c.do(c.Paused(false))
		}
	})
}

// over takes the lane back, and hands on what came of it all.
func (c *course) over() {
	r, x := c.r, &c.r.exactly
	r.pending--
	r.worked++
	if x.work == c {
		x.work = nil
	}
	if c.d == nil {
		keeps, why := r.core.AcquisitionEnded(r.now(), c.Course, c.ended, c.blocked)
		c.keep(keeps)
		if why == core.NoObstacle {
			r.took(c.acquiring.Shards)
		}
		r.carryOut()
		r.wake()
		return
	}
	c.keep(r.core.TransactionEnded(c.Course))
	r.carryOut()
	c.answer()
	c.d.finish()
}

// keep takes the lane back.
func (c *course) keep(keeps bool) {
	if keeps {
		c.r.exactly.held = c.held
	}
}

// answer fills in the answers of a call.
func (c *course) answer() {
	o := c.Outcome(nil)
	for i := range c.d.answers {
		c.d.answers[i] = engine.Answer{Outcome: o}
	}
	for k, i := range c.sent {
		if c.Own(c.answers[k].Outcome) {
			c.d.answers[i] = c.answers[k]
		}
	}
}

// dropLane ends what is under way in the lane, and lets go of it.
func (r *relay) dropLane() {
	r.let(0, 4096)
	if r.exactly.work != nil {
		r.exactly.work.cancel()
		r.exactly.work = nil
	}
	r.exactly.held = nil
}
