package brokertest

import (
	"context"
	"time"

	"github.com/postbag/postbag/broker"
)

func muteCases() []testCase {
	return []testCase{
		{name: "a message whose answer is lost is unknown", needs: PartMute, run: lostAnswer},
		{name: "a message whose answer is lost may be stored", needs: PartMute, run: lostAnswerStored},
		{name: "after answers were lost the destination works again", needs: PartMute, run: worksAfterLoss},
		{name: "a message repeated after a lost answer is stored once with a fence", needs: PartMute, run: repeatedAfterLoss},
		{name: "nothing is said of a message after the call returned", needs: PartMute, run: lateAnswers},
		{name: "the slice is not read after a call that returned without an answer", needs: PartMute, run: lateReading},
		{name: "Close waits no longer than its context for lost answers", needs: PartMute, run: closeWhileMute},
	}
}

func lostAnswer(s *scene) {
	line := s.openMute()
	line.Off()
	began := time.Now()
	s.all(broker.Unknown, s.publish(s.within(short), s.messages(3)...))
	s.promptly(began, short)
	line.On()
}

func lostAnswerStored(s *scene) {
	line := s.openMute()
	msgs := s.messages(3)
	line.Off()
	s.all(broker.Unknown, s.publish(s.within(short), msgs...))
	s.until("the broker holds what was sent while its answers were lost", func() bool {
		return len(s.f.Stored(s.T)) > len(msgs) // and the one of openMute
	})
	line.On()
}

func worksAfterLoss(s *scene) {
	line := s.openMute()
	lost := s.messages(3)
	line.Off()
	s.all(broker.Unknown, s.publish(s.within(short), lost...))
	line.On()
	next := s.messages(3)
	s.recover(next...)
	s.held(append(lost, next...), next)
}

func repeatedAfterLoss(s *scene) {
	line := s.openMute()
	m := s.message()
	line.Off()
	s.all(broker.Unknown, s.publish(s.within(short), m))
	line.On()
	fenced := s.f.Destination.Features().Fences != ""
	tries := 0
	s.until("the repeat is accepted", func() bool {
		tries++
		return s.publish(s.within(2*time.Second), m)[0].Outcome == broker.Accepted
	})
	n := counts(s.held([]broker.Delivery{m}, []broker.Delivery{m}))[m.ID]
	if fenced && n != 1 || n > 1+tries {
		s.Errorf("the message is stored %d times after %d repeats, fence %v", n, tries, fenced)
	}
}

func lateAnswers(s *scene) {
	line := s.openMute()
	msgs := s.messages(3)
	results := make([]broker.Result, len(msgs))
	line.Off()
	s.call(s.within(short), msgs, results)
	for i := range results {
		results[i] = broker.Result{Note: "mine"}
	}
	line.On()
	s.recover(s.message())
	// What comes late comes at any time; half a second is what a case can spare.
	s.until("half a second has passed", s.elapsed(short))
	for i, r := range results {
		if r != (broker.Result{Note: "mine"}) {
			s.Errorf("result %d was written after Publish had returned: %v", i, r.Outcome)
		}
	}
}

func lateReading(s *scene) {
	line := s.openMute()
	msgs := s.messages(3)
	original := clone(msgs)
	line.Off()
	s.call(s.within(short), msgs, make([]broker.Result, len(msgs)))
	spend(msgs)
	line.On()
	next := s.message()
	s.recover(next)
	s.held(append(original, next), []broker.Delivery{next})
}

func closeWhileMute(s *scene) {
	line := s.openMute()
	line.Off()
	msgs := s.messages(3)
	results := make([]broker.Result, len(msgs))
	ctx, cancel := context.WithTimeout(context.Background(), s.h.patience())
	defer cancel()
	returned := make(chan struct{})
	go func() {
		defer close(returned)
		s.call(ctx, msgs, results)
	}()
	s.until("the broker holds what is being sent", func() bool { return len(s.f.Stored(s.T)) > len(msgs) })
	began := time.Now()
	_ = s.f.Destination.Close(s.within(short)) // whether it gave up with an error is not the point
	s.promptly(began, short)
	cancel()
	<-returned
	s.all(broker.Unknown, results)
	line.On()
}

// openMute gives the scene a fixture whose answers can be lost, after it took
// one message, so that it is connected.
func (s *scene) openMute() Switch {
	s.Helper()
	f, line := s.h.Mute(s.T)
	s.use(f)
	s.warm = append(s.warm, s.message())
	s.accept(s.warm...)
	return line
}

// held reads the truth, of which sent may be part, and wants all of certain in it.
func (s *scene) held(sent, certain []broker.Delivery) []Received {
	s.Helper()
	held := s.stored(append(sent, s.warm...)...)
	count := counts(held)
	for i, m := range certain {
		if count[m.ID] == 0 {
			s.Errorf("the broker does not hold message %d of %d, which was accepted", i, len(certain))
		}
	}
	return held
}

// spend overwrites the slice that Publish got, as a relay reuses its memory. What
// the messages point to stays as it was: a client may still be sending it.
func spend(msgs []broker.Delivery) {
	for i := range msgs {
		msgs[i] = broker.Delivery{}
	}
}
