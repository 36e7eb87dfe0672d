package simulation

import (
	"encoding/binary"
	"slices"
	"time"

	"github.com/postbag/postbag/store"
)

// rangeLog is a log as MySQL and MariaDB keep it: there are no snapshots, so that a
// position is the highest seq passed and those below it that are open. A seq is
// dead only once a tombstone lies under it. With serial there is one writer at a
// time, seqs that were rolled back are given out again, and nothing is ever open:
// SQLite.
type rangeLog struct {
	rows

	server *server
	serial bool

	incarnation int64 // how often it was emptied
}

// tombstone is what lies under a seq that nobody will write.
var tombstone = &message{row: &row{state: committed, slot: 1 << 16}, filtered: true}

func (l *rangeLog) touch(*transaction) {}

func (l *rangeLog) draw(_ *transaction, m *message) {
	l.last++
	m.seq = l.last
}

func (l *rangeLog) write(m *message) bool {
	if l.at(m.seq) == tombstone {
		return false
	}
	l.put(m.seq, m)
	return true
}

// prepare: SQLite has no second phase.
func (l *rangeLog) prepare(t *transaction) bool { return !l.serial && len(t.msgs) > 0 }

func (l *rangeLog) end(t *transaction, _ bool) {
	for _, m := range t.msgs {
		if m.state != committed && l.at(m.seq) == m {
			l.bySeq[m.seq-1] = nil
		}
	}
	for l.serial && l.last > 0 && l.at(l.last) == nil {
		l.last--
	}
}

// noPlace is the position that has passed nothing.
var noPlace place

// place is a decoded position.
type place struct {
	log        int64 // its incarnation
	life, high int64
	open       []int64 // below high, in order
}

func (p *place) encode() store.Position {
	var room [64]byte
	b := room[:0]
	b = binary.AppendUvarint(b, uint64(p.log))
	b = binary.AppendUvarint(b, uint64(p.life))
	b = binary.AppendUvarint(b, uint64(p.high))
	last := int64(0)
	for _, seq := range p.open {
		b = binary.AppendUvarint(b, uint64(seq-last))
		last = seq
	}
	return store.Position(b)
}

func decodePlace(raw store.Position) place {
	var room [64]byte
	b := append(room[:0], raw...)
	number := func() int64 {
		v, n := binary.Uvarint(b)
		b = b[max(n, 0):]
		return int64(v)
	}
	p := place{log: number(), life: number(), high: number()}
	if len(b) > 0 {
		p.open = make([]int64, 0, len(b))
	}
	for last := int64(0); len(b) > 0; {
		last += number()
		p.open = append(p.open, last)
	}
	return p
}

func (p *place) passed(m *message) bool {
	return m.seq <= p.high && !contains(p.open, m.seq)
}

func (p *place) lowest() int64 {
	if len(p.open) > 0 {
		return p.open[0] - 1
	}
	return p.high
}

func (l *rangeLog) passes(sh *shard, position store.Position) (t store.Tally, back *message) {
	from, to := l.place(sh.position), l.place(position)
	open, left := from.open, to.open
	first := min(from.lowest(), to.lowest())
	for i, m := range l.between(first, max(from.high, to.high)) {
		seq := first + int64(i) + 1
		was, is := seq <= from.high && !skip(&open, seq), seq <= to.high && !skip(&left, seq)
		if m != nil && m.state == committed && sh.has(m.slot) {
			differs(&t, &back, m, was, is)
		}
	}
	return t, back
}

// skip takes seq off the front of a list that has none lower, and says whether it
// was there.
func skip(open *[]int64, seq int64) bool {
	for len(*open) > 0 && (*open)[0] < seq {
		*open = (*open)[1:]
	}
	return len(*open) > 0 && (*open)[0] == seq
}

func contains(sorted []int64, seq int64) bool {
	_, found := slices.BinarySearch(sorted, seq)
	return found
}

// before says that end has passed all that p has.
func (p *place) before(end *place) bool {
	if p.high > end.high {
		return false
	}
	for _, seq := range end.open {
		if seq <= p.high && !contains(p.open, seq) {
			return false
		}
	}
	return true
}

func (l *rangeLog) lens(raw store.Position) lens {
	if l.otherNumbering(raw, nil) {
		return &noPlace
	}
	return l.place(raw)
}

// place decodes a position.
func (l *rangeLog) place(raw store.Position) *place {
	if raw == "" {
		return &noPlace
	}
	return l.server.w.rooms.places.of(raw, decodePlace)
}

func (l *rangeLog) life(raw store.Position) (int64, bool) {
	return l.place(raw).life, raw != ""
}

func (l *rangeLog) floor(raw store.Position) int64 {
	if l.serial { // whatever lies below is there, or will never be
		return l.place(raw).high
	}
	return l.place(raw).lowest()
}

func (l *rangeLog) behind(seq int64) store.Position {
	p := place{log: l.incarnation, life: l.server.life, high: seq}
	return p.encode()
}

// pageReading reads the page first, and then what is open: of two messages of a
// key, the second cannot be on the page without the first being visible after it.
type pageReading struct {
	l           *rangeLog
	q           *store.Request
	v           *view
	from, until place
	rows        []*message
	holes       []int64 // below the last row of the page
	more        bool
	asked       bool

	answer store.Batch
	msgs   []store.Record
	ats    []place
	at     func(i int) store.Position
}

func (l *rangeLog) reading(q *store.Request, v *view) reading {
	r := l.server.w.rooms.pages.take()
	*r = pageReading{l: l, q: q, v: v, from: *l.place(q.From), rows: r.rows[:0], holes: r.holes[:0], msgs: r.msgs[:0], ats: r.ats[:0], at: r.at}
	if r.at == nil {
		r.at = func(i int) store.Position { return r.ats[i].encode() }
	}
	r.from.life = v.life
	if q.From == "" {
		r.from.log = l.incarnation
	}
	r.answer = store.Batch{Next: q.From, Whole: true}
	if q.Until != "" {
		r.until = *l.place(q.Until)
		if !r.from.before(&r.until) {
			r.answer.Ahead = q.Until != q.From
			r.q = nil
		}
	}
	if q.Limit == 0 {
		r.q = nil
	}
	return r
}

func (r *pageReading) page() *store.Batch { return &r.answer }

func (r *pageReading) step() bool {
	if r.q == nil { // there is nothing to read
		return true
	}
	if !r.asked {
		r.asked = true
		r.readPage()
		return false
	}
	r.readOpen()
	return true
}

func (r *pageReading) readPage() {
	end := r.l.last
	if r.q.Until != "" {
		end = r.until.high
	}
	bytes := r.q.Bytes
	hole := r.from.high
	for seq := r.from.high + 1; seq <= end; seq++ {
		m := r.l.at(seq)
		if m == nil || m.state != committed || contains(r.until.open, seq) {
			continue
		}
		if len(r.rows) >= 2*r.q.Limit || bytes <= 0 {
			r.more = true
			return
		}
		for hole++; hole < seq; hole++ {
			r.holes = append(r.holes, hole)
		}
		r.rows = append(r.rows, m)
		if wants(r.q.Slots, m.slot) {
			bytes -= m.size
		}
	}
}

func (r *pageReading) readOpen() {
	p := r.from
	for i, seq := range r.from.open {
		m := r.l.at(seq)
		if m == nil || m.state != committed || contains(r.until.open, seq) {
			continue
		}
		at, _ := slices.BinarySearch(p.open, seq)
		p.open = r.l.concat(p.open[:at], r.from.open[i+1:])
		r.take(m, &p)
	}
	old, below := p.open, 0
	for _, m := range r.rows {
		seq := r.seqOf(m, p.high)
		p.high = seq
		if n, _ := slices.BinarySearch(r.holes, seq); n > below {
			p.open, below = r.l.concat(old, r.holes[:n]), n
		}
		r.take(m, &p)
	}
	r.end(p)
}

// take takes a message onto the page, and the position behind it.
func (r *pageReading) take(m *message, p *place) {
	if wants(r.q.Slots, m.slot) {
		r.msgs, r.ats = append(r.msgs, m.record()), append(r.ats, *p)
	}
}

// concat makes one list of two that nobody may change.
func (l *rangeLog) concat(a, b []int64) []int64 {
	out := l.server.w.rooms.seqs.take(len(a) + len(b))
	copy(out, a)
	copy(out[len(a):], b)
	return out
}

// seqOf is a row's own seq; a tombstone does not know it.
func (r *pageReading) seqOf(m *message, after int64) int64 {
	if m != tombstone {
		return m.seq
	}
	for after++; contains(r.holes, after) || contains(r.until.open, after); after++ {
	}
	return after
}

func (r *pageReading) end(p place) {
	r.v.graves.note(r.l.server.now(), r.q.Slots, p.open)
	next := p.encode()
	if q := r.q; q.Until != "" && p.high == r.until.high && slices.Equal(p.open, r.until.open) {
		next = q.Until
	} else if from := r.l.place(q.From); from.high == p.high && slices.Equal(from.open, p.open) {
		next = q.From
	}
	r.answer = store.Batch{Records: r.msgs, Next: next, More: r.more, Whole: true, At: r.at}
}

func (l *rangeLog) save() logState {
	last := l.last
	for last > 0 && (l.at(last) == nil || !l.at(last).durable()) {
		last--
	}
	return logState{seq: last}
}

// restore ends all open transactions but for the prepared ones. Seqs beyond the last
// that was committed or prepared are
// given out again.
func (l *rangeLog) restore(s logState) {
	l.last = s.seq
	l.cut()
	if int64(len(l.bySeq)) > l.last {
		clear(l.bySeq[l.last:])
		l.bySeq = l.bySeq[:l.last]
	}
}

// graves writes tombstones for one relay's store.
type graves struct {
	readers map[store.Slots][]int64
	since   map[int64]time.Duration
}

// grace is how long a seq must have been open.
const grace = 2 * time.Second

func newGraves() *graves {
	return &graves{readers: map[store.Slots][]int64{}, since: map[int64]time.Duration{}}
}

// note remembers what the position that a reader has reached leaves open.
func (g *graves) note(now time.Duration, slots []store.Slots, open []int64) {
	g.readers[slots[0]] = open
	for _, seq := range open {
		if _, known := g.since[seq]; !known {
			g.since[seq] = now
		}
	}
}

// bury writes a tombstone under each seq that was open for long and that nobody
// has written.
func (g *graves) bury(now time.Duration, l *rangeLog) {
	if len(g.since) == 0 {
		return
	}
	for _, seq := range sortedKeys(g.since) {
		open := false
		for _, reader := range g.readers {
			open = open || contains(reader, seq)
		}
		switch {
		case !open:
			delete(g.since, seq)
		case now-g.since[seq] >= grace && seq <= l.last && l.at(seq) == nil:
			l.put(seq, tombstone)
		}
	}
}

func sortedKeys(m map[int64]time.Duration) []int64 {
	keys := make([]int64, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}
