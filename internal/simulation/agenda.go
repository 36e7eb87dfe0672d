package simulation

import "time"

// agenda is what may happen. An event can happen from its time on, and which one
// of those does is drawn: two that wait for nothing but their time come in any
// order, and one may wait long after it could have come.
type agenda struct {
	later heap
	ready []event // in the order in which they became so
	n     int64
}

type event struct {
	at time.Duration
	n  int64
	// who is the process in which it happens: it waits while that is stopped.
	who *relay
	do  func()
}

func (e *event) before(o *event) bool { return e.at < o.at || e.at == o.at && e.n < o.n }

func (a *agenda) add(at time.Duration, who *relay, do func()) {
	a.n++
	a.later.push(event{at, a.n, who, do})
}

// next takes the next event out, by chance, and returns the time at which it
// happens. There is none if do is nil. The timers of relays are among what may
// happen.
func (a *agenda) next(now time.Duration, c *chance, relays []*relay) (time.Duration, event) {
	if len(a.ready) == 0 {
		first, some := a.first(relays)
		if !some {
			return now, event{}
		}
		now = max(now, first)
	}
	for len(a.later) > 0 && a.later[0].at <= now {
		a.ready = append(a.ready, a.later.pop())
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
			return now, event{who: r, do: r.tick}
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
	e := a.ready[i]
	copy(a.ready[i:], a.ready[i+1:])
	a.ready[len(a.ready)-1] = event{}
	a.ready = a.ready[:len(a.ready)-1]
	return e
}

func (a *agenda) reset() {
	clear(a.later)
	clear(a.ready)
	a.later, a.ready, a.n = a.later[:0], a.ready[:0], 0
}

// heap is a binary heap of events: container/heap would box each of them.
type heap []event

func (h *heap) push(e event) {
	*h = append(*h, e)
	s := *h
	for i := len(s) - 1; i > 0; {
		up := (i - 1) / 2
		if !s[i].before(&s[up]) {
			return
		}
		s[i], s[up] = s[up], s[i]
		i = up
	}
}

func (h *heap) pop() event {
	s := *h
	first, last := s[0], len(s)-1
	s[0] = s[last]
	s[last] = event{}
	s = s[:last]
	*h = s
	for i := 0; ; {
		c := 2*i + 1
		if c >= last {
			return first
		}
		if c+1 < last && s[c+1].before(&s[c]) {
			c++
		}
		if !s[c].before(&s[i]) {
			return first
		}
		s[c], s[i] = s[i], s[c]
		i = c
	}
}
