package kafkabroker

import (
	"context"
	"time"

	"github.com/postbag/postbag/source"
	"github.com/postbag/postbag/source/sourcekit"
)

// Fetch implements source.Source.
func (s *Source) Fetch(ctx context.Context, limits source.Limits) (source.Batch, error) {
	work, done, err := s.life.Fetch(ctx)
	if err != nil {
		return source.Batch{}, err
	}
	defer done()
	for {
		batch, wait, change, err := s.take(limits, time.Now())
		if err != nil || len(batch.Messages) > 0 || len(batch.Lost) > 0 {
			return batch, err
		}
		timer := time.NewTimer(wait)
		select {
		case <-change:
		case <-timer.C:
		case <-work.Done():
			timer.Stop()
			return source.Batch{}, context.Cause(work)
		}
		timer.Stop()
	}
}

// take makes a batch of what there is, or says what is wrong. If it is neither, it says
// when to look again.
func (s *Source) take(limits source.Limits, now time.Time) (batch source.Batch, wait time.Duration, change <-chan struct{}, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.lost) == 0 { // a loss is told first: it is news, and errors come again
		if err := s.news(now); err != nil {
			return batch, 0, nil, err
		}
	}
	batch.Lost, s.lost = s.lost, nil
	fill := sourcekit.NewFiller(limits)
	wait = toldEvery
	names := s.names()
	s.turn++
	freed := false
	for i := range names {
		p := s.parts[names[(s.turn+i)%len(names)]]
		if p.hold.After(now) {
			wait = min(wait, p.hold.Sub(now))
		}
		freed = freed || len(p.queue) > 0
		if !s.takeOf(p, fill, &batch, now) {
			break
		}
	}
	if freed {
		s.wakeMember()
	}
	if len(batch.Messages) == 0 && len(batch.Lost) == 0 {
		err = s.outage()
	}
	return batch, wait, s.change, err
}

// takeOf takes what it can of one partition. It says whether the batch takes more.
func (s *Source) takeOf(p *part, fill *sourcekit.Filler, batch *source.Batch, now time.Time) bool {
	for len(p.queue) > 0 && !p.resting(now, s.tracker.Room(p.epoch)) {
		r := p.queue[0]
		switch {
		case r.Offset < p.reached: // the client read it before, or it stands in for what did
			p.pop()
			continue
		case r.Attrs.IsControl():
			if mark, ok := s.tracker.Deliver(p.epoch, uint64(r.Offset)); ok {
				s.tracker.Ack([]source.Receipt{mark})
				p.delivered(r)
				signal(s.acked)
			}
			p.pop()
			continue
		case fill.Full():
			return false
		}
		m := decode(r, p.log)
		if !fill.Add(&m) {
			return false
		}
		m.Receipt, _ = s.tracker.Deliver(p.epoch, uint64(r.Offset)) // there is room
		p.delivered(r)
		p.told = true
		p.pop()
		batch.Messages = append(batch.Messages, m)
	}
	p.full = len(p.queue) > 0
	return true
}

// wakeMember has the member read on, if it waits for room.
func (s *Source) wakeMember() {
	if s.member != nil {
		signal(s.member.drained)
	}
}

// news says what is wrong with a topic or partition, or with the whole source, if it was not
// said for a while. The caller holds the lock.
func (s *Source) news(now time.Time) error {
	if s.usurped != nil {
		return s.usurped
	}
	due := func(f *fault) bool {
		if f == nil || now.Sub(f.told) < toldEvery {
			return false
		}
		f.told = now
		return true
	}
	for _, f := range s.topics {
		if due(f) {
			return f.err
		}
	}
	for _, name := range s.names() {
		if f := s.parts[name].broken; due(f) {
			return f.err
		}
	}
	return nil
}

// outage says why nothing comes at all. The caller holds the lock.
func (s *Source) outage() error {
	if s.down != nil {
		return s.down
	}
	return s.joining
}
