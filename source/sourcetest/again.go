package sourcetest

import (
	"time"

	"github.com/postbag/postbag/source"
)

func againCases() []testCase {
	return []testCase{
		{name: "what was at work in a process that died comes again", needs: PartKill, run: killedAgain},
		{name: "a message that comes again is the same, with the same place", run: sameAgain},
		{name: "deliveries are counted", run: deliveriesCounted},
	}
}

func orderCases() []testCase {
	return []testCase{
		{name: "messages of a partition come in order", run: comeInOrder},
		{name: "a source with one stream has one partition", run: oneStream},
		{name: "a key stays in its partition", run: keyInPartition},
	}
}

func releaseCases() []testCase {
	return []testCase{
		{name: "what is released comes again", run: releasedAgain},
		{name: "Release without an order concerns nothing else", run: releaseAlone},
		{name: "Release with an order begins the partition again, in order", run: releaseInOrder},
		{name: "what is released for later does not come earlier", run: releaseLater},
		{name: "Release of what was acked or released changes nothing", run: releaseTwice},
	}
}

func killedAgain(s *scene) {
	s.open()
	src := s.join()
	s.send(40)
	msgs := s.fetch(src, 40)
	kept := func(n int) bool { return n%2 == 0 }
	done, _ := s.only(msgs, kept)
	s.ack(src, 0, done...)
	s.f.Kill(s.T, src)
	again := s.rest(s.join(), 20)
	s.all(again, func(n int) bool { return !kept(n) }, every)
	s.inOrder(again)
}

func sameAgain(s *scene) {
	s.open()
	src := s.join()
	s.send(10)
	first := map[int]source.Message{}
	for _, m := range s.fetch(src, 10) {
		first[s.number(m)] = m
	}
	s.close(src)
	msgs := s.fetch(s.join(), 10)
	s.whole(msgs)
	for _, m := range msgs {
		before := first[s.number(m)]
		if m.Place != before.Place || !m.Time.Equal(before.Time) || m.Topic != before.Topic || m.MessageID != before.MessageID || m.ContentType != before.ContentType {
			s.Errorf("message %d was at %v of %v, and comes again at %v of %v, or differs otherwise", s.number(m), before.Place, before.Time, m.Place, m.Time)
		}
	}
}

func deliveriesCounted(s *scene) {
	if !s.h.Features.Counts {
		s.Skip("the source does not count deliveries")
	}
	s.open()
	src := s.join()
	s.send(3)
	for _, m := range s.fetch(src, 3) {
		if m.Deliveries != 1 {
			s.Errorf("message %d has %d deliveries at its first one", s.number(m), m.Deliveries)
		}
		s.release(src, 0, m)
	}
	for _, m := range s.rest(src, 3) {
		if m.Deliveries < 2 {
			s.Errorf("message %d has %d deliveries though it came before", s.number(m), m.Deliveries)
		}
	}
}

func comeInOrder(s *scene) {
	s.ordered()
	src := s.join()
	s.send(300)
	s.whole(s.fetchWithin(src, 300, source.Limits{Messages: 11}))
}

func oneStream(s *scene) {
	s.ordered()
	if s.h.Features.Order != source.OrderStream {
		s.Skip("the source has several partitions")
	}
	src := s.join()
	s.send(30)
	if all := partitions(s.fetch(src, 30)); len(all) != 1 {
		s.Errorf("messages came of %d partitions, want one", len(all))
	}
}

func keyInPartition(s *scene) {
	s.ordered()
	src := s.join()
	s.send(60)
	of := map[int]source.Partition{}
	for _, m := range s.fetch(src, 60) {
		key := s.number(m) % 3
		if p, there := of[key]; there && p != m.Partition {
			s.Fatalf("messages of one key came in the partitions %q and %q", p, m.Partition)
		}
		of[key] = m.Partition
	}
}

// ordered opens the fixture, and ends the case if the source has no order.
func (s *scene) ordered() {
	s.Helper()
	if s.h.Features.Order == source.OrderNone {
		s.Skip("the source has no order")
	}
	s.open()
}

func releasedAgain(s *scene) {
	s.open()
	src := s.join()
	s.send(10)
	s.release(src, 0, s.fetch(src, 10)...)
	s.whole(s.fetch(src, 10))
}

func releaseAlone(s *scene) {
	if s.h.Features.Order != source.OrderNone {
		s.Skip("the source has an order")
	}
	s.open()
	src := s.join()
	s.send(20)
	msgs := s.fetch(src, 20)
	given := func(n int) bool { return n%5 == 0 }
	back, others := s.only(msgs, given)
	s.release(src, 0, back...)
	again := s.rest(src, len(back))
	s.all(again, given, none)
	s.ack(src, len(back), back...) // their first delivery is over
	s.ack(src, 0, others...)
	s.ack(src, 0, again...)
	s.close(src)
	s.nothing(s.join())
}

func releaseInOrder(s *scene) {
	s.ordered()
	src := s.join()
	for range 12 {
		s.sendWith(func(m *source.Message) { m.Key = canaryKey })
	}
	msgs := s.fetch(src, 12)
	s.ack(src, 0, msgs[:3]...)
	s.release(src, 0, msgs[6])
	again := s.rest(src, 9)
	s.all(again, func(n int) bool { return n >= 3 }, none)
	s.inOrder(again)
	if lost := s.lost[src]; len(lost) != 1 || lost[0] != msgs[6].Partition {
		s.Errorf("Fetch named the lost partitions %q, want %q once", lost, msgs[6].Partition)
	}
	s.ack(src, 9, msgs[3:]...) // of the assignment that is over
	s.close(src)
	s.all(s.rest(s.join(), 9), func(n int) bool { return n >= 3 }, none)
}

func releaseLater(s *scene) {
	s.open()
	src := s.join()
	s.send(1)
	const after = 500 * time.Millisecond
	m := s.fetch(src, 1)
	began := time.Now()
	s.release(src, after, m...)
	s.rest(src, 1)
	if took := time.Since(began); took < after*9/10 {
		s.Errorf("a message that was released for %v came after %v", after, took)
	}
}

func releaseTwice(s *scene) {
	s.open()
	src := s.join()
	s.send(4)
	msgs := s.fetch(src, 4)
	s.release(src, 0, msgs...)
	s.release(src, 0, msgs...)
	again := s.fetch(src, 4)
	s.release(src, 0, msgs...)
	s.ack(src, 0, again...)
	s.release(src, 0, again...)
	s.close(src)
	s.nothing(s.join())
}
