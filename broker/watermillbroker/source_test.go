package watermillbroker_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ThreeDotsLabs/watermill"
	"github.com/ThreeDotsLabs/watermill/message"
	"github.com/ThreeDotsLabs/watermill/pubsub/gochannel"

	"github.com/postbag/postbag/broker/watermillbroker"
	"github.com/postbag/postbag/source"
)

// script is a subscriber that a test writes for one fault.
type script struct {
	subscribe func(ctx context.Context, topic string) (<-chan *message.Message, error)
	end       func() error
}

func (s script) Subscribe(ctx context.Context, topic string) (<-chan *message.Message, error) {
	return s.subscribe(ctx, topic)
}

func (s script) Close() error {
	if s.end == nil {
		return nil
	}
	return s.end()
}

// gives is a subscriber that gives these messages, and then waits for the end of its subscription.
func gives(msgs ...*message.Message) script {
	return script{subscribe: func(ctx context.Context, _ string) (<-chan *message.Message, error) {
		out := make(chan *message.Message)
		go func() {
			defer close(out)
			for _, m := range msgs {
				select {
				case out <- m:
				case <-ctx.Done():
					return
				}
			}
			<-ctx.Done()
		}()
		return out, nil
	}}
}

// blocking is a channel whose Publish returns when its messages are acked.
func blocking(t *testing.T) *gochannel.GoChannel {
	t.Helper()
	c := gochannel.NewGoChannel(gochannel.Config{BlockPublishUntilSubscriberAck: true}, nil)
	t.Cleanup(func() { _ = c.Close() })
	return c
}

// published returns a channel that is closed when Publish has returned.
func published(t *testing.T, to message.Publisher, topic string, msgs ...*message.Message) <-chan struct{} {
	t.Helper()
	done := make(chan struct{})
	go func() {
		defer close(done)
		if err := to.Publish(topic, msgs...); err != nil {
			t.Errorf("publish: %v", err)
		}
	}()
	return done
}

func made(payload string) *message.Message {
	return message.NewMessage(watermill.NewUUID(), []byte(payload))
}

// watched is a message whose context the test ends.
func watched(payload string) (*message.Message, context.CancelFunc) {
	m := made(payload)
	ctx, cancel := context.WithCancel(context.Background())
	m.SetContext(ctx)
	return m, cancel
}

func receipts(msgs ...source.Message) (all []source.Receipt) {
	for _, m := range msgs {
		all = append(all, m.Receipt)
	}
	return all
}

func ack(t *testing.T, src source.Source, lost int, msgs ...source.Message) {
	t.Helper()
	if n, err := src.Ack(patient(t), receipts(msgs...)); err != nil || n != lost {
		t.Errorf("Ack: %d lost, %v; want %d", n, err, lost)
	}
}

func ends(t *testing.T, done <-chan struct{}, what string) {
	t.Helper()
	select {
	case <-done:
	case <-patient(t).Done():
		t.Fatalf("%s does not happen", what)
	}
}

func notYet(t *testing.T, done <-chan struct{}, what string) {
	t.Helper()
	select {
	case <-done:
		t.Errorf("%s happened too early", what)
	case <-time.After(100 * time.Millisecond):
	}
}

// quiet wants no message for a while.
func quiet(t *testing.T, src source.Source) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	if batch, err := src.Fetch(ctx, source.Limits{}); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("Fetch returns %d messages and %v, want none", len(batch.Messages), err)
	}
}

func TestAMessageIsAckedOnlyWhenTheSourceIsTold(t *testing.T) {
	t.Parallel()
	c := blocking(t)
	src := openSource(t, c, watermillbroker.SourceOptions{KeyMetadata: "customer"})
	m := made("a")
	m.Metadata.Set("customer", "7")
	m.Metadata.Set("b", "2")
	done := published(t, c, "orders", m)
	got := fetch(t, src, 1)
	notYet(t, done, "the ack")
	want := source.Headers{{Name: "b", Value: "2"}, {Name: "customer", Value: "7"}}
	if g := got[0]; g.Topic != "orders" || g.Key != "7" || g.MessageID != m.UUID || string(g.Payload) != "a" || fmt.Sprint(g.Headers) != fmt.Sprint(want) {
		t.Errorf("the message is %+v", g)
	}
	ack(t, src, 0, got...)
	ends(t, done, "the ack")
	ack(t, src, 0, got...) // again, which is harmless
}

func TestAReleasedMessageIsNackedAndComesAgainWithItsUUID(t *testing.T) {
	t.Parallel()
	c := blocking(t)
	src := openSource(t, c, watermillbroker.SourceOptions{})
	done := published(t, c, "orders", made("a"))
	first := fetch(t, src, 1)
	for _, after := range []time.Duration{0, 200 * time.Millisecond} {
		began := time.Now()
		if err := src.Release(patient(t), receipts(first...), after); err != nil {
			t.Fatal(err)
		}
		again := fetch(t, src, 1)
		if took := time.Since(began); took < after {
			t.Errorf("it comes again after %v, and not after %v", took, after)
		}
		if again[0].MessageID != first[0].MessageID || again[0].Receipt == first[0].Receipt {
			t.Errorf("%q comes again as %q", first[0].MessageID, again[0].MessageID)
		}
		ack(t, src, 1, first...)
		notYet(t, done, "the ack")
		first = again
	}
	ack(t, src, 0, first...)
	ends(t, done, "the ack")
}

func TestASubscriberThatWaitsForAcksGivesOneMessageOfEachTopicAtATime(t *testing.T) {
	t.Parallel()
	g := newGroup()
	g.oneByOne = true
	src := openSource(t, g.member(), watermillbroker.SourceOptions{Topics: []string{"orders", "returns"}})
	for n := range 3 {
		g.send("orders", made(fmt.Sprint(n)))
		g.send("returns", made(fmt.Sprint(n)))
	}
	for n := range 3 {
		msgs := fetch(t, src, 2)
		quiet(t, src)
		for _, m := range msgs {
			if string(m.Payload) != fmt.Sprint(n) {
				t.Errorf("of %s message %s comes as number %d", m.Topic, m.Payload, n)
			}
		}
		ack(t, src, 0, msgs...)
	}
}

func TestAClosedSubscriberIsUnavailableUntilItSubscribesAgain(t *testing.T) {
	t.Parallel()
	c := blocking(t)
	src := openSource(t, c, watermillbroker.SourceOptions{})
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`the subscription of topic "orders" has ended`, `topic "orders" cannot be subscribed to: Pub/Sub closed`} {
		if _, err := src.Fetch(patient(t), source.Limits{}); !errors.Is(err, source.ErrUnavailable) || !strings.Contains(err.Error(), want) {
			t.Errorf("Fetch says %v, want %s", err, want)
		}
	}
	if err := src.Close(patient(t)); err != nil {
		t.Error(err)
	}
}

func TestWhenOneTopicsSubscriptionEndsTheOthersGoOn(t *testing.T) {
	t.Parallel()
	g := newGroup()
	m := g.member()
	broken := make(chan *message.Message)
	close(broken)
	src := openSource(t, script{subscribe: func(ctx context.Context, topic string) (<-chan *message.Message, error) {
		if topic == "broken" {
			return broken, nil
		}
		return m.Subscribe(ctx, topic)
	}}, watermillbroker.SourceOptions{Topics: []string{"broken", "orders"}})
	g.send("orders", made("a"), made("b"), made("c"))
	came, told := 0, 0
	for came < 3 || told < 2 {
		batch, err := src.Fetch(patient(t), source.Limits{Messages: 1})
		switch {
		case errors.Is(err, source.ErrUnavailable):
			told++
		case err != nil:
			t.Fatal(err)
		}
		came += len(batch.Messages)
	}
}

func TestAMessageThatTheSubscriberGaveUpIsLost(t *testing.T) {
	t.Parallel()
	one, end := watched("a")
	two, endTwo := watched("b")
	defer endTwo()
	src := openSource(t, gives(one, two), watermillbroker.SourceOptions{Messages: 1})
	first := fetch(t, src, 1)
	quiet(t, src) // there is room for one
	end()
	second := fetch(t, src, 1)
	ack(t, src, 1, first...)
	select {
	case <-one.Acked():
		t.Error("a message that is lost was acked")
	default:
	}
	ack(t, src, 0, second...)
	ends(t, two.Acked(), "the ack")
	endTwo()
}

func TestAMessageThatIsGivenUpBeforeAFetchIsNotReturned(t *testing.T) {
	t.Parallel()
	one, end := watched("a")
	taken := make(chan struct{})
	src := openSource(t, script{subscribe: func(ctx context.Context, _ string) (<-chan *message.Message, error) {
		out := make(chan *message.Message)
		context.AfterFunc(ctx, func() { close(out) })
		go func() {
			out <- one
			out <- made("b")
			close(taken) // the first is in the queue
		}()
		return out, nil
	}}, watermillbroker.SourceOptions{})
	ends(t, taken, "that both are taken")
	end()
	if got := fetch(t, src, 1); string(got[0].Payload) != "b" {
		t.Errorf("message %s comes, and is given up", got[0].Payload)
	}
}

func TestAMessageWhoseContextHadEndedIsTakenAllTheSame(t *testing.T) {
	t.Parallel()
	m, end := watched("a") // as with PreserveContext of a GoChannel
	end()
	src := openSource(t, gives(m), watermillbroker.SourceOptions{})
	ack(t, src, 0, fetch(t, src, 1)...)
	ends(t, m.Acked(), "the ack")
}

func TestANilMessageIsToldAndHoldsUpNoOther(t *testing.T) {
	t.Parallel()
	faults := make(chan error, 1)
	bare := &message.Message{}
	src := openSource(t, gives(nil, bare), watermillbroker.SourceOptions{OnFault: func(err error) { faults <- err }})
	got := fetch(t, src, 1)
	if err := <-faults; !strings.Contains(err.Error(), "is nil") {
		t.Errorf("the fault is %v", err)
	}
	if got[0].MessageID != "" || len(got[0].Headers) != 0 {
		t.Errorf("a message without anything is %+v", got[0])
	}
	ack(t, src, 0, got...)
	ends(t, bare.Acked(), "the ack")
}

func TestNoMoreMessagesAreAtWorkThanMayBeThoughEachTopicHasOne(t *testing.T) {
	t.Parallel()
	g := newGroup()
	topics := []string{"a", "b", "c", "d", "e"}
	src := openSource(t, g.member(), watermillbroker.SourceOptions{Topics: topics, Messages: 1})
	quiet(t, src) // all wait for a message now
	for _, topic := range topics {
		g.send(topic, made(topic))
	}
	for range topics {
		batch, err := src.Fetch(patient(t), source.Limits{})
		if err != nil || len(batch.Messages) != 1 {
			t.Fatalf("%d messages came, and %v", len(batch.Messages), err)
		}
		quiet(t, src)
		ack(t, src, 0, batch.Messages...)
	}
}

func TestBytesBoundWhatIsInHandAndAHugePayloadComesAlone(t *testing.T) {
	t.Parallel()
	huge := strings.Repeat("x", 32<<20)
	src := openSource(t, gives(made(huge), made("a"), made(huge)), watermillbroker.SourceOptions{Bytes: 1 << 20})
	first := fetch(t, src, 1)
	if !bytes.Equal(first[0].Payload, []byte(huge)) {
		t.Error("the payload is another")
	}
	quiet(t, src)
	ack(t, src, 0, first...)
	second := fetch(t, src, 1)
	batch, err := src.Fetch(patient(t), source.Limits{Payload: 1 << 20})
	if err != nil {
		t.Fatal(err)
	}
	if m := batch.Messages[0]; !errors.Is(m.Err, source.ErrTooLarge) || len(m.Payload) != 0 {
		t.Errorf("a payload of %d bytes has the error %v", len(m.Payload), m.Err)
	}
	ack(t, src, 0, append(second, batch.Messages...)...)
}

func TestCloseNacksWhatIsNotAckedAndLeavesTheSubscriberOpenUnlessItIsItsOwn(t *testing.T) {
	t.Parallel()
	for _, own := range []bool{false, true} {
		t.Run(fmt.Sprint("own ", own), func(t *testing.T) {
			t.Parallel()
			g := newGroup()
			m := g.member()
			src := openSource(t, m, watermillbroker.SourceOptions{Messages: 3, CloseSubscriber: own})
			g.send("orders", made("0"), made("1"), made("2"), made("3"), made("4"))
			msgs := fetch(t, src, 3)
			ack(t, src, 0, msgs[0])
			if err := src.Release(patient(t), receipts(msgs[1]), time.Hour); err != nil {
				t.Fatal(err)
			}
			if err := src.Close(patient(t)); err != nil {
				t.Error(err)
			}
			if want := map[bool]int{true: 1}[own]; m.closes() != want {
				t.Errorf("the subscriber was closed %d times, want %d", m.closes(), want)
			}
			_ = m.Close()
			if n := g.holds("orders"); n != 4 {
				t.Errorf("the broker holds %d messages, want 4", n)
			}
		})
	}
}

func TestCloseNacksAndEndsContexts(t *testing.T) {
	t.Parallel()
	var given *message.Message
	src := openSource(t, script{subscribe: func(ctx context.Context, _ string) (<-chan *message.Message, error) {
		given = made("a")
		given.SetContext(ctx)
		out := make(chan *message.Message, 1)
		out <- given
		context.AfterFunc(ctx, func() { close(out) })
		return out, nil
	}}, watermillbroker.SourceOptions{})
	fetch(t, src, 1)
	if err := src.Close(patient(t)); err != nil {
		t.Error(err)
	}
	ends(t, given.Nacked(), "the nack")
	ends(t, given.Context().Done(), "the end of its context")
}

func TestCloseWaitsUntilTheSubscriberHasHeardTheAcks(t *testing.T) {
	t.Parallel()
	m, heard := watched("a")
	src := openSource(t, gives(m), watermillbroker.SourceOptions{AcksWithin: time.Minute})
	ack(t, src, 0, fetch(t, src, 1)...)
	closed := make(chan struct{})
	go func() {
		defer close(closed)
		if err := src.Close(context.Background()); err != nil {
			t.Error(err)
		}
	}()
	notYet(t, closed, "the end of Close")
	heard()
	ends(t, closed, "the end of Close")
}

func TestCloseSaysThatTheSubscriberHasNotHeardAnAck(t *testing.T) {
	t.Parallel()
	m, end := watched("a")
	defer end()
	src := openSource(t, gives(m), watermillbroker.SourceOptions{AcksWithin: time.Millisecond})
	ack(t, src, 0, fetch(t, src, 1)...)
	if err := src.Close(patient(t)); err == nil || !strings.Contains(err.Error(), "may come again") {
		t.Errorf("Close says %v", err)
	}
}

func TestASubscriberThatEndsNoContextDoesNotFillTheMemory(t *testing.T) {
	t.Parallel()
	ctx, end := context.WithCancel(t.Context())
	defer end()
	msgs := make([]*message.Message, 200)
	for i := range msgs {
		msgs[i] = made("a")
		msgs[i].SetContext(ctx)
	}
	src := openSource(t, gives(msgs...), watermillbroker.SourceOptions{Messages: 1, AcksWithin: time.Hour})
	for range msgs {
		ack(t, src, 0, fetch(t, src, 1)...)
	}
	if err := src.Close(patient(t)); err != nil { // it does not wait either
		t.Error(err)
	}
}

func TestCloseEndsWithItsContextThoughTheSubscriberDoesNot(t *testing.T) {
	t.Parallel()
	stuck := make(chan *message.Message)
	defer close(stuck)
	src := openSource(t, script{subscribe: func(context.Context, string) (<-chan *message.Message, error) { return stuck, nil }}, watermillbroker.SourceOptions{})
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if err := src.Close(ctx); !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), "has not ended its subscriptions") {
		t.Errorf("Close says %v", err)
	}
}

func TestASubscriberThatFailsIsAnErrorOfOpenSource(t *testing.T) {
	t.Parallel()
	fails := func(messages chan *message.Message, err error) script {
		return script{subscribe: func(context.Context, string) (<-chan *message.Message, error) { return messages, err }}
	}
	for name, c := range map[string]struct {
		from  message.Subscriber
		class error
		want  string
	}{
		"an error":      {fails(nil, errors.New("connection refused")), source.ErrUnavailable, `topic "orders" cannot be subscribed to: connection refused`},
		"misconfigured": {fails(nil, fmt.Errorf("no such queue: %w", source.ErrMisconfigured)), source.ErrMisconfigured, "no such queue"},
		"no channel":    {fails(nil, nil), source.ErrMisconfigured, "it gave no channel"},
		"a panic":       {script{}, source.ErrUnavailable, "it panicked"},
	} {
		if _, err := watermillbroker.OpenSource(patient(t), c.from, watermillbroker.SourceOptions{Topics: []string{"orders"}}); !errors.Is(err, c.class) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %s", name, err, c.want)
		}
	}
}

func TestOpenSourceEndsWithItsContextThoughSubscribeHangs(t *testing.T) {
	t.Parallel()
	var hung sync.WaitGroup
	defer hung.Wait()
	hangs := script{subscribe: func(ctx context.Context, _ string) (<-chan *message.Message, error) {
		hung.Add(1)
		defer hung.Done()
		<-ctx.Done() // which ends, too
		return nil, ctx.Err()
	}}
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, err := watermillbroker.OpenSource(ctx, hangs, watermillbroker.SourceOptions{Topics: []string{"orders"}}); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("OpenSource says %v", err)
	}
}

func TestSourceOptionsThatCannotBeUsedAreAnErrorThatNamesEach(t *testing.T) {
	t.Parallel()
	for _, o := range []watermillbroker.SourceOptions{{}, {Topics: []string{"a", "", "a"}, Messages: -1, Bytes: -1, AckWait: -1, AcksWithin: -1}} {
		_, err := watermillbroker.OpenSource(t.Context(), nil, o)
		if err == nil {
			t.Fatalf("%+v is taken", o)
		}
		wants := []string{"Topics is empty", "the subscriber is nil"}
		if len(o.Topics) > 0 {
			wants = []string{"Topics[1] is empty", `Topics has "a" twice`, "Messages is negative", "Bytes is negative", "AckWait is negative", "AcksWithin is negative", "the subscriber is nil"}
		}
		for _, want := range wants {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("%v does not say %s", err, want)
			}
		}
	}
}

// Some subscribers commit an ack after they have ended the context of its message, with the context of the subscription.
func TestItsOwnSubscriberIsClosedBeforeTheContextOfTheSubscriptionEnds(t *testing.T) {
	t.Parallel()
	var failed func() error
	var ended <-chan struct{}
	out, closed := make(chan *message.Message, 1), false
	src := openSource(t, script{
		subscribe: func(ctx context.Context, _ string) (<-chan *message.Message, error) {
			failed, ended = ctx.Err, ctx.Done()
			return out, nil
		},
		end: func() error {
			closed = true
			close(out)
			return failed()
		},
	}, watermillbroker.SourceOptions{CloseSubscriber: true})
	if err := src.Close(patient(t)); err != nil || !closed {
		t.Errorf("Close says %v; the subscriber is closed: %t", err, closed)
	}
	ends(t, ended, "the end of the context")
}
