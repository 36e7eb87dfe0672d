package webhook

import (
	"context"

	"github.com/postbag/postbag/source"
	"github.com/postbag/postbag/source/sourcekit"
)

// Fetch implements source.Source. It returns the requests that wait, the oldest first.
func (s *Source) Fetch(ctx context.Context, limits source.Limits) (source.Batch, error) {
	work, done, err := s.life.Fetch(ctx)
	if err != nil {
		return source.Batch{}, err
	}
	defer done()
	defer s.fetched()
	return sourcekit.Await(work, s.arrived, func() (source.Batch, error) { return source.Batch{Messages: s.take(limits)}, nil })
}

// fetched notes that no Fetch waits any more.
func (s *Source) fetched() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.idle = false
}

// take returns what waits, within limits. It is at work then. If it returns nothing, the
// Fetch goes on to wait.
func (s *Source) take(limits source.Limits) (msgs []source.Message) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stalled = false
	fill := sourcekit.NewFiller(limits)
	n := 0
	for _, r := range s.queue {
		m := r.m
		if !fill.Add(&m) {
			break
		}
		s.atWork[r.number] = r
		msgs = append(msgs, m)
		n++
	}
	clear(s.queue[:n])
	s.queue = s.queue[n:]
	s.idle = n == 0
	return msgs
}
