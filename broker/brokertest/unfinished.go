package brokertest

import (
	"context"

	"github.com/postbag/postbag/broker"
)

// spoiled returns messages of which the one at bad must be refused.
func (s *scene) spoiled(n, bad int) []broker.Delivery {
	msgs := s.messages(n)
	s.h.spoil(&msgs[bad])
	return msgs
}

func txRejected(s *scene) {
	s.open()
	l := s.enter()
	good := s.messages(2)
	s.committed(l, "good", good...)
	outcome, results := s.commit(s.patient(), l, "bad", s.spoiled(20, 7)...)
	if outcome != broker.Aborted {
		s.Fatalf("a transaction with a message that must be refused is %v, want aborted", outcome)
	}
	for i, r := range results {
		want := broker.NotSent
		if i == 7 {
			want = broker.Rejected
		}
		if r.Outcome != want {
			s.Errorf("message %d beside a refused one is %v (%v), want %v", i, r.Outcome, r.Err, want)
		}
	}
	s.recorded("good")
	s.holds(good...)
}

func txAfterAbort(s *scene) {
	s.open()
	msgs := s.spoiled(10, 0)
	s.uncommitted(s.enter(), "bad", msgs...)
	s.committed(s.enter(), "rest", msgs[1:]...)
	s.recorded("rest")
	s.holds(msgs[1:]...)
}

func txFinished(s *scene) {
	s.open()
	l := s.enter()
	s.uncommitted(l, "bad", s.spoiled(2, 1)...)
	for range 2 {
		outcome, results := s.commit(s.patient(), l, "late", s.messages(2)...)
		if outcome != broker.Aborted {
			s.Errorf("a transaction on a finished lane is %v, want aborted", outcome)
		}
		s.all(broker.NotSent, results)
	}
	s.holds()
}

func txMisconfigured(s *scene) {
	power := s.openMisconfigured()
	msgs := s.messages(3)
	l, err := s.tryLane(s.patient(), "0")
	if err == nil {
		outcome, results := s.commit(s.patient(), l, "wrong", msgs...)
		if outcome != broker.Aborted || results[0].Outcome != broker.Misconfigured {
			s.Errorf("a transaction is %v, its first message %v (%v); want aborted, misconfigured", outcome, results[0].Outcome, results[0].Err)
		}
	}
	if power.On == nil {
		return
	}
	power.On()
	s.until("a transaction is committed once the destination works again", func() bool {
		l, err := s.tryLane(s.patient(), "0")
		if err != nil {
			return false
		}
		outcome, _ := s.commit(s.patient(), l, "fixed", msgs...)
		return outcome == broker.Committed
	})
	s.holds(msgs...)
}

// truth opens the lane again and wants msgs stored if its record is record, and
// none of them if it is the one before.
func (s *scene) truth(outcome broker.TxOutcome, before, record string, earlier, msgs []broker.Delivery) {
	s.Helper()
	var l broker.Lane
	s.until("the lane can be opened again", func() bool {
		var err error
		l, err = s.tryLane(s.within(s.h.patience()), "0")
		return err == nil
	})
	switch got := string(l.Record()); {
	case got == record && outcome != broker.Aborted:
		s.holds(append(earlier, msgs...)...)
	case got == before && outcome != broker.Committed:
		s.holds(earlier...)
	default:
		s.Errorf("the transaction is %v, and the record of the lane has %d bytes", outcome, len(got))
	}
	next := s.message()
	s.committed(l, "next", next)
	s.recorded("next")
}

func txOutOfTime(s *scene) {
	s.open()
	l := s.enter()
	first := s.messages(1)
	s.committed(l, "before", first...)
	over, cancel := context.WithCancel(context.Background())
	cancel()
	msgs := s.messages(3)
	outcome, _ := s.commit(over, l, "record", msgs...)
	s.truth(outcome, "before", "record", first, msgs)
}

func txMuted(s *scene) {
	power := s.openMute()
	l := s.enter()
	earlier := append([]broker.Delivery(nil), s.warm...)
	first := s.message()
	s.committed(l, "before", first)
	earlier = append(earlier, first)
	power.Off()
	msgs := s.messages(3)
	outcome, _ := s.commit(s.within(2*short), l, "record", msgs...)
	if outcome == broker.Committed {
		s.Error("a transaction is committed without an answer")
	}
	power.On()
	s.truth(outcome, "before", "record", earlier, msgs)
}

func txOutage(s *scene) {
	power := s.openOutage()
	l := s.enter()
	first := s.messages(1)
	s.committed(l, "before", first...)
	power.Off()
	msgs := s.messages(3)
	outcome, _ := s.commit(s.within(2*short), l, "record", msgs...)
	if outcome == broker.Committed {
		s.Error("a transaction is committed in an outage")
	}
	if _, err := s.tryLane(s.within(2*short), "0"); err == nil {
		s.Error("a lane is opened in an outage")
	}
	power.On()
	s.truth(outcome, "before", "record", first, msgs)
}

func txClosed(s *scene) {
	s.open()
	l := s.enter()
	m := s.message()
	s.committed(l, "before", m)
	for range 2 {
		if err := l.Close(s.patient()); err != nil {
			s.Errorf("Close: %v", err)
		}
	}
	if outcome := s.uncommitted(l, "late", s.message()); outcome != broker.Aborted {
		s.Errorf("a transaction on a closed lane is %v, want aborted", outcome)
	}
	s.recorded("before")
	s.holds(m)
}

func txBesidePublish(s *scene) {
	s.open()
	l := s.enter()
	a, b, c := s.message(), s.message(), s.message()
	s.committed(l, "1", a)
	s.accept(b)
	s.committed(l, "2", c)
	s.holds(a, b, c)
}
