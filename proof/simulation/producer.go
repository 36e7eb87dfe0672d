package simulation

import (
	"time"

	"github.com/postbag/postbag/proof/history"
)

// producers write messages in transactions, several at a time.
type producers struct {
	w       *world
	msgs    []*message // by id
	open    []*transaction
	held    []bool // keys whose order an open transaction holds
	commits int
	begun   int
	doubted int // commits whose outcome nobody told the producer
}

func (p *producers) begin(w *world) {
	*p = producers{w: w, msgs: p.msgs[:0], held: make([]bool, w.plan.keys+1)}
}

// done: all is written that is to be.
func (p *producers) done() bool { return len(p.msgs) >= p.w.plan.messages && len(p.open) == 0 }

func (p *producers) happen(what) { p.write() }

// write begins a transaction now and then, until there are enough messages.
func (p *producers) write() {
	w := p.w
	if len(p.msgs) >= w.plan.messages {
		return
	}
	w.schedule(time.Duration(w.below(200))*100*time.Microsecond, nil, p, 0)
	if len(p.open) > 0 && w.plan.store == Serial || len(p.open) >= 16 {
		return
	}
	p.begun++
	t := w.rooms.transactions.take()
	*t = transaction{p: p, number: p.begun, msgs: t.msgs[:0]}
	p.open = append(p.open, t)
	w.tell(eventBegin, t.number, 0, 0)
	if w.fault(Strangers, 30) {
		w.server.log.touch(t)
		w.schedule(time.Duration(w.below(5000))*time.Millisecond, nil, t, transactionEnds)
		return
	}
	if w.coin() {
		w.server.log.touch(t)
	}
	t.left, t.together = 1+w.below(4), w.coin()
	p.statement(t)
}

// What happens to a transaction of a producer.
const (
	transactionGoesOn what = iota
	transactionWrites
	transactionEnds
)

func (t *transaction) happen(as what) {
	switch as {
	case transactionGoesOn:
		t.p.statement(t)
	case transactionWrites:
		t.p.late(t)
	case transactionEnds:
		t.p.end(t)
	}
}

// statement writes messages, in one statement or in several, and then ends the
// transaction.
func (p *producers) statement(t *transaction) {
	w := p.w
	for t.left > 0 {
		if t.gone || w.fault(Deadlocks, 10) {
			p.finish(t, false)
			return
		}
		t.left--
		if m := p.message(t); m != nil {
			w.server.log.draw(t, m)
			m.stored = w.server.now()
			if w.plan.store == Ranges && w.below(4) == 3 { // the row comes later than its seq
				t.late = m
				w.schedule(p.patience(), nil, t, transactionWrites)
				return
			}
			p.row(t, m)
		}
		if !t.together && t.left > 0 {
			w.schedule(p.patience(), nil, t, transactionGoesOn)
			return
		}
	}
	if t.together && w.below(3) == 0 {
		p.end(t)
		return
	}
	w.schedule(p.patience(), nil, t, transactionEnds)
}

// late writes a row whose seq was drawn before.
func (p *producers) late(t *transaction) {
	if !t.gone {
		p.row(t, t.late)
	}
	p.statement(t)
}

// patience is how long a transaction waits between its statements.
func (p *producers) patience() time.Duration {
	w := p.w
	if w.fault(LongTransactions, 30) {
		return time.Duration(w.below(8000)) * time.Millisecond
	}
	return time.Duration(w.below(200)) * 100 * time.Microsecond
}

// message makes one; nil if its key's order is another's now.
func (p *producers) message(t *transaction) *message {
	w := p.w
	key := w.below(w.plan.keys + 1)
	mine := false
	for _, m := range t.msgs {
		mine = mine || m.key == key
	}
	if key != 0 && p.held[key] && !mine {
		return nil
	}
	p.held[key] = key != 0
	m, of := w.rooms.messages.take(), w.rooms.lines.take()
	*of = row{id: len(p.msgs) + 1, key: key, size: w.size(), by: t}
	*m = message{row: of, filtered: w.below(10) == 9}
	m.begun = w.instant()
	m.damaged = w.fault(Damage, 10)
	m.shifting = !m.filtered && w.fault(Filters, 50)
	m.sum = mixed(uint64(m.id) ^ w.options.Seed<<32)
	m.slot = slotOf(key, m.sum)
	m.topic = w.topicOf(m)
	m.typed = w.plan.faults.has(Retries | ScopedHolds)
	p.msgs = append(p.msgs, m)
	for _, a := range w.replays {
		a.mayReplay(m)
	}
	t.msgs = append(t.msgs, m)
	return m
}

// row writes a message's row. A seq under which a tombstone lies by now is
// exchanged for another, as the publisher does.
func (p *producers) row(t *transaction, m *message) {
	w := p.w
	for !w.server.log.write(m) {
		w.server.log.draw(t, m)
	}
	for _, a := range w.replays {
		a.asks(a.named(m.name()))
	}
	w.tell(eventInsert, t.number, int64(m.id), m.seq)
	if l, ok := w.server.log.(*snapshotLog); w.fault(Savepoints, 50) {
		if ok {
			l.savepoint(t)
		}
		m.state, m.takenBack = undone, true
	}
}

// end commits the transaction, or rolls it back.
func (p *producers) end(t *transaction) {
	w := p.w
	switch {
	case t.gone, w.fault(Rollbacks, 100):
		p.finish(t, false)
	case !t.prepared && w.fault(Prepared, 60) && w.server.log.prepare(t):
		t.prepared, t.preparedAt = true, w.instant()
		w.tell(eventPrepare, t.number, int64(t.xid), 0)
		w.schedule(time.Duration(w.below(15_000))*time.Millisecond, nil, t, transactionEnds)
	case w.fault(UnknownCommits, 50):
		p.doubted++
		p.finish(t, w.coin())
		t.fate = history.Unknown
	default:
		p.finish(t, true)
	}
}

// finish ends the transaction in the store, unless the server did.
func (p *producers) finish(t *transaction, commit bool) {
	w := p.w
	for i, o := range p.open {
		if o == t {
			p.open = append(p.open[:i], p.open[i+1:]...)
			break
		}
	}
	p.release(t)
	t.endBegun, t.ended, t.fate = w.instant(), true, history.RolledBack
	if t.gone {
		t.endAnswered = w.instant()
		return
	}
	if commit {
		p.commits++
		t.fate = history.Committed
	}
	for _, m := range t.msgs {
		switch {
		case m.state == undone:
		case commit:
			m.state, m.commit = committed, p.commits
		default:
			m.state = undone
		}
	}
	w.tell(eventEnd, t.number, bit(commit), int64(t.xid))
	w.server.log.end(t, commit)
	t.endAnswered = w.instant()
	w.server.dirty = true
	if commit && w.coin() {
		for _, r := range w.everyRelay() {
			w.schedule(0, r, r, relayHears)
		}
	}
}

func (p *producers) release(t *transaction) {
	for _, m := range t.msgs {
		p.held[m.key] = false
	}
}

// cut ends all open transactions, but for those that were prepared by a time: the
// server lost them.
func (p *producers) cut(prepared time.Duration) {
	for _, t := range p.open {
		if t.prepared && t.preparedAt <= prepared {
			continue
		}
		t.gone = true
		for _, m := range t.msgs {
			m.state = undone
		}
	}
}

func bit(b bool) int64 {
	if b {
		return 1
	}
	return 0
}

func mixed(z uint64) uint64 {
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

// smallest and largest are the least and the most that a message weighs.
const (
	smallest = 260
	largest  = 10 * (smallest + 100)
)

// size draws what a message weighs: a few weigh much more than the others.
func (w *world) size() int {
	n := smallest + w.below(100)
	if w.below(20) == 19 {
		n *= 10
	}
	return n
}
