package format_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/broker"
	"github.com/postbag/postbag/broker/membroker"
	"github.com/postbag/postbag/format"
)

func TestEncodeWithoutAnEncoderReturnsTheDestination(t *testing.T) {
	t.Parallel()
	m := membroker.New(membroker.Options{})
	if d := broker.Wrap(m, format.Encode(nil)); d != broker.Destination(m) {
		t.Error("no encoder does not give the destination itself")
	}
}

func TestMaxBytesIsKnownOnlyIfTheEncoderKeepsPayloads(t *testing.T) {
	t.Parallel()
	enveloped := format.Debezium{Fields: []format.Field{{Column: "type", Placement: format.InEnvelope}}}
	for _, c := range []struct {
		encoder broker.Encoder
		keeps   bool
	}{
		{format.Plain{}, true},
		{format.CloudEvents{}, true},
		{format.CloudEvents{Mode: format.Structured}, false},
		{format.Debezium{}, true},
		{enveloped, false},
		{format.Func(func(*broker.Delivery, string) error { return nil }), false},
	} {
		d := broker.Wrap(membroker.New(membroker.Options{MaxBytes: 100, Binding: "x", Fence: true, Ordered: true, MaxBatch: 7}), format.Encode(c.encoder))
		want := broker.Features{Ordered: true, MaxBytes: 100, MaxBatch: 7, Fences: "id", Binding: "x"}
		if !c.keeps {
			want.MaxBytes = 0
		}
		if got := d.Features(); got != want {
			t.Errorf("%+v: %+v, want %+v", c.encoder, got, want)
		}
	}
}

// picky refuses, or panics, by the message's type.
var picky = format.Func(func(m *broker.Delivery, binding string) error {
	switch m.Type {
	case "bad":
		return errors.New("bad")
	case "worse":
		panic("worse " + string(m.Payload))
	case "wired not":
		return nil
	case "unset":
		return fmt.Errorf("lookup: %w", &broker.Error{Outcome: broker.Misconfigured, Err: errors.New("no schema")})
	case "away":
		return &broker.Error{Outcome: broker.Unavailable, Err: errors.New("registry is away")}
	case "lying":
		return &broker.Error{Outcome: broker.Accepted, Err: errors.New("lie")}
	}
	m.Wire = &broker.Wire{Headers: map[string]string{"binding": binding}}
	return nil
})

func TestAMessageThatCannotBeEncodedIsRejectedAndHoldsItsKeyBack(t *testing.T) {
	t.Parallel()
	m := membroker.New(membroker.Options{Ordered: true})
	d := broker.Wrap(m, format.Encode(picky))
	of := func(key, kind string) broker.Delivery {
		x := delivery(key)
		x.Type, x.Payload = kind, []byte("canarypayload")
		return x
	}
	msgs := []broker.Delivery{
		of("a", "good"), of("a", "bad"), of("a", "good"), of("b", "good"), of("c", "worse"), of("", "wired not"), of("", "good"),
		of("d", "unset"), of("e", "away"), of("f", "lying"), of("c", "good"), of("b", "good"),
	}
	want := []broker.Outcome{
		broker.Accepted, broker.Rejected, broker.NotSent, broker.Accepted, broker.Rejected, broker.Rejected, broker.Accepted,
		broker.Misconfigured, broker.Unavailable, broker.Rejected, broker.NotSent, broker.Accepted,
	}
	got := broker.Publish(t.Context(), d, msgs)
	for i, r := range got {
		if r.Outcome != want[i] || (r.Err == nil) != (want[i] == broker.Accepted) {
			t.Errorf("message %d is %v (%v), want %v", i, r.Outcome, r.Err, want[i])
		}
		if r.Err != nil && strings.Contains(r.Err.Error(), "canary") {
			t.Errorf("the error of message %d holds the payload", i)
		}
	}
	if n := m.Len(); n != 4 {
		t.Errorf("%d messages arrived, want 4", n)
	}
	// A call of which nothing is left does not reach the destination.
	if got := broker.Publish(t.Context(), d, []broker.Delivery{of("x", "bad")}); got[0].Outcome != broker.Rejected || m.Len() != 4 {
		t.Errorf("alone it is %v, and %d messages arrived", got[0], m.Len())
	}
	if got := broker.Publish(t.Context(), d, nil); len(got) != 0 {
		t.Errorf("an empty call gives %v", got)
	}
}

func TestAnInvalidEncoderMakesEveryMessageMisconfigured(t *testing.T) {
	t.Parallel()
	m := membroker.New(membroker.Options{})
	d := broker.Wrap(m, format.Encode(format.CloudEvents{Mode: "x"}))
	results := broker.Publish(t.Context(), d, []broker.Delivery{delivery("1"), delivery("2")})
	for _, r := range results {
		if r.Outcome != broker.Misconfigured || !strings.Contains(r.Err.Error(), "Mode") {
			t.Errorf("%v (%v)", r.Outcome, r.Err)
		}
	}
	if m.Len() != 0 {
		t.Error("something was sent")
	}
}

// The destination orders by the key that it sees.
func TestAnEncoderThatMixesKeysDoesNotBreakTheirOrder(t *testing.T) {
	t.Parallel()
	const ok = broker.Accepted
	made := map[string]string{}
	rekey := format.Func(func(m *broker.Delivery, _ string) error {
		m.Wire = &broker.Wire{}
		if key, ok := made[m.Type]; ok {
			m.Key = key
		}
		return nil
	})
	made["one"], made["other"], made["same"] = "x", "y", "b"
	of := func(key, kind string) broker.Delivery {
		m := delivery(key)
		m.Type = kind
		return m
	}
	for name, c := range map[string]struct {
		msgs []broker.Delivery
		want []broker.Outcome
	}{
		"each key another":      {[]broker.Delivery{of("a", "one"), of("a", "one"), of("b", "other")}, []broker.Outcome{ok, ok, ok}},
		"one key becomes two":   {[]broker.Delivery{of("a", "one"), of("a", "other"), of("a", "one")}, []broker.Outcome{ok, broker.NotSent, broker.NotSent}},
		"late":                  {[]broker.Delivery{of("a", ""), of("a", "one"), of("c", "")}, []broker.Outcome{ok, broker.NotSent, ok}},
		"two keys become one":   {[]broker.Delivery{of("a", "one"), of("b", "one"), of("a", "one")}, []broker.Outcome{ok, broker.NotSent, ok}},
		"one becomes another's": {[]broker.Delivery{of("b", ""), of("a", "same"), of("b", "")}, []broker.Outcome{ok, broker.NotSent, ok}},
		"no key gets one":       {[]broker.Delivery{of("", "one"), of("", "other"), of("", "")}, []broker.Outcome{ok, ok, ok}},
	} {
		d := broker.Wrap(membroker.New(membroker.Options{Ordered: true}), format.Encode(rekey))
		results := broker.Publish(t.Context(), d, c.msgs)
		for i, r := range results {
			if r.Outcome != c.want[i] {
				t.Errorf("%s: message %d is %v (%v), want %v", name, i, r.Outcome, r.Err, c.want[i])
			}
		}
	}
}

func TestEncodingLeavesTheCallersMessagesAlone(t *testing.T) {
	t.Parallel()
	for _, encoder := range []broker.Encoder{
		format.Plain{Reserved: true},
		format.CloudEvents{},
		format.CloudEvents{Mode: format.Structured},
		format.Debezium{},
		format.Debezium{Fields: []format.Field{{Column: "type", Placement: format.InEnvelope}}},
	} {
		m := membroker.New(membroker.Options{})
		d := broker.Wrap(m, format.Encode(encoder))
		sent := delivery("k")
		before := fmt.Sprint(sent)
		msgs := []broker.Delivery{sent}
		broker.Publish(t.Context(), d, msgs)
		if after := fmt.Sprint(msgs[0]); after != before || msgs[0].Wire != nil {
			t.Errorf("%T changed the message from %s to %s", encoder, before, after)
		}
		// A later attempt is the same to the byte.
		msgs[0].Attempt = 5
		broker.Publish(t.Context(), d, msgs)
		taken := m.Taken()
		if len(taken) != 2 || !same(taken[0].Delivery, taken[1].Delivery) {
			t.Errorf("%T: a later attempt differs: %+v", encoder, taken)
		}
	}
}

func same(a, b broker.Delivery) bool {
	return a.Topic == b.Topic && a.Key == b.Key && slices.Equal(a.Payload, b.Payload) && fmt.Sprint(*a.Wire) == fmt.Sprint(*b.Wire)
}

const idText = "0198a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b"

var (
	theID = func() postbag.ID {
		id, err := postbag.ParseID(idText)
		if err != nil {
			panic(err)
		}
		return id
	}()
	at = time.Date(2026, 3, 14, 15, 9, 26, 535_897_000, time.UTC)
)

// delivery is a message with everything set.
func delivery(key string) broker.Delivery {
	return broker.Delivery{
		Message: postbag.Message{
			ID: theID, Topic: "orders", Key: key, Type: "order.created",
			Headers: map[string]string{"tenant": "acme"}, Payload: []byte(`{"n": 1}`),
		},
		Box: "outbox", Subscription: "default", Seq: 42, At: at, Attempt: 1,
	}
}

func BenchmarkEncode(b *testing.B) {
	msgs := make([]broker.Delivery, 100)
	for i := range msgs {
		msgs[i] = delivery(fmt.Sprint(i))
	}
	results := make([]broker.Result, len(msgs))
	report := func(i int, r broker.Result) { results[i] = r }
	for name, encoder := range map[string]broker.Encoder{
		"none": nil, "plain": format.Plain{}, "cloudevents": format.CloudEvents{}, "structured": format.CloudEvents{Mode: format.Structured},
		"debezium": format.Debezium{},
	} {
		b.Run(name, func(b *testing.B) {
			d := broker.Wrap(membroker.Null(), format.Encode(encoder))
			b.ReportAllocs()
			for b.Loop() {
				d.Publish(context.Background(), msgs, report)
			}
		})
	}
}
