package history

import (
	"fmt"
	"time"
)

// past is the furthest of what stands before a message of a key.
type past struct {
	places  []furthest
	waiting *placed // one that was not delivered, and may be yet
	removed *placed // the one that was removed last
}

// furthest is the message with the greatest position of a place.
type furthest struct {
	place string
	m     *placed
}

func (p *past) reset() { p.places, p.waiting, p.removed = p.places[:0], nil, nil }

func (p *past) add(m *placed) {
	switch m.stand {
	case waiting:
		if p.waiting == nil {
			p.waiting = m
		}
	case removed:
		if p.removed == nil || m.gone > p.removed.gone {
			p.removed = m
		}
	case there:
		for i := range p.places {
			if f := &p.places[i]; f.place == m.first.Place {
				if m.first.Position > f.m.first.Position {
					f.m = m
				}
				return
			}
		}
		p.places = append(p.places, furthest{place: m.first.Place, m: m})
	}
}

// before returns what stands before m and was not delivered before it, and in which words; nil: nothing does.
func (p *past) before(m *placed) (*placed, string) {
	if m.stand != there {
		return nil, ""
	}
	for i := range p.places {
		if f := &p.places[i]; f.place == m.first.Place && f.m.first.Position > m.first.Position {
			return f.m, "was " + m.how() + " after it"
		}
	}
	if p.waiting != nil {
		return p.waiting, "is still to be delivered"
	}
	if r := p.removed; r != nil && m.first.To != 0 && m.first.To < r.gone {
		return r, "was removed only after that"
	}
	return nil, ""
}

// how says in which way a message came to where it stands.
func (m *placed) how() string {
	if m.of == Applied {
		return "applied"
	}
	return "delivered"
}

// inTransactions judges the order within transactions. Messages are added promise by promise and key by key, in a key transaction by transaction, and
// in these by index. They are kept until the next transaction.
type inTransactions struct {
	j    *judge
	of   Promise
	key  string
	tx   Tx
	any  bool
	past past
}

func (s *inTransactions) add(m *placed) {
	if !s.any || m.of != s.of || m.Key != s.key || m.Tx != s.tx {
		s.past.reset()
		s.of, s.key, s.tx, s.any = m.of, m.Key, m.Tx, true
	}
	if a, how := s.past.before(m); a != nil {
		s.j.inverted(a, m, within, "of one transaction and key, the first "+how)
	}
	s.past.add(m)
}

// inTime judges the order across transactions. Messages are added promise by promise and key by key, and in a key by the time of their begin. Those
// whose transaction had not ended by then wait in a heap for their turn to be past, so that each is looked at once.
type inTime struct {
	j      *judge
	of     Promise
	key    string
	any    bool
	past   past
	open   []*placed // a heap, the first that ends on top
	topics []topicPlace
}

// topicPlace is where the messages of a topic lie that have one key.
type topicPlace struct {
	topic string
	m     *placed
}

func (s *inTime) add(m *placed) {
	if s.any && m.of == s.of && m.Key == s.key {
		if m.of == Order { // what was applied was counted before
			s.j.saw(Order) // the first of a key can be before nothing
		}
	} else {
		s.past.reset()
		s.open, s.topics = s.open[:0], s.topics[:0]
		s.of, s.key, s.any = m.of, m.Key, true
	}
	for len(s.open) > 0 && s.open[0].CommitEnd < m.Begin {
		s.past.add(s.pop())
	}
	if a, how := s.past.before(m); a != nil {
		s.j.inverted(a, m, across, fmt.Sprintf("the first committed %v before the second was begun, and %s", m.Begin-a.CommitEnd, how))
	}
	s.place(m)
	if m.Fate == Committed {
		s.push(m)
	}
}

// place wants the messages of a key and topic in one place.
func (s *inTime) place(m *placed) {
	if m.stand != there {
		return
	}
	for _, one := range s.topics {
		if one.topic != m.Topic {
			continue
		}
		if one.m.first.Place != m.first.Place {
			s.j.inverted(one.m, m, spread, "of one key and topic, they lie in two places")
		}
		return
	}
	s.topics = append(s.topics, topicPlace{topic: m.Topic, m: m})
}

func (s *inTime) push(m *placed) {
	s.open = append(s.open, m)
	h := s.open
	for i := len(h) - 1; i > 0; {
		up := (i - 1) / 2
		if h[up].CommitEnd <= h[i].CommitEnd {
			break
		}
		h[up], h[i] = h[i], h[up]
		i = up
	}
}

func (s *inTime) pop() *placed {
	h := s.open
	top, last := h[0], len(h)-1
	h[0], h[last] = h[last], nil
	h = h[:last]
	for i := 0; ; {
		least := i
		for down := 2*i + 1; down <= 2*i+2 && down < last; down++ {
			if h[down].CommitEnd < h[least].CommitEnd {
				least = down
			}
		}
		if least == i {
			break
		}
		h[i], h[least] = h[least], h[i]
		i = least
	}
	s.open = h
	return top
}

// inverted counts two messages in the wrong order.
func (j *judge) inverted(a, b *placed, how int, why string) {
	if b.of == Applied {
		how = disordered
	}
	j.counts[b.of][how]++
	e := j.breach(b.of)
	if e == nil {
		return
	}
	e.Why, e.Messages = why, []Message{a.Message, b.Message}
	for _, m := range []*placed{a, b} {
		switch {
		case m.of == Applied:
			e.Effects = append(e.Effects, m.effect())
		case m.stand == there:
			e.Deliveries = append(e.Deliveries, m.first)
		}
	}
	if a.stand == removed {
		e.Why += fmt.Sprintf(": the command was given at %v", a.gone.Round(time.Microsecond))
	}
}
