package publishtest

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/broker"
)

// Timeout is a context that ends after d, or with the test.
func Timeout(t testing.TB, d time.Duration) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), d)
	t.Cleanup(cancel)
	return ctx
}

// Eventually waits, for a minute at most, for what is to come true.
func Eventually(t testing.TB, what string, is func() bool) {
	t.Helper()
	deadline := Timeout(t, time.Minute)
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for !is() {
		select {
		case <-deadline.Done():
			t.Fatalf("still not: %s", what)
		case <-tick.C:
		}
	}
}

// Made fails the test if a destination could not be made, and closes it with the test.
func Made[D broker.Destination](t testing.TB) func(d D, err error) D {
	t.Helper()
	return func(d D, err error) D {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return Closing(t, d)
	}
}

// Closing closes a destination with the test, and returns it.
func Closing[D broker.Destination](t testing.TB, d D) D {
	t.Helper()
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
		defer cancel()
		if err := d.Close(ctx); err != nil {
			t.Errorf("Close: %v", err)
		}
	})
	return d
}

// Messages makes n for a topic, each with a key of its own.
func Messages(topic string, n int) []broker.Delivery {
	msgs := make([]broker.Delivery, n)
	for i := range msgs {
		msgs[i] = broker.Delivery{
			Message: postbag.Message{
				ID: postbag.NewID(), Topic: topic, Key: fmt.Sprintf("key-%d", i), Payload: fmt.Appendf(nil, "payload-%d", i),
			},
			Box: "outbox", Subscription: "default", Seq: int64(i + 1), Life: 1, At: time.Now(), Attempt: 1,
		}
	}
	return msgs
}

// Publish is one call, with so much time.
func Publish(t testing.TB, d broker.Destination, limit time.Duration, msgs ...broker.Delivery) []broker.Result {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	results := broker.Publish(ctx, d, msgs)
	return results
}

// Wants wants every result to be of an outcome, with these words in its error or,
// if there is none, in its note; and no secret in any error.
func Wants(t testing.TB, results []broker.Result, outcome broker.Outcome, words string, secrets ...string) {
	t.Helper()
	for i, r := range results {
		text := r.Note
		if r.Err != nil {
			text = r.Err.Error()
		}
		for _, secret := range secrets {
			if r.Err != nil && strings.Contains(text, secret) {
				t.Errorf("message %d: the error holds a secret", i)
			}
		}
		if r.Outcome != outcome || !strings.Contains(text, words) {
			t.Fatalf("message %d of %d is %v (%v, note %q), want %v with %q", i, len(results), r.Outcome, r.Err, r.Note, outcome, words)
		}
	}
}
