package rabbitbroker

import (
	"context"
	"time"

	"github.com/postbag/postbag/source"
)

// Ack implements source.Source. It does no I/O: the acks are written at once in the
// background, several as one where no message before them is open. RabbitMQ answers no ack.
func (s *Source) Ack(ctx context.Context, receipts []source.Receipt) (lost int, err error) {
	done, err := s.life.Call(ctx)
	if err != nil {
		return 0, err
	}
	defer done()
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.consumer
	for _, r := range receipts {
		if c == nil || c.over || r.Epoch != c.epoch || c.tags.ack(r.Number) {
			lost++
		}
	}
	if lost < len(receipts) {
		signal(c.wake)
	}
	return lost, nil
}

// Release implements source.Source. If the connection is lost meanwhile, the messages come
// earlier. A quorum queue counts each release for its x-delivery-limit. Until they are
// given back, the messages count for Prefetch.
//
// With source.OrderStream the source ends its channel, and everything that is not acked goes
// back into the queue at its place.
func (s *Source) Release(ctx context.Context, receipts []source.Receipt, after time.Duration) error {
	done, err := s.life.Call(ctx)
	if err != nil {
		return err
	}
	defer done()
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.consumer
	if c == nil || c.over {
		return nil
	}
	var at time.Time
	if after > 0 {
		at = time.Now().Add(after)
	}
	for _, r := range receipts {
		if r.Epoch != c.epoch || !c.tags.atWork(r.Number) {
			continue
		}
		if s.ordered() {
			s.lose(c)
			c.endAt <- at // it holds one, and an assignment ends once
			return nil
		}
		c.tags.release(r.Number, at)
	}
	signal(c.wake)
	return nil
}

// signal notes something in a channel that holds one note.
func signal(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// write tells the server what became of messages, until done is closed or the channel ends.
func (c *consumer) write() {
	defer close(c.written)
	timer := time.NewTimer(0)
	defer timer.Stop()
	for last := false; ; {
		c.s.mu.Lock()
		commands, next := c.tags.take(time.Now())
		c.s.mu.Unlock()
		if err := c.send(commands); err != nil || last {
			return // reading notices the channel's end
		}
		var later <-chan time.Time
		if !next.IsZero() {
			timer.Reset(time.Until(next))
			later = timer.C
		}
		select {
		case <-c.wake:
		case <-later:
		case <-c.done:
			last = true
		}
	}
}

// send writes commands. A message is never given back for good (requeue is set): what
// becomes of dead letters is the queue's matter.
func (c *consumer) send(all commands) error {
	for _, tag := range all.backs {
		if err := c.ch.Nack(tag, false, true); err != nil {
			return err
		}
	}
	if all.upTo > 0 {
		if err := c.ch.Ack(all.upTo, true); err != nil {
			return err
		}
	}
	for _, tag := range all.acks {
		if err := c.ch.Ack(tag, false); err != nil {
			return err
		}
	}
	return nil
}
