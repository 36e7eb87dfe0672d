package brokertest

import "github.com/postbag/postbag/broker"

func misconfiguredCases() []testCase {
	return []testCase{
		{name: "a destination that is wrong says misconfigured, each time", needs: PartMisconfigured, run: misconfigured},
		{name: "a bad message does not hide that the destination is wrong", needs: PartMisconfigured, run: misconfiguredAndBad},
		{name: "a destination that was wrong works once it is fixed", needs: PartMisconfigured, run: fixed},
	}
}

func misconfigured(s *scene) {
	s.openMisconfigured()
	msgs := s.messages(4)
	for range 3 {
		results := s.publish(s.patient(), msgs...)
		s.among(results, broker.Misconfigured, broker.NotSent)
		if results[0].Outcome != broker.Misconfigured {
			s.Errorf("the first message is %v (%v), want misconfigured", results[0].Outcome, results[0].Err)
		}
		for i, r := range results {
			if r.Outcome == broker.Misconfigured && r.Scope != s.h.MisconfiguredScope {
				s.Errorf("message %d is misconfigured (%v) with the scope %v, want %v", i, r.Err, r.Scope, s.h.MisconfiguredScope)
			}
		}
	}
	if held := s.f.Stored(s.T); len(held) != 0 {
		s.Errorf("the broker holds %d messages of a destination that is misconfigured", len(held))
	}
}

func misconfiguredAndBad(s *scene) {
	s.openMisconfigured()
	if !s.h.has(PartReject) {
		s.Skip("the harness lacks " + string(PartReject) + ": " + s.h.Lacks[PartReject])
	}
	msgs := s.messages(3)
	s.h.spoil(&msgs[0])
	results := s.publish(s.patient(), msgs...)
	s.among(results[:1], broker.Misconfigured, broker.Rejected, broker.NotSent)
	s.among(results[1:], broker.Misconfigured, broker.NotSent)
}

func fixed(s *scene) {
	fix := s.openMisconfigured().On
	if fix == nil {
		s.Skip("the harness cannot fix what it misconfigured")
	}
	msgs := s.messages(3)
	s.among(s.publish(s.patient(), msgs...), broker.Misconfigured, broker.NotSent)
	fix()
	s.recover(msgs...)
	s.holds(msgs...)
}

// openMisconfigured gives the scene a fixture whose destination cannot work.
func (s *scene) openMisconfigured() Switch {
	s.Helper()
	f, fault := s.h.Misconfigured(s.T)
	s.use(f)
	return fault
}
