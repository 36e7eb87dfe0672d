package relay_test

import (
	"context"
	"errors"
	"maps"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/broker"
	"github.com/postbag/postbag/broker/membroker"
	"github.com/postbag/postbag/format"
	"github.com/postbag/postbag/relay"
	"github.com/postbag/postbag/store/memstore"
)

// send commits messages in one transaction.
func (w *world) send(msgs ...postbag.Message) {
	w.t.Helper()
	err := w.pub.InTx(w.t.Context(), func(ctx context.Context, tx *memstore.Tx) error { return w.pub.Publish(ctx, tx, msgs...) })
	if err != nil {
		w.t.Fatal(err)
	}
}

// headersOf are those that the broker took, by payload.
func (w *world) headersOf(payload string) map[string]string {
	w.t.Helper()
	for _, r := range w.to.Taken() {
		if string(r.Payload) == payload {
			return r.Headers
		}
	}
	w.t.Fatalf("no message %q was taken", payload)
	return nil
}

func TestAMessageGetsTheHeadersOfItsBoxThenOfItsSubscriptionAndItsOwnWin(t *testing.T) {
	t.Parallel()
	for name, once := range map[string]bool{"at least once": false, "exactly once": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, memstore.Options{}, membroker.Options{Ordered: true, Transactions: true})
			own := map[string]string{"c": "message", "d": "message"}
			w.send(postbag.Message{Payload: []byte("with"), Headers: own}, postbag.Message{Payload: []byte("without")})
			of := map[string]string{"b": "subscription", "c": "subscription"}
			r := w.relay(relay.Options{
				Boxes:         map[string]relay.Box{"outbox": {Headers: map[string]string{"a": "box", "b": "box", "c": "box"}}},
				Subscriptions: []relay.Subscription{{Headers: of, ExactlyOnce: once}},
			})
			of["late"] = "a change of the caller's map"
			if err := r.Drain(t.Context()); err != nil {
				t.Fatal(err)
			}
			for payload, want := range map[string]map[string]string{
				"with":    {"a": "box", "b": "subscription", "c": "message", "d": "message"},
				"without": {"a": "box", "b": "subscription", "c": "subscription"},
			} {
				if got := w.headersOf(payload); !maps.Equal(got, want) {
					t.Errorf("the message %s its own headers has %v, want %v", payload, got, want)
				}
			}
		})
	}
}

func TestSubscriptionsOfABoxHaveTheirOwnHeaders(t *testing.T) {
	t.Parallel()
	w := newWorld(t, memstore.Options{}, membroker.Options{})
	other := membroker.New(membroker.Options{})
	w.send(postbag.Message{Payload: []byte("m")})
	r := w.relay(relay.Options{Subscriptions: []relay.Subscription{
		{Headers: map[string]string{"to": "one"}}, {Name: "other", To: other, Headers: map[string]string{"to": "other"}},
	}})
	if err := r.Drain(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := w.headersOf("m")["to"]; got != "one" {
		t.Errorf("the first subscription sends %q", got)
	}
	if got := other.Taken()[0].Headers["to"]; got != "other" {
		t.Errorf("the other subscription sends %q", got)
	}
}

func TestTheEncoderSeesDefaultHeadersAndMiddlewareDoesNot(t *testing.T) {
	t.Parallel()
	w := newWorld(t, memstore.Options{}, membroker.Options{Binding: broker.BindingKafka})
	w.send(postbag.Message{Payload: []byte("m")})
	before := func(next broker.Destination) broker.Destination {
		return watching{next, new(atomic.Int64), func(m *broker.Delivery) {
			if len(m.Headers) > 0 {
				t.Errorf("middleware sees %v", m.Headers)
			}
		}}
	}
	r := w.relay(relay.Options{Subscriptions: []relay.Subscription{{
		Use: []broker.Middleware{before}, Headers: map[string]string{"tenant": "a", "Content-Type": "text/plain"}, Encoder: format.Plain{},
	}}})
	if err := r.Drain(t.Context()); err != nil {
		t.Fatal(err)
	}
	wire := w.to.Taken()[0].Wire
	if wire == nil || wire.Headers["tenant"] != "a" || wire.ContentType != "text/plain" {
		t.Errorf("the encoder made %+v", wire)
	}
}

func TestBadDefaultHeadersAreRefusedWhenTheRelayIsMade(t *testing.T) {
	t.Parallel()
	half := strings.Repeat("x", postbag.MaxHeader-100)
	for name, c := range map[string]struct {
		box, subscription map[string]string
		want              string
	}{
		"no name":            {nil, map[string]string{"": "x"}, "has a header without a name"},
		"a reserved name":    {nil, map[string]string{"postbag-id": "x"}, "begins with Postbag-"},
		"a NUL":              {map[string]string{"a": "x\x00CANARY"}, nil, "Headers of its box"},
		"no UTF-8":           {nil, map[string]string{"a": "CANARY\xff"}, "not valid UTF-8"},
		"too much":           {nil, map[string]string{"a": strings.Repeat("x", postbag.MaxHeader)}, "65536 allowed"},
		"too much, together": {map[string]string{"a": half}, map[string]string{"b": half}, "of its box together"},
	} {
		w := newWorld(t, memstore.Options{}, membroker.Options{})
		_, err := relay.New(w.store, relay.Options{
			Boxes: map[string]relay.Box{"outbox": {Headers: c.box}}, Subscriptions: []relay.Subscription{{To: w.to, Headers: c.subscription}},
		})
		if err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), "outbox/default") || strings.Contains(err.Error(), "CANARY") {
			t.Errorf("%s: the error is %v, want one that says %q", name, err, c.want)
		}
	}
}

func TestSettingsOfABoxThatNobodyReadsAreRefused(t *testing.T) {
	t.Parallel()
	w := newWorld(t, memstore.Options{}, membroker.Options{})
	_, err := relay.New(w.store, relay.Options{Boxes: map[string]relay.Box{"outbx": {}}, Subscriptions: []relay.Subscription{{To: w.to}}})
	if err == nil || !strings.Contains(err.Error(), `"outbx", which no subscription reads`) {
		t.Errorf("the error is %v", err)
	}
}

// picky is a destination that has a property.
type picky struct{ broker.Destination }

func (picky) CheckHeaders(headers map[string]string) error {
	if headers["kafka.partition"] == "bad" {
		return errors.New("the header kafka.partition is not good")
	}
	return nil
}

func TestDefaultHeadersThatTheDestinationWouldRejectAreRefused(t *testing.T) {
	t.Parallel()
	w := newWorld(t, memstore.Options{}, membroker.Options{})
	for value, good := range map[string]bool{"good": true, "bad": false} {
		_, err := relay.New(w.store, relay.Options{
			Boxes:         map[string]relay.Box{"outbox": {Headers: map[string]string{"kafka.partition": value}}},
			Subscriptions: []relay.Subscription{{To: picky{w.to}}},
		})
		if good != (err == nil) || !good && !strings.Contains(err.Error(), "the header kafka.partition is not good") {
			t.Errorf("%s: the error is %v", value, err)
		}
	}
}
