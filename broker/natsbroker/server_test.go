package natsbroker_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/postbag/postbag/broker/brokertest"
	"github.com/postbag/postbag/broker/natsbroker"
	"github.com/postbag/postbag/internal/publishtest"
)

const (
	user     = "app"
	password = "canary-password-of-the-test"
)

// natsServer is a NATS server in this process, with its files in a folder of the
// test.
type natsServer struct {
	options server.Options
	server  *server.Server
}

// startServer starts one with JetStream that asks for user and password; change,
// unless nil, changes its options first.
func startServer(t testing.TB, change func(o *server.Options)) *natsServer {
	t.Helper()
	s := &natsServer{options: server.Options{
		Host: "127.0.0.1", Port: server.RANDOM_PORT, NoLog: true, NoSigs: true,
		JetStream: true, StoreDir: t.TempDir(), Username: user, Password: password,
	}}
	if change != nil {
		change(&s.options)
	}
	s.start(t)
	t.Cleanup(s.stop)
	return s
}

// start starts the server, again on the port that it had.
func (s *natsServer) start(t testing.TB) {
	t.Helper()
	options := s.options
	var err error
	if s.server, err = server.NewServer(&options); err != nil {
		t.Fatalf("the server cannot be made: %v", err)
	}
	s.server.Start()
	if !s.server.ReadyForConnections(20 * time.Second) {
		t.Fatal("the server does not take connections")
	}
	address, err := net.ResolveTCPAddr("tcp", s.server.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	s.options.Port = address.Port
}

func (s *natsServer) stop() {
	s.server.Shutdown()
	s.server.WaitForShutdown()
}

func (s *natsServer) address() string {
	return net.JoinHostPort("127.0.0.1", strconv.Itoa(s.options.Port))
}

func (s *natsServer) url() string { return "nats://" + s.address() }

// connect is a connection for the test, or for an application's destination.
func (s *natsServer) connect(t testing.TB, options ...nats.Option) *nats.Conn {
	t.Helper()
	return connect(t, s.url(), append([]nats.Option{nats.UserInfo(user, password)}, options...)...)
}

func connect(t testing.TB, url string, options ...nats.Option) *nats.Conn {
	t.Helper()
	quiet := nats.ErrorHandler(func(*nats.Conn, *nats.Subscription, error) {})
	nc, err := nats.Connect(url, append([]nats.Option{quiet, nats.MaxReconnects(-1), nats.ReconnectWait(20 * time.Millisecond)}, options...)...)
	if err != nil {
		t.Fatalf("no connection to the test's server: %v", err)
	}
	t.Cleanup(nc.Close)
	return nc
}

func jetStream(t testing.TB, nc *nats.Conn) jetstream.JetStream {
	t.Helper()
	js, err := jetstream.New(nc)
	if err != nil {
		t.Fatal(err)
	}
	return js
}

// streamCount numbers streams, so that no two tests share one.
var streamCount atomic.Int64

// place is a stream of one test's own, all of "<place>.>".
type place struct {
	js   jetstream.JetStream
	name string
}

func newPlace(t testing.TB, nc *nats.Conn) place {
	return place{js: jetStream(t, nc), name: fmt.Sprintf("P%d", streamCount.Add(1))}
}

func (p place) topic() string { return p.name + ".made" }

// create makes the stream; change, unless nil, changes its configuration first.
func (p place) create(t testing.TB, change func(c *jetstream.StreamConfig)) place {
	t.Helper()
	c := jetstream.StreamConfig{Name: p.name, Subjects: []string{p.name + ".>"}, Storage: jetstream.FileStorage}
	if change != nil {
		change(&c)
	}
	made(t, p.js, c)
	return p
}

// cannotStore is what the server calls it that the store of a stream cannot be made.
const cannotStore jetstream.ErrorCode = 10049

// made makes a stream. The server removes the folder of a deleted stream in the background, and what is left of it is in
// the way of one that is made again at once. So made asks again while the server cannot make the store.
func made(t testing.TB, js jetstream.JetStream, c jetstream.StreamConfig) {
	t.Helper()
	publishtest.Eventually(t, "the server makes the stream "+c.Name, func() bool {
		_, err := js.CreateStream(publishtest.Timeout(t, 20*time.Second), c)
		if refused := (*jetstream.APIError)(nil); errors.As(err, &refused) && refused.ErrorCode == cannotStore {
			return false
		}
		if err != nil {
			t.Fatalf("the stream cannot be made: %v", err)
		}
		return true
	})
}

// patiently repeats a question about a stream: one that meets a server going down,
// or a cluster that finds itself, has no answer.
func patiently(t testing.TB, ask func(ctx context.Context) error) {
	t.Helper()
	ctx := publishtest.Timeout(t, 2*time.Minute)
	for {
		once, cancel := context.WithTimeout(ctx, 5*time.Second)
		err := ask(once)
		cancel()
		if err == nil {
			return
		}
		if ctx.Err() != nil {
			t.Fatalf("the stream cannot be read: %v", err)
		}
	}
}

func (p place) stream(t testing.TB) (stream jetstream.Stream) {
	t.Helper()
	patiently(t, func(ctx context.Context) (err error) {
		stream, err = p.js.Stream(ctx, p.name)
		return err
	})
	return stream
}

// held is how many messages the stream holds.
func (p place) held(t testing.TB) int {
	t.Helper()
	return int(p.stream(t).CachedInfo().State.Msgs)
}

// read returns what the stream holds.
func (p place) read(t testing.TB) (held []jetstream.Msg) {
	t.Helper()
	stream := p.stream(t)
	patiently(t, func(ctx context.Context) (err error) {
		held, err = readAll(ctx, stream, int(stream.CachedInfo().State.Msgs))
		return err
	})
	return held
}

func readAll(ctx context.Context, stream jetstream.Stream, n int) (held []jetstream.Msg, err error) {
	if n == 0 {
		return nil, nil
	}
	reader, err := stream.OrderedConsumer(ctx, jetstream.OrderedConsumerConfig{})
	if err != nil {
		return nil, err
	}
	for len(held) < n && ctx.Err() == nil {
		batch, err := reader.Fetch(n-len(held), jetstream.FetchMaxWait(time.Second))
		if err != nil {
			return nil, err
		}
		for m := range batch.Messages() {
			held = append(held, m)
		}
	}
	if len(held) != n {
		return nil, fmt.Errorf("%d messages were read of %d", len(held), n)
	}
	return held, nil
}

// stored is read for the suite: decoded by the suite's own rules, not by Message.
func (p place) stored(t *testing.T) []brokertest.Received {
	t.Helper()
	var held []brokertest.Received
	for _, m := range p.read(t) {
		headers := map[string]string{}
		for name, values := range m.Headers() {
			headers[name] = values[0]
		}
		if id := headers["Nats-Msg-Id"]; !strings.HasPrefix(id, headers["Postbag-Id"]+":") {
			t.Errorf("Nats-Msg-Id is %q, want one that begins with the message's id", id)
		}
		if stream := headers["Nats-Expected-Stream"]; stream != p.name {
			t.Errorf("Nats-Expected-Stream is %q, want %q", stream, p.name)
		}
		delete(headers, "Nats-Msg-Id")
		delete(headers, "Nats-Expected-Stream")
		r, err := brokertest.FromASCII(m.Subject(), headers, m.Data())
		if err != nil {
			t.Fatal(err)
		}
		held = append(held, r)
	}
	return held
}

// wired is read for the suite, nothing decoded.
func (p place) wired(t *testing.T) []brokertest.Wired {
	t.Helper()
	var held []brokertest.Wired
	for _, m := range p.read(t) {
		w := brokertest.Wired{Headers: map[string]string{}, ContentType: m.Headers().Get("Content-Type"), Payload: m.Data()}
		for name, values := range m.Headers() {
			w.Headers[name] = values[0]
		}
		held = append(held, w)
	}
	return held
}

func (p place) fixture(d *natsbroker.Destination) brokertest.Fixture {
	return brokertest.Fixture{Destination: d, Topic: p.topic(), Stored: p.stored, Wired: p.wired}
}
