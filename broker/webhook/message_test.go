package webhook

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/broker"
	"github.com/postbag/postbag/internal/httpfield"
)

// signed is a request as a Destination makes it, changed before it is signed.
func signed(t testing.TB, m broker.Delivery, change func(http.Header)) *http.Request {
	t.Helper()
	s, err := options("http://127.0.0.1:1").resolve()
	if err != nil {
		t.Fatal(err)
	}
	sent := newRequest(context.Background(), &s, s.target, &m)
	r := httptest.NewRequest(http.MethodPost, "/", bytes.NewReader(m.Payload))
	maps.Copy(r.Header, sent.Header)
	if change != nil {
		change(r.Header)
		stamp := r.Header.Get(HeaderWebhookTimestamp)
		r.Header.Set(HeaderWebhookSignature, signature(s.keys, r.Header.Get(HeaderWebhookID), stamp, m.Payload))
	}
	return r
}

func TestReceiveReturnsTheMessage(t *testing.T) {
	t.Parallel()
	m := sample()
	got, err := Receive(signed(t, m, nil), ReceiveOptions{Secrets: []string{secretA}})
	if err != nil || !got.Equal(m.Message) {
		t.Errorf("got %+v, %v", got, err)
	}
}

func TestReceiveRefusesBadRequests(t *testing.T) {
	t.Parallel()
	add := func(name, value string) func(http.Header) { return func(h http.Header) { h.Add(name, value) } }
	set := func(name, value string) func(http.Header) { return func(h http.Header) { h.Set(name, value) } }
	for name, c := range map[string]struct {
		change func(http.Header)
		want   error
	}{
		"an id that is no UUID":          {set("webhook-id", "msg_1"), ErrMalformed},
		"a colon before the id":          {set("webhook-id", ":01890a5d-ac96-774b-bcce-b302099a8057"), ErrMalformed},
		"two topics":                     {add("Postbag-Topic", "x"), ErrMalformed},
		"two keys":                       {add("Postbag-Key", "x"), ErrMalformed},
		"a key that is not UTF-8":        {set("Postbag-Key", "%FF"), ErrMalformed},
		"a header entry without a value": {add("Postbag-Headers", "name"), ErrMalformed},
		"a header name that is repeated": {add("Postbag-Headers", "tenant=x"), ErrMalformed},
		"a time of last week":            {set("webhook-timestamp", strconv.FormatInt(time.Now().Add(-168*time.Hour).Unix(), 10)), ErrTimestamp},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := Receive(signed(t, sample(), c.change), ReceiveOptions{Secrets: []string{secretA}})
			if !errors.Is(err, c.want) {
				t.Errorf("got %v, want %v", err, c.want)
			}
		})
	}
	r := signed(t, sample(), nil)
	r.Header.Set(HeaderWebhookID, postbag.NewID().String())
	if _, err := Receive(r, ReceiveOptions{Secrets: []string{secretA}}); !errors.Is(err, ErrSignature) {
		t.Errorf("another id: %v", err)
	}
}

func TestReceiveReadsNoMoreThanMaxBytes(t *testing.T) {
	t.Parallel()
	m := sample()
	m.Payload = make([]byte, 1001)
	o := ReceiveOptions{Secrets: []string{secretA}, MaxBytes: 1000}
	if _, err := Receive(signed(t, m, nil), o); !errors.Is(err, ErrTooLarge) {
		t.Errorf("a length over the limit: %v", err)
	}
	r := signed(t, m, nil)
	r.ContentLength = -1
	if _, err := Receive(r, o); !errors.Is(err, ErrTooLarge) {
		t.Errorf("chunks over the limit: %v", err)
	}
	m.Payload = m.Payload[:1000]
	if _, err := Receive(signed(t, m, nil), o); err != nil {
		t.Errorf("just the limit: %v", err)
	}
}

func TestReceiveReportsATruncatedBody(t *testing.T) {
	t.Parallel()
	r := httptest.NewRequest(http.MethodPost, "/", iotest.ErrReader(errors.New("cut")))
	_, err := Receive(r, ReceiveOptions{Secrets: []string{secretA}})
	if err == nil || StatusOf(err) != http.StatusInternalServerError {
		t.Errorf("got %v", err)
	}
}

func TestReceiveTakesARequestWithoutBody(t *testing.T) {
	t.Parallel()
	m := sample()
	m.Payload = nil
	r := signed(t, m, nil)
	r.Body = nil
	if got, err := Receive(r, ReceiveOptions{Secrets: []string{secretA}}); err != nil || !got.Equal(m.Message) {
		t.Errorf("got %+v, %v", got, err)
	}
}

func TestHeadersOfAnyTextAreEncodedAndDecoded(t *testing.T) {
	t.Parallel()
	for _, headers := range []map[string]string{
		nil,
		{"a": ""},
		{"a": "=,%&\x7f \t\r\n", "A": "2", ",": ",", "=": "=", " ": " ", "%": "%", "%3D": "%2C", "x=y": "z"},
		{"ü": "grün", "🙂": "\u2028", "": "empty name"},
	} {
		got, err := decodeHeaders([]string{encodeHeaders(headers)})
		if err != nil || !maps.Equal(got, headers) {
			t.Errorf("%q came back as %q, %v", headers, got, err)
		}
	}
}

func TestEncodedHeadersMayBeSplitOverSeveralLines(t *testing.T) {
	t.Parallel()
	want := map[string]string{"a": "1", "b": "2", "c": ""}
	for _, lines := range [][]string{{"a=1, b=2, c="}, {"a=1", "b=2", "c="}, {"a=1,b=2", ",c=,"}, {" a=1\t,\tb=2 , c= "}} {
		if got, err := decodeHeaders(lines); err != nil || !maps.Equal(got, want) {
			t.Errorf("%q is %q, %v", lines, got, err)
		}
	}
}

func TestOnlySafeHeadersAreSentAsHTTPHeaders(t *testing.T) {
	t.Parallel()
	h := http.Header{"X-Static": {"kept"}}
	addPlain(h, map[string]string{
		"x-tenant": "7", "X-Spaces": "a b", "idempotency-key": "k", "baggage": "a=1,b=%20",
		"x-static": "changed", "Same": "1", "same": "2", "SAME": "3", "x-edge": " a", "x-empty": "", "x-utf8": "ü", "x-line": "a\r\nEvil: 1",
		"bad name": "1", "bad:name": "1", "näme": "1", "": "1", "bad\r\nEvil": "1",
		"Host": "evil", "content-length": "0", "Transfer-Encoding": "chunked", "connection": "close", "Upgrade": "h2c", "TE": "trailers",
		"Trailer": "x", "Keep-Alive": "1", "Proxy-Authorization": "x", "Expect": "100-continue", "HTTP2-Settings": "x",
		"Authorization": "x", "Cookie": "x", "X-Forwarded-For": "10.0.0.1", "Forwarded": "for=1", "X-Real-IP": "1", "X-HTTP-Method-Override": "DELETE",
		"X-Method-Override": "DELETE", "X-Original-URL": "/admin", "If-Match": "x", "Range": "bytes=0-", "Content-Encoding": "gzip", "Content-Type": "x",
		"webhook-id": "x", "Webhook-Signature": "x", "Postbag-Key": "x", "postbag-anything": "x", "User-Agent": "x", "Sec-Fetch-Site": "x", "Accept-Encoding": "x",
	})
	want := http.Header{"X-Static": {"kept"}, "X-Tenant": {"7"}, "X-Spaces": {"a b"}, "Idempotency-Key": {"k"}, "Baggage": {"a=1,b=%20"}}
	if fmt.Sprint(h) != fmt.Sprint(want) {
		t.Errorf("got %q, want %q", h, want)
	}
}

func TestAMessageMaySayItsContentType(t *testing.T) {
	t.Parallel()
	for want, headers := range map[string]map[string]string{
		"otherwise":                      {"x": "y"},
		"application/avro":               {"content-type": "application/avro"},
		"text/plain":                     {"CONTENT-TYPE": "text/plain", "content-type": "text/html"},
		"application/json; charset=utf8": {"Content-Type": "application/json; charset=utf8", "content-Type": "bad\r\n"},
	} {
		for range 10 {
			if got := contentType(headers, "otherwise"); got != want {
				t.Errorf("%q is %q, want %q", headers, got, want)
			}
		}
	}
}

// randomText is any UTF-8 without NUL.
func randomText(r *rand.Rand, most int) string {
	const marks = "%=,; :&+\r\n\t\"\\aZ09"
	var b strings.Builder
	for range r.IntN(most + 1) {
		switch r.IntN(4) {
		case 0:
			b.WriteRune(rune(1 + r.IntN(0x7f)))
		case 1:
			b.WriteByte(marks[r.IntN(len(marks))])
		case 2:
			b.WriteRune(rune(0x80 + r.IntN(0xd700)))
		default:
			b.WriteRune(rune(0x10000 + r.IntN(0xffff)))
		}
	}
	return b.String()
}

func TestRandomMessagesArriveIdentical(t *testing.T) {
	t.Parallel()
	for _, h2 := range []bool{false, true} {
		t.Run(fmt.Sprintf("h2 %v", h2), func(t *testing.T) {
			t.Parallel()
			s := secure(t, h2, nil)
			o := options(s.URL)
			o.RootCAs = s.roots()
			d := open(t, o)
			random := rand.New(rand.NewPCG(1, 2))
			sent := make([]broker.Delivery, 500)
			for i := range sent {
				m := sample()
				m.Key, m.Type, m.Topic = randomText(random, 40), randomText(random, 40), randomText(random, 40)
				m.Payload = make([]byte, random.IntN(1<<uint(random.IntN(18))))
				for j := range m.Payload {
					m.Payload[j] = byte(random.Uint32())
				}
				m.Headers = map[string]string{}
				for range random.IntN(8) {
					m.Headers[randomText(random, 12)] = randomText(random, 60)
				}
				sent[i] = m
				want(t, publish(t.Context(), d, m), broker.Accepted)
			}
			for i, m := range s.got(t) {
				if !m.Equal(sent[i].Message) {
					t.Fatalf("message %d: got %+v, want %+v", i, m, sent[i].Message)
				}
			}
		})
	}
}

func FuzzReceive(f *testing.F) {
	f.Add("01890a5d-ac96-774b-bcce-b302099a8057", "topic", "key", "type", "a=1, b=%C3%BC", []byte("{}"))
	f.Add("x", "%", "%zz", "%FF", ",,=,=", []byte(nil))
	keys, err := parseSecrets([]string{secretA})
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, id, topic, key, kind, headers string, body []byte) {
		stamp := strconv.FormatInt(time.Now().Unix(), 10)
		r := &http.Request{Body: http.NoBody, Header: http.Header{
			"Webhook-Id": {id}, "Webhook-Timestamp": {stamp}, "Webhook-Signature": {signature(keys, id, stamp, nil)},
			"Postbag-Topic": {topic}, "Postbag-Key": {key}, "Postbag-Type": {kind}, "Postbag-Headers": {headers},
		}}
		m, err := Receive(r, ReceiveOptions{Secrets: []string{secretA}})
		if err != nil {
			if status := StatusOf(err); status != http.StatusBadRequest {
				t.Errorf("%v answers %d", err, status)
			}
			return
		}
		// What was understood arrives the same when it is sent on.
		m.Payload = body
		again, err := Receive(signed(t, broker.Delivery{Message: m}, nil), ReceiveOptions{Secrets: []string{secretA}})
		if err != nil || !again.Equal(m) {
			t.Errorf("%+v became %+v, %v", m, again, err)
		}
	})
}

func FuzzHeaders(f *testing.F) {
	f.Add("a", "1", "A", "2")
	f.Add("", "", "%", ",=")
	f.Add("\xff", "\x00", "\r\n", "\t")
	f.Fuzz(func(t *testing.T, n1, v1, n2, v2 string) {
		headers := map[string]string{n1: v1, n2: v2}
		line := encodeHeaders(headers)
		if !httpfield.Verbatim(line) {
			t.Errorf("%q is not visible ASCII", line)
		}
		got, err := decodeHeaders([]string{line})
		if err != nil || !maps.Equal(got, headers) {
			t.Errorf("%q came back as %q, %v", headers, got, err)
		}
		h := http.Header{}
		addPlain(h, headers)
		for name, values := range h {
			if !httpfield.IsToken(name) || len(values) != 1 || !httpfield.Verbatim(values[0]) {
				t.Errorf("%q: %q is sent plainly", name, values)
			}
		}
	})
}
