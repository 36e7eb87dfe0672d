package rabbitbroker

import (
	"context"
	"time"

	"github.com/postbag/postbag/source"
	"github.com/postbag/postbag/source/sourcekit"
)

// arrival is a message that came and was not returned.
type arrival struct {
	message source.Message
	offset  uint64
	tag     uint64
	sum     []byte
}

// Fetch implements source.Source. A member that stands by waits.
func (s *StreamSource) Fetch(ctx context.Context, limits source.Limits) (source.Batch, error) {
	work, done, err := s.life.Fetch(ctx)
	if err != nil {
		return source.Batch{}, err
	}
	defer done()
	return sourcekit.Await(work, s.wake, func() (source.Batch, error) { return s.take(limits) })
}

// take makes a batch of what has come, or says why nothing comes.
func (s *StreamSource) take(limits source.Limits) (batch source.Batch, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.lost {
		batch.Lost, s.lost = []source.Partition{s.partition()}, false
	}
	fill := sourcekit.NewFiller(limits)
	for len(s.queue) > 0 && s.tracker.Room(s.epoch) > 0 {
		a := s.queue[0]
		m := a.message
		if !fill.Add(&m) {
			break
		}
		m.Receipt, _ = s.tracker.Deliver(s.epoch, a.offset) // there is room, and offsets grow
		s.queue[0] = arrival{}
		s.queue = s.queue[1:]
		s.tenure.deliver(a)
		s.reader.credit = a.tag
		batch.Messages = append(batch.Messages, m)
	}
	switch {
	case len(batch.Messages) > 0:
		signal(s.reader.wake)
	case len(batch.Lost) == 0:
		err = s.fault
	}
	return batch, err
}

// Ack implements source.Source. It does no I/O: the position is kept in the background.
func (s *StreamSource) Ack(ctx context.Context, receipts []source.Receipt) (lost int, err error) {
	done, err := s.life.Call(ctx)
	if err != nil {
		return 0, err
	}
	defer done()
	if lost = s.tracker.Ack(receipts); lost < len(receipts) {
		signal(s.moved)
		signal(s.wake) // the window may have been full
	}
	return lost, nil
}

// Release implements source.Source. If the connection is lost meanwhile, the messages come
// earlier.
func (s *StreamSource) Release(ctx context.Context, receipts []source.Receipt, after time.Duration) error {
	done, err := s.life.Call(ctx)
	if err != nil {
		return err
	}
	defer done()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.tenure == nil {
		return nil
	}
	s.tenure.note()
	again := s.tracker.Rewind(receipts)
	if len(again) == 0 {
		return nil
	}
	s.epoch, s.lost = again[len(again)-1].Epoch, true
	s.tenure.sums = nil // what they are of comes again
	s.drop()
	s.reader.endAt <- time.Now().Add(max(after, 0)) // it holds one, and an assignment ends once
	return nil
}

// drop ends what the reader is for. The caller holds the lock.
func (s *StreamSource) drop() {
	if s.reader != nil {
		s.reader.over = true
	}
	s.queue = nil
	signal(s.wake)
}

// lose ends the assignment: what was at work, and what was read ahead, is not this source's any
// more. The caller holds the lock.
func (s *StreamSource) lose() {
	s.drop()
	if s.tracker.Lose(s.partition()) {
		s.lost = true
	}
}
