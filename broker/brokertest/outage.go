package brokertest

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/postbag/postbag/broker"
)

func outageCases() []testCase {
	return []testCase{
		{name: "in an outage nothing is accepted, rejected or misconfigured", needs: PartOutage, run: outageAnswers},
		{name: "a destination made in an outage works when it ends", needs: PartOutage, run: outageFirst},
		{name: "what was accepted is still there after an outage", needs: PartOutage, run: outageKeeps},
		{name: "a call in an outage returns when its context ends", needs: PartOutage, run: outageContext},
		{name: "keys keep their order through an outage", needs: PartOutage, run: outageOrder},
		{name: "an ordered destination keeps the order of a call through an outage", needs: PartOutage, run: outageInCall},
		{name: "outages in the middle of traffic lose nothing that was accepted", needs: PartOutage, run: outageInTraffic},
		{name: "a destination works again soon after an outage", needs: PartOutage, run: outageEnds},
		{name: "Close in an outage returns", needs: PartOutage, run: outageClose},
	}
}

func outageAnswers(s *scene) {
	power := s.openOutage()
	first := s.message()
	s.accept(first)
	power.Off()
	msgs := s.messages(5)
	for range 3 {
		s.among(s.publish(s.within(2*short), msgs...), broker.Unavailable, broker.Unknown, broker.NotSent)
	}
	power.On()
	s.recover(msgs...)
	s.holdsAll(append([]broker.Delivery{first}, msgs...)...)
}

func outageFirst(s *scene) {
	power := s.openOutage()
	power.Off()
	msgs := s.messages(3)
	s.among(s.publish(s.within(2*short), msgs...), broker.Unavailable, broker.Unknown, broker.NotSent)
	power.On()
	s.recover(msgs...)
	s.holdsAll(msgs...)
}

// outageEnds has an outage last until every back-off of a client has grown, and wants
// the first message accepted as soon as an operator expects it.
func outageEnds(s *scene) {
	const soon = 2 * time.Second
	lasts := min(3*time.Second, s.h.patience()/2)
	power := s.openOutage()
	first := s.message()
	s.accept(first)
	power.Off()
	over := s.elapsed(lasts)
	s.until("the outage has lasted", func() bool {
		s.publish(s.within(short), s.message())
		return over()
	})
	power.On()
	began := time.Now()
	s.recover(s.message())
	took := time.Since(began)
	s.Logf("it took %v", took.Round(time.Millisecond))
	if took > soon {
		s.Errorf("a message was accepted %v after the outage, want %v at most", took.Round(time.Millisecond), soon)
	}
}

func outageKeeps(s *scene) {
	power := s.openOutage()
	msgs := s.messages(30)
	s.accept(msgs...)
	power.Off()
	power.On()
	s.holds(msgs...)
	next := s.messages(3)
	s.recover(next...)
	s.holdsAll(append(msgs, next...)...)
}

func outageContext(s *scene) {
	power := s.openOutage()
	power.Off()
	began := time.Now()
	s.publish(s.within(short), s.messages(5)...)
	s.promptly(began, short)
	power.On()
}

func outageOrder(s *scene) {
	power := s.openOutage()
	var sent []broker.Delivery
	for round := range 12 {
		msgs := s.messages(4)
		for i := range msgs {
			msgs[i].Key = fmt.Sprintf("%s-%d", canaryKey, i)
		}
		if round == 6 {
			power.Off()
			s.among(s.publish(s.within(short), msgs...), broker.Unavailable, broker.Unknown, broker.NotSent)
			power.On()
		}
		s.recover(msgs...)
		sent = append(sent, msgs...)
	}
	s.holdsAll(sent...)
}

// outageInCall has an outage end, and another come and go, while a call holds many
// messages of a key. Whether the destination sends them again by itself or leaves
// that to its caller, their order stays.
func outageInCall(s *scene) {
	power := s.openOutage()
	if !s.f.Destination.Features().Ordered {
		s.Skip("the destination is not ordered; a call holds a key only once")
	}
	var sent []broker.Delivery
	for _, early := range []bool{true, false} {
		msgs := s.messages(600)
		for i := range msgs {
			msgs[i].Key = fmt.Sprintf("%s-%d", canaryKey, i%3)
		}
		if early {
			power.Off()
		}
		results := make([]broker.Result, len(msgs))
		answered := make(chan struct{})
		go func() {
			defer close(answered)
			s.send(s.patient(), msgs, results)
		}()
		s.until("the call is under way", s.elapsed(short/10))
		if !early {
			power.Off()
		}
		power.On()
		<-answered
		s.sane(results)
		s.recover(s.behind(msgs, results)...)
		sent = append(sent, msgs...)
	}
	s.holdsAll(sent...)
}

// behind returns the messages that were not accepted, and wants none accepted of a
// key behind one of them.
func (s *scene) behind(msgs []broker.Delivery, results []broker.Result) (rest []broker.Delivery) {
	s.Helper()
	held := map[string]bool{}
	for i, r := range results {
		switch {
		case r.Outcome != broker.Accepted:
			held[msgs[i].Key] = true
			rest = append(rest, msgs[i])
		case held[msgs[i].Key]:
			s.Errorf("message %d was accepted, and one of its key before it was not", i)
		}
	}
	return rest
}

func outageInTraffic(s *scene) {
	power := s.openOutage()
	const keys, rounds = 8, 30
	plan := make([][]broker.Delivery, keys)
	for k := range plan {
		plan[k] = s.ofKey(fmt.Sprintf("%s-%d", canaryKey, k), rounds)
	}
	progress := make(chan struct{}, keys*rounds)
	var taken [keys]int // accepted of each key: its first ones
	var senders sync.WaitGroup
	for k, msgs := range plan {
		senders.Go(func() {
			for i, m := range msgs {
				if taken[k] == i && s.persist(m) {
					taken[k]++
				}
				progress <- struct{}{}
			}
		})
	}
	for range 2 {
		for range keys * rounds / 4 {
			<-progress
		}
		power.Off()
		power.On()
	}
	senders.Wait()
	s.holdsAccepted(slices.Concat(plan...), func(i int) bool { return i%rounds < taken[i/rounds] })
}

func outageClose(s *scene) {
	power := s.openOutage()
	s.accept(s.message())
	power.Off()
	began := time.Now()
	_ = s.f.Destination.Close(s.within(short)) // whether it could part properly is not the point
	s.promptly(began, short)
	power.On()
}

// openOutage gives the scene a fixture whose broker can be stopped.
func (s *scene) openOutage() Switch {
	s.Helper()
	f, power := s.h.Outage(s.T)
	s.use(f)
	return power
}

// persist sends one message until it is accepted, as a relay does: an answer
// that is not positive changes nothing. It says whether it was. It is called beside
// the test's own goroutine, so it must not end the test.
func (s *scene) persist(m broker.Delivery) bool {
	for patient := s.patient(); patient.Err() == nil; {
		ctx, cancel := context.WithTimeout(patient, 2*time.Second)
		results := make([]broker.Result, 1)
		s.call(ctx, []broker.Delivery{m}, results)
		cancel()
		s.sane(results)
		switch got := results[0].Outcome; got {
		case broker.Accepted:
			return true
		case broker.Unknown, broker.Unavailable, broker.NotSent:
			pause(patient)
		default:
			s.Errorf("a good message is %v in an outage (%v)", got, results[0].Err)
			return false
		}
	}
	s.Errorf("a message was not accepted within %v of an outage", s.h.patience())
	return false
}

// pause keeps a loop of failing calls from spinning.
func pause(ctx context.Context) {
	timer := time.NewTimer(10 * time.Millisecond)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C:
	}
}

// holdsAll wants every message of sent held, once or, after a fault, more often,
// unchanged, and in the order of first occurrences.
func (s *scene) holdsAll(sent ...broker.Delivery) {
	s.Helper()
	s.holdsAccepted(sent, func(int) bool { return true })
}

// holdsAccepted is holdsAll where not all of sent were accepted.
func (s *scene) holdsAccepted(sent []broker.Delivery, accepted func(i int) bool) {
	s.Helper()
	held := s.stored(sent...)
	count := counts(held)
	for i, m := range sent {
		if accepted(i) && count[m.ID] == 0 {
			s.Errorf("the broker does not hold message %d of %d, which was accepted", i, len(sent))
		}
	}
	s.inOrder(sent, held)
}
