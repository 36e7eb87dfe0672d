package sourcetest

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/postbag/postbag/source"
)

func fetchCases() []testCase {
	return []testCase{
		{name: "Fetch waits for a message, and returns it at once", run: fetchWaits},
		{name: "Fetch ends with its context", run: fetchEnds},
		{name: "a context that is over takes nothing", run: fetchOver},
		{name: "contexts that end in the middle lose nothing", run: fetchEndsInside},
		{name: "a second Fetch at the same time is refused", run: fetchTwice},
		{name: "a message that cannot be decoded comes with its error and hinders no other", needs: PartUndecodable, run: undecodable},
	}
}

func limitCases() []testCase {
	return []testCase{
		{name: "a batch keeps within the number of messages", run: limitMessages},
		{name: "a batch keeps within the number of bytes", run: limitBytes},
		{name: "a message beyond the bytes of a batch comes alone", run: limitAlone},
		{name: "a payload that is too large stays away, and its message can be acked", run: limitPayload},
	}
}

func fetchWaits(s *scene) {
	s.open()
	src := s.join()
	s.nothing(src)
	came := make(chan source.Batch, 1)
	m := s.message()
	together(func() {
		batch, err := s.call(s.patient(), src, source.Limits{})
		if err != nil {
			s.Errorf("Fetch: %v", err)
		}
		came <- batch
	}, func() { s.f.Send(s.T, m) })
	if batch := <-came; len(batch.Messages) != 1 {
		s.Fatalf("%d messages came, want one", len(batch.Messages))
	}
}

func fetchEnds(s *scene) {
	s.open()
	src := s.join()
	s.nothing(src)
	began := time.Now()
	if _, err := s.call(s.within(100*time.Millisecond), src, source.Limits{}); !errors.Is(err, context.DeadlineExceeded) {
		s.Errorf("the error is %v, want the context's", err)
	}
	if took := time.Since(began); took < 90*time.Millisecond || took > s.h.slack() {
		s.Errorf("Fetch returned after %v, want about 100 ms", took)
	}
	reason := errors.New("sourcetest: enough")
	ctx, cancel := context.WithCancelCause(context.Background())
	cancel(reason)
	if _, err := s.call(ctx, src, source.Limits{}); !errors.Is(err, reason) {
		s.Errorf("the error is %v, want the cause of the context", err)
	}
}

func fetchOver(s *scene) {
	s.open()
	src := s.join()
	s.send(3)
	s.ack(src, 0, s.fetch(src, 3)...)
	s.send(3)
	over, cancel := context.WithCancel(context.Background())
	cancel()
	for range 5 {
		if _, err := s.call(over, src, source.Limits{}); !errors.Is(err, context.Canceled) {
			s.Errorf("the error is %v, want the context's", err)
		}
	}
	s.all(s.fetch(src, 3), func(n int) bool { return n >= 3 }, none)
}

func fetchEndsInside(s *scene) {
	s.open()
	src := s.join()
	s.send(1)
	msgs := s.fetch(src, 1)
	const total = 200
	together(func() {
		for range total - 1 {
			s.f.Send(s.T, s.lockedMessage())
		}
	}, func() {
		end := s.patient()
		for i := 0; len(msgs) < total && end.Err() == nil; i++ {
			// Each fifty are given a little longer than those before them, or a busy machine might never get a message in time.
			ctx, cancel := context.WithTimeout(end, time.Duration(i%50*20+i/50*50)*time.Microsecond)
			batch, err := src.Fetch(ctx, source.Limits{Messages: 3})
			cancel()
			if err != nil && !errors.Is(err, context.DeadlineExceeded) {
				s.Errorf("Fetch: %v", err)
				return
			}
			msgs = append(msgs, batch.Messages...)
		}
	})
	s.all(msgs, every, none)
	s.inOrder(msgs)
}

// lockedMessage makes a message beside a goroutine that fetches.
func (s *scene) lockedMessage() source.Message {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.message()
}

func fetchTwice(s *scene) {
	s.open()
	src := s.join()
	s.nothing(src)
	results := make(chan error, 2)
	ctx := s.within(s.h.quiet())
	fetch := func() {
		_, err := src.Fetch(ctx, source.Limits{})
		results <- err
	}
	together(fetch, fetch)
	busy, ended := 0, 0
	for range 2 {
		switch err := <-results; {
		case errors.Is(err, source.ErrBusy):
			busy++
		case errors.Is(err, context.DeadlineExceeded):
			ended++
		}
	}
	if busy != 1 || ended != 1 {
		s.Errorf("of two calls %d were refused with ErrBusy, and %d waited; want one of each", busy, ended)
	}
	s.send(1)
	s.fetch(src, 1)
}

func undecodable(s *scene) {
	s.open()
	src := s.join()
	s.send(3)
	s.f.SendUndecodable(s.T)
	s.send(3)
	msgs := s.fetch(src, 7)
	i := slices.IndexFunc(msgs, func(m source.Message) bool { return errors.Is(m.Err, source.ErrUndecodable) })
	if i < 0 {
		s.Fatal("no message has the error ErrUndecodable")
	}
	good := slices.Concat(msgs[:i], msgs[i+1:])
	s.whole(good)
	s.ack(src, 0, msgs...)
	s.close(src)
	s.nothing(s.join())
}

func limitMessages(s *scene) {
	s.open()
	src := s.join()
	s.send(50)
	left := 50
	ctx := s.patient()
	for left > 0 {
		batch, err := s.call(ctx, src, source.Limits{Messages: 7})
		if err != nil {
			s.Fatalf("Fetch, with %d messages left: %v", left, err)
		}
		if n := len(batch.Messages); n > 7 {
			s.Fatalf("a batch has %d messages, want 7 at most", n)
		}
		left -= len(batch.Messages)
	}
}

func limitBytes(s *scene) {
	s.open()
	src := s.join()
	for range 20 {
		s.sendWith(func(m *source.Message) { m.Payload = s.bytes(3000) })
	}
	ctx := s.patient()
	for left := 20; left > 0; {
		batch, err := s.call(ctx, src, source.Limits{Bytes: 10_000})
		if err != nil {
			s.Fatalf("Fetch, with %d messages left: %v", left, err)
		}
		size := 0
		for i := range batch.Messages {
			size += batch.Messages[i].Size()
		}
		if size > 10_000 {
			s.Fatalf("a batch has %d bytes, want 10,000 at most", size)
		}
		left -= len(batch.Messages)
	}
}

func limitAlone(s *scene) {
	s.open()
	src := s.join()
	for i := range 5 {
		s.sendWith(func(m *source.Message) {
			if m.Key = canaryKey; i == 2 {
				m.Payload = s.bytes(20_000)
			}
		})
	}
	ctx := s.patient()
	var all []source.Message
	for len(all) < 5 {
		batch, err := s.call(ctx, src, source.Limits{Bytes: 5000})
		if err != nil {
			s.Fatalf("Fetch, after %d messages: %v", len(all), err)
		}
		for _, m := range batch.Messages {
			if len(m.Payload) > 5000 && len(batch.Messages) > 1 {
				s.Error("a message that is beyond the limit did not come alone")
			}
		}
		all = append(all, batch.Messages...)
	}
	s.whole(all)
}

func limitPayload(s *scene) {
	s.open()
	src := s.join()
	for i := range 5 {
		s.sendWith(func(m *source.Message) {
			if i%2 == 1 {
				m.Payload = s.bytes(20_000)
			}
		})
	}
	msgs := s.fetchWithin(src, 5, source.Limits{Payload: 5000})
	s.all(msgs, every, none)
	for _, m := range msgs {
		large := s.number(m)%2 == 1
		if large != errors.Is(m.Err, source.ErrTooLarge) || large && !sized(m.Err, 20_000, 5000) {
			s.Errorf("message %d has %d bytes and the error %v; one beyond the limit says its size and the limit", s.number(m), len(m.Payload), m.Err)
		}
	}
	s.ack(src, 0, msgs...)
	s.close(src)
	s.nothing(s.join())
}

// sized says whether an error has the size of a payload and its limit: a caller that has no payload can say nothing else of it.
func sized(err error, size, limit int) bool {
	text := err.Error()
	return strings.Contains(text, strconv.Itoa(size)) && strings.Contains(text, strconv.Itoa(limit))
}
