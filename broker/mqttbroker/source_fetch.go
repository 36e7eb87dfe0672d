package mqttbroker

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/postbag/postbag/source"
	"github.com/postbag/postbag/source/sourcekit"
)

// Fetch implements source.Source. What it returns was sent by the broker before: as many
// messages as SourceOptions.MaxUnacked allows.
func (s *Source) Fetch(ctx context.Context, limits source.Limits) (source.Batch, error) {
	work, done, err := s.life.Fetch(ctx)
	if err != nil {
		return source.Batch{}, err
	}
	defer done()
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		batch, wait, err := s.take(limits)
		if err != nil || len(batch.Messages) > 0 || len(batch.Lost) > 0 {
			return batch, err
		}
		var later <-chan time.Time
		if wait > 0 {
			timer.Reset(wait)
			later = timer.C
		}
		select {
		case <-s.wake:
		case <-later:
		case <-work.Done():
			return source.Batch{}, context.Cause(work)
		}
	}
}

// take makes a batch of what has come, or says why nothing comes. wait is as for work.next.
func (s *Source) take(limits source.Limits) (batch source.Batch, wait time.Duration, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.alarm != nil {
		err, s.alarm = s.alarm, nil
		return batch, 0, err
	}
	if s.lost {
		batch.Lost, s.lost = []source.Partition{s.partition()}, false
	}
	if c := s.consumer; c != nil && !c.over {
		wait = s.fill(&batch, c, limits)
	}
	if len(batch.Messages) == 0 && len(batch.Lost) == 0 {
		err = s.fault
	}
	return batch, wait, err
}

// fill takes messages of c. The caller holds the lock.
func (s *Source) fill(batch *source.Batch, c *consumer, limits source.Limits) time.Duration {
	fill := sourcekit.NewFiller(limits)
	for !fill.Full() {
		a, wait := c.work.next(time.Now(), s.options.MaxUnacked)
		if a == nil {
			return wait
		}
		m := s.message(a)
		if !fill.Add(&m) {
			break
		}
		m.Receipt = source.Receipt{Epoch: c.epoch, Number: c.work.hand()}
		s.told = true
		batch.Messages = append(batch.Messages, m)
	}
	return 0
}

// lose ends an assignment: what was at work, and what was read ahead, is not this source's
// any more. The caller holds the lock.
func (s *Source) lose(c *consumer) {
	if c.over {
		return
	}
	c.over = true
	s.toldLoss()
}

// toldLoss has the next Fetch say that the partition was lost, if anything of it was returned.
// The caller holds the lock.
func (s *Source) toldLoss() {
	if s.told {
		s.told, s.lost = false, true
	}
	signal(s.wake)
}

// say has Fetch return an error while there is nothing else.
func (s *Source) say(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.fault = err
	signal(s.wake)
}

// report tells OnFault, or the next Fetch.
func (s *Source) report(err error) {
	if s.options.OnFault != nil {
		s.options.OnFault(err)
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.alarm == nil || !strings.Contains(s.alarm.Error(), err.Error()) {
		s.alarm = errors.Join(s.alarm, err) // a session that was lost is not hidden by the next fault
	}
	signal(s.wake)
}
