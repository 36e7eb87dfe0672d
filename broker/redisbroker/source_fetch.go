package redisbroker

import (
	"cmp"
	"context"
	"time"

	"github.com/postbag/postbag/source"
	"github.com/postbag/postbag/source/sourcekit"
)

// step is something that the source asks of the server for a Fetch. It goes on if the
// Fetch ends before it: what it brings is kept for the next one.
type step struct {
	done chan struct{}
	err  error // read it after done
}

// Fetch implements source.Source.
func (s *Source) Fetch(ctx context.Context, limits source.Limits) (source.Batch, error) {
	work, done, err := s.life.Fetch(ctx)
	if err != nil {
		return source.Batch{}, err
	}
	defer done()
	for {
		batch := s.take(limits)
		if len(batch.Messages) > 0 || len(batch.Lost) > 0 {
			return batch, nil
		}
		if err := s.advance(work, limits); err != nil {
			if work.Err() != nil {
				return source.Batch{}, context.Cause(work)
			}
			return source.Batch{}, err
		}
	}
}

// take makes a batch of what has come.
func (s *Source) take(limits source.Limits) (batch source.Batch) {
	s.mu.Lock()
	defer s.mu.Unlock()
	batch.Lost, s.lost = s.lost, nil
	if s.stale() {
		return batch
	}
	fill := sourcekit.NewFiller(limits)
	now := time.Now()
	for len(s.queue) > 0 && !fill.Full() {
		next := s.queue[0]
		m := s.message(next)
		if !fill.Add(&m) {
			break
		}
		s.queue[0] = arrived{}
		s.queue = s.queue[1:]
		delete(s.queued, next.spot)
		m.Receipt = s.work.Deliver(next.spot, struct{}{}, now)
		batch.Messages = append(batch.Messages, m)
	}
	return batch
}

// stale says whether something has waited here for so long that not much is left of its
// ack wait. The caller holds the lock.
func (s *Source) stale() bool {
	return len(s.queue) > 0 && time.Since(s.queue[0].at) > s.options.AckWait/4
}

// push keeps what came for the next batch. An entry that waits already was taken away, and
// came again. The caller holds the lock.
func (s *Source) push(all []arrived) {
	again := false
	for _, a := range all {
		again = again || s.queued[a.spot]
		s.queued[a.spot] = true
	}
	if again {
		fresh := make(map[spot]bool, len(all))
		for _, a := range all {
			fresh[a.spot] = true
		}
		s.keep(func(a arrived) bool { return !fresh[a.spot] })
		for _, a := range all {
			s.queued[a.spot] = true
		}
	}
	s.queue = append(s.queue, all...)
}

// keep drops what waits and must not. The caller holds the lock.
func (s *Source) keep(is func(a arrived) bool) {
	var kept []arrived
	for _, a := range s.queue {
		if is(a) {
			kept = append(kept, a)
		} else {
			delete(s.queued, a.spot)
		}
	}
	s.queue = kept
}

// advance waits for the step under way, or makes one.
func (s *Source) advance(ctx context.Context, limits source.Limits) error {
	st := s.current()
	if st == nil {
		if err := pause(ctx, time.Until(s.rest)); err != nil {
			return err
		}
		st = &step{done: make(chan struct{})}
		s.setStep(st)
		go func() {
			defer close(st.done)
			st.err = s.move(limits)
		}()
	}
	select {
	case <-st.done:
		s.setStep(nil)
		return st.err
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// pause waits for d, or until ctx ends.
func pause(ctx context.Context, d time.Duration) error {
	if d > 0 {
		timer := time.NewTimer(d)
		defer timer.Stop()
		select {
		case <-timer.C:
		case <-ctx.Done():
		}
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return nil
}

func (s *Source) current() *step {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.under
}

func (s *Source) setStep(st *step) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.under = st
}

// move does one thing that brings messages closer. After an error it is not known what
// the server gave this member: its history says so.
func (s *Source) move(limits source.Limits) error {
	s.mu.Lock()
	stale := s.stale()
	s.mu.Unlock()
	var err error
	switch {
	case stale:
		err = s.refresh(s.ctx)
	case !s.attached:
		err = s.attach(s.ctx)
	case len(s.history) > 0:
		err = s.readHistory(s.ctx, limits)
	case !time.Now().Before(s.nextScan):
		err = s.scan(s.ctx, limits)
	default:
		err = s.readNew(s.ctx, limits)
	}
	if err == nil {
		return nil
	}
	s.doubt()
	if isGone(err) {
		s.attached = false
		if s.misses++; s.misses < maxMisses {
			return nil // the next step looks what became of it
		}
	}
	s.misses = 0
	return s.translate("fetch", err)
}

// maxMisses is how often in a row a group may be gone that was there a moment before.
const maxMisses = 4

// refresh begins the ack wait of what waits here again, so that a consumer has all of it.
// It drops what others took meanwhile.
func (s *Source) refresh(ctx context.Context) error {
	s.mu.Lock()
	waiting := make([]spot, len(s.queue))
	for i, a := range s.queue {
		waiting[i] = a.spot
	}
	s.mu.Unlock()
	now := time.Now()
	owned, _, err := s.ownedBy(ctx, s.consumer, waiting)
	if err != nil {
		return err
	}
	if err := s.extend(ctx, owned); err != nil {
		return err
	}
	still := make(map[spot]bool, len(owned))
	for _, e := range owned {
		still[e] = true
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.keep(func(a arrived) bool { return still[a.spot] })
	for i := range s.queue {
		s.queue[i].at = now
	}
	return nil
}

// doubt has the source read its history before anything else.
func (s *Source) doubt() {
	for i := range s.streams {
		s.history[i] = "0"
	}
}

// count is how many entries a read asks for of each stream: what limits allow, by the
// sizes that came before.
func (s *Source) count(limits source.Limits) int {
	n := min(cmp.Or(max(limits.Messages, 0), sourcekit.DefaultMessages), s.options.ReadCount)
	bytes := cmp.Or(max(limits.Bytes, 0), sourcekit.DefaultBytes)
	n = max(min(n, bytes/s.usual), 1)
	return (n + s.active - 1) / s.active
}

const (
	// firstUsual is for how large an entry is taken before the first came.
	firstUsual = 64 << 10
	// readPause is between two reads in a cluster, if one command cannot wait for all
	// streams.
	readPause = 100 * time.Millisecond
	// longestWait is for how long a read waits at the server.
	longestWait = 500 * time.Millisecond
)

// learn notes how large entries are, and of how many streams they came. It forgets large
// ones slowly.
func (s *Source) learn(all []arrived) {
	if len(all) == 0 {
		return
	}
	bytes, of := 0, map[int]bool{}
	for _, a := range all {
		bytes += a.size()
		of[a.stream] = true
	}
	mean := max(bytes/len(all), 1)
	s.usual = max(mean, (s.usual+mean)/2)
	s.active = len(of)
}
