package webhook

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/broker"
)

func TestAMessageArrivesWithAllItsFields(t *testing.T) {
	t.Parallel()
	servers := map[string]func(t *testing.T) *receiver{
		"HTTP/1.1":           func(t *testing.T) *receiver { return plain(t, nil) },
		"HTTP/1.1 over TLS":  func(t *testing.T) *receiver { return secure(t, false, nil) },
		"HTTP/2.0":           func(t *testing.T) *receiver { return secure(t, true, nil) },
		"HTTP/2.0 and a 200": func(t *testing.T) *receiver { return secure(t, true, func(http.ResponseWriter, *http.Request) {}) },
	}
	for name, start := range servers {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := start(t)
			o := options(s.URL + "/in?token=1")
			if s.TLS != nil {
				o.RootCAs = s.roots()
			}
			d := open(t, o)
			sent := sample()
			for range 3 {
				want(t, publish(t.Context(), d, sent), broker.Accepted)
			}
			got := s.got(t)
			if len(got) != 3 {
				t.Fatalf("%d requests arrived, want 3", len(got))
			}
			for _, m := range got {
				if !m.Equal(sent.Message) {
					t.Errorf("got %+v, want %+v", m, sent.Message)
				}
			}
			if proto, _, _ := strings.Cut(name, " "); s.request(0).Proto != proto {
				t.Errorf("it went over %s", s.request(0).Proto)
			}
			if first, last := s.request(0).RemoteAddr, s.request(2).RemoteAddr; first != last {
				t.Errorf("the connection was not used again: %s, then %s", first, last)
			}
		})
	}
}

func TestRequestsHaveTheHeadersOfTheReferencePage(t *testing.T) {
	t.Parallel()
	s := plain(t, nil)
	o := options(s.URL + "/in?token=1")
	o.Header = http.Header{"X-Api-Key": {"k1"}, "authorization": {"Bearer b1"}}
	o.now = func() time.Time { return time.Now().Truncate(time.Second) }
	d := open(t, o)
	m := sample()
	want(t, publish(t.Context(), d, m), broker.Accepted)
	s.got(t)
	r := s.request(0)
	for name, value := range map[string]string{
		"webhook-id":      m.ID.String() + ":e118a60ac46df6ca", // printf 'outbox\0default' | sha256sum
		"Content-Type":    "application/json",
		"User-Agent":      "Postbag-Webhook",
		"Content-Length":  "12",
		"Postbag-Id":      m.ID.String(),
		"Postbag-Topic":   "orders",
		"Postbag-Key":     "customer%207%20/%20gr%C3%BCn",
		"Postbag-Type":    "order.created",
		"Postbag-Time":    "2026-03-01T12:00:00.123456Z",
		"Postbag-Headers": "tenant=gr%C3%BCn, traceparent=00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
		"Traceparent":     m.Headers["traceparent"],
		"X-Api-Key":       "k1",
		"Authorization":   "Bearer b1",
		"Tenant":          "", // not ASCII: in Postbag-Headers only
		"Accept-Encoding": "",
		"Expect":          "",
	} {
		if got := r.Header.Get(name); got != value {
			t.Errorf("%s is %q, want %q", name, got, value)
		}
	}
	if r.Method != http.MethodPost || r.RequestURI != "/in?token=1" {
		t.Errorf("it is %s %s", r.Method, r.RequestURI)
	}
}

func TestAnEmptyPayloadHasALength(t *testing.T) {
	t.Parallel()
	for _, h2 := range []bool{false, true} {
		s := secure(t, h2, nil)
		o := options(s.URL)
		o.RootCAs = s.roots()
		d := open(t, o)
		m := sample()
		m.Payload = nil
		want(t, publish(t.Context(), d, m), broker.Accepted)
		if got := s.got(t); len(got) != 1 || len(got[0].Payload) != 0 {
			t.Errorf("h2 %v: got %v", h2, got)
		}
		if r := s.request(0); !h2 && (r.ContentLength != 0 || len(r.TransferEncoding) > 0) {
			t.Errorf("length %d, encoding %v", r.ContentLength, r.TransferEncoding)
		}
	}
}

func TestAnEmptyPayloadSaysItsLength(t *testing.T) {
	t.Parallel()
	var seen bytes.Buffer
	s := raw(t, func(s *rawServer, c net.Conn) {
		if s.whole(bufio.NewReader(io.TeeReader(c, &seen))) == nil {
			_, _ = io.WriteString(c, "HTTP/1.1 204 No Content\r\n\r\n")
		}
	})
	m := sample()
	m.Payload = nil
	want(t, publish(t.Context(), open(t, options(s.url())), m), broker.Accepted)
	if n := strings.Count(strings.ToLower(seen.String()), "\r\ncontent-length: 0\r\n"); n != 1 {
		t.Errorf("the length is there %d times in %q", n, seen.String())
	}
}

func TestUserAndPasswordOfTheURLAreSent(t *testing.T) {
	t.Parallel()
	s := plain(t, nil)
	d := open(t, options(strings.Replace(s.URL, "http://", "http://joe:pa%20ss@", 1)))
	want(t, publish(t.Context(), d, sample()), broker.Accepted)
	if user, password, ok := s.request(0).BasicAuth(); !ok || user != "joe" || password != "pa ss" {
		t.Errorf("got %q %q %v", user, password, ok)
	}
}

func TestURLForNamesTheURLOfEachMessage(t *testing.T) {
	t.Parallel()
	s := plain(t, nil)
	o := options("")
	o.URLFor = func(m broker.Delivery) (string, error) {
		switch m.Topic {
		case "lost":
			return "", errors.New("no tenant for it")
		case "later":
			return "", &broker.Error{Outcome: broker.Unavailable, Err: errors.New("the directory is down")}
		case "bad":
			return "ftp://x", nil
		case "accepted":
			return "", &broker.Error{Outcome: broker.Accepted, Err: errors.New("not wanted")}
		case "rejected":
			return "", &broker.Error{Outcome: broker.Rejected, Err: errors.New("not for anyone")}
		}
		return s.URL + "/" + m.Topic, nil
	}
	d := open(t, o)
	for topic, outcome := range map[string]broker.Outcome{
		"a": broker.Accepted, "lost": broker.Misconfigured, "later": broker.Unavailable, "bad": broker.Misconfigured,
		"accepted": broker.Misconfigured, "rejected": broker.Rejected,
	} {
		m := sample()
		m.Topic = topic
		want(t, publish(t.Context(), d, m), outcome)
	}
	if path := s.request(0).URL.Path; path != "/a" {
		t.Errorf("it went to %s", path)
	}
	if err := d.Probe(t.Context()); err != nil {
		t.Errorf("Probe: %v", err)
	}
}

func TestManyMessagesInOneCall(t *testing.T) {
	t.Parallel()
	s := plain(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Postbag-Type") == "bad" {
			w.WriteHeader(http.StatusUnprocessableEntity)
		}
	})
	d := open(t, options(s.URL))
	var msgs []broker.Delivery
	var outcomes []broker.Outcome
	add := func(key, kind string, outcome broker.Outcome) {
		m := sample()
		m.Key, m.Type = key, kind
		msgs, outcomes = append(msgs, m), append(outcomes, outcome)
	}
	for i := range 5 {
		for k := range 8 {
			switch key := fmt.Sprintf("key-%d", k); {
			case k == 3 && i == 2:
				add(key, "bad", broker.Rejected)
			case k == 3 && i > 2:
				add(key, "good", broker.NotSent)
			default:
				add(key, "good", broker.Accepted)
			}
		}
		add("", "bad", broker.Rejected)
		add("", "good", broker.Accepted)
	}
	results := broker.Publish(t.Context(), d, msgs)
	for i, r := range results {
		if r.Outcome != outcomes[i] {
			t.Errorf("message %d of key %q is %v (%v), want %v", i, msgs[i].Key, r.Outcome, r.Err, outcomes[i])
		}
	}
	order := map[string][]postbag.ID{}
	for _, m := range s.got(t) {
		order[m.Key] = append(order[m.Key], m.ID)
	}
	for i, m := range msgs {
		if m.Key == "" || outcomes[i] == broker.NotSent {
			continue
		}
		if len(order[m.Key]) == 0 || order[m.Key][0] != m.ID {
			t.Fatalf("message %d of key %q came out of order", i, m.Key)
		}
		order[m.Key] = order[m.Key][1:]
	}
}

func TestConcurrencyLimitsRequestsInFlight(t *testing.T) {
	t.Parallel()
	var now, most atomic.Int64
	s := plain(t, func(http.ResponseWriter, *http.Request) {
		n := now.Add(1)
		for {
			seen := most.Load()
			if n <= seen || most.CompareAndSwap(seen, n) {
				break
			}
		}
		now.Add(-1)
	})
	o := options(s.URL)
	o.Concurrency = 3
	d := open(t, o)
	var calls sync.WaitGroup
	for range 200 {
		calls.Go(func() {
			if r := publish(t.Context(), d, sample()); r.Outcome != broker.Accepted {
				t.Errorf("outcome is %v (%v)", r.Outcome, r.Err)
			}
		})
	}
	calls.Wait()
	if len(s.got(t)) != 200 || most.Load() > 3 {
		t.Errorf("%d requests, %d at a time", len(s.got(t)), most.Load())
	}
}

func TestACallWhoseContextEndsReportsSentAndUnsentCorrectly(t *testing.T) {
	t.Parallel()
	arrived := make(chan struct{}, 1)
	release := make(chan struct{})
	s := plain(t, func(http.ResponseWriter, *http.Request) {
		arrived <- struct{}{}
		<-release
	})
	t.Cleanup(func() { close(release) })
	o := options(s.URL)
	o.Concurrency = 1
	d := open(t, o)

	over, cancel := context.WithCancel(t.Context())
	cancel()
	r := publish(over, d, sample())
	want(t, r, broker.NotSent)
	if !errors.Is(r.Err, context.Canceled) {
		t.Errorf("the error is %v", r.Err)
	}

	ctx, cancel := context.WithCancel(t.Context())
	first := make(chan broker.Result)
	go func() { first <- publish(ctx, d, sample()) }()
	<-arrived
	waiting, stop := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer stop()
	want(t, publish(waiting, d, sample()), broker.NotSent)
	cancel()
	r = <-first
	want(t, r, broker.Unknown)
	if !errors.Is(r.Err, context.Canceled) {
		t.Errorf("the error is %v", r.Err)
	}
}

// signal is a context that tells when somebody waits for its end.
type signal struct {
	context.Context

	once  *sync.Once
	asked chan struct{}
}

func newSignal(ctx context.Context) signal { return signal{ctx, new(sync.Once), make(chan struct{})} }

func (s signal) Done() <-chan struct{} {
	s.once.Do(func() { close(s.asked) })
	return s.Context.Done()
}

func TestCloseWaitsForAnswers(t *testing.T) {
	t.Parallel()
	arrived, release := make(chan struct{}), make(chan struct{})
	s := plain(t, func(http.ResponseWriter, *http.Request) {
		arrived <- struct{}{}
		<-release
	})
	o := options(s.URL)
	o.Concurrency = 1
	d := open(t, o)
	first, queued := make(chan broker.Result), make(chan broker.Result)
	go func() { first <- publish(t.Context(), d, sample()) }()
	<-arrived
	waits := newSignal(t.Context())
	go func() { queued <- publish(waits, d, sample()) }()
	<-waits.asked

	closed := make(chan error)
	go func() { closed <- d.Close(t.Context()) }()
	r := <-queued
	want(t, r, broker.NotSent)
	if !errors.Is(r.Err, broker.ErrClosed) {
		t.Errorf("a message that waited for its turn: %v", r.Err)
	}
	select {
	case err := <-closed:
		t.Fatalf("Close returned %v before the answer", err)
	default:
	}
	close(release)
	want(t, <-first, broker.Accepted)
	if err := <-closed; err != nil {
		t.Errorf("Close: %v", err)
	}
	r = publish(t.Context(), d, sample())
	want(t, r, broker.NotSent)
	if !errors.Is(r.Err, broker.ErrClosed) {
		t.Errorf("Publish after Close: %v", r.Err)
	}
	if err := d.Probe(t.Context()); !errors.Is(err, broker.ErrClosed) {
		t.Errorf("Probe after Close: %v", err)
	}
}

func TestCloseCancelsRequestsThatTakeTooLong(t *testing.T) {
	t.Parallel()
	for _, h2 := range []bool{false, true} {
		arrived, release := make(chan struct{}), make(chan struct{})
		s := secure(t, h2, func(http.ResponseWriter, *http.Request) {
			arrived <- struct{}{}
			<-release
		})
		o := options(s.URL)
		o.RootCAs = s.roots()
		d := open(t, o)
		first := make(chan broker.Result)
		go func() { first <- publish(t.Context(), d, sample()) }()
		<-arrived
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
		err := d.Close(ctx)
		cancel()
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("Close: %v", err)
		}
		want(t, <-first, broker.Unknown)
		close(release)
	}
}

func TestFeaturesAreConstant(t *testing.T) {
	t.Parallel()
	d := open(t, options("http://127.0.0.1:1"))
	if f := d.Features(); f != (broker.Features{MaxBatch: 1, Binding: broker.BindingHTTP}) {
		t.Errorf("got %+v", f)
	}
}
