package watermillbroker

import (
	"context"
	"time"

	"github.com/postbag/postbag/source"
)

// Ack implements source.Source. It calls the Ack of each message. What the subscriber has
// given up meanwhile, so that the context of the message has ended, counts as lost.
func (s *Source) Ack(ctx context.Context, receipts []source.Receipt) (lost int, err error) {
	done, err := s.life.Call(ctx)
	if err != nil {
		return 0, err
	}
	defer done()
	s.mu.Lock()
	defer s.mu.Unlock()
	found, lost := s.work.Find(receipts)
	for i, d := range found {
		a := d.Data
		if a.over() { // ended has not run yet
			lost++
			s.work.Taken(found[i : i+1])
			s.nack(a)
			continue
		}
		s.work.Acked(found[i : i+1])
		s.ack(a)
	}
	return lost, nil
}

// Release implements source.Source. It calls the Nack of each message after that time. Until
// then the messages are in hand, and a subscriber that waits for each ack gives no other of
// their topics. When they come again after the Nack is the subscriber's business.
func (s *Source) Release(ctx context.Context, receipts []source.Receipt, after time.Duration) error {
	done, err := s.life.Call(ctx)
	if err != nil {
		return err
	}
	defer done()
	s.mu.Lock()
	defer s.mu.Unlock()
	found, _ := s.work.Find(receipts)
	s.work.Taken(found)
	for _, d := range found {
		a := d.Data
		if after <= 0 {
			s.nack(a)
			continue
		}
		a.timer = time.AfterFunc(after, func() {
			s.mu.Lock()
			defer s.mu.Unlock()
			s.nack(a)
		})
	}
	return nil
}
