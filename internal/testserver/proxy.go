package testserver

import (
	"context"
	"fmt"
	"maps"
	"net"
	"slices"
	"sync"
	"time"
)

// Direction is a way through a [Proxy].
type Direction int

// The directions.
const (
	// Up is from the client to the server.
	Up Direction = iota
	// Down is from the server to the client.
	Down
)

// Verdict is what a watcher wants done with the bytes it was shown.
type Verdict int

// The verdicts.
const (
	// Forward passes the bytes on.
	Forward Verdict = iota
	// CutBefore drops the bytes and cuts the connection: they never arrive.
	CutBefore
	// CutAfter passes the bytes on and then cuts the connection. Nothing more goes the other way, not even an answer
	// that comes at once: the client cannot know.
	CutAfter
)

// Watcher sees the bytes of one direction, connection by connection, in the order in which they pass. Conn numbers the
// proxy's connections from 1. It must not keep or change the bytes, nor call the proxy's Cut or Close (it has verdicts
// for that); it is called for several connections concurrently.
type Watcher func(conn int, bytes []byte) Verdict

// way is how one direction is treated.
type way struct {
	held  bool
	delay time.Duration
	watch Watcher
}

// Proxy forwards TCP connections to a server and can break them. Its methods may be called concurrently and take effect
// at once, for existing connections too.
type Proxy struct {
	addr string

	mu       sync.Mutex
	target   string
	listener net.Listener // nil while refusing
	links    map[int]*link
	count    int
	ways     [2]way
	changed  chan struct{} // closed, and replaced, when ways change
	closed   bool
	running  sync.WaitGroup
	dialing  context.Context //nolint:containedctx // ends the dials of serve when the proxy is closed
	hangUp   context.CancelFunc
}

// StartProxy starts a proxy on a free port of 127.0.0.1. The target is not contacted before the first client comes.
func StartProxy(target string) (*Proxy, error) {
	p := &Proxy{target: target, links: make(map[int]*link), changed: make(chan struct{})}
	p.dialing, p.hangUp = context.WithCancel(context.Background())
	var err error
	for range startAttempts {
		var port int
		if port, err = freePort(); err != nil {
			return nil, err
		}
		p.addr = loopback(port)
		if err = p.listen(); err == nil {
			return p, nil
		}
	}
	return nil, err
}

// Addr is where clients connect, as host:port. It never changes.
func (p *Proxy) Addr() string { return p.addr }

// Lead makes new connections go to another server, as an address does that moves. Open ones go on: see Cut.
func (p *Proxy) Lead(target string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.target = target
}

// Connections is the number of connections that are open now.
func (p *Proxy) Connections() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.links)
}

// Cut closes every open connection, on both sides, with a reset. New ones are accepted.
func (p *Proxy) Cut() { p.end(reset) }

// HangUp closes every open connection, on both sides, in order, as a balancer does that has no more use for it: who reads sees its
// end, and what was under way is lost. New ones are accepted.
func (p *Proxy) HangUp() { p.end(goodbye) }

func (p *Proxy) end(how func(net.Conn)) {
	p.mu.Lock()
	open := slices.Collect(maps.Values(p.links))
	p.mu.Unlock()
	for _, l := range open {
		l.end(how)
		<-l.gone
	}
}

// Refuse refuses new connections, as a server does that is down. Open ones go on: see Cut.
func (p *Proxy) Refuse() error {
	p.mu.Lock()
	listener := p.listener
	p.listener = nil
	p.mu.Unlock()
	if listener == nil {
		return nil
	}
	return listener.Close()
}

// BlackHole holds back the bytes of a direction, as a network does that lost its way: nobody is told, connections stay
// open, new ones are accepted. What is held goes on with Resume, as in a network that has healed.
func (p *Proxy) BlackHole(d Direction) { p.change(func() { p.ways[d].held = true }) }

// Delay makes bytes of a direction arrive later, without slowing their flow. 0 ends it.
func (p *Proxy) Delay(d Direction, by time.Duration) { p.change(func() { p.ways[d].delay = by }) }

// Watch shows the bytes of a direction to w before they go on; nil ends it. The bytes come as they were read: a pattern
// may be split in two, see [Trap].
func (p *Proxy) Watch(d Direction, w Watcher) { p.change(func() { p.ways[d].watch = w }) }

// Resume ends Refuse, BlackHole and Delay. A watcher stays.
func (p *Proxy) Resume() error {
	p.change(func() {
		for d := range p.ways {
			p.ways[d] = way{watch: p.ways[d].watch}
		}
	})
	p.mu.Lock()
	refusing := p.listener == nil && !p.closed
	p.mu.Unlock()
	if refusing {
		return p.listen()
	}
	return nil
}

// Close cuts all connections and returns when nothing of the proxy runs any more. It may be called twice.
func (p *Proxy) Close() error {
	p.mu.Lock()
	p.closed = true
	p.mu.Unlock()
	p.hangUp()
	err := p.Refuse()
	p.Cut()
	p.running.Wait()
	return err
}

func (p *Proxy) change(f func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	f()
	close(p.changed)
	p.changed = make(chan struct{})
}

// way returns how a direction is treated now, and a channel that is closed when that may have changed.
func (p *Proxy) way(d Direction) (way, <-chan struct{}) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.ways[d], p.changed
}

func (p *Proxy) listen() error {
	listener, err := net.Listen("tcp", p.addr)
	if err != nil {
		return fmt.Errorf("testserver: the proxy cannot listen: %w", err)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed || p.listener != nil {
		return listener.Close()
	}
	p.listener = listener
	p.running.Go(func() { p.accept(listener) })
	return nil
}

// accept takes clients until the listener is closed.
func (p *Proxy) accept(listener net.Listener) {
	for {
		client, err := listener.Accept()
		if err != nil {
			return
		}
		p.running.Go(func() { p.serve(client) })
	}
}

// serve connects a client with the target and stays until both ends are closed. A target that refuses makes the client
// see a reset.
func (p *Proxy) serve(client net.Conn) {
	p.mu.Lock()
	target := p.target
	p.mu.Unlock()
	dialer := net.Dialer{Timeout: 10 * time.Second}
	server, err := dialer.DialContext(p.dialing, "tcp", target)
	if err != nil {
		reset(client)
		return
	}
	l := newLink(p, client, server)
	if !p.add(l) {
		l.cut()
		return
	}
	defer p.remove(l)
	l.run()
}

func (p *Proxy) add(l *link) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return false
	}
	p.count++
	l.number = p.count
	p.links[l.number] = l
	return true
}

func (p *Proxy) remove(l *link) {
	p.mu.Lock()
	delete(p.links, l.number)
	p.mu.Unlock()
	close(l.gone)
}
