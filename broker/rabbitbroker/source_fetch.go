package rabbitbroker

import (
	"context"

	"github.com/postbag/postbag/source"
	"github.com/postbag/postbag/source/sourcekit"
)

// Fetch implements source.Source. What it returns was sent by the server before: as many
// messages as SourceOptions.Prefetch allows.
func (s *Source) Fetch(ctx context.Context, limits source.Limits) (source.Batch, error) {
	work, done, err := s.life.Fetch(ctx)
	if err != nil {
		return source.Batch{}, err
	}
	defer done()
	return sourcekit.Await(work, s.wake, func() (source.Batch, error) { return s.take(limits) })
}

// take makes a batch of what has come, or says why nothing comes.
func (s *Source) take(limits source.Limits) (batch source.Batch, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.lost {
		batch.Lost, s.lost = []source.Partition{s.partition()}, false
	}
	fill := sourcekit.NewFiller(limits)
	for len(s.queue) > 0 {
		m := s.queue[0]
		if !fill.Add(&m) {
			break
		}
		s.queue[0] = source.Message{}
		s.queue = s.queue[1:]
		s.consumer.tags.hand(m.Receipt.Number)
		s.told = true
		batch.Messages = append(batch.Messages, m)
	}
	if len(batch.Messages) == 0 && len(batch.Lost) == 0 {
		err = s.fault
	}
	return batch, err
}

// arrive keeps a message for Fetch.
func (s *Source) arrive(c *consumer, m source.Message, tag uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if c.over {
		return // it goes back with the channel
	}
	c.tags.arrive(tag)
	m.Receipt = source.Receipt{Epoch: c.epoch, Number: tag}
	s.queue = append(s.queue, m)
	signal(s.wake)
}

// lose ends an assignment: what was at work, and what was read ahead, is not this source's
// any more. The caller holds the lock.
func (s *Source) lose(c *consumer) {
	if c.over {
		return
	}
	c.over, s.queue = true, nil
	if s.told {
		s.told, s.lost = false, true
	}
	signal(s.wake)
}
