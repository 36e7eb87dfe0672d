package brokertest

import (
	"slices"
	"sync"

	"github.com/postbag/postbag/broker"
)

func concurrencyCases() []testCase {
	return []testCase{
		{name: "sixteen callers at a time are each answered for their own messages", run: sixteenCallers},
		{name: "accepted and rejected answers of callers side by side do not mix", needs: PartReject, run: mixedAnswers},
		{name: "callers may share headers and payloads", run: sharedParts},
		{name: "large messages side by side arrive whole", run: largeTogether},
	}
}

func sixteenCallers(s *scene) {
	s.open()
	const callers, rounds, size = 16, 20, 5
	var plan [callers][rounds][]broker.Delivery
	var sent []broker.Delivery
	for i := range plan {
		for j := range plan[i] {
			plan[i][j] = s.messages(size)
			sent = append(sent, plan[i][j]...)
		}
	}
	s.together(callers, func(i int) {
		for _, msgs := range plan[i] {
			s.accepted(s.publish(s.patient(), msgs...))
		}
	})
	s.holds(sent...)
}

func mixedAnswers(s *scene) {
	s.open()
	const callers = 16
	var plan [callers][]broker.Delivery
	var good []broker.Delivery
	for i := range plan {
		plan[i] = s.messages(8)
		s.h.spoil(&plan[i][i%8])
		good = append(good, without(plan[i], map[int]bool{i % 8: true})...)
	}
	s.together(callers, func(i int) {
		s.only(s.publish(s.patient(), plan[i]...), map[int]bool{i % 8: true})
	})
	s.holds(good...)
}

func sharedParts(s *scene) {
	s.open()
	const callers = 8
	shared := s.message()
	var plan [callers]broker.Delivery
	for i := range plan {
		plan[i] = s.message()
		plan[i].Headers, plan[i].Payload = shared.Headers, shared.Payload
	}
	s.together(callers, func(i int) { s.accepted(s.publish(s.patient(), plan[i])) })
	s.holds(plan[:]...)
}

func largeTogether(s *scene) {
	s.open()
	size := min(s.room(), 256<<10)
	var plan [8][]broker.Delivery
	for i := range plan {
		for range 2 {
			plan[i] = append(plan[i], s.with(func(m *broker.Delivery) { m.Payload = s.bytes(size) }))
		}
	}
	s.together(len(plan), func(i int) { s.accepted(s.publish(s.patient(), plan[i]...)) })
	s.holds(slices.Concat(plan[:]...)...)
}

// together runs n functions side by side and waits for them.
func (s *scene) together(n int, run func(i int)) {
	var group sync.WaitGroup
	for i := range n {
		group.Go(func() { run(i) })
	}
	group.Wait()
}

// accepted wants every result accepted, without ending the test: it is for
// callers beside the test's own goroutine.
func (s *scene) accepted(results []broker.Result) {
	s.Helper()
	for i, r := range results {
		if r.Outcome != broker.Accepted {
			s.Errorf("message %d of %d is %v (%v), want accepted", i, len(results), r.Outcome, r.Err)
		}
	}
}
