package sourcetest

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/postbag/postbag/internal/suitetest"
	"github.com/postbag/postbag/source"
)

func outageCases() []testCase {
	return []testCase{
		{name: "in an outage Fetch says that the broker is unavailable, and goes on after it", needs: PartOutage, run: outage},
		{name: "Close in an outage ends with its context", needs: PartOutage, run: closeInOutage},
	}
}

func closeCases() []testCase {
	return []testCase{
		{name: "Close without a Fetch is harmless", run: closeUnused},
		{name: "Close twice, and from many callers, is harmless", run: closeTwice},
		{name: "Close ends a Fetch that waits", run: closeEndsFetch},
		{name: "calls after Close say that the source is closed", run: callsAfterClose},
		{name: "Close heeds a context that is over", run: closeOver},
		{name: "Close beside acks and a Fetch keeps every ack", run: closeUnderLoad},
	}
}

func outage(s *scene) {
	f, fault := s.h.Outage(s.T)
	s.use(f)
	src := s.join()
	s.send(20)
	first := s.fetch(src, 20)
	s.ack(src, 0, first[:10]...)
	fault.Off()
	s.until("Fetch says ErrUnavailable", func() bool {
		_, err := s.call(s.within(time.Second), src, source.Limits{})
		switch {
		case errors.Is(err, source.ErrMisconfigured), errors.Is(err, source.ErrClosed):
			s.Fatalf("in an outage Fetch says %v", err)
		case errors.Is(err, source.ErrUnavailable):
			return true
		}
		return false
	})
	fault.On()
	m := s.message()
	s.f.Send(s.T, m)
	var msgs []source.Message
	s.until("the message after the outage comes", func() bool {
		batch, _ := s.call(s.within(time.Second), src, source.Limits{})
		msgs = append(msgs, batch.Messages...)
		last, _ := s.only(msgs, func(n int) bool { return n == 20 })
		return len(last) > 0
	})
	if _, err := src.Ack(s.patient(), receipts(msgs)); err != nil {
		s.Errorf("Ack after the outage: %v", err)
	}
}

// until repeats try until it says true, and fails after the harness's patience.
func (s *scene) until(what string, try func() bool) {
	s.Helper()
	suitetest.Until(s.T, s.h.patience(), what, try)
}

func closeInOutage(s *scene) {
	f, fault := s.h.Outage(s.T)
	s.use(f)
	src := s.join()
	s.send(5)
	msgs := s.fetch(src, 5)
	fault.Off()
	if _, err := src.Ack(s.within(time.Second), receipts(msgs)); err != nil {
		s.discreet(err)
	}
	began := time.Now()
	if err := src.Close(s.within(500 * time.Millisecond)); err != nil {
		s.discreet(err)
	}
	if took := time.Since(began); took > 500*time.Millisecond+s.h.slack() {
		s.Errorf("Close took %v with a context of 500 ms", took)
	}
	fault.On()
}

func closeUnused(s *scene) {
	s.open()
	s.close(s.join())
}

func closeTwice(s *scene) {
	s.open()
	src := s.join()
	s.send(3)
	s.ack(src, 0, s.fetch(src, 3)[:2]...)
	one := func() {
		if err := src.Close(s.patient()); err != nil {
			s.Errorf("Close: %v", err)
		}
	}
	together(one, one, one, one)
	one()
}

func closeEndsFetch(s *scene) {
	s.open()
	src := s.join()
	s.nothing(src)
	ended := make(chan error, 1)
	waiting := make(chan struct{})
	together(func() {
		close(waiting)
		_, err := src.Fetch(s.patient(), source.Limits{})
		ended <- err
	}, func() {
		<-waiting
		s.close(src)
	})
	if err := <-ended; !errors.Is(err, source.ErrClosed) {
		s.Errorf("the Fetch that waited ended with %v, want ErrClosed", err)
	}
}

func callsAfterClose(s *scene) {
	s.open()
	src := s.join()
	s.send(3)
	msgs := s.fetch(src, 3)
	s.close(src)
	if _, err := s.call(s.patient(), src, source.Limits{}); !errors.Is(err, source.ErrClosed) {
		s.Errorf("Fetch after Close says %v, want ErrClosed", err)
	}
	if _, err := src.Ack(s.patient(), receipts(msgs)); !errors.Is(err, source.ErrClosed) {
		s.Errorf("Ack after Close says %v, want ErrClosed", err)
	}
	if err := src.Release(s.patient(), receipts(msgs), 0); !errors.Is(err, source.ErrClosed) {
		s.Errorf("Release after Close says %v, want ErrClosed", err)
	}
	s.all(s.rest(s.join(), 3), every, none)
}

func closeOver(s *scene) {
	s.open()
	src := s.join()
	s.send(3)
	s.fetch(src, 3)
	over, cancel := context.WithCancel(context.Background())
	cancel()
	began := time.Now()
	if err := src.Close(over); err != nil {
		s.discreet(err)
	}
	if took := time.Since(began); took > s.h.slack() {
		s.Errorf("Close took %v with a context that was over", took)
	}
	if _, err := src.Fetch(s.patient(), source.Limits{}); !errors.Is(err, source.ErrClosed) {
		s.Errorf("after that Close, Fetch says %v, want ErrClosed", err)
	}
}

func closeUnderLoad(s *scene) {
	s.open()
	src := s.join()
	const total = 300
	s.send(total)
	acked := map[int]bool{}
	half := make(chan struct{})
	reached := sync.OnceFunc(func() { close(half) })
	together(func() {
		defer reached()
		for {
			batch, err := src.Fetch(s.patient(), source.Limits{Messages: 3})
			if err != nil {
				if !errors.Is(err, source.ErrClosed) {
					s.Errorf("Fetch: %v", err)
				}
				return
			}
			lost, err := src.Ack(s.patient(), receipts(batch.Messages))
			if err != nil && !errors.Is(err, source.ErrClosed) {
				s.Errorf("Ack: %v", err)
			}
			if err == nil && lost == 0 {
				for _, m := range batch.Messages {
					acked[s.number(m)] = true
				}
			}
			if len(acked) >= total/2 {
				reached()
			}
		}
	}, func() {
		<-half
		s.close(src)
	})
	again := s.rest(s.join(), total-len(acked))
	s.all(again, func(n int) bool { return !acked[n] }, func(n int) bool { return !acked[n] })
	s.inOrder(again)
}
