package brokertest

import "github.com/postbag/postbag/broker"

func featureCases() []testCase {
	return []testCase{
		{name: "the features declared are those expected", run: featuresExpected},
		{name: "the features never change", run: featuresConstant},
		{name: "a payload of the declared MaxBytes is accepted", run: declaredMaxBytes},
		{name: "a message sent twice is stored once with a declared fence, and twice without", run: declaredFence},
	}
}

func featuresExpected(s *scene) {
	s.open()
	got, want := s.f.Destination.Features(), s.h.Features
	if (got.MaxBytes > 0) == (want.MaxBytes > 0) {
		want.MaxBytes = got.MaxBytes
	}
	if got != want {
		s.Errorf("declared %+v, the harness expects %+v", got, want)
	}
	if _, can := broker.TransactionalOf(s.f.Destination); got.Transactions && !can {
		s.Error("the destination declares Transactions, and is not broker.Transactional")
	}
	if got.MaxBytes < 0 || got.MaxBatch < 0 {
		s.Errorf("declared %+v; zero is how to say that there is no limit", got)
	}
	if got.MaxBytes > 0 && s.h.TooLarge > 0 && got.MaxBytes >= s.h.TooLarge {
		s.Errorf("declared MaxBytes %d, and %d bytes are too large", got.MaxBytes, s.h.TooLarge)
	}
}

func featuresConstant(s *scene) {
	s.open()
	first := s.f.Destination.Features()
	same := func(when string) {
		if now := s.f.Destination.Features(); now != first {
			s.Errorf("%s the features are %+v, they were %+v", when, now, first)
		}
	}
	s.accept(s.message())
	same("after a message")
	s.together(8, func(int) { same("side by side") })
	s.close()
	same("after Close")
}

func declaredMaxBytes(s *scene) {
	s.open()
	limit := s.f.Destination.Features().MaxBytes
	if limit == 0 {
		s.Skip("the destination declares no MaxBytes")
	}
	s.roundTrips(s.with(func(m *broker.Delivery) { m.Payload = s.bytes(limit) }))
}

func declaredFence(s *scene) {
	s.open()
	m := s.message()
	s.accept(m)
	s.accept(m)
	want := 2
	if s.f.Destination.Features().Fences != "" {
		want = 1
	}
	if n := counts(s.stored(m))[m.ID]; n != want {
		s.Errorf("the message is stored %d times, want %d with the fence %q", n, want, s.f.Destination.Features().Fences)
	}
}
