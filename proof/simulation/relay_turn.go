package simulation

import (
	"errors"
	"slices"
	"time"

	"github.com/postbag/postbag/internal/core"
	"github.com/postbag/postbag/store"
)

// turnCall is a try of a turn: the relay's side, and the store's.
type turnCall struct {
	asking

	round   *core.Round
	turn    store.Turn
	meaning *meaning

	// Of the store's side.
	life     int64
	step     int
	last     int64       // the last seq, read before the settlement's transaction got its id
	own      transaction // of the settlement
	tx       *transaction
	verdicts []store.Verdict
	pages    []store.Batch
	reading  reading
	slots    []store.Slots
	commands []store.Command
	nextDue  time.Duration
	epoch    int64
	timeline int64
}

// What else happens to a turn that is made in several steps.
const (
	turnStep what = iota
	turnStepped
)

// turn makes a round, or makes one once more.
func (r *relay) turn(o *core.Round) {
	w := r.w
	c := w.rooms.turns.take()
	*c = turnCall{round: o, meaning: r.meaning, verdicts: c.verdicts[:0], pages: c.pages[:0], slots: c.slots[:0]}
	c.turn = o.Turn()
	r.readsReplay(&c.turn)
	r.transactionsSettle(&c.turn)
	w.counts.Turns++
	c.about()
	if !w.plan.steps || w.below(3) > 0 {
		r.ask(&c.asking, c, storeTimeout)
		return
	}
	r.pending++
	c.asking = asking{r: r, errand: c}
	w.schedule(w.lag(), nil, c, turnStep)
}

func (c *turnCall) happen(as what) {
	r := c.r
	switch as {
	case turnStep: // what else happens may come between two of them
		done, err := c.next()
		if !done && err == nil {
			r.w.schedule(r.w.lag(), nil, c, turnStep)
			return
		}
		c.err = err
		r.w.schedule(r.w.lag(), r, c, turnStepped)
	case turnStepped:
		r.pending--
		r.worked++
		r.landed(c, c.err)
		r.wake()
		c.over()
	}
}

func (c *turnCall) act() error {
	for {
		if done, err := c.next(); done || err != nil {
			return err
		}
	}
}

func (c *turnCall) answered(err error) { c.r.landed(c, err) }

func (c *turnCall) over() { c.r.w.rooms.turns.give(c) }

// about lists the slots that the turn asks the due time and the commands of.
func (c *turnCall) about() {
	for i := range c.turn.Settle {
		c.slots = append(c.slots, c.turn.Settle[i].Slots)
	}
	for i := range c.turn.Read {
		c.slots = append(c.slots, c.turn.Read[i].Slots...)
	}
}

// next does the store's next statement, and says whether it was the last.
func (c *turnCall) next() (done bool, err error) {
	s, v := c.r.w.server, &c.r.view
	if c.step > 0 && (c.life != s.life || c.tx != nil && c.tx.gone) {
		c.rollBack()
		return true, errLost
	}
	c.step++
	switch {
	case c.step == 1:
		if err := c.r.adopt(); err != nil {
			return true, err
		}
		c.life = s.life
		return false, c.known()
	case c.step == 2: // the last seq, before there is an id
		if len(c.turn.Settle) == 0 {
			c.step = 4
			return false, nil
		}
		c.last = s.log.lastSeq()
	case c.step == 3:
		c.tx = &c.own
		if s.hits(c.turn.Settle) { // who writes nothing gets no id
			s.log.touch(c.tx)
		}
	case c.step == 4:
		c.settle()
		if l, ok := s.log.(*snapshotLog); ok && c.hit() {
			v.bounds.Add(c.tx.xid, c.last)
			if c.r.w.below(8) == 0 {
				l.look(v.bounds)
			}
		}
		c.tx = nil
	case len(c.pages) < len(c.turn.Read):
		return false, c.read()
	default:
		c.finish()
		return true, nil
	}
	return false, nil
}

// rollBack ends the settlement's transaction, unless the server has lost it.
func (c *turnCall) rollBack() {
	if l, ok := c.r.w.server.log.(*snapshotLog); ok && slices.Contains(l.open, c.tx) {
		l.end(c.tx, false)
	}
}

// hit says that the settlement wrote something.
func (c *turnCall) hit() bool {
	for _, v := range c.verdicts {
		if v.Applied {
			return true
		}
	}
	return false
}

// known makes sure that the turn is of this life, and that all positions are, or are settled.
func (c *turnCall) known() error {
	s := c.r.w.server
	if c.turn.Life != 0 && c.turn.Life != s.timeline {
		return store.ErrRestarted
	}
	for i := range c.turn.Settle {
		if err := s.known(c.turn.Settle[i].To); err != nil {
			return err
		}
	}
	for i := range c.turn.Read {
		q := &c.turn.Read[i]
		if err := errors.Join(s.known(q.From), s.known(q.Until)); err != nil {
			return store.ErrRestarted
		}
	}
	return nil
}

func (c *turnCall) settle() {
	s := c.r.w.server
	for i := range c.turn.Settle {
		c.verdicts = append(c.verdicts, s.settle(c.r, c.meaning, &c.turn.Settle[i]))
	}
	s.log.end(c.tx, true)
}

// read answers the next request, or does a part of it.
func (c *turnCall) read() error {
	w := c.r.w
	q := &c.turn.Read[len(c.pages)]
	if c.reading == nil {
		if w.server.gone {
			c.pages = append(c.pages, store.Batch{Err: store.ErrNoSubscription})
			return nil
		}
		if w.fault(BadReads, 20) {
			c.pages = append(c.pages, store.Batch{Err: errRead})
			return nil
		}
		if l, ok := w.server.log.(*snapshotLog); ok && q.Limit > 0 && q.Until == "" && c.r.view.bounds.Wanted(len(c.turn.Settle) > 0) {
			l.bound(c.r.view.bounds)
		}
		if w.server.renumbered(q, &c.r.view) {
			return store.ErrMoved
		}
		c.reading = w.server.log.reading(q, &c.r.view)
	}
	if c.reading.step() {
		p := c.reading.page()
		if err := w.server.unreadable(c.r); err != nil { // a read goes by the filter of its end
			p = &store.Batch{Err: err}
		}
		w.server.judged(p)
		c.pages = append(c.pages, *p)
		c.reading = nil
		w.tell(eventRead, c.r.number, int64(len(p.Records)), bit(p.More))
	}
	return nil
}

func (c *turnCall) finish() {
	s := c.r.w.server
	c.commands, c.nextDue, c.epoch = s.waiting(c.slots), s.nextDue(c.slots), s.epoch
	c.timeline = s.timeline
}

// landed hands on the answer.
func (r *relay) landed(c *turnCall, err error) {
	now := r.now()
	r.filtersReplay(c.pages)
	a := store.TurnResult{Verdicts: c.verdicts, Batches: c.pages, NextDue: c.nextDue, Commands: c.commands, Epoch: c.epoch, Life: c.timeline}
	if r.core.Landed(now, c.round, r.fault(err), &a) {
		for i := range c.verdicts {
			r.settled(&c.turn.Settle[i], &c.verdicts[i], c.life == r.w.server.life)
		}
		if r.w.trace.out != nil {
			r.tellPages(c)
		}
		r.hasRead(c)
	}
	r.carryOut()
}

// settled notes the verdict on a settlement.
func (r *relay) settled(t *store.Settlement, v *store.Verdict, stands bool) {
	r.transactionSettled(t, v, stands)
	if !v.Applied {
		r.let(t.Lo, t.Hi)
	}
}

// due fetches parked messages that can be tried.
func (r *relay) due(d *core.DueCall) {
	c := r.w.rooms.dues.take()
	*c = dueCall{due: d}
	r.ask(&c.asking, c, storeTimeout)
}

// dueCall fetches parked messages.
type dueCall struct {
	asking

	due   *core.DueCall
	found []store.Parked
}

func (c *dueCall) act() error {
	if err := c.r.adopt(); err != nil {
		return err
	}
	if c.r.w.server.gone {
		return store.ErrNoSubscription
	}
	c.found = c.r.w.server.due(&c.due.Due)
	return nil
}

func (c *dueCall) answered(err error) {
	r := c.r
	r.w.tell(eventDue, r.number, int64(len(c.found)), bit(err != nil))
	for i := range c.found {
		r.means(r.w.message(&c.found[i].Record))
	}
	r.core.DueCame(r.now(), c.due, r.fault(err), c.found)
	r.carryOut()
}

func (c *dueCall) over() { c.r.w.rooms.dues.give(c) }

func (r *relay) tellPages(c *turnCall) {
	for i := range c.pages {
		p := &c.pages[i]
		if len(p.Records) > 0 {
			r.w.tellf("    relay %d has read messages %v", r.number, r.w.idsOf(p.Records))
		}
	}
}

func (w *world) idsOf(records []store.Record) []int {
	var out []int
	for i := range records {
		out = append(out, w.message(&records[i]).id)
	}
	return out
}
