package brokerkit

import (
	"context"
	"sync"
)

// CallGuard lets calls in until it is shut. The zero CallGuard is open. It is safe for
// concurrent use.
type CallGuard struct {
	mu     sync.Mutex
	inside int
	shut   bool
	empty  chan struct{} // made by a Shut that waits, closed when the last call leaves
}

// Enter lets a call in, and says whether it did. After Shut it does not. Each call that
// entered must Leave.
func (g *CallGuard) Enter() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.shut {
		return false
	}
	g.inside++
	return true
}

// Again lets in work that a call inside starts and does not wait for, even after Shut.
// That work must Leave too.
func (g *CallGuard) Again() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.inside++
}

// Leave ends a call that entered.
func (g *CallGuard) Leave() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.inside--
	if g.inside == 0 && g.empty != nil {
		close(g.empty)
		g.empty = nil
	}
}

// IsShut says whether Shut was called.
func (g *CallGuard) IsShut() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.shut
}

// Shut refuses calls from now on, and waits until the last call inside has left. If ctx
// ends first, Shut returns its error. You may call it again: it waits again.
func (g *CallGuard) Shut(ctx context.Context) error {
	return Wait(ctx, g.Refuse())
}

// Refuse refuses calls from now on. The channel is closed when the last of those
// inside has left.
func (g *CallGuard) Refuse() <-chan struct{} {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.shut = true
	if g.inside == 0 {
		done := make(chan struct{})
		close(done)
		return done
	}
	if g.empty == nil {
		g.empty = make(chan struct{})
	}
	return g.empty
}

// Wait waits until done is closed or ctx ends. If ctx ended and done is not closed, it
// returns the error of ctx.
func Wait(ctx context.Context, done <-chan struct{}) error {
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
