package webhook

import (
	"context"
	"net"
	"sync"

	"github.com/postbag/postbag/broker"
)

// conns keeps all open connections, so that Close leaves none behind: the HTTP
// client by itself closes only those that it holds for idle, and may finish a
// dial that nobody waits for any more.
type conns struct {
	dial func(ctx context.Context, network, address string) (net.Conn, error)

	mu     sync.Mutex
	closed bool
	open   map[*conn]struct{}
}

// conn is a connection that leaves the set when it is closed.
type conn struct {
	net.Conn

	set *conns
}

// Close implements net.Conn.
func (c *conn) Close() error {
	c.set.mu.Lock()
	delete(c.set.open, c)
	c.set.mu.Unlock()
	return c.Conn.Close()
}

// DialContext connects, unless the set is closed.
func (s *conns) DialContext(ctx context.Context, network, address string) (net.Conn, error) {
	raw, err := s.dial(ctx, network, address)
	if err != nil {
		return nil, err
	}
	c := &conn{Conn: raw, set: s}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		_ = raw.Close()
		return nil, broker.ErrClosed
	}
	if s.open == nil {
		s.open = make(map[*conn]struct{})
	}
	s.open[c] = struct{}{}
	return c, nil
}

// closeAll closes all connections and refuses new ones.
func (s *conns) closeAll() {
	s.mu.Lock()
	s.closed = true
	open := s.open
	s.open = nil
	s.mu.Unlock()
	for c := range open {
		_ = c.Conn.Close()
	}
}
