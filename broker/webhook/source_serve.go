package webhook

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"time"
)

// ServeHTTP takes one request, and answers it when its fate is known:
//
//	204  it was acked: it is stored, or was before
//	400  a header is missing, is there twice, or cannot be read
//	401  no signature matches a secret, or the timestamp is outside of the tolerance
//	405  it is no POST
//	408  its body came too slowly
//	413  its body is too large; no more than the limit was read
//	415  its content is encoded, or of a type that is not taken
//	503  it was not acked in time, was released, too many are in hand, or the source is closed
//
// A 503 has a Retry-After. Bodies of answers say what is wrong, and quote nothing.
func (s *Source) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	// It holds for a request that is refused, too: the server reads the rest of its body before it
	// answers. Where a wrapper hides the connection, the server's own ReadTimeout is left.
	_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(s.settings.ReadTimeout))
	if a := s.refusal(r); a.code != 0 {
		s.write(w, a)
		return
	}
	size := r.ContentLength
	if size < 0 {
		size = s.settings.MaxBytes
	}
	if why := s.enter(size); why != nil {
		s.write(w, s.busy(why))
		return
	}
	defer func() { s.leave(size) }()
	body, a := s.read(w, r)
	s.resize(&size, int64(len(body)))
	waits := &request{answer: make(chan answer, 1)}
	if a.code == 0 {
		waits.m, a = s.message(r, body)
	}
	if a.code != 0 {
		s.write(w, a)
		return
	}
	if !s.enqueue(waits) {
		s.write(w, s.busy(errClosing))
		return
	}
	defer s.dequeued()
	s.write(w, s.await(r.Context(), waits))
	_ = http.NewResponseController(w).Flush() // Close waits for it; who cannot flush does it later
}

// enter counts a request, or says why it is not taken.
func (s *Source) enter(size int64) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.shut:
		return errClosing
	case s.stalled && !s.idle:
		return errStalled
	case s.inHand >= s.settings.Requests || s.memory+size > s.settings.Memory:
		return errFull
	}
	s.inHand++
	s.memory += size
	return nil
}

func (s *Source) leave(size int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.inHand--
	s.memory -= size
}

// resize counts what a body has in place of what it might have had.
func (s *Source) resize(size *int64, now int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.memory += now - *size
	*size = now
}

// enqueue lets a request wait for a Fetch. It returns false after Close.
func (s *Source) enqueue(r *request) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.shut {
		return false
	}
	s.waiting++
	s.number++
	r.number = s.number
	r.m.Receipt.Epoch, r.m.Receipt.Number = epoch, r.number
	s.queue = append(s.queue, r)
	select {
	case s.arrived <- struct{}{}:
	default:
	}
	return true
}

// dequeued notes that the answer of a request that was queued is written.
func (s *Source) dequeued() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.waiting--; s.shut && s.waiting == 0 {
		close(s.written)
	}
}

// await returns the answer of a request, or takes it away when its time is over or its
// sender has hung up.
func (s *Source) await(ctx context.Context, r *request) answer {
	timer := time.NewTimer(s.settings.AnswerWithin)
	defer timer.Stop()
	select {
	case a := <-r.answer:
		return a
	case <-ctx.Done():
		return s.takeAway(r, s.busy(errGone))
	case <-timer.C:
		return s.takeAway(r, s.busy(errLate))
	}
}

// takeAway ends a request, unless it was answered at that moment.
func (s *Source) takeAway(r *request, a answer) answer {
	s.mu.Lock()
	defer s.mu.Unlock()
	select {
	case was := <-r.answer:
		return was
	default:
	}
	if s.atWork[r.number] == r {
		delete(s.atWork, r.number)
		s.lost.add(r.number)
	}
	s.queue = slices.DeleteFunc(s.queue, func(one *request) bool { return one == r })
	s.stalled = s.stalled || errors.Is(a.err, errLate)
	return a
}
