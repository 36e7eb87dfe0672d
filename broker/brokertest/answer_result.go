package brokertest

import "github.com/postbag/postbag/broker"

func resultCases() []testCase {
	return []testCase{
		{name: "an empty call is harmless", run: emptyCall},
		{name: "every message of a call gets its answer, whatever the call's size", run: callSizes},
		{name: "a call of the largest size is answered whole", run: largestCall},
		{name: "without a fault nothing is stored twice", run: noDuplicates},
		{name: "messages of one payload and different ids are all stored", run: equalPayloads},
	}
}

func emptyCall(s *scene) {
	s.open()
	s.call(s.patient(), nil, nil)
	s.call(s.patient(), []broker.Delivery{}, []broker.Result{})
	s.holds()
}

func callSizes(s *scene) {
	s.open()
	var sent []broker.Delivery
	for _, n := range []int{1, 2, 3, 7, 64, 129} {
		msgs := s.messages(n)
		s.accept(msgs...)
		sent = append(sent, msgs...)
	}
	s.holds(sent...)
}

func largestCall(s *scene) {
	s.open()
	n := s.f.Destination.Features().MaxBatch
	if n <= 0 {
		n = 1000
	}
	s.roundTrips(s.messages(n)...)
}

func noDuplicates(s *scene) {
	s.open()
	var sent []broker.Delivery
	for range 20 {
		msgs := s.messages(10)
		s.accept(msgs...)
		sent = append(sent, msgs...)
	}
	s.holds(sent...)
}

func equalPayloads(s *scene) {
	s.open()
	msgs := s.messages(10)
	for i := range msgs {
		msgs[i].Payload = []byte("the same")
		msgs[i].Headers = nil
	}
	s.roundTrips(msgs...)
}
