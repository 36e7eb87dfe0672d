package history

import (
	"fmt"
	"time"
)

// group judges all that is recorded of one message: start, then the records in the order of the methods, then finish.
type group struct {
	j *judge

	id         ID
	intended   bool
	message    Message
	removal    Command // the earliest command that removes it
	removals   int
	stored     Stored
	held       bool
	sightings  int // of its attempts
	attempts   int // the most
	refusals   int
	deliveries int
	first      Delivery
	again      []Delivery // the others
	effects    []Effect
	placed     []placed // what finish returned
}

// placed is a message in the order of its key.
type placed struct {
	Message

	of    Promise  // Order, or Applied: then first is its effect
	first Delivery // if it stands somewhere
	stand stand
	gone  time.Duration // when the command for its removal was given
}

// stand is how a message stands in its key.
type stand uint8

const (
	there   stand = iota // it was delivered
	waiting              // it was not, and may be yet
	removed              // it was not before an operator removed it
)

func (g *group) start(id ID) {
	g.id, g.intended, g.held, g.stored = id, false, false, Stored{}
	g.removals, g.refusals, g.deliveries, g.sightings, g.attempts = 0, 0, 0, 0, 0
	g.again, g.effects = g.again[:0], g.effects[:0]
}

func (g *group) intend(m *Message) {
	if g.j.o.Wants != nil && !g.j.o.Wants(&m.Intent) {
		return
	}
	g.j.saw(Sound)
	if g.intended {
		if e := g.j.breach(Sound); e != nil {
			e.Why, e.Messages = "two messages have one id", []Message{g.message, *m}
		}
		return
	}
	g.intended, g.message = true, *m
}

func (g *group) order(c *Command) {
	if c.What == Retry || !g.j.mine(c.Subscription) {
		return
	}
	if g.removals == 0 || g.removal.Unknown && !c.Unknown || g.removal.Unknown == c.Unknown && c.Begin < g.removal.Begin {
		g.removal = *c
	}
	g.removals++
}

func (g *group) hold(s *Stored) {
	if !g.j.mine(s.Subscription) {
		return
	}
	g.sightings++
	g.attempts = max(g.attempts, s.Attempts)
	if s.State != Absent || !g.held {
		g.stored, g.held = *s, s.State != Absent
	}
}

func (g *group) refuse(r *Refusal) {
	if g.j.mine(r.Subscription) {
		g.refusals++
	}
}

func (g *group) deliver(d *Delivery) {
	if !g.j.mine(d.Subscription) {
		return
	}
	g.deliveries++
	g.j.saw(Duplicates)
	if g.deliveries == 1 {
		g.first = *d
		return
	}
	again := *d
	if earlier(d, &g.first) {
		again, g.first = g.first, *d
	}
	g.spread(&again)
	g.again = append(g.again, again)
	g.check(&again)
}

// earlier says whether a was stored before b: by their positions where these can be compared, and else by time.
func earlier(a, b *Delivery) bool {
	if a.Place == b.Place {
		return a.Position < b.Position
	}
	if a.To != b.To && a.To != 0 && b.To != 0 {
		return a.To < b.To
	}
	return a.Place < b.Place
}

// spread judges whether what came again lies where it lay first.
func (g *group) spread(again *Delivery) {
	j := g.j
	if again.Key == "" || j.o.Unordered {
		return
	}
	if j.saw(Order); again.Place == g.first.Place {
		return
	}
	j.counts[Order][spread]++
	if e := j.breach(Order); e != nil {
		e.Why, e.Deliveries = "a message lies in two places, so that its key has no order", []Delivery{g.first, *again}
	}
}

func (g *group) duplicate(again *Delivery) {
	j := g.j
	j.counts[Duplicates][repeated]++
	why := "no fault explains a duplicate"
	switch {
	case j.o.ExactlyOnce:
		why = "a duplicate, where each message is promised exactly once"
	case again.To == 0:
		j.counts[Duplicates][timeless]++
		return
	case j.faults.explain(again.From, again.To), j.doubted(&g.first, again):
		return
	}
	if e := j.breach(Duplicates); e != nil {
		e.Why, e.Deliveries = why, []Delivery{g.first, *again}
		e.Messages = g.messages()
	}
}

// doubted says whether a fault came while a message that was stored had not been settled yet, so that it is sent again, however long
// it waits for that behind others of its key.
func (j *judge) doubted(first, again *Delivery) bool {
	return first.To != 0 && j.faults.explain(first.From, min(again.To, after(first.To, j.o.Slack)))
}

// check compares a delivery with what was published.
func (g *group) check(d *Delivery) {
	j := g.j
	if !g.intended {
		return
	}
	m := &g.message
	if j.saw(Bytes); m.Payload == (Hash{}) || d.Payload == (Hash{}) {
		j.counts[Bytes][unrecorded]++
	} else if m.Payload != d.Payload {
		g.breach(Bytes, "the payload is not what was published", d)
	}
	if m.Key != d.Key {
		g.breach(Bytes, "the key is not what was published", d)
	}
	if m.Due > 0 && d.To != 0 {
		if j.saw(Schedule); d.To < m.Due {
			g.breach(Schedule, fmt.Sprintf("delivered %v before it was due", m.Due-d.To), d)
		}
	}
}

func (g *group) breach(p Promise, why string, d *Delivery) {
	if e := g.j.breach(p); e != nil {
		e.Why, e.Messages, e.Deliveries = why, g.messages(), []Delivery{*d}
	}
}

func (g *group) messages() []Message {
	if !g.intended {
		return nil
	}
	return []Message{g.message}
}

// finish judges what is judged of the message as a whole. It returns how it stands in the orders of its key: in the broker, and among
// the effects. What it returns is good until it is called again.
func (g *group) finish() []placed {
	g.placed = g.placed[:0]
	if p, ordered := g.stands(); ordered {
		g.placed = append(g.placed, p)
	}
	if p, ordered := g.applied(); ordered {
		g.placed = append(g.placed, p)
	}
	return g.placed
}

// stands judges what was delivered of the message. It returns how it stands in the order of its key in the broker, if it does.
func (g *group) stands() (p placed, ordered bool) {
	for i := range g.again {
		g.duplicate(&g.again[i])
	}
	if g.deliveries > 0 {
		g.check(&g.first)
		g.phantom()
	}
	if !g.intended || g.j.o.Unread {
		return p, false
	}
	if g.deliveries == 0 {
		g.withheld()
	}
	g.judgeAttempts()
	p = placed{Message: g.message, of: Order, first: g.first, stand: there}
	p.Payload, p.first.Payload = Hash{}, Hash{} // the order has no need of them
	switch {
	case g.message.Fate == RolledBack:
		if g.held {
			g.ghost()
		}
		return p, false
	case g.deliveries > 0:
		g.arrived()
		if g.removals > 0 && (g.first.To == 0 || g.first.To >= g.removal.Begin) {
			p.stand, p.gone = removed, g.removal.Begin // its key was free to go on, and this is a late echo
		}
	case g.message.Fate == Unknown && !g.held:
		return p, false
	default:
		if p.stand, ordered = g.absent(); !ordered {
			return p, false
		}
		p.gone = g.removal.Begin
	}
	o := &g.j.o
	ordered = p.Key != "" && p.Due == 0 && !o.Unordered && (!o.Skip || !p.Poison && !g.held && g.refusals == 0)
	return p, ordered && (o.Unseen == nil || !o.Unseen(g.id))
}

// withheld counts what was not delivered as what could have been delivered wrongly.
func (g *group) withheld() {
	if g.message.Fate == RolledBack || g.cancelled() {
		g.j.saw(Phantom)
	}
	if g.message.Fate == Committed && g.message.Due > 0 {
		g.j.saw(Schedule)
	}
}

// cancelled says whether the message must not arrive, by a command that was answered.
func (g *group) cancelled() bool {
	return g.removals > 0 && g.removal.What == Cancel && !g.removal.Unknown
}

// phantom judges whether what was delivered was committed.
func (g *group) phantom() {
	j := g.j
	j.saw(Phantom)
	c, m := &j.counts[Phantom], &g.message
	switch {
	case !g.intended:
		c[unpublished]++
		g.breach(Phantom, "delivered, and never published", &g.first)
	case m.Fate == RolledBack:
		c[rolledBack]++
		g.breach(Phantom, "delivered, and its transaction rolled back", &g.first)
	case g.cancelled():
		c[wasRemoved]++
		if e := j.breach(Phantom); e != nil {
			e.Why, e.Messages, e.Deliveries = "delivered, and it was cancelled", g.messages(), []Delivery{g.first}
			e.Commands = []Command{g.removal}
		}
	case m.Fate == Unknown:
		c[ofUnknown]++
	}
}

// ghost is what the store holds of a transaction that rolled back.
func (g *group) ghost() {
	if e := g.j.breach(Phantom); e != nil {
		e.Why, e.Messages, e.Stored = "in the store, and its transaction rolled back", g.messages(), clone(&g.stored)
	}
}

func (g *group) judgeAttempts() {
	if g.sightings == 0 {
		return
	}
	j := g.j
	if g.message.Poison {
		j.counts[Attempts][alwaysRefused]++
		return
	}
	j.saw(Attempts)
	j.counts[Attempts][refusals] += g.refusals
	if g.attempts <= g.refusals {
		return
	}
	if e := j.breach(Attempts); e != nil {
		e.Why = fmt.Sprintf("the destination refused it %d times, and %d attempts count against it", g.refusals, g.attempts)
		e.Messages, e.Stored = g.messages(), clone(&g.stored)
	}
}

// arrived counts a message that was published and delivered.
func (g *group) arrived() {
	j, m := g.j, &g.message
	if m.Fate != Committed {
		return
	}
	j.saw(Lost)
	j.counts[Lost][delivered]++
	if !g.mayPend() && g.removals == 0 {
		j.saw(Rest)
	}
	hindered := g.held || g.refusals > 0 || g.removals > 0 || m.Poison || m.Due > 0
	if !hindered && g.first.To != 0 && len(j.faults.stops) > 0 {
		j.faults.resume(m.CommitEnd, &g.first)
	}
}

// absent judges a message that was not delivered: it is lost, or returns how it stands.
func (g *group) absent() (stand, bool) {
	j := g.j
	j.saw(Lost)
	c := &j.counts[Lost]
	switch {
	case g.removals > 0:
		c[excused]++
		return removed, true
	case g.held:
		c[excused]++
		g.pending(&g.stored)
		return waiting, true
	}
	found, looked := g.lookup()
	switch {
	case found.Broker:
		c[missed]++
		return there, false
	case found.State != Absent:
		c[excused]++
		g.pending(&Stored{ID: g.id, State: found.State})
		return waiting, true
	case !looked:
		c[notLooked]++
		g.lost("committed and not delivered", nil)
	default:
		g.lost("committed, not delivered, and nowhere to be found", &found)
	}
	return there, false
}

func (g *group) lost(why string, found *Found) {
	e := g.j.breach(Lost)
	if e == nil {
		return
	}
	e.Why, e.Messages = why, g.messages()
	if found != nil {
		e.Found = clone(found)
	}
}

func (g *group) lookup() (found Found, looked bool) {
	j := g.j
	if j.o.Lookup == nil || j.lookups == 0 {
		return found, false
	}
	j.lookups--
	return j.o.Lookup(g.id), true
}

// pending judges what the store still holds.
func (g *group) pending(s *Stored) {
	j := g.j
	may := g.mayPend()
	if !may {
		j.saw(Rest)
	}
	if s.State != Pending {
		j.counts[Rest][parked]++
		return
	}
	if may {
		return
	}
	if e := j.breach(Rest); e != nil {
		e.Why, e.Messages, e.Stored = "committed, and still to be sent", g.messages(), clone(s)
	}
}

// mayPend says whether the message may be waiting in the store when it is judged.
func (g *group) mayPend() bool {
	return g.j.o.MayPend || g.message.Due > 0 && g.message.Due >= g.j.o.Ended
}
