package watermillbroker

import (
	"context"
	"sync"
)

// gate counts what is inside, so that closing can refuse new ones and wait for
// those. The zero gate is open and safe for concurrent use.
type gate struct {
	mu     sync.Mutex
	inside int
	shut   bool
	empty  chan struct{} // made by the first close, closed when the last leaves
}

func (g *gate) enter() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.shut {
		return false
	}
	g.inside++
	return true
}

// again lets in what somebody inside starts, whether the gate is shut or not.
func (g *gate) again() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.inside++
}

func (g *gate) leave() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.inside--; g.inside == 0 && g.shut {
		close(g.empty)
	}
}

// close shuts the gate and waits until it is empty or ctx ends.
func (g *gate) close(ctx context.Context) error {
	g.mu.Lock()
	if !g.shut {
		g.shut, g.empty = true, make(chan struct{})
		if g.inside == 0 {
			close(g.empty)
		}
	}
	empty := g.empty
	g.mu.Unlock()
	select {
	case <-empty:
		return nil
	default:
	}
	select {
	case <-empty:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
