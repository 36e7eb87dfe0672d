package mqttbroker

import (
	"context"
	"sync"
)

// gate counts who is inside, and lets nobody in once it is shut. The zero gate is
// open.
type gate struct {
	mu     sync.Mutex
	inside int
	closed bool
	empty  chan struct{} // made by shut, closed when the last has left
}

func (g *gate) enter() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.closed {
		return false
	}
	g.inside++
	return true
}

func (g *gate) leave() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.inside--; g.closed && g.inside == 0 {
		close(g.empty)
	}
}

// shut lets no more in. The channel is closed when the last has left.
func (g *gate) shut() <-chan struct{} {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.empty == nil {
		g.empty = make(chan struct{})
	}
	if !g.closed && g.inside == 0 {
		close(g.empty)
	}
	g.closed = true
	return g.empty
}

// wait waits for done, and for ctx only if that is not yet so.
func wait(ctx context.Context, done <-chan struct{}) error {
	select {
	case <-done:
		return nil
	default:
	}
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
