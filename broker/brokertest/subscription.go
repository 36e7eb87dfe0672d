package brokertest

import (
	"bytes"

	"github.com/postbag/postbag/broker"
)

func subscriptionCases() []testCase {
	return []testCase{
		{name: "what other subscriptions make of a message is stored too, or is not accepted", run: ofOtherSubscriptions},
		{name: "what other subscriptions' encoders make of a message is stored too, or is not accepted", needs: PartWire, run: ofOtherEncoders},
	}
}

// Subscriptions of one box send the same message, with the same id and seq, to one
// place. What they make of it differs.
func ofOtherSubscriptions(s *scene) {
	s.open()
	m := s.message()
	sent := s.bySubscriptions(m,
		func(m *broker.Delivery) { m.Headers = map[string]string{"made": canaryValue + " by another"} },
		func(m *broker.Delivery) { m.Payload = []byte(canaryPayload + " of another") },
	)
	s.all(broker.Accepted, sent[0].results)
	found := make([]int, len(sent))
	for i, r := range s.f.Stored(s.T) {
		r.Headers = s.fold(r.Headers)
		s.finds(sent, found, i, func(m broker.Delivery) bool {
			m.Headers = s.fold(m.Headers)
			return difference(m, r) == ""
		})
	}
	s.heldAsAnswered(sent, found)
}

func ofOtherEncoders(s *scene) {
	s.open()
	m := s.encoded(broker.Wire{Headers: map[string]string{"x": "1"}})
	sent := s.bySubscriptions(m,
		func(m *broker.Delivery) { m.Wire = &broker.Wire{Headers: map[string]string{"x": "2"}} },
		func(m *broker.Delivery) { m.Payload = []byte(canaryPayload + " of another") },
	)
	s.all(broker.Accepted, sent[0].results)
	found := make([]int, len(sent))
	for i, r := range s.f.Wired(s.T) {
		s.finds(sent, found, i, func(m broker.Delivery) bool {
			return bytes.Equal(m.Payload, r.Payload) && s.wireDifference(m, r) == ""
		})
	}
	s.heldAsAnswered(sent, found)
}

// bySubscription is what a subscription makes of a message, and what it was answered.
type bySubscription struct {
	broker.Delivery

	results []broker.Result
}

// bySubscriptions publishes m, and once for each change what another subscription
// makes of it. Then all of that comes again.
func (s *scene) bySubscriptions(m broker.Delivery, changes ...func(m *broker.Delivery)) []bySubscription {
	s.Helper()
	sent := []bySubscription{{Delivery: m}}
	for i, change := range changes {
		other := m
		other.Subscription = "other" + string(rune('1'+i))
		change(&other)
		sent = append(sent, bySubscription{Delivery: other})
	}
	for range 2 {
		for i := range sent {
			r := s.publish(s.patient(), sent[i].Delivery)
			s.among(r, broker.Accepted, broker.Rejected)
			sent[i].results = append(sent[i].results, r...)
		}
	}
	return sent
}

// finds counts which of sent the broker's message number i is.
func (s *scene) finds(sent []bySubscription, found []int, i int, is func(m broker.Delivery) bool) {
	s.Helper()
	for k := range sent {
		if is(sent[k].Delivery) {
			found[k]++
			return
		}
	}
	s.Fatalf("the broker's message number %d is none that was sent", i)
}

// heldAsAnswered wants what was accepted to be there, once with a fence, and what was
// rejected not to be.
func (s *scene) heldAsAnswered(sent []bySubscription, found []int) {
	s.Helper()
	fence := s.f.Destination.Features().Fences
	for i := range sent {
		want := len(acceptedOf([]broker.Delivery{sent[i].Delivery, sent[i].Delivery}, sent[i].results))
		if fence != "" {
			want = min(want, 1)
		}
		if found[i] != want {
			s.Errorf("what subscription %q sent is held %d times, want %d: it was answered %v, with the fence %q",
				sent[i].Subscription, found[i], want, sent[i].results, fence)
		}
	}
}
