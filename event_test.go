package postbag

import (
	"encoding/json"
	"errors"
	"math"
	"strings"
	"testing"
	"unicode/utf8"
)

type order struct {
	ID    string  `json:"id"`
	Total float64 `json:"total"`
}

var orderCreated = Event[order]{
	Type:  "order.created",
	Topic: "orders",
	Key:   func(o order) string { return o.ID },
}

func TestEventMakesAMessageAndReadsItBack(t *testing.T) {
	t.Parallel()
	in := order{ID: "o-1", Total: 9.5}
	m := orderCreated.Message(in)
	want := Message{Type: "order.created", Topic: "orders", Key: "o-1", Payload: []byte(`{"id":"o-1","total":9.5}`)}
	if !m.Equal(want) {
		t.Errorf("message is %+v, want %+v", m, want)
	}
	p, r := newTestPublisher(t, PublisherOptions{})
	if err := p.Publish(t.Context(), &testTx{}, m); err != nil {
		t.Fatal(err)
	}
	out, err := orderCreated.Decode(r.only(t)[0])
	if err != nil || out != in {
		t.Errorf("Decode = %+v, %v, want %+v", out, err, in)
	}
}

func TestEventWithoutKeyOrTopicLeavesThemToTheDefaults(t *testing.T) {
	t.Parallel()
	m := Event[int]{Type: "counted"}.Message(7)
	if m.Key != "" || m.Topic != "" || string(m.Payload) != "7" {
		t.Errorf("message is %+v", m)
	}
}

func TestEventWithRawBytesSendsThemAsTheyAre(t *testing.T) {
	t.Parallel()
	raw := Event[[]byte]{Type: "frame", Codec: RawCodec{}}
	m := raw.Message([]byte{0, 1, 0xff})
	if string(m.Payload) != "\x00\x01\xff" {
		t.Errorf("payload is %q", m.Payload)
	}
	if out, err := raw.Decode(m); err != nil || string(out) != "\x00\x01\xff" {
		t.Errorf("Decode = %q, %v", out, err)
	}
}

// failingCodec is a codec that fails as it is told to.
type failingCodec struct{ err error }

func (c failingCodec) Marshal(any) ([]byte, error) { return nil, c.err }
func (c failingCodec) Unmarshal([]byte, any) error { return c.err }

func TestAnEncodingErrorIsKeptAndReturnedByPublish(t *testing.T) {
	t.Parallel()
	own := errors.New("cannot encode " + canary)
	for _, tc := range []struct {
		name  string
		m     Message
		field string
		says  string
		is    error
	}{
		{"a value JSON lacks", orderCreated.Message(order{ID: "x", Total: math.NaN()}), "Payload", "of type postbag.order cannot be encoded: ", nil},
		{"a type JSON lacks", Event[chan int]{Type: "c"}.Message(nil), "Payload", "JSON cannot hold Go type chan int; fix the value or Event.Codec", nil},
		{"a codec of one's own", Event[int]{Type: "c", Codec: failingCodec{own}}.Message(1), "Payload", "the codec says *errors.errorString", own},
		{"the raw codec and another type", Event[int]{Type: "c", Codec: RawCodec{}}.Message(1), "Payload", "RawCodec takes []byte only", errRaw},
		{"an event without a type", Event[int]{}.Message(1), "Type", "is missing; set Event.Type", nil},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			p, r := newTestPublisher(t, PublisherOptions{
				ValidateJSON: true,
				Wrap: func(PublishFunc) PublishFunc {
					t.Error("the wrapper was called")
					return nil
				},
			})
			good := Message{Payload: []byte("{}")}
			err := p.Publish(t.Context(), &testTx{}, good, tc.m, good)
			got := messageErrors(t, err)
			if len(got) != 1 || got[0].Index != 1 || got[0].Field != tc.field || !strings.Contains(got[0].Error(), tc.says) {
				t.Fatalf("faults are %v", got)
			}
			if tc.is != nil && !errors.Is(err, tc.is) {
				t.Errorf("%v does not wrap the codec's error", err)
			}
			if strings.Contains(err.Error(), canary) {
				t.Errorf("error %q quotes the codec", err)
			}
			if len(r.calls) > 0 {
				t.Errorf("the store was called: %v", r.calls)
			}
		})
	}
}

func TestOneFaultyMessageTwiceIsReportedAtBothPlaces(t *testing.T) {
	t.Parallel()
	p, _ := newTestPublisher(t, PublisherOptions{})
	m := Event[chan int]{Type: "c"}.Message(nil)
	for range 2 {
		got := messageErrors(t, p.Publish(t.Context(), &testTx{}, m, Message{}, m))
		if len(got) != 2 || got[0].Index != 0 || got[1].Index != 2 {
			t.Errorf("faults are %v", got)
		}
	}
}

func TestTheKeptErrorOfJSONIsTheOriginal(t *testing.T) {
	t.Parallel()
	p, _ := newTestPublisher(t, PublisherOptions{})
	err := p.Publish(t.Context(), &testTx{}, Event[chan int]{Type: "c"}.Message(nil))
	if _, ok := errors.AsType[*json.UnsupportedTypeError](err); !ok {
		t.Errorf("%v does not lead to the JSON package's error", err)
	}
}

func TestDecodeRefusesAnotherType(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name  string
		event Event[int]
		typ   string
	}{
		{"another", Event[int]{Type: "a"}, "b"},
		{"none", Event[int]{Type: "a"}, ""},
		{"another case", Event[int]{Type: "a"}, "A"},
		{"an event without a type", Event[int]{}, ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			v, err := tc.event.Decode(Message{Type: tc.typ, Payload: []byte("1")})
			if !errors.Is(err, ErrEventType) || v != 0 {
				t.Errorf("Decode = %v, %v", v, err)
			}
		})
	}
}

func TestDecodeSaysWhatDoesNotFitWithoutQuotingIt(t *testing.T) {
	t.Parallel()
	for _, payload := range []string{`{"id":"x","total":"` + canary + `"}`, canary, ``, `{"id":"` + canary} {
		v, err := orderCreated.Decode(Message{Type: "order.created", Payload: []byte(payload)})
		if err == nil {
			t.Fatalf("Decode(%q) = %+v", payload, v)
		}
		if v != (order{}) {
			t.Errorf("Decode(%q) = %+v beside its error, want the zero value", payload, v)
		}
		s := err.Error()
		if !strings.HasPrefix(s, `postbag: decode event "order.created": the JSON `) || !strings.Contains(s, "; compare ") || strings.Contains(s, canary) {
			t.Errorf("error is %q", s)
		}
		if errors.Unwrap(err) == nil {
			t.Errorf("%v hides the codec's error", err)
		}
	}
}

// FuzzEvent holds that any text goes through an event and comes back, and that
// Decode of any payload gives a value or an error, and never a panic.
func FuzzEvent(f *testing.F) {
	f.Add("o-1", []byte(`{"id":1}`))
	f.Add("\xff\x00", []byte{0})
	f.Fuzz(func(t *testing.T, id string, payload []byte) {
		event := Event[order]{Type: "t"}
		out, err := event.Decode(event.Message(order{ID: id}))
		if err != nil || utf8.ValidString(id) && out.ID != id {
			t.Fatalf("%q came back as %q, %v", id, out.ID, err)
		}
		if v, err := event.Decode(Message{Type: "t", Payload: payload}); err != nil && v != (order{}) {
			t.Fatalf("Decode(%q) = %+v, %v", payload, v, err)
		}
	})
}
