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
	defer s.fetching(false)
	for {
		if work.Err() != nil {
			return source.Batch{}, context.Cause(work)
		}
		if msgs := s.take(limits); len(msgs) > 0 {
			return source.Batch{Messages: msgs}, nil
		}
		select {
		case <-s.arrived:
		case <-work.Done():
		}
	}
}

// fetching notes whether a Fetch waits: then what comes does not wait for others.
func (s *Source) fetching(idle bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.idle = idle
}

// take returns what waits, within limits. It is at work then.
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
