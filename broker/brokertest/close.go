package brokertest

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"

	"github.com/postbag/postbag/broker"
)

func closeCases() []testCase {
	return []testCase{
		{name: "Close without a Publish is harmless", run: closeUnused},
		{name: "Close twice, and from many callers, is harmless", run: closeTwice},
		{name: "Publish after Close sends nothing and says so", run: publishAfterClose},
		{name: "an empty call after Close is harmless", run: emptyCallAfterClose},
		{name: "Close lets calls end with true answers, and nothing is sent after it", run: closesUnderLoad},
		{name: "Close of one destination leaves another of the same broker alone", run: closeLeavesOthers},
	}
}

func closeUnused(s *scene) {
	s.open().close()
}

func closeTwice(s *scene) {
	s.open()
	s.accept(s.message())
	s.together(4, func(int) { s.close() })
	s.close()
}

func publishAfterClose(s *scene) {
	s.open()
	first := s.message()
	s.accept(first)
	s.close()
	results := s.publish(s.patient(), s.messages(3)...)
	s.all(broker.NotSent, results)
	for i, r := range results {
		if !errors.Is(r.Err, broker.ErrClosed) {
			s.Errorf("message %d: error %q is not broker.ErrClosed", i, r.Err)
		}
	}
	s.holds(first)
}

func emptyCallAfterClose(s *scene) {
	s.open().close()
	s.call(s.patient(), nil, nil)
}

func closeLeavesOthers(s *scene) {
	other := newScene(s.T, s.h).open()
	s.open()
	s.accept(s.message())
	s.close()
	m := other.message()
	other.accept(m)
	other.holds(m)
}

// close closes the destination, which must succeed.
func (s *scene) close() {
	s.Helper()
	if err := s.f.Destination.Close(s.patient()); err != nil {
		s.Errorf("Close: %v", err)
	}
}

// closesUnderLoad closes the destination while eight callers publish, and then
// compares what they were told with what is stored.
func closesUnderLoad(s *scene) {
	s.open()
	const callers, most = 8, 200
	var plan [callers][]broker.Delivery
	for i := range plan {
		plan[i] = s.messages(most)
	}
	var told [callers][]broker.Result
	var answered atomic.Int64
	busy := make(chan struct{})
	var begun sync.Once
	var running sync.WaitGroup
	for i := range plan {
		running.Go(func() {
			for _, m := range plan[i] {
				results := make([]broker.Result, 1)
				s.call(context.Background(), []broker.Delivery{m}, results)
				s.sane(results)
				told[i] = append(told[i], results[0])
				if answered.Add(1) > callers {
					begun.Do(func() { close(busy) })
				}
				if results[0].Outcome != broker.Accepted {
					return
				}
			}
		})
	}
	<-busy
	s.close()
	after := len(s.f.Stored(s.T))
	running.Wait()
	var sent, accepted []broker.Delivery
	for i := range plan {
		s.among(told[i], broker.Accepted, broker.NotSent, broker.Unknown)
		sent = append(sent, plan[i]...)
		accepted = append(accepted, acceptedOf(plan[i][:len(told[i])], told[i])...)
	}
	held := counts(s.stored(sent...))
	if total := len(held); total != after {
		s.Errorf("%d messages were stored after Close had returned", total-after)
	}
	for i, m := range accepted {
		if held[m.ID] != 1 {
			s.Errorf("accepted message %d is held %d times, want once", i, held[m.ID])
		}
	}
}
