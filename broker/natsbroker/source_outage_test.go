package natsbroker_test

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/postbag/postbag/broker/natsbroker"
	"github.com/postbag/postbag/internal/publishtest"
	"github.com/postbag/postbag/internal/testserver"
	"github.com/postbag/postbag/internal/testserver/servertest"
	"github.com/postbag/postbag/source"
)

// reads fetches and acks until each of the messages 0 to n-1 came, making faults on the way. Errors of an
// outage are borne. It returns how often a message came again.
func reads(t *testing.T, s *natsbroker.Source, n, faults int, fault func()) (repeats int) {
	t.Helper()
	ctx := publishtest.Timeout(t, 2*time.Minute)
	came := map[int]bool{}
	last, made := -1, 0
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
			}
			came[i] = true
		}
		if _, err := s.Ack(publishtest.Timeout(t, 2*time.Second), receiptsOf(batch.Messages)); errors.Is(err, source.ErrMisconfigured) {
			t.Fatalf("Ack: %v", err)
		}
	}
	return repeats
}

func TestAServerThatIsKilledTakesNoMessageAwayFromASource(t *testing.T) {
	t.Parallel()
	eachOrder(t, func(t *testing.T, order source.Order) {
		s := servertest.NATS(t, testserver.NATSOptions{})
		p := newPlace(t, connect(t, s.URL())).create(t, nil)
		src := opened(t, natsbroker.SourceOptions{URL: s.URL(), Stream: p.name, Consumer: "readers", Order: order, AckWait: shortWait})
		p.store(t, 0, 1500)
		t.Logf("%d messages came again", reads(t, src, 1500, 3, func() {
			if err := s.Kill(t.Context()); err != nil {
				t.Error(err)
			}
			if err := s.Start(t.Context()); err != nil {
				t.Error(err)
			}
		}))
	})
}

func TestAConnectionThatIsCutTakesNoMessageAwayFromASource(t *testing.T) {
	t.Parallel()
	server := startServer(t, nil)
	eachOrder(t, func(t *testing.T, order source.Order) {
		p := newPlace(t, server.connect(t)).create(t, nil)
		line := servertest.Proxy(t, server.address())
		o := p.taking("nats://" + line.Addr())
		o.Order, o.AckWait = order, shortWait
		src := opened(t, o)
		p.store(t, 0, 1500)
		t.Logf("%d messages came again", reads(t, src, 1500, 10, func() {
			tick := time.NewTicker(time.Millisecond)
			defer tick.Stop()
			for range 5 {
				<-tick.C
				line.Cut()
			}
		}))
	})
}

func TestAnAckThatIsNotAnsweredIsAnError(t *testing.T) {
	t.Parallel()
	server := startServer(t, nil)
	p := newPlace(t, server.connect(t)).create(t, nil)
	line := servertest.Proxy(t, server.address())
	src := opened(t, p.taking("nats://"+line.Addr()))
	p.store(t, 0, 3)
	msgs, _ := fetched(t, src, 3)
	line.BlackHole(testserver.Down)
	if _, err := src.Ack(publishtest.Timeout(t, 300*time.Millisecond), receiptsOf(msgs[:2])); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("Ack with a context that ended: %v", err)
	}
	_, err := src.Ack(publishtest.Timeout(t, time.Minute), receiptsOf(msgs))
	if !errors.Is(err, source.ErrUnavailable) || !strings.Contains(err.Error(), "call again") {
		t.Errorf("Ack without an answer: %v", err)
	}
	line.Cut()
	if err := line.Resume(); err != nil {
		t.Fatal(err)
	}
	publishtest.Eventually(t, "the acks arrive", func() bool {
		lost, err := src.Ack(publishtest.Timeout(t, time.Second), receiptsOf(msgs))
		return lost == 0 && err == nil
	})
	nothing(t, src, 300*time.Millisecond)
}

func TestAReplicatedConsumerThatLosesItsLeaderLosesNoMessage(t *testing.T) {
	t.Parallel()
	servers := startCluster(t)
	nc := connect(t, urlsOf(servers), nats.UserInfo(user, password))
	places, sources := map[source.Order]place{}, map[source.Order]*natsbroker.Source{}
	for _, order := range []source.Order{source.OrderNone, source.OrderStream} { // while all servers are up
		p := newPlace(t, nc).create(t, func(c *jetstream.StreamConfig) { c.Replicas = 3 })
		o := p.taking(urlsOf(servers))
		o.Order, o.AckWait = order, 2*time.Second
		places[order], sources[order] = p, opened(t, o)
		p.store(t, 0, 300)
	}
	for order, src := range sources {
		t.Logf("%v: %d messages came again", order, reads(t, src, 300, 2, func() {
			led := leader(t, servers, places[order].name)
			led.stop()
			led.start(t)
		}))
	}
}

func TestASourceWhoseServerIsAwayIsNotOpened(t *testing.T) {
	t.Parallel()
	server := startServer(t, nil)
	p := newPlace(t, server.connect(t)).create(t, nil)
	o := p.taking(server.url())
	o.Login.Password = "wrong"
	_, err := natsbroker.OpenSource(publishtest.Timeout(t, 10*time.Second), o)
	if !errors.Is(err, source.ErrMisconfigured) || !strings.Contains(err.Error(), "refuses the login") {
		t.Errorf("a login that is refused: %v", err)
	}
	server.stop()
	o = p.taking("nats://" + user + ":" + password + "@" + server.address())
	o.Login = natsbroker.Login{}
	_, err = natsbroker.OpenSource(publishtest.Timeout(t, 10*time.Second), o)
	if !errors.Is(err, source.ErrUnavailable) || !strings.Contains(err.Error(), server.address()) || strings.Contains(err.Error(), password) {
		t.Errorf("a server that is away: %v", err)
	}
	server.start(t)
}

func TestCloseOfASourceWhoseServerIsAwaySaysThatMessagesComeLate(t *testing.T) {
	t.Parallel()
	shared := startServer(t, nil)
	for _, order := range []source.Order{source.OrderNone, source.OrderStream} {
		p := newPlace(t, shared.connect(t)).create(t, nil)
		o := p.taking(shared.url())
		o.Order = order
		src := opened(t, o)
		p.store(t, 0, 3)
		fetched(t, src, 3)
		shared.stop()
		publishtest.Eventually(t, "Fetch notices", func() bool {
			_, err := src.Fetch(publishtest.Timeout(t, time.Second), source.Limits{})
			return errors.Is(err, source.ErrUnavailable)
		})
		if err := src.Close(publishtest.Timeout(t, 5*time.Second)); !errors.Is(err, source.ErrUnavailable) || !strings.Contains(err.Error(), "comes again after 30s") {
			t.Errorf("%v: Close: %v", order, err)
		}
		if _, err := src.Fetch(t.Context(), source.Limits{}); !errors.Is(err, source.ErrClosed) {
			t.Errorf("%v: Fetch after Close: %v", order, err)
		}
		shared.start(t)
	}
}

// The page docs/reference/nats.md lists them.
func TestASourceNeedsNoMoreRightsThanThePageLists(t *testing.T) {
	t.Parallel()
	for _, order := range []source.Order{source.OrderNone, source.OrderStream} {
		for _, subjects := range [][]string{nil, {"ORDERS.made"}, {"ORDERS.made", "ORDERS.x.*"}} {
			allowed := []string{
				"$JS.API.STREAM.INFO.ORDERS", "$JS.API.CONSUMER.INFO.ORDERS.billing", "$JS.API.CONSUMER.MSG.NEXT.ORDERS.billing", "$JS.ACK.ORDERS.billing.>",
				"$JS.API.CONSUMER.CREATE.ORDERS.billing", "$JS.API.STREAM.MSG.GET.ORDERS",
			}
			if len(subjects) > 0 {
				allowed = append(allowed, "$JS.API.CONSUMER.CREATE.ORDERS.billing.>")
			}
			if order == source.OrderStream {
				allowed = append(allowed, "$JS.API.CONSUMER.RESET.ORDERS.billing", "$JS.API.CONSUMER.UNPIN.ORDERS.billing")
			}
			s, limited := restricted(t, &server.Permissions{
				Publish:   &server.SubjectPermission{Allow: allowed},
				Subscribe: &server.SubjectPermission{Allow: []string{"_INBOX.>"}},
			})
			p := newPlaceNamed(t, s.connect(t), "ORDERS").create(t, nil)
			src := opened(t, natsbroker.SourceOptions{JetStream: jetStream(t, limited), Stream: "ORDERS", Consumer: "billing", Subjects: subjects, Order: order})
			p.store(t, 0, 3)
			msgs, _ := fetched(t, src, 3)
			if lag, err := src.Lag(t.Context()); err != nil || lag[0].Messages != 3 || lag[0].Age < 0 {
				t.Errorf("the lag is %+v, %v", lag, err)
			}
			if _, err := src.Extend(t.Context(), receiptsOf(msgs)); err != nil {
				t.Errorf("Extend: %v", err)
			}
			acked(t, src, 0, msgs[:1]...)
			if err := src.Release(t.Context(), receiptsOf(msgs[1:]), 0); err != nil {
				t.Errorf("Release: %v", err)
			}
			fetched(t, src, 2)
			closed(t, src)
			if err := limited.LastError(); err != nil {
				t.Errorf("%v, subjects %q: %v", order, subjects, err)
			}
		}
	}
}

func TestARightThatIsMissingIsNamed(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		deny, want string
		call       func(s *natsbroker.Source) error
	}{
		"to ask for messages": {"$JS.API.CONSUMER.MSG.NEXT.>", "forbids this user to ask for messages", func(s *natsbroker.Source) error {
			_, err := s.Fetch(publishtest.Timeout(t, 20*time.Second), source.Limits{})
			return err
		}},
		"to ack": {"$JS.ACK.>", "forbids this user to ack", func(s *natsbroker.Source) error {
			batch, err := s.Fetch(publishtest.Timeout(t, 20*time.Second), source.Limits{})
			if err == nil {
				_, err = s.Ack(publishtest.Timeout(t, 20*time.Second), receiptsOf(batch.Messages))
			}
			return err
		}},
		"to ask for the consumer": {"$JS.API.CONSUMER.INFO.>", "forbids this user to ask the JetStream API", nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, limited := restricted(t, &server.Permissions{Publish: &server.SubjectPermission{Deny: []string{c.deny}}})
			p := newPlace(t, s.connect(t)).create(t, nil)
			p.store(t, 0, 3)
			src, err := natsbroker.OpenSource(publishtest.Timeout(t, 20*time.Second), natsbroker.SourceOptions{
				JetStream: jetStream(t, limited), Stream: p.name, Consumer: "readers",
			})
			if c.call != nil {
				if err != nil {
					t.Fatal(err)
				}
				err = c.call(src)
				_ = src.Close(publishtest.Timeout(t, 100*time.Millisecond))
			}
			if !errors.Is(err, source.ErrMisconfigured) || !strings.Contains(err.Error(), c.want) {
				t.Errorf("the error is %v", err)
			}
		})
	}
}
