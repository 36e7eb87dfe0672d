package testserver

import (
	"errors"
	"io"
	"math"
	"net"
	"sync"
	"time"
)

// link is one client's connection with its twin to the server. Each direction has a reader and a writer with a queue
// between them, so that a delay does not slow the flow.
type link struct {
	proxy  *Proxy
	number int
	ends   [2]net.Conn // where the bytes of Up and of Down come from
	broken chan struct{}
	gone   chan struct{} // closed by the proxy when all has ended
	failed [2]bool       // the reader met an error; read it only after the queue is closed
	once   sync.Once

	mu    sync.Mutex // held while bytes are written, so that a mute is exact
	muted bool
}

// chunk is a piece of the stream with the time at which it came.
type chunk struct {
	bytes []byte
	at    time.Time
}

const (
	chunkBytes  = 32 << 10
	chunksAhead = 64
)

func newLink(p *Proxy, client, server net.Conn) *link {
	return &link{proxy: p, ends: [2]net.Conn{client, server}, broken: make(chan struct{}), gone: make(chan struct{})}
}

// run forwards until both directions have ended.
func (l *link) run() {
	var all sync.WaitGroup
	for _, d := range []Direction{Up, Down} {
		queue := make(chan chunk, chunksAhead)
		all.Go(func() { l.read(d, queue) })
		all.Go(func() { l.write(d, queue) })
	}
	all.Wait()
	l.end(func(c net.Conn) { _ = c.Close() }) // what was written last may still be on its way: no reset
}

// cut resets both ends.
func (l *link) cut() { l.end(reset) }

func (l *link) end(how func(net.Conn)) {
	l.once.Do(func() {
		close(l.broken)
		for _, end := range l.ends {
			how(end)
		}
	})
}

// reset closes a connection so that its peer sees an error and not an orderly end.
func reset(c net.Conn) {
	if tcp, ok := c.(*net.TCPConn); ok {
		_ = tcp.SetLinger(0)
	}
	_ = c.Close()
}

// goodbye closes a connection so that its peer sees an orderly end, before it hears that nobody reads what it has sent since.
func goodbye(c net.Conn) {
	if tcp, ok := c.(*net.TCPConn); ok {
		_ = tcp.CloseWrite()
	}
	_ = c.Close()
}

// read fills the queue until its end of the connection has no more.
func (l *link) read(d Direction, queue chan<- chunk) {
	defer close(queue)
	for {
		buffer := make([]byte, chunkBytes)
		n, err := l.ends[d].Read(buffer)
		if n > 0 {
			select {
			case queue <- chunk{bytes: buffer[:n], at: time.Now()}:
			case <-l.broken:
				return
			}
		}
		if err != nil {
			l.failed[d] = !errors.Is(err, io.EOF)
			return
		}
	}
}

// write empties the queue into the other end, and passes on how the stream ended: in order, or with a reset.
func (l *link) write(d Direction, queue <-chan chunk) {
	for c := range queue {
		if !l.await(d, c.at) || !l.pass(d, c.bytes) {
			l.cut()
		}
	}
	if !l.await(d, time.Now()) || l.failed[d] {
		l.cut()
		return
	}
	if tcp, ok := l.ends[1-d].(*net.TCPConn); ok {
		_ = tcp.CloseWrite()
	}
}

// await waits while the direction is held, and until the delay is over. It is false when the link was cut meanwhile.
func (l *link) await(d Direction, at time.Time) bool {
	for {
		way, changed := l.proxy.way(d)
		left := time.Until(at.Add(way.delay))
		if !way.held && left <= 0 {
			return !l.isBroken()
		}
		if way.held {
			left = math.MaxInt64
		}
		if !l.sleep(left, changed) {
			return false
		}
	}
}

// sleep ends after the time, or when the proxy's ways have changed; it is false when the link was cut.
func (l *link) sleep(left time.Duration, changed <-chan struct{}) bool {
	timer := time.NewTimer(left)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-changed:
		return true
	case <-l.broken:
		return false
	}
}

// pass shows the bytes to the watcher and writes them. It is false when the link is to be cut.
func (l *link) pass(d Direction, bytes []byte) bool {
	verdict := Forward
	if way, _ := l.proxy.way(d); way.watch != nil {
		verdict = way.watch(l.number, bytes)
	}
	if verdict == CutBefore {
		return false
	}
	l.mu.Lock()
	if l.muted {
		l.mu.Unlock()
		return true
	}
	l.muted = verdict == CutAfter
	l.mu.Unlock()
	_, err := l.ends[1-d].Write(bytes)
	return err == nil && verdict == Forward
}

func (l *link) isBroken() bool {
	select {
	case <-l.broken:
		return true
	default:
		return false
	}
}
