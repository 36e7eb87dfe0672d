package webhook

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/postbag/postbag/broker"
	"github.com/postbag/postbag/broker/brokertest"
)

const (
	suiteSecret  = "whsec_c3VpdGVjYW5hcnlzdWl0ZWNhbmFyeXN1aXRlY2FuYXJ5"
	suiteToken   = "canarytoken"
	suiteLargest = 2 << 20
	spoiled      = "spoiled"
)

// endpoint is a whole receiver: it verifies, keeps what it accepted, and can be
// stopped and made mute.
type endpoint struct {
	t    *testing.T
	cert *tls.Certificate // nil: no TLS
	addr string

	mu     sync.Mutex
	server *http.Server
	done   chan struct{} // closed when server has ended
	mute   chan struct{} // not nil while answers get lost; closed when they come again
	gone   string        // a topic for which there is nothing here
	held   []brokertest.Received
	seen   []brokertest.Wired // the same
}

func newEndpoint(t *testing.T, cert *tls.Certificate) *endpoint {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	e := &endpoint{t: t, cert: cert, addr: l.Addr().String()}
	e.serve(l)
	t.Cleanup(e.stop)
	return e
}

func (e *endpoint) serve(l net.Listener) {
	server := &http.Server{Handler: e, ErrorLog: log.New(io.Discard, "", 0)}
	if e.cert != nil {
		server.TLSConfig = &tls.Config{Certificates: []tls.Certificate{*e.cert}}
	}
	done := make(chan struct{})
	e.mu.Lock()
	e.server, e.done = server, done
	e.mu.Unlock()
	go func() {
		defer close(done)
		var err error
		if e.cert != nil {
			err = server.ServeTLS(l, "", "")
		} else {
			err = server.Serve(l)
		}
		if !errors.Is(err, http.ErrServerClosed) {
			e.t.Errorf("Serve: %v", err)
		}
	}()
}

func (e *endpoint) stop() {
	e.unmute()
	e.mu.Lock()
	server, done := e.server, e.done
	e.mu.Unlock()
	_ = server.Close()
	<-done
}

func (e *endpoint) start() {
	l, err := net.Listen("tcp", e.addr)
	if err != nil {
		e.t.Errorf("listen again: %v", err)
		return
	}
	e.serve(l)
}

func (e *endpoint) silence() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.mute = make(chan struct{})
}

func (e *endpoint) unmute() {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.mute != nil {
		close(e.mute)
		e.mute = nil
	}
}

func (e *endpoint) forbid(topic string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.gone = topic
}

func (e *endpoint) forbidden() string {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.gone
}

// ServeHTTP keeps a message. While mute it answers neither then nor later.
func (e *endpoint) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.URL.Query().Get("token") != suiteToken {
		w.WriteHeader(http.StatusUnauthorized)
		return
	}
	m, err := Receive(r, ReceiveOptions{Secrets: []string{suiteSecret}, MaxBytes: suiteLargest - 1})
	if err == nil && m.Topic != "" && m.Topic == e.forbidden() {
		w.WriteHeader(http.StatusNotFound)
		return
	}
	if err == nil && m.Type == spoiled {
		w.WriteHeader(http.StatusUnprocessableEntity)
		return
	}
	if err != nil {
		w.WriteHeader(StatusOf(err))
		return
	}
	at, err := time.Parse(broker.TimeFormat, r.Header.Get(broker.HeaderTime))
	if err != nil {
		at = time.Time{}
	}
	e.mu.Lock()
	e.held = append(e.held, brokertest.Received{
		ID: m.ID, Topic: m.Topic, Key: m.Key, Type: m.Type, At: at, Headers: m.Headers, Payload: m.Payload,
	})
	e.seen = append(e.seen, wired(r.Header, m.Payload))
	mute := e.mute
	e.mu.Unlock()
	if mute != nil {
		select {
		case <-mute:
		case <-r.Context().Done():
		}
		panic(http.ErrAbortHandler)
	}
	w.WriteHeader(http.StatusNoContent)
}

func (e *endpoint) stored(*testing.T) []brokertest.Received {
	e.mu.Lock()
	defer e.mu.Unlock()
	return append([]brokertest.Received(nil), e.held...)
}

func wired(header http.Header, payload []byte) brokertest.Wired {
	w := brokertest.Wired{Headers: map[string]string{}, ContentType: header.Get("Content-Type"), Payload: payload}
	for name, values := range header {
		w.Headers[name] = strings.Join(values, ", ")
	}
	return w
}

func (e *endpoint) wired(*testing.T) []brokertest.Wired {
	e.mu.Lock()
	defer e.mu.Unlock()
	return append([]brokertest.Wired(nil), e.seen...)
}

func (e *endpoint) fixture(roots *x509.CertPool) brokertest.Fixture {
	scheme := "http://"
	if e.cert != nil {
		scheme = "https://"
	}
	d, err := New(Options{
		URL: scheme + e.addr + "/in?token=" + suiteToken, Secrets: []string{suiteSecret}, RootCAs: roots,
		AllowPrivate: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")},
	})
	if err != nil {
		e.t.Fatal(err)
	}
	return brokertest.Fixture{Destination: d, Topic: "orders", Stored: e.stored, Wired: e.wired}
}

// harness is the suite's, over HTTP/1.1 or over TLS and HTTP/2.
func harness(secure bool) brokertest.Harness {
	open := func(t *testing.T) (*endpoint, brokertest.Fixture) {
		t.Helper()
		if !secure {
			e := newEndpoint(t, nil)
			return e, e.fixture(nil)
		}
		ours := newAuthority(t)
		cert := ours.leaf(nil)
		e := newEndpoint(t, &cert)
		return e, e.fixture(ours.pool())
	}
	on := "webhook by HTTP/1.1"
	if secure {
		on = "webhook by HTTP/2"
	}
	return brokertest.Harness{
		On: on,
		Open: func(t *testing.T) brokertest.Fixture {
			_, f := open(t)
			return f
		},
		Outage: func(t *testing.T) (brokertest.Fixture, brokertest.Switch) {
			e, f := open(t)
			return f, brokertest.Switch{Off: e.stop, On: e.start}
		},
		Mute: func(t *testing.T) (brokertest.Fixture, brokertest.Switch) {
			e, f := open(t)
			return f, brokertest.Switch{Off: e.silence, On: e.unmute}
		},
		Misconfigured: misconfigured,
		Topics: func(t *testing.T) (brokertest.Fixture, string, brokertest.Switch) {
			e, f := open(t)
			e.forbid("elsewhere")
			f.Stored = func(t *testing.T) []brokertest.Received {
				return slices.DeleteFunc(e.stored(t), func(r brokertest.Received) bool { return r.Topic != f.Topic })
			}
			return f, "elsewhere", brokertest.Switch{On: func() { e.forbid("") }}
		},
		Spoil:    func(m *broker.Delivery) { m.Type = spoiled },
		TooLarge: suiteLargest,
		Features: broker.Features{MaxBatch: 1, Binding: broker.BindingHTTP},
		Reserved: []string{
			"Content-Length", "Content-Type", "Content-Encoding", "Transfer-Encoding", "Connection", "Host", "Upgrade", "Expect", "TE", "Trailer",
			"Authorization", "Cookie", "Range", "If-None-Match", "X-HTTP-Method-Override", "Idempotency-Key", "User-Agent", "Accept-Encoding",
			"webhook-id", "webhook-timestamp", "webhook-signature", HeaderHeaders, HeaderTopic, broker.HeaderID, broker.HeaderKey,
		},
		Secrets: []string{suiteSecret, suiteSecret[6:], suiteToken},
	}
}

// misconfigured points a destination at a server with a stranger's certificate,
// until it gets one of its own.
func misconfigured(t *testing.T) (brokertest.Fixture, brokertest.Switch) {
	t.Helper()
	ours, stranger := newAuthority(t), newAuthority(t)
	right, wrong := ours.leaf(nil), stranger.leaf(nil)
	e := newEndpoint(t, &wrong)
	return e.fixture(ours.pool()), brokertest.Switch{On: func() {
		e.stop()
		e.cert = &right
		e.start()
	}}
}

//nolint:paralleltest // it counts goroutines
func TestConformance(t *testing.T) {
	t.Run("HTTP1", func(t *testing.T) { brokertest.Run(t, harness(false)) })
	t.Run("HTTP2", func(t *testing.T) { brokertest.Run(t, harness(true)) })
}
