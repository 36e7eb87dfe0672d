package simulation

import "time"

// agenda is what may happen. An event can happen from its time on, and which one
// of those does is drawn: two that wait for nothing but their time come in any
// order, and one may wait long after it could have come.
type agenda struct {
	later  heap
	ready  []int32 // in the order in which they became so
	events []event // that later and ready name by their place
	free   []int32 // places that name none
	n      int64
}

// event is something that happens to somebody.
type event struct {
	// who is the process in which it happens: it waits while that is stopped.
	who *relay
	// to happens as, of all that can happen to it.
	to happening
	as what
}

// happening is what something happens to: a call under way, a process, or whatever
// else there is. What happens often is not a function, so that it takes no memory.
type happening interface {
	happen(as what)
}

// what says which of the things happens that can happen to one.
type what uint8

// doing is a function that is carried out.
type doing func()

func (d doing) happen(what) { d() }

func (a *agenda) add(at time.Duration, e event) {
	a.n++
	place := int32(len(a.events))
	if n := len(a.free); n > 0 {
		place = a.free[n-1]
		a.free = a.free[:n-1]
		a.events[place] = e
	} else {
		a.events = append(a.events, e)
	}
	a.later.push(entry{at, a.n, place})
}

// next takes the next event out, by chance, and returns the time at which it
// happens. There is none if it happens to nothing. The timers of relays are among
// what may happen.
func (a *agenda) next(now time.Duration, c *chance, relays []*relay) (time.Duration, event) {
	if len(a.ready) == 0 {
		first, some := a.first(relays)
		if !some {
			return now, event{}
		}
		now = max(now, first)
	}
	for len(a.later) > 0 && a.later[0].at <= now {
		a.ready = append(a.ready, a.later.pop().place)
	}
	rings := 0
	for _, r := range relays {
		rings += int(bit(r.rings(now)))
	}
	i := c.below(len(a.ready) + rings)
	if i < len(a.ready) {
		return now, a.take(i)
	}
	i -= len(a.ready)
	for _, r := range relays {
		if !r.rings(now) {
			continue
		}
		if i == 0 {
			return now, event{who: r, to: r, as: relayTicks}
		}
		i--
	}
	return now, event{} // not reached
}

// first is when the first event or timer is due.
func (a *agenda) first(relays []*relay) (at time.Duration, some bool) {
	if len(a.later) > 0 {
		at, some = a.later[0].at, true
	}
	for _, r := range relays {
		if t := max(r.timer, r.frozen); r.timer > 0 && (!some || t < at) {
			at, some = t, true
		}
	}
	return at, some
}

func (a *agenda) take(i int) event {
	place := a.ready[i]
	copy(a.ready[i:], a.ready[i+1:])
	a.ready = a.ready[:len(a.ready)-1]
	a.free = append(a.free, place)
	return a.events[place]
}

func (a *agenda) reset() {
	clear(a.events)
	*a = agenda{later: a.later[:0], ready: a.ready[:0], events: a.events[:0], free: a.free[:0]}
}

// entry is an event that is to come, by its time, and among those of one time by
// when it was planned.
type entry struct {
	at    time.Duration
	n     int64
	place int32
}

func (e *entry) before(o *entry) bool { return e.at < o.at || e.at == o.at && e.n < o.n }

// heap is a binary heap: container/heap would box each of its entries.
type heap []entry

func (h *heap) push(e entry) {
	s := append(*h, e)
	*h = s
	i := len(s) - 1
	for i > 0 {
		up := (i - 1) / 2
		if !e.before(&s[up]) {
			break
		}
		s[i] = s[up]
		i = up
	}
	s[i] = e
}

func (h *heap) pop() entry {
	s := *h
	last := len(s) - 1
	first, e := s[0], s[last]
	s = s[:last]
	*h = s
	i := 0
	for {
		c := 2*i + 1
		if c >= last {
			break
		}
		if c+1 < last && s[c+1].before(&s[c]) {
			c++
		}
		if !s[c].before(&e) {
			break
		}
		s[i] = s[c]
		i = c
	}
	if last > 0 {
		s[i] = e
	}
	return first
}
