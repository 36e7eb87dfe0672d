package natsbroker

import (
	"cmp"
	"context"
	"time"

	"github.com/postbag/postbag/source"
	"github.com/postbag/postbag/source/sourcekit"
)

const (
	// gatherPause is for how long nothing comes until a batch is returned that is not full.
	gatherPause = 5 * time.Millisecond
	// maxMisses is after how many failed requests in a row Fetch says so.
	maxMisses = 4
)

// Fetch implements source.Source. It asks the server for what limits allow, and no more:
// what it reads ahead is what comes after it has returned, for the same request.
func (s *Source) Fetch(ctx context.Context, limits source.Limits) (source.Batch, error) {
	work, done, err := s.life.Fetch(ctx)
	if err != nil {
		return source.Batch{}, err
	}
	defer done()
	for {
		batch, err := s.take(work, limits)
		if err == nil && len(batch.Messages) == 0 && len(batch.Lost) == 0 {
			err = s.advance(work, limits)
		} else if err == nil {
			return batch, nil
		}
		if work.Err() != nil {
			return source.Batch{}, context.Cause(work)
		}
		if err != nil {
			return source.Batch{}, err
		}
	}
}

// take makes a batch of what has come.
func (s *Source) take(ctx context.Context, limits source.Limits) (batch source.Batch, err error) {
	n, stored := s.pulls.waiting()
	if n > 0 && s.attached {
		if err := s.prove(ctx, stored); err != nil {
			return batch, err
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	batch.Lost, s.lost = s.lost, nil
	if s.ordered() && !s.assignment.active {
		return batch, nil
	}
	fill := sourcekit.NewFiller(limits)
	for ; n > 0 && !fill.Full(); n-- {
		next, there := s.pulls.first()
		if !there {
			break
		}
		if s.stale(next) || !s.assignment.admits(next, s.ordered()) {
			if s.ordered() {
				s.lose()
				break
			}
			s.pulls.skip() // the server gives it to somebody else
			continue
		}
		m := s.message(next)
		if !fill.Add(&m) {
			break
		}
		s.pulls.skip()
		s.assignment.took(next)
		m.Receipt = s.work.Deliver(next.meta.Sequence.Stream, next.msg.Reply, next.at)
		batch.Messages = append(batch.Messages, m)
	}
	if len(batch.Messages) > 0 {
		s.misses, s.large = 0, false
	}
	return batch, nil
}

// stale says whether a message has waited here for so long that the server has given it
// to somebody else, or soon will. One that waited for a while gets its ack wait again.
func (s *Source) stale(a arrived) bool {
	waited := time.Since(a.at)
	if waited > s.limits.AckWait*3/4 {
		return true
	}
	if waited > s.limits.AckWait/4 {
		_ = s.nc.Publish(a.msg.Reply, ackExtend) // if it does not arrive, the message comes again
	}
	return false
}

// advance does what brings messages closer, and waits.
func (s *Source) advance(ctx context.Context, limits source.Limits) error {
	if s.cut.Swap(false) {
		s.attached = false
		s.pulls.giveUp()
	}
	if err := s.disconnected("fetch from"); err != nil {
		return err
	}
	if !s.attached {
		if err := s.attach(ctx); err != nil {
			return err
		}
	}
	if s.ordered() {
		if ready, err := s.takeAssignment(ctx); err != nil || !ready {
			return err
		}
	}
	if ok, err := s.conclude(ctx); err != nil || !ok {
		return err
	}
	if !s.pulls.state(time.Now()).open {
		if err := s.request(s.pullFor(limits)); err != nil {
			return err
		}
	}
	return s.wait(ctx)
}

// conclude does what the end of the last request asks for. Ok says that another may be sent.
func (s *Source) conclude(ctx context.Context) (ok bool, err error) {
	const doing = "fetch from"
	st := s.pulls.state(time.Now())
	if !st.ready {
		if err := s.pulls.renew(); err != nil {
			return false, s.translate(doing, err)
		}
		return true, nil
	}
	if st.open {
		return true, nil
	}
	s.pulls.giveUp() // what it ended with is dealt with once
	switch st.end {
	case pullRefused:
		return false, s.misconfigured(doing, "the server refuses the request ("+st.reason+")", "look at the consumer's settings")
	case pullNobody, pullDeleted, pullMoved:
		return false, s.miss(ctx)
	case pullPin:
		s.unpinned()
		return false, nil
	case pullLarge:
		s.large = st.got == 0
	case pullBusy:
		s.busy = true
	case pullDone:
		s.misses = 0
	}
	return true, nil
}

// miss counts a request that failed, and looks everything up again after a pause.
func (s *Source) miss(ctx context.Context) error {
	s.attached = false
	if s.misses++; s.misses >= maxMisses {
		s.misses = 0
		return s.unavailable("fetch from", "nobody answers for the consumer", "wait, or look at the servers of the stream")
	}
	return s.pause(ctx, 20*time.Millisecond<<s.misses)
}

// pause waits for d, or until ctx ends.
func (s *Source) pause(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// pullFor is a request for what limits allow, within those of the consumer. The server
// holds it until there is a message, gives what there is, and ends it.
func (s *Source) pullFor(limits source.Limits) pullRequest {
	r := pullRequest{
		Batch:    cmp.Or(max(limits.Messages, 0), sourcekit.DefaultMessages),
		MaxBytes: cmp.Or(max(limits.Bytes, 0), sourcekit.DefaultBytes),
		Expires:  pullExpires, NoWait: !s.busy, Heartbeat: pullHeartbeat,
	}
	if s.busy {
		s.busy = false
	}
	c := s.limits
	if c.MaxRequestBatch > 0 {
		r.Batch = min(r.Batch, c.MaxRequestBatch)
	}
	if c.MaxRequestExpires > 0 && c.MaxRequestExpires < r.Expires {
		r.Expires = c.MaxRequestExpires
		r.Heartbeat = min(r.Heartbeat, r.Expires/2)
	}
	if s.large {
		r.Batch, r.MaxBytes = 1, 0
	}
	if c.MaxRequestMaxBytes > 0 && r.MaxBytes > 0 {
		r.MaxBytes = min(r.MaxBytes, c.MaxRequestMaxBytes)
	}
	if s.ordered() {
		s.mu.Lock()
		r.Group, r.ID = priorityGroup, s.assignment.pin
		s.mu.Unlock()
	}
	return r
}

func (s *Source) request(r pullRequest) error {
	s.heard = s.nc.LastError()
	return s.translate("fetch from", s.pulls.ask(s.nextSubject, r))
}

// wait returns when something has come, or the request is over.
func (s *Source) wait(ctx context.Context) error {
	tick := time.NewTicker(s.tick())
	defer tick.Stop()
	for {
		st := s.pulls.state(time.Now())
		switch {
		case st.queued > 0:
			return s.gather(ctx)
		case !st.open, s.cut.Load():
			return nil
		case st.mute:
			s.pulls.giveUp()
			return s.miss(ctx)
		}
		select {
		case <-s.pulls.wake:
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-tick.C:
			if s.ordered() {
				s.keepPinNowAndThen()
			}
			if err := s.denied("fetch from", s.heard); err != nil {
				s.pulls.giveUp()
				return err
			}
		}
	}
}

// gather waits until the request is over, or nothing has come for a moment.
func (s *Source) gather(ctx context.Context) error {
	timer := time.NewTimer(gatherPause)
	defer timer.Stop()
	for s.pulls.state(time.Now()).open {
		select {
		case <-s.pulls.wake:
			timer.Reset(gatherPause)
		case <-timer.C:
			return nil
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	return nil
}
