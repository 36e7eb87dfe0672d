package brokertest

import "github.com/postbag/postbag/broker"

func rejectCases() []testCase {
	return []testCase{
		{name: "a message that can never be taken is rejected and not stored", needs: PartReject, run: rejected},
		{name: "a rejected message is rejected again", needs: PartReject, run: rejectedAgain},
		{name: "one rejected message leaves the others of its call alone", needs: PartReject, run: rejectedAmongOthers},
		{name: "several rejected messages of a call are told apart", needs: PartReject, run: severalRejected},
		{name: "a call of rejected messages only leaves the destination usable", needs: PartReject, run: onlyRejected},
		{name: "a key goes on after its rejected message", needs: PartReject, run: keyAfterReject},
	}
}

func rejected(s *scene) {
	s.open()
	bad := s.bad()
	s.all(broker.Rejected, s.publish(s.patient(), bad))
	s.holds()
}

func rejectedAgain(s *scene) {
	s.open()
	bad := s.bad()
	for range 3 {
		s.all(broker.Rejected, s.publish(s.patient(), bad))
	}
	s.holds()
}

func rejectedAmongOthers(s *scene) {
	s.open()
	var sent []broker.Delivery
	for _, at := range []int{0, 4, 8} {
		msgs := s.messages(9)
		s.h.spoil(&msgs[at])
		results := s.publish(s.patient(), msgs...)
		s.only(results, map[int]bool{at: true})
		sent = append(sent, without(msgs, map[int]bool{at: true})...)
	}
	s.holds(sent...)
}

func severalRejected(s *scene) {
	s.open()
	msgs := s.messages(20)
	bad := map[int]bool{}
	for _, at := range []int{1, 2, 3, 9, 17, 19} {
		bad[at] = true
		s.h.spoil(&msgs[at])
	}
	s.only(s.publish(s.patient(), msgs...), bad)
	s.holds(without(msgs, bad)...)
}

func onlyRejected(s *scene) {
	s.open()
	s.all(broker.Rejected, s.publish(s.patient(), s.bad(), s.bad(), s.bad()))
	s.roundTrips(s.messages(3)...)
}

func keyAfterReject(s *scene) {
	s.open()
	msgs := s.ofKey(canaryKey, 3)
	s.h.spoil(&msgs[1])
	s.accept(msgs[0])
	s.all(broker.Rejected, s.publish(s.patient(), msgs[1]))
	s.accept(msgs[2])
	s.holds(msgs[0], msgs[2])
}

func limitCases() []testCase {
	return []testCase{
		{name: "one message above the size limit among fifty harms no other", needs: PartLimit, run: largeAmongFifty},
		{name: "messages above the size limit leave the destination usable", needs: PartLimit, run: largeAgainAndAgain},
		{name: "messages above the size limit are rejected to callers side by side", needs: PartLimit, run: largeSideBySide},
	}
}

func largeAmongFifty(s *scene) {
	s.open()
	msgs := s.messages(50)
	msgs[24].Payload = make([]byte, s.h.TooLarge)
	s.only(s.publish(s.patient(), msgs...), map[int]bool{24: true})
	s.holds(without(msgs, map[int]bool{24: true})...)
}

func largeAgainAndAgain(s *scene) {
	s.open()
	var sent []broker.Delivery
	for range 5 {
		large := s.with(func(m *broker.Delivery) { m.Payload = make([]byte, s.h.TooLarge) })
		s.all(broker.Rejected, s.publish(s.patient(), large))
		m := s.message()
		s.accept(m)
		sent = append(sent, m)
	}
	s.holds(sent...)
}

func largeSideBySide(s *scene) {
	s.open()
	var sent []broker.Delivery
	var calls [4][]broker.Delivery
	for i := range calls {
		calls[i] = s.messages(6)
		calls[i][i].Payload = make([]byte, s.h.TooLarge)
		sent = append(sent, without(calls[i], map[int]bool{i: true})...)
	}
	s.together(len(calls), func(i int) {
		s.only(s.publish(s.patient(), calls[i]...), map[int]bool{i: true})
	})
	s.holds(sent...)
}

// bad makes a message that must be rejected.
func (s *scene) bad() broker.Delivery { return s.with(s.h.spoil) }

// only wants the messages at bad rejected and all others accepted.
func (s *scene) only(results []broker.Result, bad map[int]bool) {
	s.Helper()
	for i, r := range results {
		want := broker.Accepted
		if bad[i] {
			want = broker.Rejected
		}
		if r.Outcome != want {
			s.Errorf("message %d of %d is %v (%v), want %v", i, len(results), r.Outcome, r.Err, want)
		}
	}
}

func without(msgs []broker.Delivery, skip map[int]bool) []broker.Delivery {
	var rest []broker.Delivery
	for i, m := range msgs {
		if !skip[i] {
			rest = append(rest, m)
		}
	}
	return rest
}
