package simulation

import (
	"errors"
	"time"

	"github.com/postbag/postbag/internal/engine"
	"github.com/postbag/postbag/store"
)

// turnCall is a try of a turn: the relay's side, and the store's.
type turnCall struct {
	asking

	turn       engine.Turn
	generation int

	// Of the store's side.
	life     int64
	step     int
	last     int64       // the last seq, read before the settlement's transaction got its id
	own      transaction // of the settlement
	tx       *transaction
	verdicts []store.Verdict
	pages    []engine.Page
	reading  reading
	slots    [][2]int
	commands []engine.Command
	nextDue  time.Duration
	epoch    int64
	timeline int64
}

// What else happens to a turn that is made in several steps.
const (
	turnStep what = iota
	turnStepped
)

// canTurn says that a turn may be made.
func (r *relay) canTurn(now time.Duration) bool {
	return !r.turning && !r.checking && now >= r.retryAt
}

// turn makes a round if the flow has something for it, or it is time to look.
func (r *relay) turn(now time.Duration) {
	if !r.canTurn(now) {
		return
	}
	if r.doubted() {
		r.recheck()
		return
	}
	var t engine.Turn
	if c := r.repeat; c != nil {
		t, r.repeat = c.turn, nil
	} else {
		t = r.flow.Turn(now)
		if t.Empty() && now < r.nextLook {
			return
		}
		r.transactionsSettle(&t)
	}
	r.turning = true
	r.worked++
	r.w.counts.Turns++
	r.turns++
	r.try(t)
}

// try makes a turn, or makes it once more.
func (r *relay) try(t engine.Turn) {
	w := r.w
	c := w.rooms.turns.take()
	*c = turnCall{turn: t, generation: r.generation, verdicts: c.verdicts[:0], pages: c.pages[:0], slots: c.slots[:0]}
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

func (c *turnCall) over() {
	if c.r.repeat != c { // which may be made again
		c.r.w.rooms.turns.give(c)
	}
}

// about lists the slots that the turn asks the due time and the commands of.
func (c *turnCall) about() {
	for i := range c.turn.Settle {
		c.slots = append(c.slots, [2]int{c.turn.Settle[i].Lo, c.turn.Settle[i].Hi})
	}
	for i := range c.turn.Read {
		c.slots = append(c.slots, c.turn.Read[i].Slots...)
	}
}

// next does the store's next statement, and says whether it was the last.
func (c *turnCall) next() (done bool, err error) {
	s, v := c.r.w.server, &c.r.view
	if c.step > 0 && (c.life != s.life || c.tx != nil && c.tx.gone) {
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

// hit says that the settlement wrote something.
func (c *turnCall) hit() bool {
	for _, v := range c.verdicts {
		if v.Applied {
			return true
		}
	}
	return false
}

// known makes sure that all positions are of this life, or settled.
func (c *turnCall) known() error {
	s := c.r.w.server
	for i := range c.turn.Settle {
		if err := s.known(c.turn.Settle[i].To); err != nil {
			return err
		}
	}
	for i := range c.turn.Read {
		q := &c.turn.Read[i]
		if err := errors.Join(s.known(q.From), s.known(q.Until)); err != nil {
			return errRestarted
		}
	}
	return nil
}

func (c *turnCall) settle() {
	s := c.r.w.server
	for i := range c.turn.Settle {
		c.verdicts = append(c.verdicts, s.settle(c.r, &c.turn.Settle[i]))
	}
	s.log.end(c.tx, true)
}

// read answers the next request, or does a part of it.
func (c *turnCall) read() error {
	w := c.r.w
	q := &c.turn.Read[len(c.pages)]
	if c.reading == nil {
		if w.fault(BadReads, 20) {
			c.pages = append(c.pages, engine.Page{Failed: true})
			return nil
		}
		if l, ok := w.server.log.(*snapshotLog); ok && q.Limit > 0 && q.Until == "" && c.r.view.bounds.Wanted(len(c.turn.Settle) > 0) {
			l.bound(c.r.view.bounds)
		}
		if w.server.renumbered(q, &c.r.view) {
			return errMoved
		}
		c.reading = w.server.log.reading(q, &c.r.view)
	}
	if c.reading.step() {
		p := c.reading.page()
		c.pages = append(c.pages, *p)
		c.reading = nil
		w.tell(eventRead, c.r.number, int64(len(p.Messages)), bit(p.More))
	}
	return nil
}

func (c *turnCall) finish() {
	s := c.r.w.server
	c.commands, c.nextDue, c.epoch = s.waiting(c.slots), s.nextDue(c.slots), s.epoch
	c.timeline = s.timeline
}

// landed hands the answer to the flow.
func (r *relay) landed(c *turnCall, err error) {
	r.turning = false
	r.nextLook = r.now() + r.lookPause()
	if c.generation != r.generation {
		return
	}
	switch {
	case errors.Is(err, errMoved), errors.Is(err, errRestarted):
		r.storeMoved(askTurn)
		r.restart()
		return
	case err != nil:
		r.repeat = c
		r.storeFailed(askTurn, err)
		return
	}
	r.storeWorks(askTurn)
	now := r.now()
	if r.life != 0 && r.life != c.timeline {
		r.restart()
		return
	}
	r.life = c.timeline
	if c.epoch != r.epoch {
		r.nextBeat = 0
	}
	for i := range c.verdicts {
		r.transactionSettled(&c.turn.Settle[i], &c.verdicts[i], c.life == r.w.server.life)
		if t := &c.turn.Settle[i]; !c.verdicts[i].Applied {
			r.let(t.Lo, t.Hi)
			r.nextBeat = 0
		}
	}
	if r.w.trace.out != nil {
		r.tellPages(c)
	}
	r.hasRead(c)
	if c.turn.Empty() {
		return
	}
	r.flow.Landed(now, c.verdicts, c.pages)
	r.flow.NextDue(now, c.nextDue)
	r.flow.Commands(now, c.commands)
}

func (r *relay) canAskLot() bool { return !r.checking && r.faults == 0 }

// due fetches parked messages that can be tried.
func (r *relay) due(now time.Duration) {
	if !r.canAskLot() {
		return
	}
	if d, ok := r.flow.Due(now); ok {
		r.askDue(d)
	}
}

func (r *relay) askDue(d engine.DueRequest) {
	r.worked++
	c := r.w.rooms.dues.take()
	*c = dueCall{request: d, generation: r.generation, found: c.found[:0]}
	r.ask(&c.asking, c, storeTimeout)
}

// dueCall fetches parked messages.
type dueCall struct {
	asking

	request    engine.DueRequest
	generation int
	found      []engine.DueMessage
}

func (c *dueCall) act() error {
	if err := c.r.adopt(); err != nil {
		return err
	}
	c.found = c.r.w.server.due(&c.request, c.found)
	return nil
}

func (c *dueCall) answered(err error) {
	r := c.r
	r.w.tell(eventDue, r.number, int64(len(c.found)), bit(err != nil))
	switch {
	case err != nil:
		r.flow.DueFailed(r.now())
		if c.generation == r.generation {
			r.storeFailed(askMore, err)
		}
	case c.generation != r.generation:
		r.flow.DueFailed(r.now())
	default:
		for i := range c.found {
			r.means(of(c.found[i].Tag))
		}
		r.flow.DueLanded(r.now(), c.found)
	}
}

func (c *dueCall) over() { c.r.w.rooms.dues.give(c) }

func (r *relay) tellPages(c *turnCall) {
	for i := range c.pages {
		p := &c.pages[i]
		if len(p.Messages) > 0 {
			r.w.tellf("    relay %d has read messages %v", r.number, idsOf(p.Messages))
		}
	}
}

func idsOf(msgs []engine.Message) []int {
	var out []int
	for i := range msgs {
		out = append(out, of(msgs[i].Tag).id)
	}
	return out
}

// of is the message that a tag is.
func of(tag any) *message { return tag.(*message) } //nolint:forcetypeassert,errcheck // see message.engine
