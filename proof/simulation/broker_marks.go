package simulation

import (
	"slices"
	"time"

	"github.com/postbag/postbag/broker"
)

// marks is the database of a handler: see package store, Inbox. It is another one than the
// box's, and what it has committed stays. So after a restore, a fail-over or a move of the
// box, and after its log was emptied, the marks are what keeps repeats out. (If it were the
// box's database, marks, effects and positions would go back together, and nothing would be
// sent that is marked.) The mark is the message's id, which is not given out twice.
type marks struct {
	w    *world
	of   map[int]*mark // by message
	open []*handled    // transactions that this server has not ended
}

// mark is the row by which a message is known.
type mark struct {
	holder  *handled   // the open transaction that wrote it
	applied bool       // it is committed
	waiting []*handled // those that want to write it, too
}

// away says that the handler's database cannot be reached. Where a broker asks to wait, it is
// something else that the handler needs which is away.
func (b *destination) away() bool {
	return b.down == broker.NotSent || b.down == broker.Unavailable && b.after == 0
}

// mark writes the mark of a transaction: it is fresh, or it is there, or another transaction
// that may commit or roll back has it.
func (k *marks) mark(t *handled) {
	w := k.w
	switch {
	case t.ended: // its connection is closed
		return
	case w.broker.away():
		t.ended = true
		t.hears(w.lag(), func() { t.fails(errorBroken) })
		return
	case w.fault(Deadlocks, 20):
		t.ended = true
		t.hears(w.lag(), func() { t.fails(errorAgain) })
		return
	}
	m := k.of[t.m.id]
	if m == nil {
		m = &mark{}
		k.of[t.m.id] = m
	}
	t.mark = m
	k.open = append(k.open, t)
	switch {
	case m.applied:
		k.known(t)
	case m.holder == nil:
		k.takes(t)
	default:
		m.waiting = append(m.waiting, t)
	}
}

// takes has a transaction write its mark.
func (k *marks) takes(t *handled) {
	t.mark.holder = t
	k.w.tell(eventMark, t.d.r.number, int64(t.m.id), 1)
	t.hears(k.w.lag(), func() { t.marked(true) })
}

// known tells a transaction that its mark is there. It has nothing to commit.
func (k *marks) known(t *handled) {
	k.forget(t)
	k.w.tell(eventMark, t.d.r.number, int64(t.m.id), 0)
	t.hears(k.w.lag(), func() { t.marked(false) })
}

// commit ends a transaction whose COMMIT has arrived: with its effect, unless it is over.
func (k *marks) commit(t *handled) {
	w := k.w
	switch {
	case t.ended:
		return // nobody is there who could hear of it: see hangUp
	case w.broker.away():
		k.rollBack(t)
		t.hears(w.lag(), func() { t.fails(errorUnknown) })
		return
	case w.fault(Deadlocks, 20):
		k.rollBack(t)
		t.hears(w.lag(), func() { t.fails(errorAgain) })
		return
	}
	m := t.mark
	k.forget(t)
	m.holder, m.applied = nil, true
	w.checkNewer(t.d, t.m)
	w.broker.store(t.d.r, t.m)
	for _, o := range m.waiting {
		k.known(o)
	}
	m.waiting = nil
	switch {
	case !w.fault(Lies, 20):
		t.hears(w.slowness(), t.committed)
	case w.coin(): // the connection breaks before the answer; or else there is none
		t.hears(w.lag(), func() { t.fails(errorUnknown) })
	}
}

// rollBack ends a transaction without effect. One of those that wait has the mark then.
func (k *marks) rollBack(t *handled) {
	if t.ended {
		return
	}
	k.forget(t)
	m := t.mark
	if m == nil { // its statement has not arrived, and never will
		return
	}
	m.waiting = slices.DeleteFunc(m.waiting, func(o *handled) bool { return o == t })
	if m.holder != t {
		return
	}
	k.w.tell(eventRollback, t.d.r.number, int64(t.m.id), 0)
	m.holder = nil
	if n := len(m.waiting); n > 0 {
		next := k.w.below(n)
		o := m.waiting[next]
		m.waiting = slices.Delete(m.waiting, next, next+1)
		k.takes(o)
	}
}

// forget ends a transaction, whatever it did.
func (k *marks) forget(t *handled) {
	t.ended = true
	k.open = slices.DeleteFunc(k.open, func(o *handled) bool { return o == t })
}

// hangUp has the server roll a transaction back when it notices that its connection is closed:
// soon, or only after some keep-alives. A COMMIT that is on its way may come before that.
func (k *marks) hangUp(t *handled) {
	if t.ended || t.hungUp {
		return
	}
	t.hungUp = true
	notices := k.w.lag()
	if !k.w.calm && k.w.below(4) == 3 {
		notices = time.Duration(k.w.below(10_000)) * time.Millisecond
	}
	k.w.after(notices, nil, func() { k.rollBack(t) })
}
