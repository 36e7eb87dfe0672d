package brokertest

import "github.com/postbag/postbag/broker"

func scopeCases() []testCase {
	return []testCase{
		{name: "a failure of one topic has the scope topic and leaves other topics alone", needs: PartTopics, run: topicAlone},
		{name: "a call for a topic that fails has the scope topic, each time", needs: PartTopics, run: topicFails},
		{name: "a topic that failed takes messages once it is fixed", needs: PartTopics, run: topicFixed},
		{name: "an outage has the scope destination", needs: PartOutage, run: outageScope},
	}
}

// topicAlone sends to both topics in turn, with the topic that fails first, last and
// in between.
func topicAlone(s *scene) {
	broken, _ := s.openTopics()
	var sent []broker.Delivery
	for round := range 4 {
		msgs := s.messages(12)
		var good []broker.Delivery
		for i := range msgs {
			if (i+round)%4 == 0 {
				msgs[i].Topic = broken
			} else {
				good = append(good, msgs[i])
			}
		}
		for i, r := range s.publish(s.patient(), msgs...) {
			switch {
			case msgs[i].Topic == broken:
				s.topicFailure(r)
			case r.Outcome == broker.Unknown && s.h.CutsOff:
			case r.Outcome != broker.Accepted && r.Outcome != broker.NotSent:
				s.Errorf("message %d, of a topic that works, is %v (%v); want accepted, or else not sent", i, r.Outcome, r.Err)
			}
		}
		s.recover(good...)
		sent = append(sent, good...)
	}
	s.holdsAll(sent...)
}

func topicFails(s *scene) {
	broken, _ := s.openTopics()
	for range 3 {
		msgs := s.to(broken, 4)
		results := s.publish(s.patient(), msgs...)
		for _, r := range results {
			s.topicFailure(r)
		}
		if !held(results[0].Outcome) {
			s.Errorf("the first message is %v (%v), want misconfigured or unavailable", results[0].Outcome, results[0].Err)
		}
		s.accept(s.message())
	}
}

func topicFixed(s *scene) {
	broken, fault := s.openTopics()
	if fault.On == nil {
		s.Skip("the harness cannot fix the topic")
	}
	msgs := s.to(broken, 3)
	for _, r := range s.publish(s.patient(), msgs...) {
		s.topicFailure(r)
	}
	fault.On()
	s.recover(msgs...)
	s.accept(s.message())
}

func outageScope(s *scene) {
	power := s.openOutage()
	first := s.message()
	s.accept(first)
	power.Off()
	for range 3 {
		for i, r := range s.publish(s.within(2*short), s.messages(5)...) {
			if held(r.Outcome) && r.Scope != broker.ScopeDestination {
				s.Errorf("message %d is %v (%v) with the scope %v, want the destination's", i, r.Outcome, r.Err, r.Scope)
			}
		}
	}
	if prober, ok := broker.ProberOf(s.f.Destination); ok {
		if err := prober.Probe(s.within(2 * short)); broker.ScopeOf(err) != broker.ScopeDestination {
			s.Errorf("Probe: %v has the scope %v, want the destination's", err, broker.ScopeOf(err))
		}
	}
	power.On()
	s.recover(first)
}

// topicFailure wants the fate of a message whose topic fails.
func (s *scene) topicFailure(r broker.Result) {
	s.Helper()
	switch {
	case r.Outcome == broker.NotSent, r.Outcome == broker.Unknown && s.h.CutsOff:
	case !held(r.Outcome):
		s.Errorf("a message of the topic that fails is %v (%v), want misconfigured or unavailable", r.Outcome, r.Err)
	case r.Scope != broker.ScopeTopic:
		s.Errorf("a message of the topic that fails is %v (%v) with the scope %v, want topic", r.Outcome, r.Err, r.Scope)
	}
}

// to makes messages of a topic.
func (s *scene) to(topic string, n int) []broker.Delivery {
	msgs := s.messages(n)
	for i := range msgs {
		msgs[i].Topic = topic
	}
	return msgs
}

// openTopics gives the scene a fixture with a second topic, which fails.
func (s *scene) openTopics() (broken string, fault Switch) {
	s.Helper()
	f, broken, fault := s.h.Topics(s.T)
	s.use(f)
	return broken, fault
}
