package natsbroker

import (
	"sync"

	"github.com/postbag/postbag/broker"
)

// calls are those at work, by number. The zero calls is open and safe for
// concurrent use.
type calls struct {
	mu     sync.Mutex
	active map[uint64]*call
	inside int // calls and probes
	last   uint64
	closed bool
	empty  chan struct{} // made by shut, closed when closed and the last has left
}

// enter numbers a call, nil for a probe, and lets it in, not after shut.
func (s *calls) enter(c *call) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return false
	}
	s.inside++
	if c == nil {
		return true
	}
	if s.active == nil {
		s.active = map[uint64]*call{}
	}
	s.last++
	c.number = s.last
	s.active[c.number] = c
	return true
}

func (s *calls) leave(c *call) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if c != nil {
		delete(s.active, c.number)
	}
	if s.inside--; s.closed && s.inside == 0 {
		close(s.empty)
	}
}

func (s *calls) find(number uint64) *call {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.active[number]
}

// shut lets no more calls in. The channel is closed when the last has left.
func (s *calls) shut() <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.empty == nil {
		s.empty = make(chan struct{})
	}
	if !s.closed && s.inside == 0 {
		close(s.empty)
	}
	s.closed = true
	return s.empty
}

func (s *calls) all() []*call {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := make([]*call, 0, len(s.active))
	for _, c := range s.active {
		all = append(all, c)
	}
	return all
}

// lost ends every call: no answer will come over a connection that is gone.
func (s *calls) lost() {
	unknown := failure(broker.Unknown, "the connection was lost before the answer came", "send the message again")
	unsent := failure(broker.Unavailable, "the connection was lost before the message was sent", "wait, or look whether the server runs")
	for _, c := range s.all() {
		c.end(unknown, unsent)
	}
}

// abandon ends what a Close could not wait for.
func (s *calls) abandon() {
	unknown := failure(broker.Unknown, "the destination was closed before the answer came", "send the message again")
	unsent := &broker.Error{Outcome: broker.NotSent, Err: broker.ErrClosed}
	for _, c := range s.all() {
		c.end(unknown, unsent)
	}
}
