package memsource

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/postbag/postbag/source"
	"github.com/postbag/postbag/source/sourcekit"
)

// Source is a member of a group. It is safe for concurrent use; one goroutine fetches.
type Source struct {
	b    *Broker
	g    *group
	life sourcekit.Life

	// The broker's lock guards the rest.
	member   bool
	session  uint64          // the epoch of what it gets, if there is no order
	back     map[uint64]bool // deliveries of the session that were taken back one by one
	atWork   int
	told     map[source.Partition]bool // of which it got messages since their last loss
	lost     []source.Partition        // what the next Fetch says
	paused   map[source.Partition]bool
	lostAcks bool
}

var (
	_ source.Source   = (*Source)(nil)
	_ source.Extender = (*Source)(nil)
	_ source.Pauser   = (*Source)(nil)
	_ source.Lagger   = (*Source)(nil)
)

// Join makes a source, and a member of a group of it. The group is made if it does not
// exist. It then begins at the first message that the broker holds.
func (b *Broker) Join(name string) *Source {
	b.mu.Lock()
	defer b.mu.Unlock()
	s := &Source{
		b: b, g: b.group(name),
		back: map[uint64]bool{}, told: map[source.Partition]bool{}, paused: map[source.Partition]bool{},
	}
	s.g.join(s)
	return s
}

// lose notes that a partition is this source's no more.
func (s *Source) lose(p source.Partition) {
	delete(s.paused, p)
	if s.told[p] {
		delete(s.told, p)
		s.lost = append(s.lost, p)
	}
}

// Features implements source.Source.
func (s *Source) Features() source.Features {
	o := s.b.options
	return source.Features{
		Order: o.Order, Places: !o.NoPlaces, Counts: !o.NoCounts, Cumulative: o.Cumulative, AckWait: o.AckWait, MaxUnacked: o.MaxUnacked,
	}
}

// Fetch implements source.Source. A source that was expelled joins again.
func (s *Source) Fetch(ctx context.Context, limits source.Limits) (source.Batch, error) {
	work, done, err := s.life.Fetch(ctx)
	if err != nil {
		return source.Batch{}, err
	}
	defer done()
	for {
		if err := s.fail(OpFetch); err != nil {
			return source.Batch{}, err
		}
		batch, wait, change := s.take(work, limits)
		if len(batch.Messages) > 0 || len(batch.Lost) > 0 {
			return batch, nil
		}
		var timer <-chan time.Time
		if wait > 0 {
			timer = s.b.options.Clock.After(wait)
		}
		select {
		case <-change:
		case <-timer:
		case <-work.Done():
			return source.Batch{}, context.Cause(work)
		}
	}
}

// take makes a batch of what there is. If there is nothing, it says when to look again: when
// change is closed, or after wait, unless that is zero.
func (s *Source) take(work context.Context, limits source.Limits) (batch source.Batch, wait time.Duration, change <-chan struct{}) {
	s.b.mu.Lock()
	defer s.b.mu.Unlock()
	if work.Err() != nil {
		return batch, 0, nil // closed or crashed meanwhile: it does not join again
	}
	s.g.join(s)
	now := s.b.options.Clock.Now()
	next := s.g.expire(now)
	batch.Lost, s.lost = s.lost, nil
	fill := sourcekit.NewFiller(limits)
	begin := int(s.b.number % uint64(len(s.g.parts))) // no partition is always first
	for i := range s.g.parts {
		p := s.g.parts[(begin+i)%len(s.g.parts)]
		if s.paused[s.g.log(p).name] || s.g.ordered() && p.owner != s {
			continue
		}
		if p.hold.After(now) {
			next = earlier(next, p.hold)
			continue
		}
		next = earlier(next, s.takeOf(p, fill, &batch, now))
	}
	if !next.IsZero() {
		wait = max(next.Sub(now), 1)
	}
	return batch, wait, s.b.change
}

// takeOf takes what it can of one partition, and returns when more comes by time alone.
func (s *Source) takeOf(p *part, fill *sourcekit.Filler, batch *source.Batch, now time.Time) (next time.Time) {
	free := true // nothing before was left out
	for offset := p.cursor; offset < s.g.log(p).end(); offset++ {
		st := s.g.state(p, offset)
		switch most := s.b.options.MaxUnacked; {
		case st.acked || st.out != nil:
			continue
		case st.notBefore.After(now):
			next = earlier(next, st.notBefore)
			free = false
			continue
		case fill.Full() || most > 0 && s.atWork >= most:
			return next
		}
		m := clone(s.g.log(p).held[offset-s.g.log(p).base])
		if !fill.Add(&m) {
			return next
		}
		s.g.take(s, p, offset, now, &m)
		batch.Messages = append(batch.Messages, m)
		if free {
			p.cursor = offset + 1
		}
	}
	return next
}

// fail says why a call fails, nil if it does not.
func (s *Source) fail(op Op) error {
	if f := s.b.options.Fail; f != nil {
		if err := f(op, s); err != nil {
			return err
		}
	}
	s.b.mu.Lock()
	defer s.b.mu.Unlock()
	return s.b.down
}

// call runs f under the broker's lock, unless the call fails.
func (s *Source) call(ctx context.Context, op Op, f func()) error {
	done, err := s.life.Call(ctx)
	if err != nil {
		return err
	}
	defer done()
	if err := s.fail(op); err != nil {
		return err
	}
	s.b.mu.Lock()
	defer s.b.mu.Unlock()
	s.g.expire(s.b.options.Clock.Now())
	f()
	s.b.wake()
	return nil
}

// delivery returns the delivery that a receipt names, nil if it is not this source's any
// more.
func (s *Source) delivery(r source.Receipt) *delivery {
	if d := s.g.deliveries[r.Number]; d != nil && d.by == s && d.epoch == r.Epoch {
		return d
	}
	return nil
}

// isLost says of a receipt that names no delivery whether the message was taken away, and
// not acked.
func (s *Source) isLost(r source.Receipt) bool {
	if r.Number == 0 || r.Number > s.b.number || s.back[r.Number] || !s.member {
		return true
	}
	if !s.g.ordered() {
		return r.Epoch != s.session
	}
	return !slices.ContainsFunc(s.g.parts, func(p *part) bool { return p.owner == s && p.epoch == r.Epoch })
}

// Ack implements source.Source.
func (s *Source) Ack(ctx context.Context, receipts []source.Receipt) (lost int, err error) {
	err = s.call(ctx, OpAck, func() {
		for _, r := range receipts {
			switch d := s.delivery(r); {
			case d == nil && s.isLost(r):
				lost++
			case d != nil && !d.acked:
				s.g.ack(d)
			}
		}
	})
	return lost, err
}

// Extend implements source.Extender.
func (s *Source) Extend(ctx context.Context, receipts []source.Receipt) (lost int, err error) {
	err = s.call(ctx, OpExtend, func() {
		deadline := s.b.options.Clock.Now().Add(s.b.options.AckWait)
		for _, r := range receipts {
			if d := s.delivery(r); d != nil {
				d.deadline = deadline
			} else if s.isLost(r) {
				lost++
			}
		}
	})
	return lost, err
}

// Release implements source.Source.
func (s *Source) Release(ctx context.Context, receipts []source.Receipt, after time.Duration) error {
	return s.call(ctx, OpRelease, func() {
		at := s.b.options.Clock.Now().Add(max(after, 0))
		for _, r := range receipts {
			d := s.delivery(r)
			if d == nil || d.acked {
				continue
			}
			if s.g.ordered() {
				s.g.give(d.part, d.part.owner)
				d.part.hold = at
				continue
			}
			st := s.g.state(d.part, d.offset)
			s.g.takeBack(st)
			st.notBefore = at
		}
	})
}

// Pause implements source.Pauser.
func (s *Source) Pause(partitions ...source.Partition) {
	s.b.mu.Lock()
	defer s.b.mu.Unlock()
	for _, name := range partitions {
		has := func(p *part) bool { return s.g.log(p).name == name && (p.owner == s || !s.g.ordered()) }
		if slices.ContainsFunc(s.g.parts, has) {
			s.paused[name] = true
		}
	}
}

// Resume implements source.Pauser.
func (s *Source) Resume(partitions ...source.Partition) {
	s.b.mu.Lock()
	defer s.b.mu.Unlock()
	for _, name := range partitions {
		delete(s.paused, name)
	}
	s.b.wake()
}

// Lag implements source.Lagger.
func (s *Source) Lag(ctx context.Context) (all []source.Lag, err error) {
	done, err := s.life.Call(ctx)
	if err != nil {
		return nil, err
	}
	defer done()
	s.b.mu.Lock()
	defer s.b.mu.Unlock()
	if s.b.down != nil {
		return nil, s.b.down
	}
	for _, p := range s.g.parts {
		l := s.g.log(p)
		if s.g.ordered() && p.owner != s {
			continue
		}
		lag := source.Lag{Partition: l.name}
		for offset := p.first; offset < l.end(); offset++ {
			if !s.g.state(p, offset).acked {
				lag.Messages++
			}
		}
		if lag.Messages > 0 {
			lag.Age = max(s.b.options.Clock.Now().Sub(l.held[p.first-l.base].Time), 0)
		}
		all = append(all, lag)
	}
	return all, nil
}

var errLostAcks = errors.New("memsource: acks of this source got lost; what they were for comes again")

// Close implements source.Source. The broker and other sources go on.
func (s *Source) Close(ctx context.Context) error {
	return s.life.Close(ctx, func(context.Context) error {
		err := s.fail(OpClose)
		s.b.mu.Lock()
		defer s.b.mu.Unlock()
		if s.member && s.lostAcks && err == nil {
			err = errLostAcks
		}
		s.g.leave(s)
		return err
	})
}
