package engine

import (
	"cmp"
	"slices"
)

// queue is a FIFO of entries that may be sent. An entry that is not ready any
// more when its turn comes is skipped.
type queue struct {
	items []*entry
	head  int
}

func (q *queue) push(e *entry) {
	if len(q.items) == cap(q.items) && q.head > len(q.items)/2 {
		n := copy(q.items, q.items[q.head:])
		clear(q.items[n:])
		q.items, q.head = q.items[:n], 0
	}
	q.items = append(q.items, e)
}

// peek returns the first entry, or nil.
func (q *queue) peek() *entry {
	for q.head < len(q.items) {
		if e := q.items[q.head]; e.ready() {
			return e
		}
		q.drop()
	}
	return nil
}

// pop takes the first entry out, or returns nil.
func (q *queue) pop() *entry {
	e := q.peek()
	if e != nil {
		q.drop()
	}
	return e
}

func (q *queue) drop() {
	q.items[q.head] = nil
	if q.head++; q.head == len(q.items) {
		q.items, q.head = q.items[:0], 0
	}
}

// remove takes e out, wherever it is.
func (q *queue) remove(e *entry) {
	for i := q.head; i < len(q.items); i++ {
		if q.items[i] == e {
			q.items = append(q.items[:i], q.items[i+1:]...)
			return
		}
	}
}

func (q *queue) empty() bool { return q.peek() == nil }

// each calls do for all that may be in it.
func (q *queue) each(do func(*entry)) {
	for _, e := range q.items[q.head:] {
		do(e)
	}
}

// sendable returns the messages of that kind that are in a queue of the flow: those of windows,
// and then those of the parking lot.
func (f *Flow) sendable(which func(*entry) bool) []*entry {
	var found []*entry
	look := func(e *entry) {
		if e.ready() && which(e) {
			found = append(found, e)
		}
	}
	for _, l := range f.groups {
		l.each(look)
	}
	windows := len(found)
	for _, e := range f.hand {
		look(e)
	}
	slices.SortFunc(found[windows:], func(a, b *entry) int { return cmp.Compare(a.Seq, b.Seq) })
	return found
}

// lineup is the queue of what was never sent, see enqueue. Messages come in the sequence
// in which they were read. One that waited for another of its key has its place back:
// it goes before those that were read after it. Otherwise later messages would go
// first, be accepted, and wait for it with all of InFlight.
type lineup struct {
	queue

	waited queue   // in ascending seqs
	late   byPlace // those that would not ascend
	last   int64   // the seq that waited ends with
	from   origin  // of what peek returned
	turn   bool    // what was taken last had waited
}

// origin is a part of a lineup.
type origin uint8

const (
	fromRead origin = iota
	fromWaited
	fromLate
)

// rejoin puts e back to its place.
func (l *lineup) rejoin(e *entry) {
	if e.Seq > l.last || l.waited.empty() {
		l.last = e.Seq
		l.waited.push(e)
		return
	}
	l.late.push(e)
}

// peek returns the first entry, or nil. Places in different groups do not compare: they
// take turns.
func (l *lineup) peek() *entry {
	e := l.queue.peek()
	l.from = fromRead
	if len(l.waited.items) == 0 && len(l.late) == 0 {
		return e
	}
	w, from := l.waited.peek(), fromWaited
	if late := l.late.peek(); late != nil && (w == nil || late.Seq < w.Seq) {
		w, from = late, fromLate
	}
	switch {
	case w == nil:
		return e
	case e == nil,
		e.shard.group == w.shard.group && w.Seq < e.Seq,
		e.shard.group != w.shard.group && !l.turn:
		l.from = from
		return w
	default:
		return e
	}
}

// drop takes out what peek returned.
func (l *lineup) drop() {
	l.turn = l.from != fromRead
	switch l.from {
	case fromWaited:
		l.waited.drop()
	case fromLate:
		l.late.drop()
	default:
		l.queue.drop()
	}
}

// pop takes the first entry out, or returns nil.
func (l *lineup) pop() *entry {
	e := l.peek()
	if e != nil {
		l.drop()
	}
	return e
}

func (l *lineup) empty() bool { return l.peek() == nil }

// each calls do for all that may be in it.
func (l *lineup) each(do func(*entry)) {
	l.queue.each(do)
	l.waited.each(do)
	for _, e := range l.late {
		do(e)
	}
}

// byPlace is a heap of entries by their seq, the smallest first.
type byPlace []*entry

func (h *byPlace) push(e *entry) {
	*h = append(*h, e)
	all := *h
	for i := len(all) - 1; i > 0; {
		parent := (i - 1) / 2
		if all[parent].Seq <= e.Seq {
			return
		}
		all[i], all[parent] = all[parent], e
		i = parent
	}
}

// peek returns the first entry, or nil.
func (h *byPlace) peek() *entry {
	for len(*h) > 0 {
		if e := (*h)[0]; e.ready() {
			return e
		}
		h.drop()
	}
	return nil
}

func (h *byPlace) drop() {
	all := *h
	n := len(all) - 1
	e := all[n]
	all[n] = nil
	all = all[:n]
	*h = all
	for i := 0; n > 0; {
		child := 2*i + 1
		if child+1 < n && all[child+1].Seq < all[child].Seq {
			child++
		}
		if child >= n || all[child].Seq >= e.Seq {
			all[i] = e
			return
		}
		all[i] = all[child]
		i = child
	}
}
