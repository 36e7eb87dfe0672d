package rabbitbroker_test

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/postbag/postbag/broker/rabbitbroker"
	"github.com/postbag/postbag/internal/publishtest"
	"github.com/postbag/postbag/internal/testserver"
	"github.com/postbag/postbag/internal/testserver/servertest"
	"github.com/postbag/postbag/source"
)

// reads fetches and acks until each of the messages 0 to n-1 came, making faults on the way. Errors of an outage are borne. It
// returns how often a message came again.
func reads(t *testing.T, s source.Source, n, faults int, fault func()) (repeats int) {
	t.Helper()
	ctx := publishtest.Timeout(t, 3*time.Minute)
	came := map[int]bool{}
	last, made := -1, 0
	pause := time.NewTicker(20 * time.Millisecond)
	defer pause.Stop()
	var making sync.WaitGroup
	defer making.Wait()
	for len(came) < n {
		if made < faults && len(came) >= (made+1)*n/(faults+1) {
			made++
			making.Wait()
			making.Go(fault) // while messages and acks are under way
		}
		within, cancel := context.WithTimeout(ctx, 2*time.Second)
		batch, err := s.Fetch(within, source.Limits{Messages: 50})
		cancel()
		switch {
		case ctx.Err() != nil:
			t.Fatalf("%d of %d messages came: %v", len(came), n, err)
		case errors.Is(err, source.ErrMisconfigured), errors.Is(err, source.ErrClosed):
			t.Fatalf("Fetch: %v", err)
		case errors.Is(err, source.ErrUnavailable):
			<-pause.C
			continue
		}
		if len(batch.Lost) > 0 {
			last = -1
		}
		for _, m := range batch.Messages {
			i, err := strconv.Atoi(string(m.Payload))
			if err != nil {
				t.Fatal(err)
			}
			if s.Features().Order == source.OrderStream {
				if i <= last {
					t.Fatalf("message %d came after message %d of its assignment", i, last)
				}
				if i > 0 && !came[i-1] {
					t.Fatalf("message %d came, and the one before it never did", i)
				}
				last = i
			}
			if came[i] {
				repeats++
				if s.Features().Counts && m.Deliveries < 2 {
					t.Errorf("message %d came again and has %d deliveries", i, m.Deliveries)
				}
			}
			came[i] = true
		}
		if _, err := s.Ack(ctx, receiptsOf(batch.Messages)); err != nil {
			t.Fatalf("Ack: %v", err)
		}
	}
	return repeats
}

// eachQueueAndOrder runs for classic and quorum queues, with and without an order.
func eachQueueAndOrder(t *testing.T, run func(t *testing.T, kind string, order source.Order)) {
	t.Helper()
	for _, order := range []source.Order{source.OrderNone, source.OrderStream} {
		t.Run(order.String(), func(t *testing.T) {
			t.Parallel()
			eachQueue(t, func(t *testing.T, kind string) { run(t, kind, order) })
		})
	}
}

func TestAConnectionThatIsCutTakesNoMessageAwayFromASource(t *testing.T) {
	t.Parallel()
	node := shared(t)
	eachQueueAndOrder(t, func(t *testing.T, kind string, order source.Order) {
		p := newPlace(t, node, kind, false)
		p.create(t, p.arguments(order))
		line := servertest.Proxy(t, address(t, p.url))
		o := p.taking(order)
		o.URL, o.Prefetch = via(t, p.url, line.Addr()), 100
		s := opened(t, o)
		p.store(t, 0, 1500)
		t.Logf("%d messages came again", reads(t, s, 1500, 10, func() {
			tick := time.NewTicker(time.Millisecond)
			defer tick.Stop()
			for range 3 {
				<-tick.C
				line.Cut()
			}
		}))
	})
}

// sourceKilled is about a server that is killed and comes back: nothing is lost, and the source goes on.
func sourceKilled(t *testing.T, node *testserver.RabbitMQ) {
	t.Helper()
	type reader struct {
		s    source.Source
		name string
	}
	var all []reader
	for _, kind := range []string{"classic", "quorum"} {
		for _, order := range []source.Order{source.OrderNone, source.OrderStream} {
			p := newPlace(t, node, kind, false)
			p.create(t, p.arguments(order))
			o := p.taking(order)
			o.Prefetch = 100
			p.store(t, 0, 600)
			all = append(all, reader{opened(t, o), kind + ", order " + order.String()})
		}
	}
	p := newPlace(t, node, "stream", false).create(t, nil)
	p.store(t, 0, 600)
	o := p.reading(positions(t))
	o.Prefetch = 100
	all = append(all, reader{openedStream(t, o), "stream"})
	if err := node.Remember(t.Context()); err != nil { // what is tried is the source
		t.Fatal(err)
	}
	var reading sync.WaitGroup
	half := make(chan struct{}, len(all))
	for _, r := range all {
		reading.Go(func() {
			t.Logf("%s: %d messages came again", r.name, reads(t, r.s, 600, 1, func() { half <- struct{}{} }))
		})
	}
	patience := publishtest.Timeout(t, time.Minute)
	for range all {
		select {
		case <-half:
		case <-patience.Done():
			t.Fatal("not every source came to half of its messages")
		}
	}
	if err := errors.Join(node.Kill(t.Context()), node.Start(t.Context())); err != nil {
		t.Error(err)
	}
	reading.Wait()
}

func TestASourceWhoseServerIsAwayIsUnavailableAndGoesOnAfterIt(t *testing.T) {
	t.Parallel()
	p := newPlace(t, shared(t), "quorum", false).create(t, nil)
	line := servertest.Proxy(t, address(t, p.url))
	down(t)(line)
	o := p.taking(source.OrderNone)
	o.URL = via(t, p.url, line.Addr())
	s := opened(t, o)
	says(t, s, source.ErrUnavailable, line.Addr()+": the server cannot be reached; wait")
	if err := line.Resume(); err != nil {
		t.Fatal(err)
	}
	p.store(t, 0, 3)
	publishtest.Eventually(t, "Fetch has no error any more", func() bool {
		batch, err := s.Fetch(publishtest.Timeout(t, 5*time.Second), source.Limits{})
		return err == nil && len(batch.Messages) > 0
	})
}

func TestCloseInAnOutageSaysThatAcksMayNotHaveArrived(t *testing.T) {
	t.Parallel()
	node := shared(t)
	for _, acks := range []int{0, 2} {
		p := newPlace(t, node, "quorum", false).create(t, nil)
		line := servertest.Proxy(t, address(t, p.url))
		o := p.taking(source.OrderNone)
		o.URL = via(t, p.url, line.Addr())
		s := opened(t, o)
		p.store(t, 0, 3)
		msgs, _ := fetched(t, s, 3)
		acked(t, s, 0, msgs[:acks]...)
		down(t)(line)
		says(t, s, source.ErrUnavailable, "the server cannot be reached")
		err := s.Close(publishtest.Timeout(t, 5*time.Second))
		if unsure := errors.Is(err, source.ErrUnavailable) && strings.Contains(err.Error(), "acked to come again"); unsure != (acks > 0) || !unsure && err != nil {
			t.Errorf("after %d acks Close says %v", acks, err)
		}
	}
}

func TestASourceOfAQueueThatDoesNotExistWaitsForIt(t *testing.T) {
	t.Parallel()
	node := shared(t)
	eachQueue(t, func(t *testing.T, kind string) {
		p := newPlace(t, node, kind, false)
		s := opened(t, p.taking(source.OrderNone))
		says(t, s, source.ErrMisconfigured, "the queue does not exist (404 NOT_FOUND); create it")
		p.create(t, nil).store(t, 0, 2)
		publishtest.Eventually(t, "its messages come", func() bool {
			batch, err := s.Fetch(publishtest.Timeout(t, 5*time.Second), source.Limits{})
			return err == nil && len(batch.Messages) > 0
		})
	})
}

func TestAQueueThatIsDeletedIsLostAndMisconfiguredUntilItIsMadeAgain(t *testing.T) {
	t.Parallel()
	node := shared(t)
	eachQueue(t, func(t *testing.T, kind string) {
		p := newPlace(t, node, kind, false).create(t, nil)
		s := opened(t, p.taking(source.OrderNone))
		p.store(t, 0, 3)
		before, _ := fetched(t, s, 3)
		if _, err := channel(t, p.url).QueueDelete(p.queue, false, false, false); err != nil {
			t.Fatal(err)
		}
		batch, err := s.Fetch(publishtest.Timeout(t, 20*time.Second), source.Limits{})
		if err != nil || len(batch.Lost) != 1 || batch.Lost[0] != source.Partition(p.queue) || len(batch.Messages) > 0 {
			t.Errorf("Fetch: %+v, %v; want the loss of the queue", batch, err)
		}
		acked(t, s, 3, before...)
		says(t, s, source.ErrMisconfigured, "the queue does not exist")
		p.create(t, nil).store(t, 10, 2)
		publishtest.Eventually(t, "Fetch goes on", func() bool {
			batch, err := s.Fetch(publishtest.Timeout(t, 5*time.Second), source.Limits{})
			return err == nil && len(batch.Messages) > 0 && string(batch.Messages[0].Payload) == "10"
		})
	})
}

func TestAQueueOfTheTopologyIsMadeAgain(t *testing.T) {
	t.Parallel()
	node := shared(t)
	eachQueue(t, func(t *testing.T, kind string) {
		p := newPlace(t, node, kind, false)
		s := opened(t, p.taking(source.OrderStream)) // it has the queue in its topology
		nothing(t, s, 2*time.Second)
		if _, err := channel(t, p.url).QueueDelete(p.queue, false, false, false); err != nil {
			t.Fatal(err)
		}
		nothing(t, s, 2*time.Second)
		p.store(t, 0, 2)
		msgs, _ := fetched(t, s, 2)
		wantPayloads(t, msgs, numbers(0, 2))
	})
}

func TestAQueueWithoutASingleActiveConsumerIsRefusedWhereAnOrderIsWanted(t *testing.T) {
	t.Parallel()
	node := shared(t)
	eachQueue(t, func(t *testing.T, kind string) {
		p := newPlace(t, node, kind, false).create(t, nil)
		says(t, opened(t, p.taking(source.OrderStream)), source.ErrMisconfigured, "SourceOptions.Topology cannot be declared (406 PRECONDITION_FAILED); make it the same")
	})
}

func TestAStreamIsNoQueueForASource(t *testing.T) {
	t.Parallel()
	p := newPlace(t, shared(t), "stream", false).create(t, nil)
	says(t, opened(t, p.taking(source.OrderNone)), source.ErrMisconfigured, "which needs a source that keeps offsets")
}

func TestAQueueThatAnotherConsumerHasForItselfIsMisconfigured(t *testing.T) {
	t.Parallel()
	p := newPlace(t, shared(t), "classic", false).create(t, nil)
	ch := channel(t, p.url)
	if _, err := ch.Consume(p.queue, "alone", false, true, false, false, nil); err != nil {
		t.Fatal(err)
	}
	s := opened(t, p.taking(source.OrderNone))
	says(t, s, source.ErrMisconfigured, "another consumer has the queue for itself")
	if err := ch.Cancel("alone", false); err != nil {
		t.Fatal(err)
	}
	p.store(t, 0, 1)
	publishtest.Eventually(t, "its messages come", func() bool {
		batch, err := s.Fetch(publishtest.Timeout(t, 5*time.Second), source.Limits{})
		return err == nil && len(batch.Messages) > 0
	})
}

func TestALoginOfASourceThatIsRefusedIsMisconfigured(t *testing.T) {
	t.Parallel()
	node := shared(t)
	for title, c := range map[string]struct{ url, reason string }{
		"a wrong password":     {node.URLAs(user, "wrong-word", "/"), "refuses the login (403 ACCESS_REFUSED)"},
		"another virtual host": {node.URL("nowhere"), "virtual host does not exist"},
	} {
		t.Run(title, func(t *testing.T) {
			t.Parallel()
			says(t, opened(t, rabbitbroker.SourceOptions{URL: c.url, Queue: "q"}), source.ErrMisconfigured, c.reason)
		})
	}
}

// The page docs/reference/rabbitmq.md lists the rights.
func TestASourceNeedsTheRightToReadItsQueueAndNoOther(t *testing.T) {
	t.Parallel()
	node := shared(t)
	poor := fmt.Sprintf("poor-%d", queueCount.Add(1))
	p := newPlace(t, node, "quorum", false).create(t, nil)
	if err := errors.Join(node.AddUser(t.Context(), poor, password), node.Allow(t.Context(), "/", poor, "^$", "^$", "^$")); err != nil {
		t.Fatal(err)
	}
	o := p.taking(source.OrderNone)
	o.URL = node.URLAs(poor, password, "/")
	s := opened(t, o)
	says(t, s, source.ErrMisconfigured, "the server forbids this user to read the queue (403 ACCESS_REFUSED); grant the permission to read it")
	p.store(t, 0, 3)
	if err := node.Allow(t.Context(), "/", poor, "^$", "^$", "^"+p.queue+"$"); err != nil {
		t.Fatal(err)
	}
	var msgs []source.Message
	publishtest.Eventually(t, "messages come", func() bool {
		batch, err := s.Fetch(publishtest.Timeout(t, 5*time.Second), source.Limits{})
		msgs = append(msgs, batch.Messages...)
		return err == nil && len(msgs) == 3
	})
	if lag, err := s.Lag(t.Context()); err != nil || lag[0].Messages != 3 {
		t.Errorf("the lag is %+v, %v", lag, err)
	}
	released(t, s, 0, msgs[0])
	again, _ := fetched(t, s, 1)
	acked(t, s, 0, append(msgs[1:], again...)...)
	closed(t, s)
	if n := p.ready(t, channel(t, p.url)); n != 0 {
		t.Errorf("%d messages are left", n)
	}
}

// The server ends a connection on an operator's word: the source makes another one.
func TestAConnectionThatAnOperatorClosesIsMadeAgain(t *testing.T) {
	t.Parallel()
	node := shared(t)
	p := newPlace(t, node, "classic", false).create(t, nil)
	o := p.taking(source.OrderNone)
	operated := fmt.Sprintf("operated-%d", queueCount.Add(1))
	if err := errors.Join(node.AddUser(t.Context(), operated, password), node.Allow(t.Context(), "/", operated, ".*", ".*", ".*")); err != nil {
		t.Fatal(err)
	}
	o.URL = node.URLAs(operated, password, "/")
	s := opened(t, o)
	p.store(t, 0, 2)
	fetched(t, s, 2)
	if _, err := node.Ctl(t.Context(), "close_all_user_connections", operated, "the test's"); err != nil {
		t.Fatal(err)
	}
	again, lost := fetched(t, s, 2)
	wantPayloads(t, again, numbers(0, 2))
	if len(lost) != 1 || again[0].Deliveries < 2 {
		t.Errorf("the losses %q were told, and the first message has %d deliveries", lost, again[0].Deliveries)
	}
}
