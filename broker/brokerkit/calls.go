package brokerkit

import (
	"context"
	"sync"
)

// Calls is a CallGuard that knows the calls inside. You can find them, and end them when nobody
// waits for them any more. C is a call, by its pointer. A call that enters by the CallGuard's
// own methods is counted, but Calls does not know it. The zero Calls is open. It is safe
// for concurrent use.
type Calls[C any] struct {
	CallGuard

	mu     sync.Mutex
	active map[uint64]C
	last   uint64

	release sync.Once
	freed   chan struct{} // closed when what the calls needed is freed
}

// Begin lets a call in and numbers it. After Refuse it lets nothing in. Each call that
// began must End.
func (s *Calls[C]) Begin(c C) (number uint64, ok bool) {
	if !s.Enter() {
		return 0, false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.active == nil {
		s.active = map[uint64]C{}
	}
	s.last++
	s.active[s.last] = c
	return s.last, true
}

// End ends a call that began.
func (s *Calls[C]) End(number uint64) {
	s.mu.Lock()
	delete(s.active, number)
	s.mu.Unlock()
	s.Leave()
}

// Find returns the call with a number, if it is inside.
func (s *Calls[C]) Find(number uint64) (c C, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c, ok = s.active[number]
	return c, ok
}

// All returns the calls inside.
func (s *Calls[C]) All() []C {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := make([]C, 0, len(s.active))
	for _, c := range s.active {
		all = append(all, c)
	}
	return all
}

// Close refuses calls from now on. It waits until the last call inside has left, or ctx
// ends. It then gives the calls that are still inside to abandon, which ends them. When
// the last one has left, free runs, once, however often you call Close. An error says
// that ctx ended first.
func (s *Calls[C]) Close(ctx context.Context, abandon func([]C), free func()) error {
	empty := s.Refuse()
	err := Wait(ctx, empty)
	abandon(s.All())
	s.release.Do(func() {
		s.freed = make(chan struct{})
		go func() {
			defer close(s.freed)
			<-empty
			free()
		}()
	})
	if err != nil {
		return err
	}
	return Wait(ctx, s.freed)
}
