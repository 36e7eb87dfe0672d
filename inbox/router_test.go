package inbox_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/inbox"
	"github.com/postbag/postbag/source"
	"github.com/postbag/postbag/source/memsource"
	"github.com/postbag/postbag/store/memstore"
)

type order struct {
	ID     string `json:"id"`
	Amount int    `json:"amount"`
}

var (
	created   = postbag.Event[order]{Type: "order.created"}
	paid      = postbag.Event[order]{Type: "order.paid", Topic: "orders"}
	cancelled = postbag.Event[string]{Type: "order.cancelled", Codec: upper{}}
)

// upper is a codec of texts.
type upper struct{}

func (upper) Marshal(v any) ([]byte, error) { return []byte(strings.ToUpper(v.(string))), nil } //nolint:errcheck // the test gives it strings

func (upper) Unmarshal(data []byte, v any) error {
	if len(data) == 0 {
		return errors.New("empty")
	}
	*v.(*string) = strings.ToLower(string(data)) //nolint:errcheck // the test decodes strings
	return nil
}

// got returns a handler of an event that notes what it gets.
func got[T any](calls *[]string, name string) func(context.Context, *memstore.Tx, T) error {
	return func(_ context.Context, _ *memstore.Tx, v T) error {
		*calls = append(*calls, fmt.Sprintf("%s %v", name, v))
		return nil
	}
}

// rawly returns a handler of messages that notes which it gets.
func rawly(calls *[]string, name string) inbox.Handler[*memstore.Tx] {
	return func(_ context.Context, _ *memstore.Tx, m *inbox.Message) error {
		*calls = append(*calls, fmt.Sprintf("%s %s of %s", name, m.Type, m.Topic))
		return nil
	}
}

type routerOptions = inbox.RouterOptions[*memstore.Tx]

func message(typ, topic, payload string) *inbox.Message {
	return &inbox.Message{Message: postbag.Message{Type: typ, Topic: topic, Payload: []byte(payload)}}
}

func TestAMessageGoesToTheRouteThatSaysMostAboutIt(t *testing.T) {
	t.Parallel()
	var calls []string
	handle, err := inbox.NewRouter(routerOptions{Fallback: rawly(&calls, "fallback")},
		inbox.OnRaw("", "orders", rawly(&calls, "topic")),
		inbox.On(created, got[order](&calls, "type")),
		inbox.On(postbag.Event[order]{Type: "order.created", Topic: "orders"}, got[order](&calls, "both")),
		inbox.On(paid, got[order](&calls, "paid")),
		inbox.On(cancelled, got[string](&calls, "codec")),
	)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ typ, topic, payload, want string }{
		{"order.created", "orders", `{"id":"a","amount":3}`, "both {a 3}"},
		{"order.created", "others", `{"id":"a","amount":3}`, "type {a 3}"},
		{"order.created", "", `{}`, "type { 0}"},
		{"order.paid", "orders", `{"id":"b"}`, "paid {b 0}"},
		{"order.paid", "others", `{"id":"b"}`, "fallback order.paid of others"},
		{"order.cancelled", "orders", "ANN", "codec ann"},
		{"order.lost", "orders", "", "topic order.lost of orders"},
		{"", "orders", "", "topic  of orders"},
		{"Order.created", "others", "", "fallback Order.created of others"},
		{"", "", "", "fallback  of "},
	} {
		calls = nil
		if err := handle(t.Context(), nil, message(c.typ, c.topic, c.payload)); err != nil || len(calls) != 1 || calls[0] != c.want {
			t.Errorf("type %q of topic %q went to %q, not %q: %v", c.typ, c.topic, calls, c.want, err)
		}
	}
}

func TestAPayloadThatCannotBeDecodedIsRejectedWithoutAWordOfIt(t *testing.T) {
	t.Parallel()
	var calls []string
	handle, err := inbox.NewRouter(routerOptions{}, inbox.On(created, got[order](&calls, "")), inbox.On(cancelled, got[string](&calls, "")))
	if err != nil {
		t.Fatal(err)
	}
	err = handle(t.Context(), nil, message("order.created", "", `{"id": "secret"`))
	if _, syntax := errors.AsType[*json.SyntaxError](err); !errors.Is(err, inbox.ErrRejected) || !syntax || strings.Contains(err.Error(), "secret") ||
		!strings.Contains(err.Error(), "order.created") {
		t.Errorf("broken JSON is %v", err)
	}
	if err := handle(t.Context(), nil, message("order.cancelled", "", "")); !errors.Is(err, inbox.ErrRejected) {
		t.Errorf("what the codec refuses is %v", err)
	}
	if len(calls) != 0 {
		t.Errorf("handlers got %q", calls)
	}
}

func TestARouterNamesAllThatIsWrongWithItsRoutes(t *testing.T) {
	t.Parallel()
	var none []string
	nothing := got[order](&none, "")
	for name, c := range map[string]struct {
		o      routerOptions
		routes []inbox.Route[*memstore.Tx]
		says   []string
	}{
		"no routes": {says: []string{"there are no routes"}},
		"twice": {routes: []inbox.Route[*memstore.Tx]{
			inbox.On(created, nothing), inbox.On(paid, nothing), inbox.On(postbag.Event[string]{Type: "order.created"}, got[string](&none, "")),
			inbox.OnRaw("order.paid", "orders", rawly(&none, "")),
		}, says: []string{
			`route 0 (type "order.created" of every topic as inbox_test.order) and route 2 (type "order.created" of every topic as string)`,
			`route 1 (type "order.paid" of topic "orders" as inbox_test.order) and route 3 (type "order.paid" of topic "orders")`,
		}},
		"not whole": {routes: []inbox.Route[*memstore.Tx]{
			inbox.On(postbag.Event[order]{Topic: "orders"}, nothing), inbox.On[order, *memstore.Tx](created, nil),
			inbox.OnRaw("", "", rawly(&none, "")), inbox.OnRaw[*memstore.Tx]("a", "", nil),
			{},
		}, says: []string{
			`route 0 (every type of topic "orders" as inbox_test.order): Event.Type is missing`, `route 1 (type "order.created" of every topic as inbox_test.order): the handler is nil`,
			"route 2 (every type of every topic): type and topic are empty", `route 3 (type "a" of every topic): the handler is nil`, "route 4 (every type of every topic): it is empty",
		}},
		"no such Unknown": {
			o: routerOptions{Unknown: 7}, routes: []inbox.Route[*memstore.Tx]{inbox.On(created, nothing)}, says: []string{"RouterOptions.Unknown is 7"},
		},
		"two for what is unknown": {
			o:      routerOptions{Unknown: inbox.UnknownSkip, Fallback: rawly(&none, "")},
			routes: []inbox.Route[*memstore.Tx]{inbox.On(created, nothing)}, says: []string{"Fallback and Unknown are both set"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			handle, err := inbox.NewRouter(c.o, c.routes...)
			for _, says := range c.says {
				if err == nil || handle != nil || !strings.Contains(err.Error(), says) {
					t.Errorf("the error is %v, without %q", err, says)
				}
			}
		})
	}
}

func TestWhatBecomesOfAMessageThatNoRouteTakes(t *testing.T) {
	t.Parallel()
	var none []string
	for name, c := range map[string]struct {
		what   inbox.Unknown
		stats  inbox.ConsumerStats
		parked string // what the reason says; empty: none is parked
	}{
		"parked":    {inbox.UnknownPark, inbox.ConsumerStats{Fetched: 1, Parked: 1, Failed: 1}, `rejected the message: no route takes type "order.lost" of topic "orders"`},
		"skipped":   {inbox.UnknownSkip, inbox.ConsumerStats{Fetched: 1, Skipped: 1}, ""},
		"an error":  {inbox.UnknownRetry, inbox.ConsumerStats{Fetched: 1, Parked: 1, Failed: 3}, "it failed in 3 attempts"},
		"no answer": {-1, inbox.ConsumerStats{Fetched: 1, Applied: 1}, ""}, // a Fallback
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := consume(t, memsource.Options{Order: source.OrderStream}, memstore.Options{}, func(w *consuming, o *consumerOptions) {
				r := routerOptions{Unknown: max(c.what, 0)}
				if c.what < 0 {
					r.Fallback = w.apply
				}
				handle, err := inbox.NewRouter(r, inbox.On(created, got[order](&none, "")))
				if err != nil {
					t.Fatal(err)
				}
				o.Handle, o.Retry.MaxAttempts = handle, 3
			})
			in := source.Message{MessageID: "one", Topic: "orders", Headers: source.Headers{{Name: "Postbag-Type", Value: "order.lost"}}, Payload: []byte("one")}
			w.publish(in)
			w.acked()
			if s := w.c.Stats(); s != c.stats {
				t.Errorf("it counted %+v, not %+v", s, c.stats)
			}
			w.publish(in) // its mark is there, whatever became of it
			w.acked()
			if s := w.c.Stats(); s.Repeated != 1 {
				t.Errorf("of a message that came again it counted %+v", s)
			}
			parked := w.in("aside")
			if (c.parked == "") != (len(parked) == 0) || len(parked) == 1 && !strings.Contains(failed(parked[0]), c.parked) {
				t.Errorf("parked are %+v", parked)
			}
			w.end()
		})
	}
}
