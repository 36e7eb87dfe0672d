package natsbroker

import (
	"maps"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/nats-io/nats.go"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/broker"
)

func sample() broker.Delivery {
	return broker.Delivery{
		Message: postbag.Message{ID: postbag.ID{1, 2, 3}, Topic: "orders.created", Key: "ключ 1", Type: "order.created\n", Payload: []byte("p")},
		At:      time.Date(2026, 5, 6, 7, 8, 9, 123_456_000, time.UTC),
	}
}

func TestHeadersHoldMessageFactsAndStreamExpectations(t *testing.T) {
	t.Parallel()
	h, m := newHeaders(nil), sample()
	h.set(&m, "orders", "ORDERS", 0)
	want := nats.Header{
		"Nats-Msg-Id": {string(new(msgID).append(nil, &m, "orders", 0))}, "Nats-Expected-Stream": {"ORDERS"},
		"Postbag-Id": {m.ID.String()}, "Postbag-Key": {"%D0%BA%D0%BB%D1%8E%D1%87%201"},
		"Postbag-Type": {"order.created%0A"}, "Postbag-Time": {"2026-05-06T07:08:09.123456Z"},
	}
	if !maps.EqualFunc(h.header, want, func(a, b []string) bool { return a[0] == b[0] && len(a) == 1 }) {
		t.Errorf("headers %v, want %v", h.header, want)
	}
	m = broker.Delivery{Message: postbag.Message{ID: m.ID}}
	h.set(&m, "orders", "", 0)
	if len(h.header) != 2 {
		t.Errorf("a bare message for an unknown stream has headers %v, want two ids", h.header)
	}
}

func TestHeadersThatNATSWouldInterpretAreEscapedUnlessPassed(t *testing.T) {
	t.Parallel()
	own := map[string]string{
		"Nats-Rollup": "all", "Nats-Msg-Id": "mine", "Nats-Expected-Stream": "X", "Postbag-Id": "mine", "Status": "100", "Description": "d",
		"nats-rollup": "all", "Nats-TTL": "1 h",
	}
	m := sample()
	m.Headers = own
	h := newHeaders(passes([]string{"Nats-TTL"}))
	h.set(&m, "orders", "ORDERS", 0)
	for name, want := range map[string]string{
		"Nats-Rollup": "", "Status": "", "Description": "",
		"Nats-Msg-Id": string(new(msgID).append(nil, &m, "orders", 0)), "Nats-Expected-Stream": "ORDERS", "Postbag-Id": m.ID.String(),
		"nats-rollup": "all", "Nats-TTL": "1 h", "%4Eats-Rollup": "all",
	} {
		if got := h.header.Get(name); got != want {
			t.Errorf("header %s is %q, want %q", name, got, want)
		}
	}
	back, err := decode("s", h.header, nil)
	if err != nil {
		t.Fatal(err)
	}
	if !maps.Equal(back.Headers, own) {
		t.Errorf("decoded headers %v, want %v", back.Headers, own)
	}
}

// Whatever text a header is made of, it is one that the client library sends, and
// comes back as it was; so do key and type.
func FuzzHeaders(f *testing.F) {
	for _, s := range []string{"name", "Nats-Msg-Id", "with space", "ü:", "%41", "Postbag-Key", "a\r\nb", "Status", "漢字", "\x7f"} {
		f.Add(s, s, s)
	}
	const forbidden = "\"()/,:;<=>?@[\\]{}" // headerSize in nats.go, beside what is not visible ASCII
	f.Fuzz(func(t *testing.T, name, value, key string) {
		if name == "" || !utf8.ValidString(name+value+key) {
			return
		}
		m := sample()
		m.Key, m.Headers = key, map[string]string{name: value}
		h := newHeaders(nil)
		h.set(&m, "s", "S", 0)
		size := headerFrame
		for name, values := range h.header {
			for _, c := range []byte(name) {
				if c <= ' ' || c >= 0x7f || strings.IndexByte(forbidden, c) >= 0 {
					t.Fatalf("name %q holds %q", name, c)
				}
			}
			for _, c := range []byte(values[0]) {
				if c <= ' ' || c >= 0x7f {
					t.Fatalf("value %q holds %q", values[0], c)
				}
			}
			size += len(name) + len(values[0]) + headerLine
		}
		if size != h.size {
			t.Errorf("the size is reckoned as %d, it is %d", h.size, size)
		}
		back, err := decode("s", h.header, nil)
		if err != nil {
			t.Fatal(err)
		}
		if back.Key != key || back.Headers[name] != value || len(back.Headers) != 1 {
			t.Errorf("key %q and header %q: %q come back as %q and %q", key, name, value, back.Key, back.Headers)
		}
	})
}

func TestSizesAreCheckedWithTheirHeaders(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		headers, payload, limit int
		large                   bool
	}{
		"at the limit":           {100, 900, 1000, false},
		"one over":               {100, 901, 1000, true},
		"no limit known":         {100, 1 << 30, 0, false},
		"the largest headers":    {maxHeader, 0, 0, false},
		"headers one over":       {maxHeader + 1, 0, 0, true},
		"headers over the limit": {1001, 0, 1000, true},
	} {
		if f := tooLarge(c.headers, c.payload, c.limit); (f != nil) != c.large || f != nil && f.Outcome != broker.Rejected {
			t.Errorf("%s: %v", name, f)
		}
	}
}
