package sourcetest

import (
	"errors"
	"slices"
	"time"

	"github.com/postbag/postbag/source"
)

func featureCases() []testCase {
	return []testCase{
		{name: "the features declared are those expected", run: featuresExpected},
		{name: "the features never change", run: featuresConstant},
	}
}

func abilityCases() []testCase {
	return []testCase{
		{name: "Extend keeps a message at work", run: extendKeeps},
		{name: "a paused partition rests until it is resumed", run: pauseRests},
		{name: "the lag is what is not acked", run: lagTold},
	}
}

func featuresExpected(s *scene) {
	s.open()
	got := s.join().Features()
	if got != s.h.Features {
		s.Errorf("declared %+v, the harness expects %+v", got, s.h.Features)
	}
	if got.AckWait < 0 || got.MaxUnacked < 0 {
		s.Errorf("declared %+v; zero is how to say that there is no limit", got)
	}
}

func featuresConstant(s *scene) {
	s.open()
	src := s.join()
	first := src.Features()
	same := func(when string) {
		if now := src.Features(); now != first {
			s.Errorf("%s the features are %+v, they were %+v", when, now, first)
		}
	}
	s.send(1)
	s.ack(src, 0, s.fetch(src, 1)...)
	same("after a message")
	beside := func() { same("side by side") }
	together(beside, beside, beside, beside)
	s.close(src)
	same("after Close")
}

func extendKeeps(s *scene) {
	wait := s.h.Features.AckWait
	if wait == 0 || wait > 10*time.Second {
		s.Skip("the source declares no ack wait, or one that is too long for a test")
	}
	s.open()
	src := s.join()
	extender, can := src.(source.Extender)
	if !can {
		s.Skip("the source is no Extender")
	}
	s.send(2)
	msgs := s.fetch(src, 2)
	tick := time.NewTicker(wait / 3)
	defer tick.Stop()
	for range 6 { // twice the ack wait
		<-tick.C
		if lost, err := extender.Extend(s.patient(), receipts(msgs)); err != nil || lost > 0 {
			s.Fatalf("Extend: %d lost, %v", lost, err)
		}
	}
	if batch, err := s.call(s.within(min(wait/4, s.h.quiet())), src, source.Limits{}); err == nil {
		s.Fatalf("%d messages came, and all are at work", len(batch.Messages))
	}
	s.ack(src, 0, msgs...)
	s.close(src)
	s.nothing(s.join())
}

func pauseRests(s *scene) {
	s.open()
	src := s.join()
	pauser, can := src.(source.Pauser)
	if !can {
		s.Skip("the source is no Pauser")
	}
	s.send(30)
	all := s.fetch(src, 30)
	s.ack(src, 0, all...)
	paused := all[0].Partition
	pauser.Pause(paused, "no such partition")
	pauser.Resume("no such partition")
	s.send(30)
	came := s.rest(src, 0)
	if slices.Contains(partitions(came), paused) {
		s.Error("a message of a paused partition came")
	}
	pauser.Resume(paused)
	came = slices.Concat(came, s.fetch(src, 30-len(came)))
	s.all(came, func(n int) bool { return n >= 30 }, none)
	s.inOrder(came)
}

func lagTold(s *scene) {
	s.open()
	src := s.join()
	lagger, can := src.(source.Lagger)
	if !can {
		s.Skip("the source is no Lagger")
	}
	s.send(20)
	msgs := s.fetch(src, 20)
	of := func() (n int64, age time.Duration) {
		all, err := lagger.Lag(s.patient())
		if err != nil {
			s.Fatalf("Lag: %v", err)
		}
		for _, lag := range all {
			n += lag.Messages
			age = max(age, lag.Age)
			if lag.Messages < 0 {
				s.Skip("the source does not know how many messages it is behind")
			}
		}
		return n, age
	}
	s.until("the lag is 20 messages", func() bool {
		n, _ := of()
		return n == 20
	})
	s.ack(src, 0, msgs...)
	s.until("the lag is zero", func() bool {
		n, age := of()
		return n == 0 && age <= 0
	})
	s.close(src)
	if _, err := lagger.Lag(s.patient()); !errors.Is(err, source.ErrClosed) {
		s.Errorf("Lag after Close says %v, want ErrClosed", err)
	}
}
