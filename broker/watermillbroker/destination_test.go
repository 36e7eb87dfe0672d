package watermillbroker_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ThreeDotsLabs/watermill/message"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/broker"
	"github.com/postbag/postbag/broker/watermillbroker"
)

// publisherFunc is a publisher that a test writes for one fault.
type publisherFunc func(topic string, messages ...*message.Message) error

func (f publisherFunc) Publish(topic string, messages ...*message.Message) error {
	return f(topic, messages...)
}

func (publisherFunc) Close() error { return nil }

func delivery(key string) broker.Delivery {
	return broker.Delivery{
		Message: postbag.Message{ID: postbag.NewID(), Topic: "conformance", Key: key, Payload: []byte("x"), Headers: map[string]string{"a": "b"}},
		At:      time.Date(2026, 3, 14, 15, 9, 26, 535_897_000, time.UTC), Attempt: 1,
	}
}

// over returns a destination over p.
func over(t *testing.T, p message.Publisher, o watermillbroker.Options) *watermillbroker.Destination {
	t.Helper()
	d, err := watermillbroker.New(p, o)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func publish(t *testing.T, d broker.Destination, msgs ...broker.Delivery) []broker.Result {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	results := broker.Publish(ctx, d, msgs)
	return results
}

// outcomes are wanted in this order.
func outcomes(t *testing.T, results []broker.Result, want ...broker.Outcome) {
	t.Helper()
	for i, r := range results {
		if r.Outcome != want[i] || (r.Err == nil) != (r.Outcome == broker.Accepted) {
			t.Errorf("message %d is %v (%v), want %v", i, r.Outcome, r.Err, want[i])
		}
	}
}

func TestAPublisherErrorIsUnknownUnlessClassified(t *testing.T) {
	t.Parallel()
	plain := errors.New("connection reset")
	classify := func(err error) broker.Class {
		switch err.Error() {
		case "no such topic":
			return broker.ClassTopicMisconfigured
		case "lie":
			return 99
		}
		return broker.ClassKeep
	}
	carried := func(o broker.Outcome) error { return fmt.Errorf("kafka: %w", &broker.Error{Outcome: o, Err: plain}) }
	for name, c := range map[string]struct {
		err        error
		one, batch broker.Outcome
	}{
		"a plain error":          {plain, broker.Unknown, broker.Unknown},
		"a deadline":             {context.DeadlineExceeded, broker.Unknown, broker.Unknown},
		"rejected":               {carried(broker.Rejected), broker.Rejected, broker.Unknown},
		"unavailable":            {carried(broker.Unavailable), broker.Unavailable, broker.Unavailable},
		"misconfigured, by hand": {errors.New("no such topic"), broker.Misconfigured, broker.Misconfigured},
		"no class at all":        {errors.New("lie"), broker.Unknown, broker.Unknown},
		"accepted, by the error": {carried(broker.Accepted), broker.Unknown, broker.Unknown},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			fails := publisherFunc(func(string, ...*message.Message) error { return c.err })
			one := publish(t, over(t, fails, watermillbroker.Options{Classify: classify}), delivery("a"))
			outcomes(t, one, c.one)
			if scoped := c.err.Error() == "no such topic"; (one[0].Scope == broker.ScopeTopic) != scoped {
				t.Errorf("the scope is %v", one[0].Scope)
			}
			if !errors.Is(one[0].Err, c.err) {
				t.Errorf("the error %v does not wrap the publisher's", one[0].Err)
			}
			d := over(t, fails, watermillbroker.Options{Batch: 10, Classify: classify})
			outcomes(t, publish(t, d, delivery("a"), delivery("b"), delivery("")), c.batch, c.batch, c.batch)
			outcomes(t, publish(t, d, delivery("a")), c.one)
		})
	}
}

func TestAPanicOfThePublisherIsUnknown(t *testing.T) {
	t.Parallel()
	d := over(t, publisherFunc(func(string, ...*message.Message) error { panic("canary") }), watermillbroker.Options{})
	results := publish(t, d, delivery("a"))
	outcomes(t, results, broker.Unknown)
	if text := results[0].Err.Error(); strings.Contains(text, "canary") || !strings.Contains(text, "panicked") {
		t.Errorf("the error is %q", text)
	}
}

func TestABatchHoldsMessagesOfOneTopic(t *testing.T) {
	t.Parallel()
	calls := make(chan string, 10)
	d := over(t, publisherFunc(func(topic string, messages ...*message.Message) error {
		calls <- fmt.Sprintf("%s %d", topic, len(messages))
		return nil
	}), watermillbroker.Options{Batch: 3, Topic: func(m broker.Delivery) string { return "to-" + m.Topic }})
	var msgs []broker.Delivery
	for i := range 9 {
		m := delivery("")
		m.Topic = []string{"a", "a", "b"}[i%3]
		msgs = append(msgs, m)
	}
	for _, r := range publish(t, d, msgs...) {
		outcomes(t, []broker.Result{r}, broker.Accepted)
	}
	close(calls)
	var got []string
	for c := range calls {
		got = append(got, c)
	}
	slices.Sort(got)
	if want := []string{"to-a 3", "to-a 3", "to-b 3"}; !slices.Equal(got, want) {
		t.Errorf("the calls are %q, want %q", got, want)
	}
	if f := d.Features(); f != (broker.Features{MaxBatch: 3}) {
		t.Errorf("it declares %+v", f)
	}
}

func TestMessagesOfAKeyGoInOrderAndStopAfterAFailure(t *testing.T) {
	t.Parallel()
	var sent []string
	d := over(t, publisherFunc(func(_ string, messages ...*message.Message) error {
		sent = append(sent, string(messages[0].Payload)) // one at a time, or the race detector says so
		if string(messages[0].Payload) == "2" {
			return errors.New("refused")
		}
		return nil
	}), watermillbroker.Options{})
	var msgs []broker.Delivery
	for i, key := range []string{"a", "b", "a", "a", "b", ""} {
		m := delivery(key)
		m.Payload = fmt.Append(nil, i)
		msgs = append(msgs, m)
	}
	outcomes(t, publish(t, d, msgs...), broker.Accepted, broker.Accepted, broker.Unknown, broker.NotSent, broker.Accepted, broker.Accepted)
	if want := []string{"0", "1", "2", "4", "5"}; !slices.Equal(sent, want) {
		t.Errorf("sent were %q, want %q", sent, want)
	}
}

// A publisher has no context of its own. One that hangs keeps its place, and no
// more than that.
func TestACallToAHangingPublisherEndsWithItsContext(t *testing.T) {
	t.Parallel()
	hung, free := make(chan struct{}), make(chan struct{})
	d := over(t, publisherFunc(func(_ string, messages ...*message.Message) error {
		if messages[0].Metadata.Get(broker.HeaderKey) == "hangs" {
			close(hung)
			<-free
		}
		return nil
	}), watermillbroker.Options{Concurrency: 1})
	ctx, cancel := context.WithCancel(t.Context())
	var results []broker.Result
	returned := make(chan struct{})
	go func() {
		defer close(returned)
		results = broker.Publish(ctx, d, []broker.Delivery{delivery("hangs")})
	}()
	<-hung
	cancel()
	<-returned
	outcomes(t, results, broker.Unknown)

	short, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	results = broker.Publish(short, d, []broker.Delivery{delivery("waits")})
	outcomes(t, results, broker.NotSent)
	if err := d.Close(short); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("Close with a hung publisher says %v", err)
	}
	close(free)
	if err := d.Close(t.Context()); err != nil {
		t.Errorf("Close after it returned: %v", err)
	}
	results = broker.Publish(t.Context(), d, []broker.Delivery{delivery("late")})
	outcomes(t, results, broker.NotSent)
	if !errors.Is(results[0].Err, broker.ErrClosed) {
		t.Errorf("after Close it says %v", results[0].Err)
	}
}

func TestOptionsThatCannotBeUsedAreAnErrorOfNew(t *testing.T) {
	t.Parallel()
	_, err := watermillbroker.New(nil, watermillbroker.Options{Batch: -1, Concurrency: -1, KeyMetadata: "postbag-key"})
	for _, want := range []string{"Batch", "Concurrency", "KeyMetadata", "publisher is nil"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q is not named in %v", want, err)
		}
	}
	if err := (watermillbroker.Options{KeyMetadata: "partition"}).Validate(); err != nil {
		t.Error(err)
	}
}
