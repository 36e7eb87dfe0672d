package history

import (
	"cmp"
	"encoding/binary"
	"slices"
	"sort"
)

// memory is the check of a history in memory, with the room that it needs, for use again.
type memory struct {
	j       judge
	endings []ending
	msgs    []Message
	refs    []ref
	placed  []placed
	order   []*placed
	group   group
	inTx    inTransactions
	inTime  inTime
}

// ref names a record by the message that it is of.
type ref struct {
	hi, lo uint64 // the ID
	kind   kind
	at     int32 // its index in the records of its kind
}

// kind is the kind of a record. Those of one message are judged in this order.
type kind uint8

const (
	kindOutcome kind = iota + 1
	kindIntent
	kindCommand
	kindStored
	kindRefusal
	kindDelivery
	kindFault
	kindGap
	kindWatch
	kindEffect
)

func (c *memory) run(r *records, o Options) *Report {
	c.j.begin(o, r.faults)
	c.endTransactions(r)
	c.gather(r)
	c.judge(r)
	c.judgeOrder()
	return c.j.end(r.gaps, r.watches)
}

// endTransactions joins the outcomes of each transaction, and tells each message its fate.
func (c *memory) endTransactions(r *records) {
	slices.SortFunc(r.outcomes, func(a, b Outcome) int { return cmp.Compare(a.Tx, b.Tx) })
	c.endings = c.endings[:0]
	for i := range r.outcomes {
		o := &r.outcomes[i]
		if n := len(c.endings); n == 0 || c.endings[n-1].Tx != o.Tx {
			c.endings = append(c.endings, ending{})
		}
		c.endings[len(c.endings)-1].add(o)
	}
	for i := range c.endings {
		c.j.countEnd(&c.endings[i])
	}
	c.msgs = c.msgs[:0]
	for i := range r.intents {
		c.msgs = append(c.msgs, Message{Intent: r.intents[i]})
		m := &c.msgs[i]
		n := sort.Search(len(c.endings), func(n int) bool { return c.endings[n].Tx >= m.Tx })
		if n < len(c.endings) && c.endings[n].Tx == m.Tx {
			c.j.fate(m, &c.endings[n])
		}
	}
}

// gather brings the records of each message together.
func (c *memory) gather(r *records) {
	c.refs = c.refs[:0]
	for i := range r.intents {
		c.refer(&r.intents[i].ID, kindIntent, i)
	}
	for i := range r.commands {
		c.refer(&r.commands[i].ID, kindCommand, i)
	}
	for i := range r.stored {
		c.refer(&r.stored[i].ID, kindStored, i)
	}
	for i := range r.refusals {
		c.refer(&r.refusals[i].ID, kindRefusal, i)
	}
	for i := range r.deliveries {
		c.refer(&r.deliveries[i].ID, kindDelivery, i)
	}
	for i := range r.effects {
		c.refer(&r.effects[i].ID, kindEffect, i)
	}
	slices.SortFunc(c.refs, func(a, b ref) int {
		switch {
		case a.hi != b.hi:
			return cmp.Compare(a.hi, b.hi)
		case a.lo != b.lo:
			return cmp.Compare(a.lo, b.lo)
		case a.kind != b.kind:
			return cmp.Compare(a.kind, b.kind)
		}
		return cmp.Compare(a.at, b.at)
	})
}

func (c *memory) refer(id *ID, k kind, at int) {
	c.refs = append(c.refs, ref{hi: binary.BigEndian.Uint64(id[:8]), lo: binary.BigEndian.Uint64(id[8:]), kind: k, at: int32(at)})
}

// judge judges message by message.
func (c *memory) judge(r *records) {
	c.placed = c.placed[:0]
	g := &c.group
	g.j = &c.j
	for i, one := range c.refs {
		if i == 0 || one.hi != c.refs[i-1].hi || one.lo != c.refs[i-1].lo {
			c.finish(i > 0)
			var id ID
			binary.BigEndian.PutUint64(id[:8], one.hi)
			binary.BigEndian.PutUint64(id[8:], one.lo)
			g.start(id)
		}
		switch one.kind {
		case kindIntent:
			g.intend(&c.msgs[one.at])
		case kindCommand:
			g.order(&r.commands[one.at])
		case kindStored:
			g.hold(&r.stored[one.at])
		case kindRefusal:
			g.refuse(&r.refusals[one.at])
		case kindDelivery:
			g.deliver(&r.deliveries[one.at])
		case kindEffect:
			g.apply(&r.effects[one.at])
		default:
		}
	}
	c.finish(len(c.refs) > 0)
}

func (c *memory) finish(begun bool) {
	if begun {
		c.placed = append(c.placed, c.group.finish()...)
	}
}

// judgeOrder judges key by key.
func (c *memory) judgeOrder() {
	c.order = c.order[:0]
	for i := range c.placed {
		c.order = append(c.order, &c.placed[i])
	}
	slices.SortFunc(c.order, func(a, b *placed) int {
		return cmp.Or(cmp.Compare(a.of, b.of), cmp.Compare(a.Key, b.Key), cmp.Compare(a.Tx, b.Tx), cmp.Compare(a.Index, b.Index))
	})
	c.inTx.j, c.inTx.any = &c.j, false
	for _, m := range c.order {
		c.inTx.add(m)
	}
	slices.SortFunc(c.order, func(a, b *placed) int {
		return cmp.Or(
			cmp.Compare(a.of, b.of), cmp.Compare(a.Key, b.Key), cmp.Compare(a.Begin, b.Begin), cmp.Compare(a.Tx, b.Tx), cmp.Compare(a.Index, b.Index),
		)
	})
	c.inTime.j, c.inTime.any = &c.j, false
	for _, m := range c.order {
		c.inTime.add(m)
	}
}
