package watermillbroker

import (
	"bytes"
	"context"
	"slices"
	"time"

	"github.com/postbag/postbag/source"
	"github.com/postbag/postbag/source/sourcekit"
)

// Fetch implements source.Source. It returns what the subscriber gave, the oldest first. A
// subscription that ended is told before that, once.
func (s *Source) Fetch(ctx context.Context, limits source.Limits) (source.Batch, error) {
	work, done, err := s.life.Fetch(ctx)
	if err != nil {
		return source.Batch{}, err
	}
	defer done()
	return sourcekit.Await(work, s.arrived, func() (source.Batch, error) {
		msgs, err := s.take(limits)
		return source.Batch{Messages: msgs}, err
	})
}

// take returns the error that is to be told, or what waits, within limits. That is at work
// then.
func (s *Source) take(limits source.Limits) (msgs []source.Message, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.troubles) > 0 {
		err, s.troubles = s.troubles[0], s.troubles[1:]
		return nil, err
	}
	s.queue = slices.DeleteFunc(s.queue, (*arrival).over)
	fill := sourcekit.NewFiller(limits)
	n := 0
	for _, a := range s.queue {
		if s.atWork >= s.options.Messages || fill.Full() {
			break
		}
		m := s.options.decode(a)
		if !fill.Add(&m) {
			break
		}
		m.Payload = bytes.Clone(m.Payload) // some subscribers give the same bytes again
		m.Receipt = s.work.Deliver(a.number, a, time.Now())
		a.receipt = m.Receipt.Number
		s.atWork++
		msgs = append(msgs, m)
		n++
	}
	clear(s.queue[:n])
	s.queue = s.queue[n:]
	return msgs, nil
}
