package crowd

import (
	"container/list"
	"context"
	"crypto/tls"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
)

// Bound is how many connections a server has at a time.
type Bound struct {
	// All is the most at a time. When all are answered to, the next waits until one of them ends or waits.
	All int
	// Idle is the most of those that nobody answers at the moment: no request has come, or not all of it. One more ends the one that
	// has waited the longest.
	Idle int
}

// most is a bound for a machine without a limit: a console has 10,000 streams at most.
const most = 12_000

// Default is the bound of a server in this process: at most three quarters of the file descriptors.
func Default() Bound {
	all := most
	if n, is := descriptors(); is {
		all = int(min(most, max(n/4*3, 12)))
	}
	return Bound{All: all, Idle: all / 6}
}

// Streams are how many answers without an end leave places for others.
func (b Bound) Streams() int { return b.All - b.All/6 }

// Listen bounds what a server takes from a listener: serve what it returns. Call it before the server serves.
func (b Bound) Listen(server *http.Server, l net.Listener) net.Listener {
	c := &crowd{Listener: l, bound: b}
	c.room.L = &c.mu
	server.Handler = c.watch(server.Handler)
	server.ConnContext = func(ctx context.Context, conn net.Conn) context.Context {
		return context.WithValue(ctx, memberKey{}, memberOf(conn))
	}
	server.ConnState = func(conn net.Conn, state http.ConnState) {
		if m := memberOf(conn); m != nil && state == http.StateIdle {
			m.now(func() { m.unsent = false })
			c.thin()
		}
	}
	return c
}

// crowd are the connections of a listener.
type crowd struct {
	net.Listener

	bound Bound

	mu     sync.Mutex
	room   sync.Cond // there is some, or it is closed
	closed bool
	all    int
	idle   list.List // of *member, the one first that has waited the longest
}

// member is a connection.
type member struct {
	net.Conn

	crowd *crowd
	// closed: it has left.
	closed bool
	// answers is how many handlers answer a request, readers is how many others await more of a body. Unsent: an answer may not be
	// on its way yet.
	answers, readers int
	unsent           bool
	// place is where it stands among the idle; nil: it does not.
	place *list.Element
}

// memberOf returns the member that a connection of the server is. Nil: it is none.
func memberOf(conn net.Conn) *member {
	if t, is := conn.(*tls.Conn); is {
		conn = t.NetConn()
	}
	m, _ := conn.(*member)
	return m
}

type memberKey struct{}

// Accept waits for a connection, and for room for it.
func (c *crowd) Accept() (net.Conn, error) {
	conn, err := c.Listener.Accept()
	if err != nil {
		return nil, err
	}
	m := &member{Conn: conn, crowd: c}
	if !c.enter(m) {
		_ = conn.Close()
		return nil, net.ErrClosed
	}
	c.thin()
	return m, nil
}

// enter waits until there is room for one more. It says whether there is some: not if the listener is closed.
func (c *crowd) enter(m *member) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	for c.all >= c.bound.All && c.idle.Len() == 0 && !c.closed {
		c.room.Wait()
	}
	if c.closed {
		return false
	}
	c.all++
	m.place = c.idle.PushBack(m)
	return true
}

// thin ends those that have waited the longest, until they are no more than there may be.
func (c *crowd) thin() {
	for m := c.surplus(); m != nil; m = c.surplus() {
		_ = m.Close()
	}
}

func (c *crowd) surplus() *member {
	c.mu.Lock()
	defer c.mu.Unlock()
	if first := c.idle.Front(); first != nil && (c.all > c.bound.All || c.idle.Len() > c.bound.Idle) {
		m, _ := first.Value.(*member) // it has no others
		return m
	}
	return nil
}

// Close ends Accept.
func (c *crowd) Close() error {
	c.mu.Lock()
	c.closed = true
	c.room.Broadcast()
	c.mu.Unlock()
	return c.Listener.Close()
}

// Close gives the place to the next.
func (m *member) Close() error {
	c := m.crowd
	c.mu.Lock()
	if !m.closed {
		m.closed = true
		c.all--
		m.leave()
		c.room.Signal()
	}
	c.mu.Unlock()
	return m.Conn.Close()
}

// leave has it be no longer among the idle.
func (m *member) leave() {
	if m.place != nil {
		m.crowd.idle.Remove(m.place)
		m.place = nil
	}
}

// now notes what the connection does now.
func (m *member) now(does func()) {
	c := m.crowd
	c.mu.Lock()
	defer c.mu.Unlock()
	does()
	switch busy := m.answers > 0 || m.unsent && m.readers == 0; {
	case busy:
		m.leave()
	case m.place == nil && !m.closed:
		m.place = c.idle.PushBack(m)
		c.room.Signal()
	}
}

// watch notes which connections are answered. One whose handler has left a part of the body unread is idle again.
func (c *crowd) watch(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		m, _ := r.Context().Value(memberKey{}).(*member)
		if m == nil {
			next.ServeHTTP(w, r)
			return
		}
		var unread atomic.Bool
		if r.Body != nil && r.Body != http.NoBody {
			unread.Store(true)
			w, r = asked(w, r, m, &unread)
		}
		m.now(func() { m.answers, m.unsent = m.answers+1, true })
		defer func() {
			m.now(func() { m.answers, m.unsent = m.answers-1, m.unsent && !unread.Load() })
			c.thin()
		}()
		next.ServeHTTP(w, r)
	})
}
