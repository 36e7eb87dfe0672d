package sourcetest

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/postbag/postbag/source"
)

func lossCases() []testCase {
	return []testCase{
		{name: "lost partitions are named, each once", needs: PartRebalance, run: lossTold},
		{name: "acks after a loss are counted, and what they were for comes again", needs: PartRebalance, run: ackAfterLoss},
		{name: "an ack of an old assignment changes nothing in the new one", needs: PartRebalance, run: oldAck},
		{name: "acks before a loss hold after it", needs: PartRebalance, run: ackBeforeLoss},
	}
}

func waitCases() []testCase {
	return []testCase{
		{name: "a message whose ack wait ran out comes again", run: ackWaitOver},
		{name: "Fetch waits while as many messages are at work as may be", run: maxUnacked},
	}
}

func groupCases() []testCase {
	return []testCase{
		{name: "members of a group share the messages", needs: PartTogether, run: membersShare},
		{name: "what a member gives back when it closes goes to another at once", needs: PartGiveBack, run: closeGivesBack},
	}
}

// rebalanced sends n messages, fetches them, has the group rebalanced, and waits until
// everything came again. It returns both.
func (s *scene) rebalanced(n int) (src source.Source, before, after []source.Message) {
	s.Helper()
	s.open()
	src = s.join()
	s.send(n)
	before = s.fetch(src, n)
	s.f.Rebalance(s.T)
	return src, before, s.fetchWithin(src, n, source.Limits{Messages: 3})
}

func lossTold(s *scene) {
	src, before, after := s.rebalanced(30)
	s.whole(after)
	s.nothing(src)
	lost, want := slices.Clone(s.lost[src]), partitions(before)
	slices.Sort(lost)
	slices.Sort(want)
	if !slices.Equal(lost, want) {
		s.Errorf("Fetch named the lost partitions %q, want %q", lost, want)
	}
}

func ackAfterLoss(s *scene) {
	src, before, after := s.rebalanced(20)
	s.whole(after)
	s.ack(src, 20, before...)
	s.close(src)
	s.whole(s.fetch(s.join(), 20))
}

func oldAck(s *scene) {
	src, before, after := s.rebalanced(20)
	s.ack(src, 20, before...)
	s.release(src, 0, before...) // nothing of it is at work
	s.nothing(src)
	kept := func(n int) bool { return n < 6 }
	done, _ := s.only(after, kept)
	s.ack(src, 0, done...)
	s.close(src)
	again := s.rest(s.join(), 14)
	s.all(again, func(n int) bool { return !kept(n) }, none)
	s.inOrder(again)
}

func ackBeforeLoss(s *scene) {
	s.open()
	src := s.join()
	s.send(30)
	msgs := s.fetch(src, 30)
	kept := func(n int) bool { return n < 15 }
	done, _ := s.only(msgs, kept)
	s.ack(src, 0, done...)
	s.h.arrived()
	s.f.Rebalance(s.T)
	again := s.rest(src, 15)
	s.all(again, func(n int) bool { return !kept(n) }, none)
	s.inOrder(again)
}

func ackWaitOver(s *scene) {
	wait := s.h.Features.AckWait
	if wait == 0 || wait > 10*time.Second {
		s.Skip("the source declares no ack wait, or one that is too long for a test")
	}
	s.open()
	src := s.join()
	s.send(3)
	first := s.fetch(src, 3)
	began := time.Now()
	again := s.fetch(src, 3)
	if took := time.Since(began); took < wait/2 {
		s.Errorf("messages came again after %v, and the ack wait is %v", took, wait)
	}
	s.whole(again)
	lost, err := src.Ack(s.patient(), receipts(first))
	if err != nil || lost > 3 {
		s.Errorf("acks after the ack wait: %d lost, %v", lost, err)
	}
	s.ack(src, 0, again...)
}

func maxUnacked(s *scene) {
	most := s.h.Features.MaxUnacked
	if most == 0 {
		s.Skip("the source declares no MaxUnacked")
	}
	s.open()
	src := s.join()
	s.send(most + 5)
	msgs := s.rest(src, most)
	if len(msgs) != most {
		s.Fatalf("%d messages are at work, and MaxUnacked is %d", len(msgs), most)
	}
	s.ack(src, 0, msgs[:5]...)
	s.all(slices.Concat(msgs, s.fetch(src, 5)), every, none)
}

func membersShare(s *scene) {
	s.open()
	a, b := s.join(), s.join()
	const total = 60
	all := make(chan source.Message, 100*total)
	end, enough := context.WithCancel(s.patient())
	defer enough()
	read := func(src source.Source) func() {
		return func() {
			for {
				batch, err := src.Fetch(end, source.Limits{Messages: 5})
				if errors.Is(err, context.Canceled) {
					return
				}
				if err != nil {
					s.Errorf("Fetch: %v", err)
					return
				}
				for _, m := range batch.Messages {
					if _, err := src.Ack(s.patient(), []source.Receipt{m.Receipt}); err != nil {
						s.Errorf("Ack: %v", err)
					}
					all <- m
				}
			}
		}
	}
	var readers sync.WaitGroup
	readers.Go(read(a))
	readers.Go(read(b))
	s.send(total)
	came := map[int]bool{}
	for len(came) < total {
		select {
		case m := <-all:
			came[s.number(m)] = true
		case <-s.patient().Done():
			s.Fatalf("%d of %d messages came", len(came), total)
		}
	}
	enough()
	readers.Wait()
	s.close(a)
	s.close(b)
	s.nothing(s.join())
}

func closeGivesBack(s *scene) {
	s.open()
	a := s.join()
	s.send(10)
	s.fetch(a, 10)
	b := s.join()
	s.close(a)
	began := time.Now()
	s.all(s.rest(b, 10), every, none)
	if took, wait := time.Since(began), s.h.Features.AckWait; wait > 2*s.h.slack() && took > wait/2 {
		s.Errorf("they came after %v: when their ack wait ran out, not when the source was closed", took)
	}
}
