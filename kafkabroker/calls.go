package kafkabroker

import (
	"context"
	"sync"
	"time"

	"github.com/postbag/postbag/broker"
)

// calls are those at work. The zero calls is open and safe for concurrent use.
type calls struct {
	mu     sync.Mutex
	active map[*call]bool
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
	if c == nil {
		return true
	}
	if s.active == nil {
		s.active = map[*call]bool{}
	}
	s.active[c] = true
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
	unknown := failure(broker.Unknown, "the destination was closed before the answer came", "send the message again")
	s.mu.Lock()
	all := make([]*call, 0, len(s.active))
	for c := range s.active {
		all = append(all, c)
	}
	s.mu.Unlock()
	for _, c := range all {
		c.end(unknown, errClosed())
	}
}

// gatherer makes jobs of calls: one of each, or, with Options.Linger, one of all
// that come within that time. No two calls at a time hold messages of one key, so
// that it does not matter which of them comes first.
type gatherer struct {
	d       *Destination
	running sync.WaitGroup

	mu      sync.Mutex
	waiting *job
	size    int
}

// send starts the sending of a call's items. The channel is closed when the job has
// given its producer back.
func (g *gatherer) send(c *call, items []*item) <-chan struct{} {
	if g.d.options.Linger == 0 {
		j := &job{d: g.d, ctx: c.over, items: items, calls: []*call{c}, done: make(chan struct{})}
		g.running.Go(j.run)
		return j.done
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.waiting == nil {
		g.waiting, g.size = &job{d: g.d, done: make(chan struct{})}, 0
		j := g.waiting
		timer := time.AfterFunc(g.d.options.Linger, func() { g.release(j) })
		g.running.Add(1) // until it is released
		j.unwait = func() { timer.Stop() }
	}
	j := g.waiting
	j.items, j.calls = append(j.items, items...), append(j.calls, c)
	for _, it := range items {
		g.size += it.size
	}
	if g.size >= g.d.options.BatchBytes {
		g.releaseLocked(j)
	}
	return j.done
}

// release starts a job that has waited, unless it is started.
func (g *gatherer) release(j *job) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.releaseLocked(j)
}

func (g *gatherer) releaseLocked(j *job) {
	if g.waiting != j {
		return
	}
	g.waiting = nil
	j.unwait()
	var over context.CancelFunc
	j.ctx, over = context.WithCancel(context.Background())
	go func() {
		for _, c := range j.calls {
			<-c.over.Done()
		}
		over()
	}()
	go func() {
		defer g.running.Done()
		j.run()
	}()
}

// wait waits for all jobs. None may be sent any more.
func (g *gatherer) wait() { g.running.Wait() }
