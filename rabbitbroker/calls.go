package rabbitbroker

import (
	"sync"

	"github.com/postbag/postbag/broker"
)

// calls are those at work. The zero calls is open and safe for concurrent use.
type calls struct {
	mu     sync.Mutex
	active map[*call]struct{}
	inside int // calls and probes
	closed bool
	empty  chan struct{} // made by shut, closed when closed and the last has left
}

// enter lets a call in, nil for a probe, not after shut.
func (s *calls) enter(c *call) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return false
	}
	s.inside++
	if c != nil {
		if s.active == nil {
			s.active = map[*call]struct{}{}
		}
		s.active[c] = struct{}{}
	}
	return true
}

func (s *calls) leave(c *call) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.active, c)
	if s.inside--; s.closed && s.inside == 0 {
		close(s.empty)
	}
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

// abandon ends what a Close could not wait for.
func (s *calls) abandon() {
	s.mu.Lock()
	all := make([]*call, 0, len(s.active))
	for c := range s.active {
		all = append(all, c)
	}
	s.mu.Unlock()
	unknown := failure(broker.Unknown, "the destination was closed before the answer came", "send the message again")
	for _, c := range all {
		c.end(unknown, errClosed())
	}
}
