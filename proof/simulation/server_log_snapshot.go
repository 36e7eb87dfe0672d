package simulation

import (
	"slices"

	"github.com/postbag/postbag/store"
	"github.com/postbag/postbag/store/sqlkit/snapshots"
)

// snapshotLog is a log as PostgreSQL keeps it. Its positions are those of pgstore:
// the very code.
type snapshotLog struct {
	rows

	server  *server
	xid     uint64 // the next one
	done    uint64 // the highest that ended
	open    []*transaction
	logged  int64 // seqs up to it are not given out again after a crash
	foreign int64 // see snapshots.Position.Base
	durable uint64
	file    int // of the sequence: another one once its numbering was begun again
}

// ahead is how many seqs PostgreSQL logs beforehand.
const ahead = 32

func newSnapshotLog(s *server, xid uint64) *snapshotLog {
	return &snapshotLog{server: s, xid: xid, done: xid - 1, durable: xid - 1}
}

func (l *snapshotLog) touch(t *transaction) {
	if t.xid == 0 {
		t.xid = l.xid
		l.xid++
		l.open = append(l.open, t)
	}
}

// savepoint gives a subtransaction its id.
func (l *snapshotLog) savepoint(t *transaction) {
	l.touch(t)
	t.subxids = l.xid
	l.xid++
}

func (l *snapshotLog) draw(t *transaction, m *message) {
	l.touch(t)
	l.last++
	if l.last > l.logged {
		l.logged = l.last + ahead
	}
	m.seq, m.xid = l.last, t.xid
}

func (l *snapshotLog) write(m *message) bool {
	l.put(m.seq, m)
	return true
}

// prepare logs the transaction, and so its id.
func (l *snapshotLog) prepare(t *transaction) bool {
	if t.xid != 0 {
		l.durable = max(l.durable, t.xid, t.subxids)
	}
	return t.xid != 0
}

func (l *snapshotLog) end(t *transaction, commit bool) {
	if t.xid == 0 {
		return
	}
	l.open = slices.DeleteFunc(l.open, func(o *transaction) bool { return o == t })
	l.done = max(l.done, t.xid, t.subxids)
	if commit {
		l.durable = max(l.durable, l.done)
	}
}

// bound reads the last seq and then gives a transaction an id, which proves a bound.
func (l *snapshotLog) bound(known *snapshots.Bounds) {
	last := l.last
	t := &transaction{}
	l.touch(t)
	l.end(t, true)
	known.Add(t.xid, last)
}

// snapshot is what pg_current_snapshot says: transactions beyond the highest that
// ended are not in its list, though they may run.
func (l *snapshotLog) snapshot() snapshots.Snapshot {
	s := snapshots.Snapshot{XMax: l.done + 1}
	for _, t := range l.open {
		if t.xid < s.XMax {
			s.Running = append(s.Running, snapshots.Runner{XID: t.xid})
		}
	}
	return s
}

// look tells the bounds of running transactions that have written nothing: what
// pgstore learns from pg_locks.
func (l *snapshotLog) look(known *snapshots.Bounds) {
	last := l.last
	for _, t := range l.open {
		if len(t.msgs) == 0 {
			known.Still(uint32(t.xid), last)
		}
	}
}

func decode(raw store.Position) snapshots.Position {
	p, err := snapshots.Decode(raw)
	if err != nil {
		panic("simulation: a position that was never given out: " + err.Error())
	}
	return p
}

func (l *snapshotLog) life(raw store.Position) (int64, bool) {
	p := &l.decode(raw).p
	return p.Life, p.Done != nil || p.To != nil
}

func (l *snapshotLog) floor(raw store.Position) int64 {
	p := decode(raw)
	return p.LowWatermark()
}

func (l *snapshotLog) behind(seq int64) store.Position {
	p := snapshots.Position{Floor: seq, Base: l.foreign}
	return p.Encode()
}

// windowReading reads in one statement.
type windowReading struct {
	l *snapshotLog
	q *store.Request
	v *view

	answer       store.Batch
	p            snapshots.Position // whose window is read
	whole        bool               // up to its end
	limit, bytes int
	msgs         []store.Record
	at           func(i int) store.Position
}

func (l *snapshotLog) reading(q *store.Request, v *view) reading {
	r := l.server.w.rooms.windows.take()
	*r = windowReading{l: l, q: q, v: v, limit: q.Limit, bytes: q.Bytes, msgs: r.msgs[:0], at: r.at}
	if r.at == nil {
		r.at = r.after
	}
	return r
}

func (r *windowReading) page() *store.Batch { return &r.answer }

func (r *windowReading) step() bool {
	l, q, p := r.l, r.q, &r.p
	*p = l.decode(q.From).p
	if q.Limit == 0 || q.Until != "" && q.Until == q.From {
		r.answer = store.Batch{Next: q.From, Whole: p.To == nil}
		return true
	}
	if p.Done == nil && p.To == nil {
		p.Base = l.foreign
	}
	p.Life = r.v.life
	var until *snapshots.Position
	if q.Until != "" {
		until = &l.decode(q.Until).p
		if !p.Towards(until) {
			r.answer = store.Batch{Next: q.From, Ahead: true}
			return true
		}
	}
	start := p.After
	if p.To == nil {
		start = p.Open(l.snapshot(), l.last, r.v.bounds)
	}
	to := min(p.Top, start+8*int64(q.Limit))
	after := to
	for seq := start + 1; seq <= to; seq++ {
		if m := l.at(seq); m != nil && l.news(p, m) && !r.take(m) {
			after = m.seq
			break
		}
	}
	r.end(after, until)
	return true
}

// news says that a row is one of the window's that the position has not passed: the
// condition of pgstore's page and poll.
func (l *snapshotLog) news(p *snapshots.Position, m *message) bool {
	if m.state != committed || !(m.seq <= p.Base && !runs(p.To, m.xid) || p.To.Sees(m.xid)) {
		return false
	}
	if p.Done == nil {
		return m.seq > p.Floor
	}
	return m.xid >= p.Done.XMax && m.seq > p.Done.Beyond || runs(p.Done, m.xid) && !p.Passed(m.xid, m.seq)
}

func runs(s *snapshots.Snapshot, xid uint64) bool {
	for i := range s.Running {
		if s.Running[i].XID == xid {
			return true
		}
	}
	return false
}

// take takes a row, and says whether there is room for another.
func (r *windowReading) take(m *message) bool {
	if !wants(r.q.Slots, m.slot) {
		return true
	}
	r.msgs = append(r.msgs, m.record())
	r.bytes -= m.size
	return len(r.msgs) < r.limit && r.bytes > 0
}

// end makes the page.
func (r *windowReading) end(after int64, until *snapshots.Position) {
	p, page := &r.p, &r.answer
	r.whole = after >= p.Top
	*page = store.Batch{Records: r.msgs, At: r.at}
	switch {
	case !r.whole:
		page.Next, page.More = p.At(after), true
	case until != nil && p.To.Same(until.Done):
		page.Next, page.Whole = r.q.Until, true
	default:
		end := p.Closed()
		page.Next, page.Whole = end.Encode(), true
		page.More = until != nil || r.l.last > p.Top
	}
}

// after is the position behind a message of the page.
func (r *windowReading) after(i int) store.Position {
	if r.whole && i == len(r.msgs)-1 {
		return r.answer.Next
	}
	return r.p.At(r.msgs[i].Seq)
}

// snapshotLens is a decoded position.
type snapshotLens struct {
	p         snapshots.Position
	low, high int64 // lowest, and at least as high as every seq that it has passed
}

func (l *snapshotLog) lens(raw store.Position) lens { return l.decode(raw) }

// decode decodes a position.
func (l *snapshotLog) decode(raw store.Position) *snapshotLens {
	return l.server.w.rooms.snapshots.of(raw, func(raw store.Position) snapshotLens {
		p := decode(raw)
		return snapshotLens{p, p.Lowest(), p.Reach()}
	})
}

func (l *snapshotLog) passes(sh *shard, position store.Position) (t store.Tally, back *message) {
	from, to := l.decode(sh.position), l.decode(position)
	for _, m := range l.between(min(from.low, to.low), max(from.high, to.high)) {
		if m != nil && m.state == committed && sh.has(m.slot) {
			differs(&t, &back, m, from.p.Passed(m.xid, m.seq), to.p.Passed(m.xid, m.seq))
		}
	}
	return t, back
}

func (s *snapshotLens) passed(m *message) bool { return s.p.Passed(m.xid, m.seq) }
func (s *snapshotLens) lowest() int64          { return s.low }

func (l *snapshotLog) save() logState { return logState{seq: l.logged, xid: l.durable + 1} }

// restore ends all open transactions but for the prepared ones. Ids that no commit made durable are given
// out again, and seqs as far as they were logged are not.
func (l *snapshotLog) restore(s logState) {
	l.lose()
	l.last, l.logged = s.seq, s.seq
	l.xid, l.done, l.durable = s.xid, s.xid-1, s.xid-1
	l.cut()
}

// lose forgets the transactions that the server has lost.
func (l *snapshotLog) lose() {
	l.open = slices.DeleteFunc(l.open, func(t *transaction) bool { return !t.prepared || t.gone })
}

// move makes the log one that was copied into another cluster, whose transaction
// ids begin elsewhere. It returns the position of every shard that had got to
// floor.
func (l *snapshotLog) move(xid uint64) {
	l.lose()
	l.xid, l.done, l.durable = xid, xid-1, xid-1
	l.foreign = l.last
	l.logged = l.last
	l.cut()
}
