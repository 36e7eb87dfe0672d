package watermillbroker

import (
	"context"
	"slices"
	"time"

	"github.com/ThreeDotsLabs/watermill/message"

	"github.com/postbag/postbag/source/sourcekit"
)

// arrival is one message that the subscriber gave. Source.mu guards what changes.
type arrival struct {
	number uint64
	topic  string
	m      *message.Message
	ctx    context.Context //nolint:containedctx // of the message, as it came
	size   int64

	unwatch func() bool // ends the watch of ctx; nil: it says nothing
	receipt uint64      // zero: it waits for a Fetch
	timer   *time.Timer // not nil: it was released, for later
}

// over says whether the subscriber has ended the context of the message.
func (a *arrival) over() bool { return a.unwatch != nil && a.ctx.Err() != nil }

// delivery is the one that a Fetch made of it.
func (a *arrival) delivery() sourcekit.Delivery[uint64, *arrival] {
	return sourcekit.Delivery[uint64, *arrival]{Number: a.receipt, Key: a.number, Data: a}
}

// mostUnheard is how many acked messages the source waits for at most. Subscribers end the
// context of each soon after its ack; one with so many open ends none.
func (s *Source) mostUnheard() int { return 4*s.options.Messages + 100 }

// ended notes that the context of a message has ended: the subscriber has heard its ack, or
// has given the message up.
func (s *Source) ended(a *arrival) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, was := s.unheard[a.number]; was {
		delete(s.unheard, a.number)
	} else if s.inHand[a.number] == a {
		s.queue = slices.DeleteFunc(s.queue, func(one *arrival) bool { return one == a })
		s.work.Taken([]sourcekit.Delivery[uint64, *arrival]{a.delivery()})
		s.drop(a)
		a.m.Nack()
	}
	close(s.heard)
	s.heard = make(chan struct{})
}

// drop ends what is in hand, and makes room. The caller holds the lock.
func (s *Source) drop(a *arrival) {
	delete(s.inHand, a.number)
	s.bytes -= a.size
	if a.receipt != 0 {
		s.atWork--
	}
	if a.timer != nil {
		a.timer.Stop()
	}
	close(s.freed)
	s.freed = make(chan struct{})
	s.wake()
}

// ack acks one that is at work. The caller holds the lock.
func (s *Source) ack(a *arrival) {
	if s.inHand[a.number] != a {
		return // Close has given it back, because its context was over
	}
	s.drop(a)
	switch {
	case a.unwatch == nil:
	case s.silent:
		a.unwatch()
	default:
		s.unheard[a.number] = a
	}
	if len(s.unheard) > s.mostUnheard() {
		s.silent = true
		for _, one := range s.unheard {
			one.unwatch()
		}
		clear(s.unheard)
	}
	a.m.Ack()
	a.m = nil // its payload is not needed any more
}

// nack gives one back. The caller holds the lock.
func (s *Source) nack(a *arrival) {
	if s.inHand[a.number] != a {
		return // its context ended at that moment
	}
	if a.unwatch != nil {
		a.unwatch()
	}
	s.drop(a)
	a.m.Nack()
}

func (s *Source) acksOutstanding() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.unheard)
}

// giveUp nacks all that is in hand, and returns it.
func (s *Source) giveUp() []*arrival {
	s.mu.Lock()
	defer s.mu.Unlock()
	left := make([]*arrival, 0, len(s.inHand))
	for _, a := range s.inHand {
		if a.timer != nil {
			a.timer.Stop()
		}
		a.m.Nack()
		left = append(left, a)
	}
	s.inHand, s.queue = map[uint64]*arrival{}, nil
	for _, a := range s.unheard { // nobody waits for them any more
		a.unwatch()
	}
	clear(s.unheard)
	return left
}

// unwatch ends the watch of contexts that the source does not end.
func unwatch(all []*arrival) {
	for _, a := range all {
		if a.unwatch != nil {
			a.unwatch()
		}
	}
}

// alive counts those whose contexts have not ended.
func alive(all []*arrival) (n int) {
	for _, a := range all {
		if a.unwatch != nil && !a.over() {
			n++
		}
	}
	return n
}
