package kafkabroker

import (
	"context"
	"sync"
	"time"
)

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
