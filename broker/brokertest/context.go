package brokertest

import (
	"context"
	"time"

	"github.com/postbag/postbag/broker"
)

// slack is how much later than its context a call may return on a busy machine.
const slack = 5 * time.Second

func contextCases() []testCase {
	return []testCase{
		{name: "a context that is already over sends nothing or leaves it unknown", run: contextOver},
		{name: "a context that is over after the call takes nothing back", run: contextOverLater},
		{name: "a context that ends in the middle leaves every answer true", run: contextEndsInside},
	}
}

func contextOver(s *scene) {
	s.open()
	over, cancel := context.WithCancel(context.Background())
	cancel()
	msgs := s.messages(5)
	began := time.Now()
	s.among(s.publish(over, msgs...), broker.NotSent, broker.Unknown)
	s.promptly(began, 0)
	s.accept(msgs...)
	if s.f.Destination.Features().Fences != "" {
		s.holds(msgs...)
	} else {
		s.stored(msgs...)
	}
}

func contextOverLater(s *scene) {
	s.open()
	ctx, cancel := context.WithTimeout(context.Background(), s.h.patience())
	msgs := s.messages(5)
	results := s.publish(ctx, msgs...)
	cancel()
	s.all(broker.Accepted, results)
	s.roundTripsAfter(msgs, s.messages(5))
}

func contextEndsInside(s *scene) {
	s.open()
	var sent, accepted []broker.Delivery
	for i := range 40 {
		ctx, cancel := context.WithTimeout(context.Background(), time.Duration(i*50)*time.Microsecond)
		msgs := s.messages(5)
		results := s.publish(ctx, msgs...)
		cancel()
		s.among(results, broker.Accepted, broker.Unknown, broker.NotSent)
		sent = append(sent, msgs...)
		accepted = append(accepted, acceptedOf(msgs, results)...)
	}
	last := s.message()
	s.recover(last) // an ended call may have cost its connection
	held := counts(s.stored(append(sent, last)...))
	for i, m := range accepted {
		if held[m.ID] != 1 {
			s.Errorf("accepted message %d is held %d times, want once", i, held[m.ID])
		}
	}
}

// promptly wants that no more than limit, and some slack, passed since began.
func (s *scene) promptly(began time.Time, limit time.Duration) {
	s.Helper()
	if took := time.Since(began); took > limit+slack {
		s.Errorf("it took %v, want about %v at most", took, limit)
	}
}

// roundTripsAfter wants next accepted, and held after the earlier ones.
func (s *scene) roundTripsAfter(earlier, next []broker.Delivery) {
	s.Helper()
	s.accept(next...)
	s.holds(append(earlier, next...)...)
}

func acceptedOf(msgs []broker.Delivery, results []broker.Result) []broker.Delivery {
	var taken []broker.Delivery
	for i, r := range results {
		if r.Outcome == broker.Accepted {
			taken = append(taken, msgs[i])
		}
	}
	return taken
}
