package natsbroker_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/postbag/postbag/broker/natsbroker"
	"github.com/postbag/postbag/internal/publishtest"
	"github.com/postbag/postbag/source"
)

// shortWait is an ack wait for tests that let it run out.
const shortWait = time.Second

// taking are the options of a source of p, with a connection of its own.
func (p place) taking(url string) natsbroker.SourceOptions {
	return natsbroker.SourceOptions{
		URL: url, Login: natsbroker.Login{User: user, Password: password},
		Stream: p.name, Consumer: "readers",
	}
}

// opened is a source that the test closes.
func opened(t testing.TB, o natsbroker.SourceOptions) *natsbroker.Source {
	t.Helper()
	s, err := natsbroker.OpenSource(publishtest.Timeout(t, 20*time.Second), o)
	if err != nil {
		t.Fatalf("OpenSource: %v", err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		defer cancel()
		_ = s.Close(ctx)
	})
	return s
}

// store puts n messages into the stream; their payloads are numbers that begin with from.
func (p place) store(t testing.TB, from, n int) {
	t.Helper()
	for i := range n {
		if _, err := p.js.Publish(publishtest.Timeout(t, 20*time.Second), p.topic(), fmt.Append(nil, from+i)); err != nil {
			t.Fatalf("message %d cannot be stored: %v", from+i, err)
		}
	}
}

// fetched returns n messages, or more if a batch has more.
func fetched(t testing.TB, s *natsbroker.Source, n int) (msgs []source.Message, lost []source.Partition) {
	t.Helper()
	ctx := publishtest.Timeout(t, 30*time.Second)
	for len(msgs) < n {
		batch, err := s.Fetch(ctx, source.Limits{})
		if err != nil {
			t.Fatalf("Fetch, after %d of %d messages: %v", len(msgs), n, err)
		}
		msgs, lost = append(msgs, batch.Messages...), append(lost, batch.Lost...)
	}
	return msgs, lost
}

// nothing wants no message to come for a while.
func nothing(t testing.TB, s *natsbroker.Source, within time.Duration) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), within)
	defer cancel()
	if batch, err := s.Fetch(ctx, source.Limits{}); !errors.Is(err, context.DeadlineExceeded) {
		t.Fatalf("%d messages came (%v), want none", len(batch.Messages), err)
	}
}

func receiptsOf(msgs []source.Message) (all []source.Receipt) {
	for _, m := range msgs {
		all = append(all, m.Receipt)
	}
	return all
}

func acked(t testing.TB, s *natsbroker.Source, lost int, msgs ...source.Message) {
	t.Helper()
	got, err := s.Ack(publishtest.Timeout(t, 20*time.Second), receiptsOf(msgs))
	if err != nil || got != lost {
		t.Fatalf("Ack of %d messages: %d lost, %v; want %d lost", len(msgs), got, err, lost)
	}
}

func closed(t testing.TB, s *natsbroker.Source) {
	t.Helper()
	if err := s.Close(publishtest.Timeout(t, 20*time.Second)); err != nil {
		t.Fatalf("Close: %v", err)
	}
}

func payloads(msgs []source.Message) (all []string) {
	for _, m := range msgs {
		all = append(all, string(m.Payload))
	}
	return all
}

// numbers are those from a up to but without b, as payloads.
func numbers(a, b int) (all []string) {
	for i := a; i < b; i++ {
		all = append(all, fmt.Sprint(i))
	}
	return all
}

func wantPayloads(t testing.TB, msgs []source.Message, want []string) {
	t.Helper()
	if got := payloads(msgs); !slices.Equal(got, want) {
		t.Fatalf("the messages %q came, want %q", got, want)
	}
}

// Both orders, for what they have in common.
func eachOrder(t *testing.T, run func(t *testing.T, order source.Order)) {
	t.Helper()
	for _, order := range []source.Order{source.OrderNone, source.OrderStream} {
		t.Run(order.String(), func(t *testing.T) {
			t.Parallel()
			run(t, order)
		})
	}
}

func TestAMessageIsAsTheStreamHasIt(t *testing.T) {
	t.Parallel()
	server := startServer(t, nil)
	eachOrder(t, func(t *testing.T, order source.Order) {
		p := newPlace(t, server.connect(t)).create(t, nil)
		o := p.taking(server.url())
		o.Order = order
		s := opened(t, o)
		m := nats.NewMsg(p.name + ".a.b")
		m.Data = []byte("payload")
		m.Header = nats.Header{"b": {"2", "1"}, "a": {"x"}, "Nats-Msg-Id": {"once"}, "Nats-Pin-Id": {"a sender's"}}
		if _, err := p.js.PublishMsg(t.Context(), m); err != nil {
			t.Fatal(err)
		}
		got, _ := fetched(t, s, 1)
		want := source.Headers{{Name: "Nats-Msg-Id", Value: "once"}, {Name: "Nats-Pin-Id", Value: "a sender's"}, {Name: "a", Value: "x"}, {Name: "b", Value: "2"}, {Name: "b", Value: "1"}}
		if got[0].Topic != m.Subject || string(got[0].Payload) != "payload" || !slices.Equal(got[0].Headers, want) {
			t.Errorf("the message is %+v", got[0])
		}
		created := p.stream(t).CachedInfo().Created.UTC().Format(time.RFC3339Nano)
		if got[0].Place != (source.Place{Source: p.name + " " + created, Offset: 1}) || string(got[0].Partition) != p.name {
			t.Errorf("its place is %+v, its partition %q", got[0].Place, got[0].Partition)
		}
		if time.Since(got[0].Time).Abs() > time.Minute {
			t.Errorf("its time is %v", got[0].Time)
		}
		if want := map[source.Order]int{source.OrderNone: 1}[order]; got[0].Deliveries != want {
			t.Errorf("it has %d deliveries, want %d", got[0].Deliveries, want)
		}
	})
}

func TestNothingThatWasAckedComesAgainAfterARestart(t *testing.T) {
	t.Parallel()
	server := startServer(t, nil)
	eachOrder(t, func(t *testing.T, order source.Order) {
		p := newPlace(t, server.connect(t)).create(t, nil)
		o := p.taking(server.url())
		o.Order = order
		p.store(t, 0, 30)
		s := opened(t, o)
		msgs, _ := fetched(t, s, 30)
		wantPayloads(t, msgs, numbers(0, 30))
		acked(t, s, 0, msgs[:20]...)
		closed(t, s)
		s = opened(t, o)
		again, lost := fetched(t, s, 10)
		wantPayloads(t, again, numbers(20, 30))
		if len(lost) > 0 {
			t.Errorf("a new source lost %q", lost)
		}
		for i, m := range again {
			if m.Place != msgs[20+i].Place {
				t.Errorf("message %s was at %v and is at %v", m.Payload, msgs[20+i].Place, m.Place)
			}
		}
		acked(t, s, 0, again...)
		nothing(t, s, 300*time.Millisecond)
	})
}

func TestAMessageComesAgainWhenItsAckWaitIsOver(t *testing.T) {
	t.Parallel()
	server := startServer(t, nil)
	eachOrder(t, func(t *testing.T, order source.Order) {
		p := newPlace(t, server.connect(t)).create(t, nil)
		o := p.taking(server.url())
		o.Order, o.AckWait = order, shortWait
		s := opened(t, o)
		p.store(t, 0, 4)
		msgs, _ := fetched(t, s, 4)
		acked(t, s, 0, msgs[0])
		again, lost := fetched(t, s, 3)
		wantPayloads(t, again, numbers(1, 4))
		if told := len(lost) > 0; told != (order == source.OrderStream) {
			t.Errorf("Fetch named the lost partitions %q", lost)
		}
		acked(t, s, 3, msgs[1:]...)
		acked(t, s, 0, again...)
	})
}

func TestTwoMembersShareTheMessages(t *testing.T) {
	t.Parallel()
	server := startServer(t, nil)
	p := newPlace(t, server.connect(t)).create(t, nil)
	a, b := opened(t, p.taking(server.url())), opened(t, p.taking(server.url()))
	p.store(t, 0, 100)
	one := source.Limits{Messages: 10}
	came := map[string]int{}
	for range 5 {
		for _, s := range []*natsbroker.Source{a, b} {
			batch, err := s.Fetch(publishtest.Timeout(t, 20*time.Second), one)
			if err != nil {
				t.Fatal(err)
			}
			for _, m := range batch.Messages {
				came[string(m.Payload)]++
			}
			acked(t, s, 0, batch.Messages...)
		}
	}
	if len(came) != 100 {
		t.Errorf("%d messages came of 100", len(came))
	}
	nothing(t, a, 200*time.Millisecond)
	nothing(t, b, 200*time.Millisecond)
}

// The server refuses a request at once that asks for more than there is, beside others that wait. The member then waits,
// too, and does not ask again and again.
func TestMembersThatWaitForAFullGroupAskSeldom(t *testing.T) {
	t.Parallel()
	server := startServer(t, nil)
	p := newPlace(t, server.connect(t)).create(t, nil)
	o := p.taking("")
	o.Login, o.MaxUnacked = natsbroker.Login{}, 1
	var members []*natsbroker.Source
	var connections []*nats.Conn
	for range 3 {
		nc := server.connect(t)
		connections = append(connections, nc)
		o.JetStream = jetStream(t, nc)
		members = append(members, opened(t, o))
	}
	p.store(t, 0, 4)
	msgs, _ := fetched(t, members[0], 1)
	var waiting sync.WaitGroup
	got := make(chan source.Message, 10)
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	for _, s := range members {
		waiting.Go(func() {
			for {
				batch, err := s.Fetch(ctx, source.Limits{})
				if err != nil {
					return
				}
				for _, m := range batch.Messages {
					got <- m
					_, _ = s.Ack(ctx, []source.Receipt{m.Receipt})
				}
			}
		})
	}
	timer := time.NewTimer(time.Second)
	defer timer.Stop()
	<-timer.C
	for i, nc := range connections {
		if n := nc.Stats().OutMsgs; n > 20 {
			t.Errorf("member %d has sent %d messages", i, n)
		}
	}
	acked(t, members[0], 0, msgs...)
	for range 3 {
		select {
		case <-got:
		case <-ctx.Done():
			t.Fatal("not all messages came")
		}
	}
	cancel()
	waiting.Wait()
}

func TestWithAnOrderOneMemberGetsEverythingAndAnotherTakesOver(t *testing.T) {
	t.Parallel()
	server := startServer(t, nil)
	p := newPlace(t, server.connect(t)).create(t, nil)
	o := p.taking(server.url())
	o.Order, o.AckWait = source.OrderStream, shortWait
	a := opened(t, o)
	p.store(t, 0, 10)
	msgs, _ := fetched(t, a, 10)
	acked(t, a, 0, msgs[:3]...)
	acked(t, a, 0, msgs[5])
	b := opened(t, o)
	nothing(t, b, shortWait/3)
	closed(t, a)
	began := time.Now()
	again, _ := fetched(t, b, 7)
	if took := time.Since(began); took > shortWait/2 {
		t.Errorf("they came after %v, want at once", took)
	}
	wantPayloads(t, again, numbers(3, 10)) // acks are a position: what was acked behind a gap comes again
	acked(t, b, 0, again...)
	p.store(t, 10, 5)
	more, lost := fetched(t, b, 5)
	wantPayloads(t, more, numbers(10, 15))
	if len(lost) > 0 {
		t.Errorf("Fetch named the lost partitions %q, and none was", lost)
	}
}

// A member that neither fetches nor extends is taken for dead. It learns of it, and its acks count as lost.
func TestWithAnOrderAMemberThatIsSilentLosesTheStreamToAnother(t *testing.T) {
	t.Parallel()
	server := startServer(t, nil)
	p := newPlace(t, server.connect(t)).create(t, nil)
	o := p.taking(server.url())
	o.Order, o.AckWait = source.OrderStream, shortWait
	a, b := opened(t, o), opened(t, o)
	p.store(t, 0, 6)
	msgs, _ := fetched(t, a, 6)
	acked(t, a, 0, msgs[:2]...)
	again, _ := fetched(t, b, 4)
	wantPayloads(t, again, numbers(2, 6))
	p.store(t, 6, 1)
	batch, err := a.Fetch(publishtest.Timeout(t, 20*time.Second), source.Limits{})
	if err != nil || len(batch.Lost) != 1 || len(batch.Messages) > 0 {
		t.Fatalf("Fetch of the silent member: %d messages, %q lost, %v", len(batch.Messages), batch.Lost, err)
	}
	acked(t, a, 4, msgs[2:]...)
	acked(t, b, 0, again...)
}

func TestWithAnOrderAMemberThatExtendsKeepsTheStream(t *testing.T) {
	t.Parallel()
	server := startServer(t, nil)
	p := newPlace(t, server.connect(t)).create(t, nil)
	o := p.taking(server.url())
	o.Order, o.AckWait = source.OrderStream, shortWait
	a, b := opened(t, o), opened(t, o)
	p.store(t, 0, 3)
	msgs, _ := fetched(t, a, 3)
	got := make(chan error, 1)
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		batch, err := b.Fetch(ctx, source.Limits{})
		if len(batch.Messages) > 0 {
			err = fmt.Errorf("%d messages came to the member that stands by", len(batch.Messages))
		}
		got <- err
	}()
	tick := time.NewTicker(shortWait / 4)
	defer tick.Stop()
	for i := range 10 {
		<-tick.C
		if i == 8 { // when the ack wait is over twice
			p.store(t, 3, 1)
		}
		if lost, err := a.Extend(publishtest.Timeout(t, 10*time.Second), receiptsOf(msgs)); lost > 0 || err != nil {
			t.Fatalf("Extend: %d lost, %v", lost, err)
		}
	}
	cancel()
	if err := <-got; !errors.Is(err, context.Canceled) {
		t.Errorf("the other's Fetch: %v", err)
	}
	more, lost := fetched(t, a, 1)
	wantPayloads(t, more, numbers(3, 4))
	if len(lost) > 0 {
		t.Errorf("Fetch named the lost partitions %q", lost)
	}
	acked(t, a, 0, append(msgs, more...)...)
}

func TestAStreamThatWasMadeAnewHasOtherPlaces(t *testing.T) {
	t.Parallel()
	server := startServer(t, nil)
	eachOrder(t, func(t *testing.T, order source.Order) {
		p := newPlace(t, server.connect(t)).create(t, nil)
		o := p.taking(server.url())
		o.Order, o.NewOnly = order, true
		s := opened(t, o)
		p.store(t, 0, 5)
		before, _ := fetched(t, s, 5)
		acked(t, s, 0, before[:4]...)
		if err := p.js.DeleteStream(t.Context(), p.name); err != nil {
			t.Fatal(err)
		}
		publishtest.Eventually(t, "Fetch says that the stream is gone", func() bool {
			_, err := s.Fetch(publishtest.Timeout(t, time.Second), source.Limits{})
			return errors.Is(err, source.ErrMisconfigured) && strings.Contains(err.Error(), "the stream does not exist; create it")
		})
		p.create(t, nil)
		p.store(t, 100, 5)
		after, lost := fetched(t, s, 5)
		wantPayloads(t, after, numbers(100, 105))
		if len(lost) != 1 {
			t.Errorf("Fetch named the lost partitions %q", lost)
		}
		for i, m := range after {
			if m.Place == before[i].Place || m.Place.Offset != before[i].Place.Offset {
				t.Errorf("places are %v before, and %v after", before[i].Place, m.Place)
			}
		}
		acked(t, s, 1, before[4])
		acked(t, s, 0, after...)
	})
}

// Nothing tells the source, which has no request at the server, that the stream is another one.
func TestAStreamThatWasMadeAnewBehindTheSourcesBackHasOtherPlaces(t *testing.T) {
	t.Parallel()
	server := startServer(t, nil)
	p := newPlace(t, server.connect(t)).create(t, nil)
	s := opened(t, p.taking(server.url()))
	p.store(t, 0, 3)
	before, _ := fetched(t, s, 3)
	acked(t, s, 0, before...)
	if err := p.js.DeleteStream(t.Context(), p.name); err != nil {
		t.Fatal(err)
	}
	p.create(t, nil)
	other := opened(t, p.taking(server.url())) // makes the consumer
	p.store(t, 100, 3)
	first, _ := fetched(t, other, 3)
	acked(t, other, 0, first...)
	p.store(t, 103, 3)
	after, _ := fetched(t, s, 3)
	wantPayloads(t, after, numbers(103, 106))
	for i, m := range after {
		if m.Place.Source != first[i].Place.Source || m.Place.Source == before[i].Place.Source {
			t.Errorf("places are %v before, and %v after", before[i].Place, m.Place)
		}
	}
}

func TestAConsumerThatWasDeletedIsNotMadeAnewSilently(t *testing.T) {
	t.Parallel()
	server := startServer(t, nil)
	eachOrder(t, func(t *testing.T, order source.Order) {
		p := newPlace(t, server.connect(t)).create(t, nil)
		o := p.taking(server.url())
		o.Order = order
		s := opened(t, o)
		p.store(t, 0, 3)
		msgs, _ := fetched(t, s, 3)
		acked(t, s, 0, msgs...)
		if err := p.js.DeleteConsumer(t.Context(), p.name, "readers"); err != nil {
			t.Fatal(err)
		}
		publishtest.Eventually(t, "Fetch says that the consumer is gone", func() bool {
			_, err := s.Fetch(publishtest.Timeout(t, time.Second), source.Limits{})
			return errors.Is(err, source.ErrMisconfigured) && strings.Contains(err.Error(), "the consumer was deleted")
		})
		closed(t, opened(t, o)) // makes it again
	})
}

func TestLagCountsWhatIsNotAcked(t *testing.T) {
	t.Parallel()
	server := startServer(t, nil)
	p := newPlace(t, server.connect(t)).create(t, nil)
	o := p.taking(server.url())
	o.Subjects = []string{p.topic(), p.name + ".other.*"}
	s := opened(t, o)
	p.store(t, 0, 10)
	if _, err := p.js.Publish(t.Context(), p.name+".unwanted", nil); err != nil {
		t.Fatal(err)
	}
	msgs, _ := fetched(t, s, 10)
	acked(t, s, 0, msgs[:4]...)
	lag, err := s.Lag(t.Context())
	if err != nil || len(lag) != 1 || lag[0].Messages != 6 || lag[0].Age <= 0 || lag[0].Age > time.Minute {
		t.Errorf("the lag is %+v, %v; want 6 messages", lag, err)
	}
	acked(t, s, 0, msgs[4:]...)
	if lag, err = s.Lag(t.Context()); err != nil || len(lag) != 1 || lag[0].Messages != 0 || lag[0].Age != 0 {
		t.Errorf("the lag is %+v, %v; want none", lag, err)
	}
}

// The client does not get more than a Fetch asked for: what waits is at the server.
func TestTenThousandMessagesPassThroughInBoundedPieces(t *testing.T) {
	t.Parallel()
	server := startServer(t, nil)
	eachOrder(t, func(t *testing.T, order source.Order) {
		nc := server.connect(t)
		p := newPlace(t, nc).create(t, nil)
		const total = 10_000
		for i := range total {
			if _, err := p.js.PublishAsync(p.topic(), fmt.Appendf(nil, "%d", i)); err != nil {
				t.Fatal(err)
			}
			if i%1000 == 999 {
				<-p.js.PublishAsyncComplete()
			}
		}
		own := server.connect(t)
		o := p.taking("")
		o.JetStream, o.Order, o.Login = jetStream(t, own), order, natsbroker.Login{}
		s := opened(t, o)
		next := 0
		limits := source.Limits{Messages: 200, Bytes: 1 << 20}
		for next < total {
			before := own.Stats().InMsgs
			batch, err := s.Fetch(publishtest.Timeout(t, 30*time.Second), limits)
			if err != nil {
				t.Fatal(err)
			}
			if got := own.Stats().InMsgs - before; got > 220 {
				t.Fatalf("%d messages arrived for one Fetch", got)
			}
			for _, m := range batch.Messages {
				if string(m.Payload) != fmt.Sprint(next) {
					t.Fatalf("message %s came, want %d", m.Payload, next)
				}
				next++
			}
			acked(t, s, 0, batch.Messages...)
		}
		closed(t, s)
		if !own.IsConnected() {
			t.Error("Close closed the application's connection")
		}
	})
}
