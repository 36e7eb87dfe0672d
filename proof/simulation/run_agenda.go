package simulation

import "time"

// agenda is what may happen. An event can happen from its time on, and which one
// of those does is drawn: two that wait for nothing but their time come in any
// order, and one may wait long after it could have come.
type agenda struct {
	later  queue
	ready  []int32 // in the order in which they became so
	events []event // that later and ready name by their place
	free   []int32 // places that name none

	ringing []int32 // relays
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
type what = uint8

// doing is a function that is carried out.
type doing func()

func (d doing) happen(what) { d() }

func (a *agenda) add(at time.Duration, e event) {
	place := int32(len(a.events))
	if n := len(a.free); n > 0 {
		place = a.free[n-1]
		a.free = a.free[:n-1]
		a.events[place] = e
	} else {
		a.events = append(a.events, e)
	}
	a.later.push(planned{at, place})
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
	for len(a.later) > 0 && a.later.first() <= now {
		a.ready = append(a.ready, a.later.pop().place)
	}
	a.ringing = a.ringing[:0]
	for i, r := range relays {
		if r.rings(now) {
			a.ringing = append(a.ringing, int32(i))
		}
	}
	i := c.below(len(a.ready) + len(a.ringing))
	if i < len(a.ready) {
		return now, a.take(i)
	}
	r := relays[a.ringing[i-len(a.ready)]]
	return now, event{who: r, to: r, as: relayTicks}
}

// first is when the first event or timer is due.
func (a *agenda) first(relays []*relay) (at time.Duration, some bool) {
	if len(a.later) > 0 {
		at, some = a.later.first(), true
	}
	for _, r := range relays {
		if t := max(r.timer, r.frozen); r.timer > 0 && (!some || t < at) {
			at, some = t, true
		}
	}
	return at, some
}

func (a *agenda) take(i int) event {
	place, last := a.ready[i], len(a.ready)-1
	if i < last {
		copy(a.ready[i:], a.ready[i+1:])
	}
	a.ready = a.ready[:last]
	a.free = append(a.free, place)
	return a.events[place]
}

func (a *agenda) reset() {
	clear(a.events)
	*a = agenda{later: a.later[:0], ready: a.ready[:0], events: a.events[:0], free: a.free[:0], ringing: a.ringing[:0]}
}

// planned is an event that is to come.
type planned struct {
	at    time.Duration
	place int32
}

// queue is what is to come, the first at the end, and of those of one time the one
// that was planned first. Most of what is added comes soon, so that little is moved
// for it: a heap takes three times as long.
type queue []planned

func (q *queue) push(e planned) {
	s := append(*q, e)
	*q = s
	low, high := 0, len(s)-1
	for low < high {
		if mid := int(uint(low+high) / 2); s[mid].at > e.at {
			low = mid + 1
		} else {
			high = mid
		}
	}
	if low < len(s)-1 {
		copy(s[low+1:], s[low:])
		s[low] = e
	}
}

func (q *queue) first() time.Duration { return (*q)[len(*q)-1].at }

func (q *queue) pop() planned {
	last := len(*q) - 1
	e := (*q)[last]
	*q = (*q)[:last]
	return e
}
