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

// part of what a destination can, and no more.
type (
	bare         struct{ broker.Destination }
	streamerOnly struct{ broker.Streamer }
	proberOnly   struct {
		broker.Destination
		broker.Prober
	}
	opener interface {
		OpenLane(ctx context.Context, name broker.LaneName) (broker.Lane, error)
	}
	openerOnly struct {
		broker.Destination
		opener
	}
	streamingProber struct {
		broker.Streamer
		broker.Prober
	}
	streamingOpener struct {
		broker.Streamer
		opener
	}
	probingOpener struct {
		broker.Destination
		broker.Prober
		opener
	}
)

func TestEncodeKeepsWhatADestinationCan(t *testing.T) {
	t.Parallel()
	m := membroker.New(membroker.Options{Transactions: true})
	for name, c := range map[string]struct {
		dest                     broker.Destination
		streams, probes, commits bool
	}{
		"all":                  {m, true, true, true},
		"nothing":              {bare{m}, false, false, false},
		"streams":              {streamerOnly{m}, true, false, false},
		"probes":               {proberOnly{m, m}, false, true, false},
		"commits":              {openerOnly{m, m}, false, false, true},
		"streams and probes":   {streamingProber{m, m}, true, true, false},
		"streams and commits":  {streamingOpener{m, m}, true, false, true},
		"probes and commits":   {probingOpener{m, m, m}, false, true, true},
		"what was encoded too": {format.Encode(m, format.Plain{}), true, true, true},
	} {
		d := format.Encode(c.dest, format.Plain{})
		if _, ok := d.(broker.Streamer); ok != c.streams {
			t.Errorf("%s: it is a broker.Streamer: %v, want %v", name, ok, c.streams)
		}
		if _, ok := d.(broker.Transactional); ok != c.commits {
			t.Errorf("%s: it is broker.Transactional: %v, want %v", name, ok, c.commits)
		}
		p, ok := d.(broker.Prober)
		if ok != c.probes {
			t.Errorf("%s: it is a broker.Prober: %v, want %v", name, ok, c.probes)
		}
		if ok {
			if err := p.Probe(t.Context()); err != nil {
				t.Errorf("%s: Probe: %v", name, err)
			}
		}
		results := make([]broker.Result, 1)
		d.Publish(t.Context(), []broker.Delivery{delivery("1")}, results)
		if results[0].Outcome != broker.Accepted {
			t.Errorf("%s: %v", name, results[0])
		}
	}
	if d := format.Encode(m, nil); d != broker.Destination(m) {
		t.Error("no encoder does not give the destination itself")
	}
	if err := format.Encode(m, format.Plain{}).Close(t.Context()); err != nil {
		t.Error(err)
	}
	results := make([]broker.Result, 1)
	m.Publish(t.Context(), []broker.Delivery{delivery("1")}, results)
	if !errors.Is(results[0].Err, broker.ErrClosed) {
		t.Errorf("Close did not close the destination: %v", results[0])
	}
}

func TestMaxBytesIsOfAnEncoderThatKeepsPayloads(t *testing.T) {
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
		d := format.Encode(membroker.New(membroker.Options{MaxBytes: 100, Binding: "x", Fence: true, Ordered: true, MaxBatch: 7}), c.encoder)
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

// byBoth runs the test by Publish and by Stream.
func byBoth(t *testing.T, f func(t *testing.T, send func(d broker.Destination, msgs ...broker.Delivery) []broker.Result)) {
	t.Helper()
	t.Run("Publish", func(t *testing.T) {
		t.Parallel()
		f(t, func(d broker.Destination, msgs ...broker.Delivery) []broker.Result {
			results := make([]broker.Result, len(msgs))
			d.Publish(t.Context(), msgs, results)
			return results
		})
	})
	t.Run("Stream", func(t *testing.T) {
		t.Parallel()
		f(t, func(d broker.Destination, msgs ...broker.Delivery) []broker.Result {
			results := make([]broker.Result, len(msgs))
			d.(broker.Streamer).Stream(t.Context(), msgs, func(i int, r broker.Result) { results[i] = r }) //nolint:errcheck // membroker is one
			return results
		})
	})
}

func TestAMessageThatCannotBeEncodedIsRejectedAndHoldsItsKeyBack(t *testing.T) {
	t.Parallel()
	byBoth(t, func(t *testing.T, send func(d broker.Destination, msgs ...broker.Delivery) []broker.Result) {
		t.Helper()
		m := membroker.New(membroker.Options{Ordered: true})
		d := format.Encode(m, picky)
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
		got := send(d, msgs...)
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
		if got := send(d, of("x", "bad")); got[0].Outcome != broker.Rejected || m.Len() != 4 {
			t.Errorf("alone it is %v, and %d messages arrived", got[0], m.Len())
		}
		if got := send(d); len(got) != 0 {
			t.Errorf("an empty call gives %v", got)
		}
	})
}

func TestAnInvalidEncoderMakesEveryMessageMisconfigured(t *testing.T) {
	t.Parallel()
	m := membroker.New(membroker.Options{})
	d := format.Encode(m, format.CloudEvents{Mode: "x"})
	results := make([]broker.Result, 2)
	d.Publish(t.Context(), []broker.Delivery{delivery("1"), delivery("2")}, results)
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
		d := format.Encode(membroker.New(membroker.Options{Ordered: true}), rekey)
		results := make([]broker.Result, len(c.msgs))
		d.Publish(t.Context(), c.msgs, results)
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
		d := format.Encode(m, encoder)
		sent := delivery("k")
		before := fmt.Sprint(sent)
		msgs := []broker.Delivery{sent}
		d.Publish(t.Context(), msgs, make([]broker.Result, 1))
		if after := fmt.Sprint(msgs[0]); after != before || msgs[0].Wire != nil {
			t.Errorf("%T changed the message from %s to %s", encoder, before, after)
		}
		// A later attempt is the same to the byte.
		msgs[0].Attempt = 5
		d.Publish(t.Context(), msgs, make([]broker.Result, 1))
		taken := m.Taken()
		if len(taken) != 2 || !same(taken[0].Delivery, taken[1].Delivery) {
			t.Errorf("%T: a later attempt differs: %+v", encoder, taken)
		}
	}
}

func same(a, b broker.Delivery) bool {
	return a.Topic == b.Topic && a.Key == b.Key && slices.Equal(a.Payload, b.Payload) && fmt.Sprint(*a.Wire) == fmt.Sprint(*b.Wire)
}

func TestANameOfTheDestinationStays(t *testing.T) {
	t.Parallel()
	if got := fmt.Sprint(format.Encode(named{membroker.Null()}, format.Plain{})); got != "webhook https://x" {
		t.Errorf("its name is %q", got)
	}
	if got := fmt.Sprint(format.Encode(membroker.Null(), format.Plain{})); got != "*membroker.null" {
		t.Errorf("one without a name is %q", got)
	}
}

type named struct{ broker.Destination }

func (named) String() string { return "webhook https://x" }

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
	for name, encoder := range map[string]broker.Encoder{
		"none": nil, "plain": format.Plain{}, "cloudevents": format.CloudEvents{}, "structured": format.CloudEvents{Mode: format.Structured},
		"debezium": format.Debezium{},
	} {
		b.Run(name, func(b *testing.B) {
			d := format.Encode(membroker.Null(), encoder)
			b.ReportAllocs()
			for b.Loop() {
				d.Publish(context.Background(), msgs, results)
			}
		})
	}
}
