package sourcetest

import (
	"context"
	"errors"
	"slices"
	"sync/atomic"

	"github.com/postbag/postbag/source"
)

func ackCases() []testCase {
	return []testCase{
		{name: "nothing that was acked comes again after a clean stop", run: nothingAgain},
		{name: "everything that was not acked comes again after a clean stop", run: unackedAgain},
		{name: "acks with gaps are for those messages and no others", run: gaps},
		{name: "acks in any sequence are all heeded", run: anySequence},
		{name: "an ack that is repeated is harmless and not lost", run: ackTwice},
		{name: "acks and fetches side by side lose nothing and repeat nothing", run: sideBySide},
		{name: "a call for no messages is harmless", run: emptyCalls},
		{name: "acks reach the broker without a Close", needs: PartKill, run: acksArrive},
		{name: "a context that is over is an error of Ack, and the ack can be repeated", run: ackOver},
	}
}

func nothingAgain(s *scene) {
	s.open()
	src := s.join()
	s.send(50)
	s.ack(src, 0, s.fetch(src, 50)...)
	s.close(src)
	again := s.join()
	s.nothing(again)
	s.send(5)
	s.all(s.fetch(again, 5), func(n int) bool { return n >= 50 }, none)
}

func unackedAgain(s *scene) {
	s.open()
	src := s.join()
	s.send(30)
	first := s.fetch(src, 30)
	s.whole(first)
	s.close(src)
	s.whole(s.fetch(s.join(), 30))
}

// behindGap says which messages are behind one of their partition that is not kept.
func (s *scene) behindGap(msgs []source.Message, kept func(n int) bool) func(n int) bool {
	first := map[source.Partition]int{}
	of := map[int]source.Partition{}
	for _, m := range msgs {
		n := s.number(m)
		of[n] = m.Partition
		if at, there := first[m.Partition]; !kept(n) && (!there || n < at) {
			first[m.Partition] = n
		}
	}
	return func(n int) bool {
		at, there := first[of[n]]
		return s.h.Features.Cumulative && there && n > at
	}
}

func gaps(s *scene) {
	s.open()
	src := s.join()
	s.send(60)
	msgs := s.fetch(src, 60)
	kept := func(n int) bool { return n < 10 || n%4 > 1 }
	done, open := s.only(msgs, kept)
	s.ack(src, 0, done...)
	s.close(src)
	again := s.rest(s.join(), len(open))
	s.all(again, func(n int) bool { return !kept(n) }, s.behindGap(msgs, kept))
	s.inOrder(again)
}

func anySequence(s *scene) {
	s.open()
	src := s.join()
	s.send(100)
	msgs := s.fetch(src, 100)
	s.random.Shuffle(len(msgs), func(i, j int) { msgs[i], msgs[j] = msgs[j], msgs[i] })
	for part := range slices.Chunk(msgs, 7) {
		s.ack(src, 0, part...)
	}
	s.close(src)
	s.nothing(s.join())
}

func ackTwice(s *scene) {
	s.open()
	src := s.join()
	s.send(10)
	msgs := s.fetch(src, 10)
	s.ack(src, 0, msgs[:5]...)
	s.ack(src, 0, msgs[:5]...)
	s.ack(src, 0, msgs[3:]...)
	s.ack(src, 0, slices.Concat(msgs, msgs)...)
	s.release(src, 0, msgs...)
	s.nothing(src)
	s.send(5)
	s.ack(src, 0, s.fetch(src, 5)...)
	s.close(src)
	s.nothing(s.join())
}

func sideBySide(s *scene) {
	s.open()
	src := s.join()
	const total = 600
	s.send(total)
	work := make(chan source.Message, total)
	var acked atomic.Int64
	worker := func() {
		for m := range work {
			if lost, err := src.Ack(s.patient(), []source.Receipt{m.Receipt}); err != nil || lost > 0 {
				s.Errorf("Ack: %d lost, %v", lost, err)
			}
			acked.Add(1)
		}
	}
	var msgs []source.Message
	together(worker, worker, worker, worker, func() {
		defer close(work)
		ctx := s.patient()
		for len(msgs) < total {
			batch, err := s.call(ctx, src, source.Limits{Messages: 9})
			if err != nil {
				s.Errorf("Fetch, after %d messages: %v", len(msgs), err)
				return
			}
			for _, m := range batch.Messages {
				msgs = append(msgs, m)
				work <- m
			}
		}
	})
	s.whole(msgs)
	s.close(src)
	s.nothing(s.join())
}

func emptyCalls(s *scene) {
	s.open()
	src := s.join()
	s.ack(src, 0)
	s.release(src, 0)
	s.send(1)
	s.ack(src, 0, s.fetch(src, 1)...)
}

func acksArrive(s *scene) {
	s.open()
	src := s.join()
	s.send(20)
	s.ack(src, 0, s.fetch(src, 20)...)
	s.h.arrived()
	s.f.Kill(s.T, src)
	s.nothing(s.join())
}

func ackOver(s *scene) {
	s.open()
	src := s.join()
	s.send(5)
	msgs := s.fetch(src, 5)
	over, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := src.Ack(over, receipts(msgs)); err != nil && !errors.Is(err, context.Canceled) {
		s.Errorf("the error is %v, want the context's, or none", err)
	}
	s.ack(src, 0, msgs...)
	s.close(src)
	s.nothing(s.join())
}
