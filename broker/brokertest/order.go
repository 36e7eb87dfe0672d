package brokertest

import (
	"fmt"

	"github.com/postbag/postbag/broker"
)

func orderCases() []testCase {
	return []testCase{
		{name: "a key sent one by one is stored in that order", run: oneKeyInOrder},
		{name: "many keys side by side are each stored in order", run: manyKeysInOrder},
		{name: "an ordered destination stores the messages of a call in order", run: orderedCall},
		{name: "an ordered destination takes nothing of a key after its rejected message", needs: PartReject, run: orderedReject},
	}
}

func oneKeyInOrder(s *scene) {
	s.open()
	msgs := s.ofKey(canaryKey, 50)
	for _, m := range msgs {
		s.accept(m)
	}
	s.holds(msgs...)
}

func manyKeysInOrder(s *scene) {
	s.open()
	var sent []broker.Delivery
	for range 20 {
		round := s.messages(20)
		for i := range round {
			round[i].Key = fmt.Sprintf("%s-%d", canaryKey, i)
		}
		s.accept(round...)
		sent = append(sent, round...)
	}
	s.holds(sent...)
}

func orderedCall(s *scene) {
	s.ordered()
	msgs := s.messages(300)
	for i := range msgs {
		msgs[i].Key = fmt.Sprintf("%s-%d", canaryKey, i%3)
	}
	s.roundTrips(msgs...)
}

func orderedReject(s *scene) {
	s.ordered()
	for _, at := range []int{0, 5, 9} {
		msgs := s.messages(20)
		for i := range msgs {
			msgs[i].Key = fmt.Sprintf("%s-%d-%d", canaryKey, at, i%2)
		}
		s.h.spoil(&msgs[2*at])
		results := s.publish(s.patient(), msgs...)
		s.stopsAt(results, 2*at)
		for i := 1; i < len(results); i += 2 {
			if results[i].Outcome != broker.Accepted {
				s.Errorf("message %d of the other key is %v (%v), want accepted", i, results[i].Outcome, results[i].Err)
			}
		}
	}
}

// ordered opens the fixture, and ends the case where the destination does not
// declare Ordered: nothing is then promised, because a call holds a key only once.
func (s *scene) ordered() {
	s.Helper()
	s.open()
	if !s.f.Destination.Features().Ordered {
		s.Skip("the destination is not ordered; a call holds a key only once")
	}
}

// stopsAt wants the key of every second message accepted before the one at bad,
// rejected there, and not accepted after it.
func (s *scene) stopsAt(results []broker.Result, bad int) {
	s.Helper()
	for i := 0; i < len(results); i += 2 {
		got := results[i].Outcome
		switch {
		case i < bad && got != broker.Accepted:
			s.Errorf("message %d, before the rejected one, is %v (%v), want accepted", i, got, results[i].Err)
		case i == bad && got != broker.Rejected:
			s.Errorf("message %d is %v (%v), want rejected", i, got, results[i].Err)
		case i > bad && got == broker.Accepted:
			s.Errorf("message %d was accepted though message %d of its key was rejected", i, bad)
		}
	}
}
