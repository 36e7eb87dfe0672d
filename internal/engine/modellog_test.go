package engine_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/postbag/postbag/internal/engine"
)

// The mini-world of the property test: a log, a store, a broker and relays, all
// in one goroutine under one clock and one source of chance. This is the log. It
// hands out seqs before commits, as databases do, and knows three kinds of
// position:
//
//   - snapshots: what was visible at a time, and in the middle of a window the
//     snapshot before, the one being read, and the last seq (PostgreSQL);
//   - gaps: a high seq and the ids below it that are not resolved (MySQL); two of
//     them may stand beside one another;
//   - serial: a seq, commits are in its order (SQLite).

type logKind int

const (
	snapshots logKind = iota
	gaps
	serial
)

type logMessage struct {
	seq      int64
	key      int // zero: none
	slot     int
	size     int
	sum      uint64
	filtered bool
	begin    int  // the clock of commits when its seq was given out
	commit   int  // its place in the order of commits; zero: not yet
	dead     bool // rolled back
	buried   bool // rolled back, and the store knows
}

func (m *logMessage) hash() uint64 {
	if m.key == 0 {
		return 0
	}
	return uint64(m.key)*7 + 1000
}

func (m *logMessage) message() engine.Message {
	return engine.Message{
		Seq: m.seq, Slot: m.slot, Key: m.hash(), Size: m.size, Sum: m.sum, Filtered: m.filtered, Tag: m.seq,
	}
}

// place is what a position means.
type place struct {
	whole bool
	a, b  int            // snapshots: done, being read (when not whole)
	after int64          // snapshots: the last seq in b; gaps and serial: the high seq
	open  map[int64]bool // gaps: not resolved, at or below after
}

type modelLog struct {
	kind     logKind
	restless bool // a read that finds nothing may still bring another position
	rng      *rand.Rand
	msgs     []*logMessage // by seq - 1
	commits  int
	places   map[string]place
	names    int
}

func newModelLog(kind logKind, rng *rand.Rand) *modelLog {
	return &modelLog{kind: kind, rng: rng, places: map[string]place{"": {whole: true}}}
}

// name gives a place a name that says nothing.
func (l *modelLog) name(p place) string {
	if l.kind != snapshots {
		for name, q := range l.places {
			if q.whole == p.whole && l.same(&q, &p) {
				return name
			}
		}
	}
	l.names++
	s := fmt.Sprintf("p%d", l.names)
	l.places[s] = p
	return s
}

func (l *modelLog) passed(p *place, m *logMessage) bool {
	switch {
	case m.commit == 0:
		return false
	case l.kind == snapshots:
		return m.commit <= p.a || !p.whole && m.commit <= p.b && m.seq <= p.after
	default:
		return m.seq <= p.after && !p.open[m.seq]
	}
}

// tick counts a transaction that writes no message.
func (l *modelLog) tick() { l.commits++ }

func (l *modelLog) committed() int {
	n := 0
	for _, m := range l.msgs {
		if m.commit > 0 {
			n++
		}
	}
	return n
}

// read answers a request as a store would.
func (l *modelLog) read(slots [][2]int, from, until string, limit, bytes int) engine.Page {
	p, ok := l.places[from]
	if !ok {
		panic("read from a position that was never given out: " + from)
	}
	var end *place
	if until != "" {
		e := l.places[until]
		if !e.whole {
			panic("Until is not where a window ends")
		}
		end = &e
		if !l.before(&p, end) {
			return engine.Page{Ahead: true}
		}
	}
	if limit == 0 {
		return engine.Page{Next: from}
	}
	r := &reading{log: l, slots: slots, limit: limit, bytes: bytes, from: from, until: until, end: end}
	if l.kind == snapshots {
		r.snapshots(p)
	} else {
		r.gaps(p)
	}
	return r.page
}

// before says that p lies before end.
func (l *modelLog) before(p, end *place) bool {
	if l.kind == snapshots {
		if p.whole {
			return p.a < end.a
		}
		return p.b <= end.a
	}
	if p.after > end.after {
		return false
	}
	for g := range end.open {
		if g <= p.after && !p.open[g] {
			return false
		}
	}
	return p.after < end.after || len(p.open) > len(end.open)
}

// reading is one read under way.
type reading struct {
	log          *modelLog
	slots        [][2]int
	limit, bytes int
	from, until  string
	end          *place
	scanned      int
	page         engine.Page
	ats          []place
}

// scan takes a row, and says whether there is room for another.
func (r *reading) scan(m *logMessage, at place) bool {
	if len(r.page.Messages) >= r.limit || r.bytes <= 0 || r.scanned >= 3*r.limit {
		return false
	}
	r.scanned++
	if slices.ContainsFunc(r.slots, func(s [2]int) bool { return m.slot >= s[0] && m.slot < s[1] }) {
		r.page.Messages = append(r.page.Messages, m.message())
		r.ats = append(r.ats, at)
		r.bytes -= m.size
	}
	return true
}

func (r *reading) finish(next place, more bool) {
	l := r.log
	ats := r.ats
	names := make([]string, len(ats))
	r.page.At = func(i int) string {
		if names[i] == "" {
			names[i] = l.name(ats[i])
		}
		return names[i]
	}
	r.page.More, r.page.Whole = more, next.whole
	switch {
	case r.end != nil && next.whole && r.log.same(&next, r.end):
		r.page.Next = r.until
	case len(ats) == 0 && r.scanned == 0 && !more && !l.restless && l.samePlace(r.from, &next):
		r.page.Next = r.from
	default:
		r.page.Next = l.name(next)
	}
}

func (l *modelLog) samePlace(name string, p *place) bool {
	q := l.places[name]
	return q.whole == p.whole && l.same(&q, p)
}

func (l *modelLog) same(p, q *place) bool {
	if l.kind == snapshots {
		return p.a == q.a
	}
	if p.after != q.after || len(p.open) != len(q.open) {
		return false
	}
	for g := range p.open {
		if !q.open[g] {
			return false
		}
	}
	return true
}

func (r *reading) snapshots(p place) {
	if p.whole {
		p = place{a: p.a, b: r.log.commits}
		if r.end != nil {
			p.b = r.end.a
		}
	}
	for seq := p.after + 1; seq <= int64(len(r.log.msgs)); seq++ {
		m := r.log.msgs[seq-1]
		if m.commit <= p.a || m.commit > p.b {
			continue
		}
		if !r.scan(m, place{a: p.a, b: p.b, after: seq}) {
			r.finish(p, true)
			return
		}
		p.after = seq
	}
	r.finish(place{whole: true, a: p.b}, false)
}

// gaps reads what was late first, then the page; serial has no gaps.
func (r *reading) gaps(p place) {
	high, unresolved := r.log.tracker()
	if r.end != nil {
		high, unresolved = r.end.after, r.end.open
	}
	open := map[int64]bool{}
	var late []int64
	for g := range p.open {
		if unresolved[g] {
			open[g] = true
		} else {
			late = append(late, g)
		}
	}
	slices.Sort(late)
	r.limit += len(late) // they come all
	r.bytes += math.MaxInt32
	for i, g := range late {
		left := map[int64]bool{}
		for o := range open {
			left[o] = true
		}
		for _, o := range late[i+1:] {
			left[o] = true
		}
		if m := r.log.msgs[g-1]; m.commit > 0 {
			r.scan(m, place{after: p.after, open: left})
		}
	}
	r.bytes -= math.MaxInt32
	at := place{after: p.after, open: open}
	for seq := p.after + 1; seq <= high; seq++ {
		next := place{after: seq, open: at.open}
		m := r.log.msgs[seq-1]
		if unresolved[seq] {
			next.open = map[int64]bool{seq: true}
			for o := range at.open {
				next.open[o] = true
			}
		} else if m.commit > 0 && !r.scan(m, next) {
			at.whole = r.log.kind == serial
			r.finish(at, true)
			return
		}
		at = next
	}
	at.whole = true
	r.finish(at, false)
}

// tracker returns the highest seq that can be seen, and the ids below it that
// may still appear.
func (l *modelLog) tracker() (high int64, unresolved map[int64]bool) {
	for _, m := range l.msgs {
		if m.commit > 0 {
			high = m.seq
		}
	}
	unresolved = map[int64]bool{}
	for _, m := range l.msgs[:high] {
		if m.dead && !m.buried {
			m.buried = l.rng.IntN(3) == 0
		}
		if m.commit == 0 && !m.buried {
			unresolved[m.seq] = true
		}
	}
	return high, unresolved
}
