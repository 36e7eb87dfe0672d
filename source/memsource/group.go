package memsource

import (
	"slices"
	"time"

	"github.com/postbag/postbag/source"
)

// group is what the broker knows of one reader. The broker's lock guards it.
type group struct {
	b          *Broker
	name       string
	members    []*Source
	parts      []*part
	deliveries map[uint64]*delivery // at work, or acked and not yet trimmed
	turn       int                  // how often partitions went round
}

// part is a partition, as one group sees it.
type part struct {
	index  int
	states []state // of the messages that the log holds
	first  uint64  // the offset of the first that is not acked
	owner  *Source // who has it, if there is an order
	epoch  uint64  // of the assignment
	cursor uint64  // what the assignment delivers next; without an order: nothing before it is free
	hold   time.Time
}

// state is a message, as one group sees it.
type state struct {
	acked     bool
	count     int
	out       *delivery // at work, or acked
	notBefore time.Time
}

type delivery struct {
	number, epoch, offset uint64
	part                  *part
	by                    *Source
	acked                 bool // also if the ack got lost
	deadline              time.Time
}

// group returns a group. A new one begins at the first message held.
func (b *Broker) group(name string) *group {
	g := b.groups[name]
	if g != nil {
		return g
	}
	g = &group{b: b, name: name, deliveries: map[uint64]*delivery{}}
	for i, l := range b.logs {
		g.parts = append(g.parts, &part{index: i, states: make([]state, len(l.held)), first: l.base, cursor: l.base})
	}
	b.groups[name] = g
	return g
}

func (g *group) ordered() bool { return g.b.options.Order != source.OrderNone }

func (g *group) log(p *part) *log { return g.b.logs[p.index] }

func (g *group) state(p *part, offset uint64) *state { return &p.states[offset-g.log(p).base] }

// join makes s a member, unless it is one.
func (g *group) join(s *Source) {
	if s.member {
		return
	}
	s.member = true
	g.b.epochs++
	s.session = g.b.epochs
	g.members = append(g.members, s)
	g.assign()
}

// leave takes everything from s, and the membership.
func (g *group) leave(s *Source) {
	if !s.member {
		return
	}
	g.disconnect(s)
	s.member = false
	g.members = slices.DeleteFunc(g.members, func(m *Source) bool { return m == s })
	g.assign()
}

// assign gives each partition its owner, if there is an order.
func (g *group) assign() {
	if g.ordered() {
		for i, p := range g.parts {
			var owner *Source
			if n := len(g.members); n > 0 {
				owner = g.members[(i+g.turn)%n]
			}
			if owner != p.owner {
				g.give(p, owner)
			}
		}
	}
	g.b.wake()
}

// give ends an assignment and begins another.
func (g *group) give(p *part, owner *Source) {
	l := g.log(p)
	if p.owner != nil {
		p.owner.lose(l.name)
	}
	gap := false
	for offset := p.first; offset < l.end(); offset++ {
		st := g.state(p, offset)
		g.takeBack(st)
		gap = gap || !st.acked
		if gap && g.b.options.Cumulative {
			st.acked = false
		}
	}
	g.b.epochs++
	p.owner, p.epoch, p.cursor = owner, g.b.epochs, p.first
}

// takeBack ends the delivery of a message. Its receipt means nothing any more.
func (g *group) takeBack(st *state) {
	d := st.out
	if d == nil {
		return
	}
	if !d.acked {
		d.by.atWork--
	}
	if !g.ordered() {
		d.by.back[d.number] = true
	}
	delete(g.deliveries, d.number)
	st.out = nil
	d.part.cursor = min(d.part.cursor, d.offset)
}

// disconnect takes back what s has, as when its connection ends. What it owns begins again,
// and without an order its session does.
func (g *group) disconnect(s *Source) {
	for _, p := range g.parts {
		if g.ordered() {
			if p.owner == s {
				g.give(p, s)
			}
			continue
		}
		for offset := p.first; offset < g.log(p).end(); offset++ {
			if st := g.state(p, offset); st.out != nil && st.out.by == s {
				g.takeBack(st)
			}
		}
		s.lose(g.log(p).name)
	}
	g.b.epochs++
	s.session = g.b.epochs
	clear(s.back)
	g.b.wake()
}

// expire takes back what was at work for too long, and returns when that happens next.
func (g *group) expire(now time.Time) (next time.Time) {
	if g.b.options.AckWait == 0 {
		return next
	}
	for _, d := range g.deliveries {
		switch {
		case d.acked || g.deliveries[d.number] == nil:
		case d.deadline.After(now):
			next = earlier(next, d.deadline)
		case g.ordered():
			g.give(d.part, d.part.owner)
		default:
			g.takeBack(g.state(d.part, d.offset))
		}
	}
	return next
}

// earlier returns the earlier of two times, of which the zero one is none.
func earlier(a, b time.Time) time.Time {
	if a.IsZero() || !b.IsZero() && b.Before(a) {
		return b
	}
	return a
}

// take delivers the message at an offset to s, as m.
func (g *group) take(s *Source, p *part, offset uint64, now time.Time, m *source.Message) {
	st := g.state(p, offset)
	st.count++
	g.b.number++
	d := &delivery{number: g.b.number, epoch: s.session, offset: offset, part: p, by: s}
	if g.ordered() {
		d.epoch = p.epoch
	}
	if g.b.options.AckWait > 0 {
		d.deadline = now.Add(g.b.options.AckWait)
	}
	st.out = d
	g.deliveries[d.number] = d
	s.atWork++
	s.told[g.log(p).name] = true
	m.Receipt = source.Receipt{Epoch: d.epoch, Number: d.number}
	if !g.b.options.NoCounts {
		m.Deliveries = st.count
	}
}

// ack notes that a message is done.
func (g *group) ack(d *delivery) {
	d.acked = true
	d.by.atWork--
	if g.b.losing {
		d.by.lostAcks = true
		return
	}
	p, l := d.part, g.log(d.part)
	g.state(p, d.offset).acked = true
	for p.first < l.end() && g.state(p, p.first).acked {
		p.first++
	}
	g.b.trim(p.index, false)
}

// trim forgets the first messages of a partition.
func (g *group) trim(p *part, n int) {
	for _, st := range p.states[:n] {
		if st.out != nil {
			delete(g.deliveries, st.out.number)
		}
	}
	p.states = slices.Delete(p.states, 0, n)
	p.cursor = max(p.cursor, g.log(p).base)
}
