package simulation

import (
	"github.com/postbag/postbag/broker"
	"github.com/postbag/postbag/internal/core"
	"github.com/postbag/postbag/internal/engine"
	"github.com/postbag/postbag/internal/lane"
	"github.com/postbag/postbag/store"
)

// exactly is what a relay has of the lane of its subscription under exactly once:
// see relay's exactly. What is decided is decided by package lane, the very code.
type exactly struct {
	lane.Lifecycle

	held *session // nil: to be opened
	work *course  // an entry or a transaction under way
}

// course is an entry into the lane, or a transaction, under way.
type course struct {
	r       *relay
	way     lane.Entry
	tx      *lane.Transaction // nil: an entry alone
	held    *session
	entry   *core.Loading // for an entry
	blocked []store.Blocks
	d       *delivery // for a transaction
	life    int

	step    int // grows with each, so that what comes late of an earlier one is known
	fail    func()
	store   bool // what failed last was the store
	talking bool // to the broker
	ended   bool // nobody waits for it: its life is over
	pauses  int
	sent    []int // which items were
	answers []engine.Answer
	under   *commit
}

// enter enters the lane for shards that a view says are ours, which are all there are.
func (r *relay) enter(o *core.Loading) {
	var leases []store.Lease
	for i := range o.Shards {
		leases = append(leases, o.Shards[i].Lease)
	}
	c := r.course(leases)
	c.entry = o
	c.do(c.way.Enter(nil))
}

// course begins an entry or a transaction, with the lane in hand.
func (r *relay) course(leases []store.Lease) *course {
	x := &r.exactly
	c := &course{r: r, held: x.held}
	c.way.Leases, c.way.Held = leases, x.held != nil
	c.way.Known, c.life = x.Take()
	x.held, x.work = nil, c
	r.pending++
	return c
}

// transact makes a call to the destination as a transaction.
func (r *relay) transact(d *delivery) {
	c := r.course(r.flow.Leases())
	c.d = d
	items := make([]lane.Item, len(d.call.Items))
	for i, item := range d.call.Items {
		m := r.w.message(item.Record)
		items[i] = lane.Item{Seq: item.Seq, Slot: m.slot, Sum: m.sum}
	}
	c.tx = lane.NewTransaction(&c.way, items)
	c.do(c.tx.Start())
}

// told is what an entry and a transaction are told.
type told interface {
	Asked(l lane.Leases) lane.Do
	Opened(record []byte, ok bool) lane.Do
	Committed(o broker.TxOutcome) lane.Do
	Dropped() lane.Do
	Record() []byte
}

func (c *course) told() told {
	if c.tx != nil {
		return c.tx
	}
	return &c.way
}

// do does what is wanted next. What a life wanted that is over fails at once.
func (c *course) do(do lane.Do) {
	switch do {
	case lane.Over:
		c.over()
	case lane.Drop:
		c.held = nil
		c.do(c.told().Dropped())
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
	q := &leaseCall{c: c, answer: lane.Valid, ends: c.begin(func() { c.asked(lane.NoAnswer) })}
	c.r.ask(&q.asking, q, storeTimeout)
}

// leaseCall asks the store about leases.
type leaseCall struct {
	asking

	c       *course
	ends    func() bool
	answer  lane.Leases
	blocked []store.Blocks
}

func (q *leaseCall) act() error {
	if err := q.r.adopt(); err != nil {
		return err
	}
	s := q.r.w.server
	for _, l := range q.c.way.Leases {
		if sh := s.shard(l.Lo, l.Hi); sh == nil || sh.token != l.Token {
			q.answer = lane.Gone
		}
		q.blocked = append(q.blocked, s.blocked(l.Lo, l.Hi))
	}
	return nil
}

func (q *leaseCall) answered(err error) {
	if !q.ends() {
		return
	}
	if err != nil {
		q.answer = lane.NoAnswer
	}
	q.c.blocked = q.blocked
	q.c.asked(q.answer)
}

func (q *leaseCall) over() {}

func (c *course) asked(l lane.Leases) {
	c.store = l == lane.NoAnswer
	c.do(c.told().Asked(l))
}

// open opens the lane.
func (c *course) open() {
	c.store = false
	fail := func() { c.do(c.told().Opened(nil, false)) }
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
		c.do(c.told().Opened(s.record, true))
	})
}

// commit sends a transaction. Until its end is sent, it is not committed, and what
// has no answer is aborted.
func (c *course) commit() {
	w := c.r.w
	c.store = false
	t := &commit{r: c.r, held: c.held, record: c.told().Record()}
	c.under = t
	timeout := storeTimeout
	if c.tx != nil && c.tx.Messages() {
		timeout = w.plan.timeout
		c.sent = c.sent[:0]
		for i, item := range c.d.call.Items {
			if c.tx.Sends(i) {
				c.sent = append(c.sent, i)
				t.items = append(t.items, item)
			}
		}
	}
	ends := c.begin(func() {
		t.held.over = true
		outcome := broker.Unresolved
		if !t.ending {
			outcome = broker.Aborted
			t.answers = nil
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
	c.answers = t.answers
	c.do(c.told().Committed(o))
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
	over := func() { c.do(c.tx.Paused(true)) }
	ends := c.begin(over)
	c.pauses++
	c.r.w.after(c.r.own(core.Backoff(c.pauses, c.r.w.sixteenth())), c.r, func() {
		if ends() {
			c.do(c.tx.Paused(false))
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
	f := r.core.Flows[0]
	if r.core.Reclaim(f, c.way.Known, c.life) {
		x.held = c.held
	}
	switch {
	case c.tx == nil && c.entry.Generation == r.core.Generation():
		r.entered(c)
	case c.tx != nil && c.tx.Dropping():
		r.core.Disowned(f, c.life)
	}
	r.carryOut()
	if c.tx == nil {
		r.wake()
		return
	}
	c.answer()
	c.d.finish()
}

// answer fills in the answers of a call.
func (c *course) answer() {
	o := broker.NotSent
	switch c.tx.End {
	case lane.Answered:
		o = broker.Accepted
	case lane.Undone, lane.NotEntered:
		o = broker.Unavailable
	case lane.Lost:
		o = broker.Unknown
	case lane.Refused, lane.Disowned:
	}
	for i := range c.d.answers {
		c.d.answers[i] = engine.Answer{Outcome: o}
	}
	if c.tx.End != lane.Refused {
		return
	}
	for k, i := range c.sent {
		c.d.answers[i].Outcome = broker.Unavailable
		if c.answers != nil && c.answers[k].Outcome != broker.Accepted {
			c.d.answers[i] = c.answers[k]
		}
	}
}

// entered tells the core what came of an entry.
func (r *relay) entered(c *course) {
	now := r.now()
	switch {
	case c.way.Entered:
		r.core.Entered(now, c.entry, c.blocked)
		r.took(c.entry.Shards)
	case c.ended:
		r.core.NotEntered(now, c.entry, core.GivenUp)
	case c.way.LostLeases:
		r.core.NotEntered(now, c.entry, core.NoLease)
	case c.store:
		r.core.NotEntered(now, c.entry, core.NoStore)
	default:
		r.core.NotEntered(now, c.entry, core.NoLane)
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
