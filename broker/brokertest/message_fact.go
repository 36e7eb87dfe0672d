package brokertest

import (
	"time"

	"github.com/postbag/postbag/broker"
)

func factCases() []testCase {
	return []testCase{
		{name: "id, key, type and time travel with the message", run: factsTravel},
		{name: "the time is the database's, to the microsecond and in UTC", run: factOfTime},
		{name: "a header named like a fact does not replace the fact", run: forgedFact},
		{name: "a header named like a fact does not invent one", run: inventedFact},
		{name: "a later attempt carries the same bytes", run: laterAttempt},
		{name: "box, subscription and seq change nothing that arrives", run: factsOfRelay},
	}
}

func factsTravel(s *scene) {
	s.open().roundTrips(s.messages(3)...)
}

func factOfTime(s *scene) {
	s.open()
	zone := time.FixedZone("east", 5*3600+1800)
	s.roundTrips(
		s.with(func(m *broker.Delivery) { m.At = time.Date(2026, 1, 1, 2, 3, 4, 567_890_999, zone) }),
		s.with(func(m *broker.Delivery) { m.At = time.Date(1999, 12, 31, 23, 59, 59, 0, time.UTC) }),
		s.with(func(m *broker.Delivery) { m.At = time.Date(2262, 1, 1, 0, 0, 0, 1_000, time.UTC) }),
	)
}

func forgedFact(s *scene) {
	s.open()
	m := s.message()
	false1, false2 := s.message(), s.message()
	forged := m
	forged.Headers = map[string]string{
		broker.HeaderID: false1.ID.String(), broker.HeaderKey: "forged", broker.HeaderType: "forged",
		broker.HeaderTime: broker.FormatTime(false2.At),
	}
	results := s.publish(s.patient(), forged)
	s.among(results, broker.Accepted, broker.Rejected)
	m.Headers = nil // whether the forgeries arrive beside the facts is up to the adapter
	if results[0].Outcome == broker.Accepted {
		s.holds(m)
	}
}

func inventedFact(s *scene) {
	s.open()
	m := s.with(func(m *broker.Delivery) { m.Key, m.Type, m.Headers = "", "", nil })
	forged := m
	forged.Headers = map[string]string{broker.HeaderKey: "forged", broker.HeaderType: "forged"}
	results := s.publish(s.patient(), forged)
	s.among(results, broker.Accepted, broker.Rejected)
	if results[0].Outcome == broker.Accepted {
		s.holds(m)
	}
}

func laterAttempt(s *scene) {
	s.open()
	m := s.message()
	again := m
	again.Attempt = 7
	s.accept(m)
	s.accept(again)
	for _, r := range s.stored(m) {
		if d := difference(m, r); d != "" {
			s.Errorf("a delivery of attempt 1 or 7 differs: %s", d)
		}
	}
}

func factsOfRelay(s *scene) {
	s.open()
	m := s.with(func(m *broker.Delivery) { m.Box, m.Subscription, m.Seq = "", "", 0 })
	s.roundTrips(m)
}
