package brokertest

import (
	"context"
	"time"

	"github.com/postbag/postbag/broker"
)

func probeCases() []testCase {
	return []testCase{
		{name: "a probe of a working destination succeeds and leaves nothing behind", run: probeWorks},
		{name: "a probe ends with its context", run: probeContext},
		{name: "a probe in an outage fails, and succeeds after it", needs: PartOutage, run: probeOutage},
		{name: "a probe of a destination that is wrong gives no wrong reason", needs: PartMisconfigured, run: probeMisconfigured},
		{name: "a probe after Close fails", run: probeAfterClose},
	}
}

func probeWorks(s *scene) {
	prober := s.open().prober()
	for range 3 {
		if err := prober.Probe(s.patient()); err != nil {
			s.Fatalf("Probe: %v", err)
		}
	}
	s.holds()
	s.roundTrips(s.message())
}

func probeContext(s *scene) {
	prober := s.open().prober()
	over, cancel := context.WithCancel(context.Background())
	cancel()
	began := time.Now()
	if err := prober.Probe(over); err != nil {
		s.unavailable(err)
	}
	s.promptly(began, 0)
}

func probeOutage(s *scene) {
	power := s.openOutage()
	prober := s.prober()
	power.Off()
	began := time.Now()
	err := prober.Probe(s.within(2 * short))
	s.promptly(began, 2*short)
	s.unavailable(err)
	power.On()
	s.until("Probe succeeds after the outage", func() bool { return prober.Probe(s.within(2*time.Second)) == nil })
}

func probeMisconfigured(s *scene) {
	s.openMisconfigured()
	err := s.prober().Probe(s.patient())
	if err == nil {
		return // a probe need not see what is wrong: the relay then tries the message itself
	}
	s.discreet(err)
	if got := broker.OutcomeOf(err); got != broker.Misconfigured && got != broker.Unavailable {
		s.Errorf("Probe: %v is %v, want misconfigured or unavailable", err, got)
	}
}

func probeAfterClose(s *scene) {
	prober := s.open().prober()
	s.close()
	if err := prober.Probe(s.patient()); err == nil {
		s.Error("Probe after Close says that all is well")
	}
}

// prober ends the case where the destination is no Prober.
func (s *scene) prober() broker.Prober {
	s.Helper()
	prober, ok := broker.ProberOf(s.f.Destination)
	if !ok {
		s.Skip("the destination is not a broker.Prober")
	}
	return prober
}

// unavailable wants err to be an error that is not the configuration's.
func (s *scene) unavailable(err error) {
	s.Helper()
	if err == nil {
		s.Fatal("Probe says that all is well")
	}
	s.discreet(err)
	if got := broker.OutcomeOf(err); got == broker.Misconfigured || got == broker.Rejected {
		s.Errorf("Probe: %v is %v, want unavailable", err, got)
	}
}
