package mqttbroker

import (
	"context"
	"time"

	"github.com/postbag/postbag/source"
)

// Ack implements source.Source. It does no I/O: the acks are written at once in the
// background, in the sequence in which the messages came, as MQTT 5 has it. The ack of a message
// waits until those before it are acked.
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
		if c == nil || c.over || r.Epoch != c.epoch || c.work.ack(r.Number) {
			lost++
		}
	}
	if lost < len(receipts) {
		c.changed()
		signal(s.wake) // there is room for more
	}
	return lost, nil
}

// Release implements source.Source. MQTT knows no such thing: the source keeps the messages, and
// returns them itself. Until then they count for MaxUnacked. If the connection is lost
// meanwhile, they come earlier.
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
	at := time.Now().Add(max(after, 0))
	for _, r := range receipts {
		if r.Epoch != c.epoch || c.work.out[r.Number] == nil {
			continue
		}
		if !s.shared() {
			c.work.rewind(at)
			s.epochs++
			c.epoch = s.epochs
			s.toldLoss()
			return nil
		}
		c.work.release(r.Number, at)
	}
	signal(s.wake)
	return nil
}

// signal notes something in a channel that holds one note.
func signal(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}
