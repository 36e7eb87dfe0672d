package webhook

import (
	"bufio"
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

	"github.com/postbag/postbag/broker"
)

// rawServer answers with bytes instead of HTTP.
type rawServer struct {
	net.Listener

	requests atomic.Int64  // whose header arrived whole
	over     chan struct{} // closed when the test ends
	running  sync.WaitGroup
}

// raw serves each connection with serve until the test ends, then closes it.
func raw(t *testing.T, serve func(s *rawServer, c net.Conn)) *rawServer {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &rawServer{Listener: l, over: make(chan struct{})}
	s.running.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			s.running.Go(func() {
				defer func() { _ = c.Close() }()
				stop := context.AfterFunc(t.Context(), func() { _ = c.Close() })
				defer stop()
				serve(s, c)
			})
		}
	})
	t.Cleanup(func() {
		close(s.over)
		_ = l.Close()
		s.running.Wait()
	})
	return s
}

func (s *rawServer) url() string { return "http://" + s.Addr().String() + "/in" }

// head reads a request up to the end of its header.
func (s *rawServer) head(r *bufio.Reader) (*http.Request, error) {
	req, err := http.ReadRequest(r)
	if err == nil {
		s.requests.Add(1)
	}
	return req, err
}

// whole reads a request with its body.
func (s *rawServer) whole(r *bufio.Reader) error {
	req, err := s.head(r)
	if err != nil {
		return err
	}
	_, err = io.Copy(io.Discard, req.Body)
	return err
}

// say answers every request with the same bytes and hangs up if last.
func say(answer string, last bool) func(*rawServer, net.Conn) {
	return func(s *rawServer, c net.Conn) {
		r := bufio.NewReader(c)
		for s.whole(r) == nil {
			if _, err := io.WriteString(c, answer); err != nil || last {
				return
			}
		}
	}
}

// reset makes Close send a reset in place of a regular end.
func reset(c net.Conn) {
	if tcp, ok := c.(*net.TCPConn); ok {
		_ = tcp.SetLinger(0)
	}
}

func TestMissingAndMalformedResponsesHaveTheirOutcome(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		serve    func(*rawServer, net.Conn)
		outcome  broker.Outcome
		requests int64
	}{
		"the connection is cut before an answer": {say("", true), broker.Unknown, 1},
		"the connection is reset after the request": {func(s *rawServer, c net.Conn) {
			_ = s.whole(bufio.NewReader(c))
			reset(c)
		}, broker.Unknown, 1},
		"half a status line":                   {say("HTTP/1.1 20", true), broker.Unknown, 1},
		"a header without an end":              {say("HTTP/1.1 200 OK\r\nContent-Le", true), broker.Unknown, 1},
		"garbage":                              {say("!!! (order 7) \x00\xff\r\n\r\n", true), broker.Unknown, 1},
		"a status that is no number":           {say("HTTP/1.1 OK 200\r\n\r\n", true), broker.Unknown, 1},
		"another protocol":                     {say("220 mail.example ESMTP\r\n", true), broker.Unknown, 1},
		"two lengths":                          {say("HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nx", true), broker.Unknown, 1},
		"a header longer than is read":         {say("HTTP/1.1 200 OK\r\nX: "+strings.Repeat("x", 100<<10)+"\r\n\r\n", true), broker.Unknown, 1},
		"status zero":                          {say("HTTP/1.1 000 \r\nContent-Length: 0\r\n\r\n", true), broker.Unavailable, 1},
		"a body cut short after 200":           {say("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nx", true), broker.Accepted, 1},
		"a body without end after 200":         {say("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nx", false), broker.Accepted, 1},
		"a body without length":                {say("HTTP/1.0 200 OK\r\n\r\nxyz", true), broker.Accepted, 1},
		"bad chunks after 200":                 {say("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n", true), broker.Accepted, 1},
		"early hints, then 204":                {say("HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\nHTTP/1.1 204 No Content\r\n\r\n", true), broker.Accepted, 1},
		"a 100 nobody asked for, then 500":     {say("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 500 Oops\r\nContent-Length: 0\r\n\r\n", true), broker.Unavailable, 1},
		"only 100":                             {say("HTTP/1.1 100 Continue\r\n\r\n", true), broker.Unknown, 1},
		"hints without end":                    {say(strings.Repeat("HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n", 10_000), true), broker.Unknown, 1},
		"an upgrade":                           {say("HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n", false), broker.Misconfigured, 1},
		"a redirect":                           {say("HTTP/1.1 307 Temporary Redirect\r\nLocation: /in\r\nContent-Length: 0\r\n\r\n", false), broker.Misconfigured, 1},
		"a redirect that redirects the method": {say("HTTP/1.1 303 See Other\r\nLocation: http://169.254.169.254/\r\nContent-Length: 0\r\n\r\n", false), broker.Misconfigured, 1},
		"no content, and still content":        {say("HTTP/1.1 204 No Content\r\n\r\nsurprise", true), broker.Accepted, 1},
		"an answer before the request is there": {func(_ *rawServer, c net.Conn) {
			_, _ = io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
		}, broker.Unknown, 0},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := raw(t, c.serve)
			d := open(t, options(s.url()))
			began := time.Now()
			r := publish(t.Context(), d, sample())
			if took := time.Since(began); took > 20*time.Second {
				t.Errorf("it took %v, as long as the timeout", took)
			}
			if name == "an answer before the request is there" {
				// Whether it is taken for the answer is a race that both sides lose.
				if r.Outcome != broker.Unknown && r.Outcome != broker.Accepted && r.Outcome != broker.NotSent {
					t.Errorf("outcome is %v (%v)", r.Outcome, r.Err)
				}
				return
			}
			want(t, r, c.outcome)
			if got := s.requests.Load(); got != c.requests {
				t.Errorf("%d requests were sent, want %d", got, c.requests)
			}
			if r.Err != nil && strings.Contains(r.Err.Error(), "order 7") {
				t.Errorf("the error quotes the answer: %v", r.Err)
			}
		})
	}
}

func TestASlowAnswerEndsWithTheTimeout(t *testing.T) {
	t.Parallel()
	// drip sends a byte now and then, so that something always happens.
	drip := func(text string) func(*rawServer, net.Conn) {
		return func(s *rawServer, c net.Conn) {
			if s.whole(bufio.NewReader(c)) != nil {
				return
			}
			tick := time.NewTicker(10 * time.Millisecond)
			defer tick.Stop()
			for i := 0; ; i++ {
				<-tick.C
				if _, err := c.Write([]byte{text[min(i, len(text)-1)]}); err != nil {
					return
				}
			}
		}
	}
	for name, c := range map[string]struct {
		serve   func(*rawServer, net.Conn)
		outcome broker.Outcome
	}{
		"nothing at all":   {func(s *rawServer, c net.Conn) { _ = s.whole(bufio.NewReader(c)); _, _ = c.Read(make([]byte, 1)) }, broker.Unknown},
		"a slow header":    {drip("HTTP/1.1 200 OK\r\nX: xxxxxxxxxxxx"), broker.Unknown},
		"a request unread": {func(s *rawServer, _ net.Conn) { <-s.over }, broker.Unknown},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := raw(t, c.serve)
			o := options(s.url())
			o.Timeout = 2 * time.Second
			m := sample()
			m.Payload = make([]byte, 20<<20)
			r := publish(t.Context(), open(t, o), m)
			want(t, r, c.outcome)
			if !errors.Is(r.Err, context.DeadlineExceeded) {
				t.Errorf("the error is %v", r.Err)
			}
		})
	}
}

func TestAnEndlessResponseBodyDoesNotDelayTheCall(t *testing.T) {
	t.Parallel()
	const plenty = 24 << 20 // more than the buffers on the way hold
	var most atomic.Int64
	s := raw(t, func(s *rawServer, c net.Conn) {
		if s.whole(bufio.NewReader(c)) != nil {
			return
		}
		_, _ = io.WriteString(c, "HTTP/1.1 200 OK\r\n\r\n")
		for sent := int64(0); sent <= plenty; {
			n, err := c.Write(make([]byte, 32<<10))
			if err != nil {
				return
			}
			sent += int64(n)
			most.Store(max(most.Load(), sent))
		}
	})
	d := open(t, options(s.url()))
	for range 3 {
		want(t, publish(t.Context(), d, sample()), broker.Accepted)
	}
	if most.Load() > plenty {
		t.Error("all of a body without end is read")
	}
}

// A server may close a connection just when the next request is under way. The
// request may have been handled, so nothing below the relay may send it again,
// not even where the HTTP client thinks that it is safe.
func TestNoRequestIsSentAgainOnAClosedConnection(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*broker.Delivery){
		"a payload":  func(*broker.Delivery) {},
		"no payload": func(m *broker.Delivery) { m.Payload = nil },
		"an idempotency key": func(m *broker.Delivery) {
			m.Headers = map[string]string{"Idempotency-Key": "k", "X-Idempotency-Key": "k"}
		},
		"an idempotency key, no payload": func(m *broker.Delivery) { m.Headers, m.Payload = map[string]string{"Idempotency-Key": "k"}, nil },
		"an idempotency key, much payload": func(m *broker.Delivery) {
			m.Headers, m.Payload = map[string]string{"Idempotency-Key": "k"}, make([]byte, 4<<20)
		},
	} {
		for _, how := range []string{"closed", "reset"} {
			t.Run(name+", "+how, func(t *testing.T) {
				t.Parallel()
				s := raw(t, func(s *rawServer, c net.Conn) {
					r := bufio.NewReader(c)
					if s.whole(r) != nil {
						return
					}
					_, _ = io.WriteString(c, "HTTP/1.1 204 No Content\r\n\r\n")
					if _, err := s.head(r); err == nil && how == "reset" {
						reset(c)
					}
				})
				d := open(t, options(s.url()))
				want(t, publish(t.Context(), d, sample()), broker.Accepted)
				m := sample()
				change(&m)
				want(t, publish(t.Context(), d, m), broker.Unknown)
				if got := s.requests.Load(); got != 2 {
					t.Errorf("%d requests were sent, want 2", got)
				}
			})
		}
	}
}

// The race itself: the server hangs up after each answer without saying so.
func TestAKeepAliveConnectionClosedByTheServerLosesNoMessage(t *testing.T) {
	t.Parallel()
	s := raw(t, func(s *rawServer, c net.Conn) {
		if s.whole(bufio.NewReader(c)) == nil {
			_, _ = io.WriteString(c, "HTTP/1.1 204 No Content\r\n\r\n")
		}
	})
	d := open(t, options(s.url()))
	accepted := int64(0)
	for range 300 {
		switch r := publish(t.Context(), d, sample()); r.Outcome {
		case broker.Accepted:
			accepted++
		case broker.Unknown, broker.NotSent:
		default:
			t.Fatalf("outcome is %v (%v)", r.Outcome, r.Err)
		}
	}
	if got := s.requests.Load(); got != accepted {
		t.Errorf("%d requests were answered, %d accepted", got, accepted)
	}
}

func TestALargePayloadRefusedBeforeItWasSentIsRejected(t *testing.T) {
	t.Parallel()
	s := raw(t, func(s *rawServer, c net.Conn) {
		req, err := s.head(bufio.NewReader(c))
		if err != nil {
			return
		}
		if got := req.Header.Get("Expect"); got != "100-continue" {
			t.Errorf("Expect is %q", got)
		}
		_, _ = io.WriteString(c, "HTTP/1.1 413 Too Large\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
		reset(c)
	})
	m := sample()
	m.Payload = make([]byte, 8<<20)
	want(t, publish(t.Context(), open(t, options(s.url())), m), broker.Rejected)
}

func TestAnEndpointThatKnowsNoExpectGetsLargePayloads(t *testing.T) {
	t.Parallel()
	s := raw(t, say("HTTP/1.1 204 No Content\r\n\r\n", false))
	m := sample()
	m.Payload = make([]byte, 2<<20)
	want(t, publish(t.Context(), open(t, options(s.url())), m), broker.Accepted)
}

func TestAClosedPortIsUnavailable(t *testing.T) {
	t.Parallel()
	s := raw(t, func(*rawServer, net.Conn) {})
	_ = s.Close()
	d := open(t, options(s.url()))
	r := publish(t.Context(), d, sample())
	want(t, r, broker.Unavailable)
	if !strings.Contains(r.Err.Error(), "connection refused") {
		t.Errorf("the error says %q", r.Err)
	}
	if err := d.Probe(t.Context()); broker.OutcomeOf(err) != broker.Unavailable {
		t.Errorf("Probe: %v", err)
	}
}

func TestAConnectionThatTakesTooLongIsUnavailable(t *testing.T) {
	t.Parallel()
	// TLS is never answered, so that connecting takes until the timeout.
	s := raw(t, func(_ *rawServer, c net.Conn) { _, _ = io.Copy(io.Discard, c) })
	o := options("https://" + s.Addr().String())
	o.Timeout = 100 * time.Millisecond
	d := open(t, o)
	r := publish(t.Context(), d, sample())
	want(t, r, broker.Unavailable)
	if !errors.Is(r.Err, context.DeadlineExceeded) {
		t.Errorf("the error is %v", r.Err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	want(t, publish(ctx, d, sample()), broker.NotSent)
	if err := d.Probe(t.Context()); broker.OutcomeOf(err) != broker.Unavailable {
		t.Errorf("Probe: %v", err)
	}
	over, cancel := context.WithCancel(t.Context())
	cancel()
	if err := d.Probe(over); broker.OutcomeOf(err) != broker.Unavailable || !errors.Is(err, context.Canceled) {
		t.Errorf("Probe: %v", err)
	}
}

func TestProbeSendsNothing(t *testing.T) {
	t.Parallel()
	read := make(chan string, 1)
	s := raw(t, func(_ *rawServer, c net.Conn) {
		sent, err := io.ReadAll(c)
		read <- fmt.Sprintf("%q %v", sent, err)
	})
	if err := open(t, options(s.url())).Probe(t.Context()); err != nil {
		t.Errorf("Probe: %v", err)
	}
	if got := <-read; got != `"" <nil>` {
		t.Errorf("it sent %s", got)
	}
}
