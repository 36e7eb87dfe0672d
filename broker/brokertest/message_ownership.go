package brokertest

import (
	"strings"
	"time"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/broker"
)

func custodyCases() []testCase {
	return []testCase{
		{name: "the slice is not read after the call returned", run: custodyOfSlices},
		{name: "slices longer than their messages are left alone", run: custodyBeyond},
		{name: "odd messages never panic and never harm good ones", run: oddMessages},
	}
}

func custodyOfSlices(s *scene) {
	s.open()
	var sent []broker.Delivery
	for range 10 {
		msgs := s.messages(20)
		sent = append(sent, clone(msgs)...)
		results := make([]broker.Result, len(msgs))
		s.send(s.patient(), msgs, results)
		spend(msgs)
		s.all(broker.Accepted, results)
	}
	s.holds(sent...)
}

func custodyBeyond(s *scene) {
	s.open()
	backing := s.messages(4)
	kept := clone(backing)
	results := make([]broker.Result, 4)
	s.send(s.patient(), backing[:2], results[:2])
	s.all(broker.Accepted, results[:2])
	for i := 2; i < 4; i++ {
		if d := difference(kept[i], received(backing[i])); d != "" || results[i] != (broker.Result{}) {
			s.Errorf("what lies behind the slices was touched at %d", i)
		}
	}
	s.holds(kept[:2]...)
}

func oddMessages(s *scene) {
	s.open()
	odd := s.oddities()
	var good []broker.Delivery
	for len(odd) > 0 {
		msgs := s.messages(3)
		good = append(good, msgs...)
		results := s.publish(s.patient(), append(msgs, odd[0])...)
		s.all(broker.Accepted, results[:3])
		odd = odd[1:]
	}
	count := counts(s.f.Stored(s.T))
	for i, m := range good {
		if count[m.ID] != 1 {
			s.Errorf("good message %d is held %d times beside odd ones, want once", i, count[m.ID])
		}
	}
}

// oddities are messages that no publisher lets through, and some that it does.
// Each has an id of its own.
func (s *scene) oddities() []broker.Delivery {
	changes := []func(m *broker.Delivery){
		func(m *broker.Delivery) { m.Topic = "" },
		func(m *broker.Delivery) { m.Topic = strings.Repeat("t", 70_000) },
		func(m *broker.Delivery) { m.Topic = "a b\r\nPUB x 0\r\n\r\n" },
		func(m *broker.Delivery) { m.Topic = "*.>" },
		func(m *broker.Delivery) { m.Topic = "\x00" },
		func(m *broker.Delivery) { m.Topic = "\xff\xfe" },
		func(m *broker.Delivery) { m.Key = "\xff\x00\xfe" },
		func(m *broker.Delivery) { m.Key = strings.Repeat("k", 70_000) },
		func(m *broker.Delivery) { m.Type = "\xff\x00" },
		func(m *broker.Delivery) { m.Type = strings.Repeat("t", 70_000) },
		func(m *broker.Delivery) { m.Headers = map[string]string{"": ""} },
		func(m *broker.Delivery) { m.Headers = map[string]string{"\x00": "\x00", "\xff": "\xff"} },
		func(m *broker.Delivery) {
			m.Headers = map[string]string{strings.Repeat("n", 70_000): strings.Repeat("v", 70_000)}
		},
		func(m *broker.Delivery) { m.At = time.Time{} },
		func(m *broker.Delivery) { m.At = time.Date(1, 1, 1, 0, 0, 0, 1, time.UTC) },
		func(m *broker.Delivery) { m.At = time.Date(9999, 12, 31, 23, 59, 59, 999_999_999, time.UTC) },
		func(m *broker.Delivery) { m.Attempt, m.Seq = -1, -1 },
		func(m *broker.Delivery) { m.NotBefore = m.At.Add(time.Hour) },
		func(m *broker.Delivery) { *m = broker.Delivery{Message: postbag.Message{ID: m.ID, Topic: m.Topic}} },
	}
	msgs := make([]broker.Delivery, len(changes))
	for i, change := range changes {
		msgs[i] = s.with(change)
	}
	return msgs
}
