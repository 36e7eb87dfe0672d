package rabbitbroker_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"

	"github.com/postbag/postbag/broker/rabbitbroker"
	"github.com/postbag/postbag/internal/publishtest"
	"github.com/postbag/postbag/internal/testserver"
	"github.com/postbag/postbag/internal/testserver/servertest"
	"github.com/postbag/postbag/source"
)

// opened is a source that the test closes.
func opened(t testing.TB, o rabbitbroker.SourceOptions) *rabbitbroker.Source {
	t.Helper()
	s, err := rabbitbroker.OpenSource(t.Context(), o)
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

// store puts n messages into the queue; their payloads are numbers that begin with from.
func (p *place) store(t testing.TB, from, n int) {
	t.Helper()
	var all []amqp.Publishing
	for i := range n {
		all = append(all, amqp.Publishing{Body: fmt.Append(nil, from+i), DeliveryMode: amqp.Persistent})
	}
	published(t, confirming(t, p.url), p.queue, all...)
}

// ready is how many messages wait in a queue.
func (p *place) ready(t testing.TB, ch *amqp.Channel) int {
	t.Helper()
	q, err := ch.QueueDeclarePassive(p.queue, true, false, false, false, nil)
	if err != nil {
		t.Fatal(err)
	}
	return q.Messages
}

// fetched returns n messages, or more if a batch has more.
func fetched(t testing.TB, s source.Source, n int) (msgs []source.Message, lost []source.Partition) {
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
func nothing(t testing.TB, s source.Source, within time.Duration) {
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

func acked(t testing.TB, s source.Source, lost int, msgs ...source.Message) {
	t.Helper()
	got, err := s.Ack(publishtest.Timeout(t, 20*time.Second), receiptsOf(msgs))
	if err != nil || got != lost {
		t.Fatalf("Ack of %d messages: %d lost, %v; want %d lost", len(msgs), got, err, lost)
	}
}

func released(t testing.TB, s source.Source, after time.Duration, msgs ...source.Message) {
	t.Helper()
	if err := s.Release(t.Context(), receiptsOf(msgs), after); err != nil {
		t.Fatalf("Release: %v", err)
	}
}

func closed(t testing.TB, s source.Source) {
	t.Helper()
	if err := s.Close(publishtest.Timeout(t, 20*time.Second)); err != nil {
		t.Fatalf("Close: %v", err)
	}
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
	var got []string
	for _, m := range msgs {
		got = append(got, string(m.Payload))
	}
	if !slices.Equal(got, want) {
		t.Fatalf("the messages %q came, want %q", got, want)
	}
}

// says waits until Fetch returns an error of a class with some words, and wants no secret in it.
func says(t testing.TB, s source.Source, class error, words string) {
	t.Helper()
	var last error
	publishtest.Eventually(t, "Fetch says "+words, func() bool {
		_, err := s.Fetch(publishtest.Timeout(t, time.Second), source.Limits{})
		if err != nil && (strings.Contains(err.Error(), password) || strings.Contains(err.Error(), "wrong-word")) {
			t.Fatalf("an error holds a password: %v", err)
		}
		if err != nil && !errors.Is(err, context.DeadlineExceeded) && (last == nil || last.Error() != err.Error()) {
			last = err
			t.Logf("Fetch says: %v", last)
		}
		return errors.Is(err, class) && strings.Contains(err.Error(), words)
	})
}

// Classic and quorum queues, for what they have in common.
func eachQueue(t *testing.T, run func(t *testing.T, kind string)) {
	t.Helper()
	for _, kind := range []string{"classic", "quorum"} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			run(t, kind)
		})
	}
}

func TestAMessageIsAsItsSenderMadeIt(t *testing.T) {
	t.Parallel()
	node := shared(t)
	eachQueue(t, func(t *testing.T, kind string) {
		p := newPlace(t, node, kind, true).create(t, nil)
		s := opened(t, p.taking(source.OrderNone))
		at := time.Unix(1_700_000_000, 0)
		ch := confirming(t, p.url)
		sent, err := ch.PublishWithDeferredConfirm(p.exchange, "orders.made", true, false, amqp.Publishing{
			Headers: amqp.Table{
				"text": "a", "bytes": []byte{0, 1}, "yes": true, "int": int32(-7), "long": int64(1 << 40), "at": at, "none": nil,
				"table": amqp.Table{"a": int32(1)}, "list": []any{"x", true}, "float": 1.5, "x-delivery-count": int64(99),
			},
			ContentType: "text/plain", ContentEncoding: "gzip", CorrelationId: "c-1", ReplyTo: "answers", MessageId: "m-1", Type: "order.made", AppId: "shop",
			Timestamp: at, Body: []byte("payload"),
		})
		if err != nil {
			t.Fatal(err)
		}
		if ok, err := sent.WaitContext(publishtest.Timeout(t, 20*time.Second)); !ok || err != nil {
			t.Fatal(err)
		}
		msgs, _ := fetched(t, s, 1)
		m := msgs[0]
		want := source.Headers{
			{Name: "app-id", Value: "shop"},
			{Name: "at", Value: "2023-11-14T22:13:20Z"},
			{Name: "bytes", Value: "\x00\x01"},
			{Name: "content-encoding", Value: "gzip"},
			{Name: "correlation-id", Value: "c-1"},
			{Name: "float", Value: "1.5"},
			{Name: "int", Value: "-7"},
			{Name: "list", Value: `["x",true]`},
			{Name: "long", Value: "1099511627776"},
			{Name: "none", Value: "null"},
			{Name: "reply-to", Value: "answers"},
			{Name: "table", Value: `{"a":1}`},
			{Name: "text", Value: "a"},
			{Name: "type", Value: "order.made"},
			{Name: "yes", Value: "true"},
		}
		if !slices.Equal(m.Headers, want) {
			t.Errorf("the headers are %q, want %q", m.Headers, want)
		}
		if m.Topic != "orders.made" || m.MessageID != "m-1" || m.ContentType != "text/plain" || string(m.Payload) != "payload" || !m.Time.Equal(at) {
			t.Errorf("the message is %+v", m)
		}
		if m.Deliveries != 1 || m.Partition != source.Partition(p.queue) || !m.Place.IsZero() || m.Key != "" || m.Err != nil {
			t.Errorf("it was delivered %d times, its partition is %q, its place %v, its key %q, its error %v", m.Deliveries, m.Partition, m.Place, m.Key, m.Err)
		}
		acked(t, s, 0, m)
	})
}

func TestDeliveriesAreTheQueuesCountOrItsFlag(t *testing.T) {
	t.Parallel()
	node := shared(t)
	for kind, want := range map[string][]int{"classic": {1, 2, 2, 2}, "quorum": {1, 2, 3, 4}} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			p := newPlace(t, node, kind, false).create(t, nil)
			s := opened(t, p.taking(source.OrderNone))
			p.store(t, 0, 1)
			var got []int
			for range want {
				msgs, _ := fetched(t, s, 1)
				got = append(got, msgs[0].Deliveries)
				if _, there := msgs[0].Headers.Get("x-delivery-count"); there {
					t.Error("the queue's count is a header of the message, which differs from delivery to delivery")
				}
				released(t, s, 0, msgs...)
			}
			if !slices.Equal(got, want) {
				t.Errorf("the deliveries are %d, want %d", got, want)
			}
		})
	}
}

func TestASourceReadsAheadNoMoreThanItsPrefetch(t *testing.T) {
	t.Parallel()
	node := shared(t)
	eachQueue(t, func(t *testing.T, kind string) {
		p := newPlace(t, node, kind, false).create(t, nil)
		p.store(t, 0, 50)
		o := p.taking(source.OrderNone)
		o.Prefetch = 10
		s := opened(t, o)
		ch := channel(t, p.url)
		batch, err := s.Fetch(publishtest.Timeout(t, 20*time.Second), source.Limits{Messages: 1})
		if err != nil {
			t.Fatal(err)
		}
		publishtest.Eventually(t, "the server has sent ten messages", func() bool { return p.ready(t, ch) == 40 })
		rest, _ := fetched(t, s, 9)
		nothing(t, s, 300*time.Millisecond)
		if n := p.ready(t, ch); n != 40 {
			t.Errorf("%d messages wait in the queue, want 40", n)
		}
		acked(t, s, 0, append(batch.Messages, rest[:3]...)...)
		publishtest.Eventually(t, "the server has sent four more", func() bool { return p.ready(t, ch) == 36 })
	})
}

func TestMembersThatShareAQueueEachGetAPart(t *testing.T) {
	t.Parallel()
	p := newPlace(t, shared(t), "quorum", false).create(t, nil)
	o := p.taking(source.OrderNone)
	o.Prefetch = 5
	a, b := opened(t, o), opened(t, o)
	nothing(t, a, 100*time.Millisecond)
	nothing(t, b, 100*time.Millisecond)
	p.store(t, 0, 10)
	one, _ := fetched(t, a, 5)
	two, _ := fetched(t, b, 5)
	if len(one) != 5 || len(two) != 5 {
		t.Errorf("%d and %d messages came, want five each", len(one), len(two))
	}
}

func TestWithAnOrderAnotherSourceStandsByAndTakesOverInSequence(t *testing.T) {
	t.Parallel()
	node := shared(t)
	eachQueue(t, func(t *testing.T, kind string) {
		p := newPlace(t, node, kind, false)
		p.create(t, p.arguments(source.OrderStream))
		a := opened(t, p.taking(source.OrderStream))
		p.store(t, 0, 10)
		msgs, _ := fetched(t, a, 10)
		wantPayloads(t, msgs, numbers(0, 10))
		b := opened(t, p.taking(source.OrderStream))
		p.store(t, 10, 5)
		nothing(t, b, 500*time.Millisecond)
		acked(t, a, 0, msgs[0], msgs[2])
		closed(t, a)
		again, lost := fetched(t, b, 13)
		wantPayloads(t, again, append([]string{"1"}, numbers(3, 15)...))
		if len(lost) > 0 {
			t.Errorf("Fetch named the lost partitions %q, and none was", lost)
		}
	})
}

// While a source holds messages back, no other one gets them.
func TestWithAnOrderAReleaseForLaterHoldsTheWholeQueue(t *testing.T) {
	t.Parallel()
	p := newPlace(t, shared(t), "quorum", false)
	p.create(t, p.arguments(source.OrderStream))
	a := opened(t, p.taking(source.OrderStream))
	p.store(t, 0, 4)
	msgs, _ := fetched(t, a, 4)
	b := opened(t, p.taking(source.OrderStream))
	nothing(t, b, 200*time.Millisecond)
	began := time.Now()
	released(t, a, time.Second, msgs[2])
	got := make(chan []source.Message, 2)
	ctx := publishtest.Timeout(t, 30*time.Second)
	for _, s := range []*rabbitbroker.Source{a, b} {
		go func() {
			var all []source.Message
			for len(all) < 4 {
				batch, err := s.Fetch(ctx, source.Limits{})
				if err != nil {
					break
				}
				all = append(all, batch.Messages...)
			}
			got <- all
		}()
	}
	again := <-got
	if took := time.Since(began); took < 900*time.Millisecond {
		t.Errorf("messages that were released for a second came after %v", took)
	}
	wantPayloads(t, again, numbers(0, 4))
}

func TestMessagesThatComeBackOftenAreNotDeadLettersOfTheSource(t *testing.T) {
	t.Parallel()
	node := shared(t)
	eachQueue(t, func(t *testing.T, kind string) {
		dead := newPlace(t, node, "classic", false).create(t, nil)
		p := newPlace(t, node, kind, false).create(t, amqp.Table{"x-dead-letter-exchange": "", "x-dead-letter-routing-key": dead.queue})
		p.store(t, 0, 5)
		for range 3 {
			s := opened(t, p.taking(source.OrderNone))
			msgs, _ := fetched(t, s, 5)
			released(t, s, 0, msgs[:2]...)
			fetched(t, s, 2)
			acked(t, s, 2, msgs[:2]...)
			closed(t, s)
			publishtest.Eventually(t, "all are back", func() bool { return p.ready(t, channel(t, p.url)) == 5 })
		}
		if n := dead.ready(t, channel(t, dead.url)); n != 0 {
			t.Errorf("%d messages are dead letters", n)
		}
	})
}

// What the client library cannot read ends its connection, and comes again: without care nothing else would come any more.
func TestHeadersThatCannotBeReadAreLeftOutAndTheRestArrives(t *testing.T) {
	t.Parallel()
	node := shared(t)
	many := amqp.Table{"Postbag-Id": "kept"}
	for i := range 9000 {
		many[fmt.Sprint(i)] = nil
	}
	eachQueue(t, func(t *testing.T, kind string) {
		p := newPlace(t, node, kind, false).create(t, nil)
		s := opened(t, p.taking(source.OrderNone))
		list := []any{"end"}
		for range 40 {
			list = []any{list}
		}
		ch := confirming(t, p.url)
		for _, headers := range []amqp.Table{{"deep": nested(40), "Postbag-Id": "kept"}, {"deep": list, "Postbag-Id": "kept"}, many, {"Postbag-Id": "kept", "deep": nested(31)}} {
			published(t, ch, p.queue, amqp.Publishing{Headers: headers, ContentType: "a/b", MessageId: "m", Body: []byte("payload")})
		}
		msgs, lost := fetched(t, s, 4)
		if len(lost) > 0 {
			t.Error("the connection was lost")
		}
		for i, m := range msgs {
			if bad := errors.Is(m.Err, source.ErrUndecodable); bad != (i < 3) {
				t.Errorf("message %d has the error %v", i, m.Err)
			}
			if id, _ := m.Headers.Get("Postbag-Id"); id != "kept" && i != 2 {
				t.Errorf("message %d has lost the header that could be read", i)
			}
			if string(m.Payload) != "payload" || m.ContentType != "a/b" || m.MessageID != "m" {
				t.Errorf("message %d is %+v", i, m)
			}
		}
		acked(t, s, 0, msgs...)
		closed(t, s)
		nothing(t, opened(t, p.taking(source.OrderNone)), 300*time.Millisecond)
	})
}

func TestLagCountsWhatIsReadyAndWhatTheSourceHas(t *testing.T) {
	t.Parallel()
	p := newPlace(t, shared(t), "quorum", false).create(t, nil)
	o := p.taking(source.OrderNone)
	o.Prefetch = 4
	s := opened(t, o)
	p.store(t, 0, 10)
	msgs, _ := fetched(t, s, 4)
	lagIs := func(want int64) {
		t.Helper()
		publishtest.Eventually(t, fmt.Sprintf("the lag is %d", want), func() bool {
			lag, err := s.Lag(t.Context())
			return err == nil && len(lag) == 1 && lag[0].Messages == want && (lag[0].Age < 0) == (want > 0)
		})
	}
	lagIs(10)
	acked(t, s, 0, msgs...)
	lagIs(6)
	for n := 6; n > 0; {
		msgs, _ := fetched(t, s, 1)
		acked(t, s, 0, msgs...)
		n -= len(msgs)
	}
	lagIs(0)
}

// The server's channel keeps acks back while many are under way to a quorum queue, and forgets those when it is closed.
func TestManySingleAcksRightBeforeACloseAllHold(t *testing.T) {
	t.Parallel()
	node := shared(t)
	eachQueueAndOrder(t, func(t *testing.T, kind string, order source.Order) {
		p := newPlace(t, node, kind, false)
		p.create(t, p.arguments(order))
		s := opened(t, p.taking(order))
		p.store(t, 0, 900)
		msgs, _ := fetched(t, s, 900)
		for i := 1; i < 900; i += 2 { // with gaps, so that none is for several
			acked(t, s, 0, msgs[i])
		}
		closed(t, s)
		again, _ := fetched(t, opened(t, p.taking(order)), 450)
		for i, m := range again {
			if string(m.Payload) != fmt.Sprint(2*i) {
				t.Fatalf("message %s came as number %d, want %d", m.Payload, i, 2*i)
			}
		}
	})
}

func TestAFrozenServerHoldsNoCallBeyondItsContext(t *testing.T) {
	t.Parallel()
	p := newPlace(t, shared(t), "quorum", false).create(t, nil)
	line := servertest.Proxy(t, address(t, p.url))
	o := p.taking(source.OrderNone)
	o.URL = via(t, p.url, line.Addr())
	s := opened(t, o)
	p.store(t, 0, 3)
	msgs, _ := fetched(t, s, 3)
	line.BlackHole(testserver.Up)
	line.BlackHole(testserver.Down)
	acked(t, s, 0, msgs[0])
	began := time.Now()
	if _, err := s.Lag(publishtest.Timeout(t, 200*time.Millisecond)); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("Lag: %v", err)
	}
	if err := s.Close(publishtest.Timeout(t, 500*time.Millisecond)); !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), "comes again") {
		t.Errorf("Close: %v", err)
	}
	if took := time.Since(began); took > 5*time.Second {
		t.Errorf("both took %v", took)
	}
	line.Cut()
	again := opened(t, p.taking(source.OrderNone))
	fetched(t, again, 2)
}
