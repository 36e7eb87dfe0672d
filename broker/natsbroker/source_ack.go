package natsbroker

import (
	"context"
	"fmt"
	"time"

	"github.com/postbag/postbag/source"
)

// Ack implements source.Source. It returns when the server has answered every ack, and an
// error if it is not known of one.
func (s *Source) Ack(ctx context.Context, receipts []source.Receipt) (lost int, err error) {
	done, err := s.life.Call(ctx)
	if err != nil {
		return 0, err
	}
	defer done()
	found, lost := s.work.Find(receipts)
	if err := s.command(ctx, "ack messages of", found, ackDone); err != nil {
		return 0, err
	}
	s.work.Acked(found)
	return lost, nil
}

// Extend implements source.Extender. With source.OrderStream it also keeps other members
// from taking over.
func (s *Source) Extend(ctx context.Context, receipts []source.Receipt) (lost int, err error) {
	done, err := s.life.Call(ctx)
	if err != nil {
		return 0, err
	}
	defer done()
	s.keepPin()
	found, lost := s.work.Find(receipts)
	now := time.Now()
	if err := s.command(ctx, "extend messages of", found, ackExtend); err != nil {
		return 0, err
	}
	s.work.Extended(found, now)
	return lost, nil
}

// Release implements source.Source.
func (s *Source) Release(ctx context.Context, receipts []source.Receipt, after time.Duration) error {
	done, err := s.life.Call(ctx)
	if err != nil {
		return err
	}
	defer done()
	if s.ordered() {
		s.endAssignment(receipts, after)
		return nil
	}
	found, _ := s.work.Find(receipts)
	back := ackBack
	if after > 0 {
		back = fmt.Appendf(nil, `%s {"delay": %d}`, ackBack, after.Nanoseconds())
	}
	if err := s.command(ctx, "release messages of", found, back); err != nil {
		return err
	}
	s.work.Taken(found)
	return nil
}

// endAssignment is Release with an order. The next Fetch sets the consumer back.
func (s *Source) endAssignment(receipts []source.Receipt, after time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if found, _ := s.work.Find(receipts); len(found) == 0 {
		return
	}
	s.assignment.hold = time.Now().Add(max(after, 0))
	s.assignment.begun = time.Time{} // it is no fight with another member
	s.lose()
	s.pulls.signal()
}

// command sends one command for each delivery.
func (s *Source) command(ctx context.Context, doing string, found []delivery, payload []byte) error {
	if len(found) == 0 {
		return nil
	}
	commands := make([]command, len(found))
	for i, d := range found {
		commands[i] = command{d.Data, payload}
	}
	return s.confirm(ctx, doing, commands)
}
