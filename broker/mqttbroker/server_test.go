package mqttbroker_test

import (
	"context"
	"fmt"
	"net"
	"os"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/eclipse/paho.golang/paho"
	"github.com/eclipse/paho.golang/paho/session/state"

	"github.com/postbag/postbag/broker"
	"github.com/postbag/postbag/broker/brokertest"
	"github.com/postbag/postbag/broker/mqttbroker"
	"github.com/postbag/postbag/internal/publishtest"
	"github.com/postbag/postbag/internal/testserver"
	"github.com/postbag/postbag/internal/testserver/servertest"
)

// password is that of both users: "relay", and "reader", who records.
const password = "pa55-w0rd"

// largest is the packet that the tests' brokers take.
const largest = 256 << 10

var shared struct {
	once   sync.Once
	server *testserver.Mosquitto
	err    error
}

func TestMain(m *testing.M) {
	code := m.Run()
	shared.once.Do(func() {})
	if shared.server != nil {
		if err := shared.server.Close(); err != nil {
			fmt.Fprintln(os.Stderr, "the shared Mosquitto was not closed:", err)
			code = max(code, 1)
		}
	}
	os.Exit(code)
}

func settings() testserver.MosquittoOptions {
	return testserver.MosquittoOptions{
		Users:    map[string]string{"relay": password, "reader": password},
		Settings: map[string]string{"max_packet_size": fmt.Sprint(largest)},
	}
}

func sharedServer(t testing.TB) *testserver.Mosquitto {
	t.Helper()
	shared.once.Do(func() { shared.server, shared.err = testserver.StartMosquitto(context.Background(), settings()) })
	servertest.Need(t, shared.err)
	return shared.server
}

// own starts a broker for one test.
func own(t testing.TB, change func(o *testserver.MosquittoOptions)) *testserver.Mosquitto {
	t.Helper()
	o := settings()
	if change != nil {
		change(&o)
	}
	return servertest.Mosquitto(t, o)
}

var placeCount atomic.Int64

// place is a topic of one test's own, and a subscriber with a session that lasts,
// which records what comes.
type place struct {
	topic   string
	addr    string
	session *state.State
	name    string

	mu      sync.Mutex
	client  *paho.Client // nil while away
	got     []*paho.Publish
	markers map[string]bool
	news    chan struct{} // closed, and replaced, when something has come
}

// newPlace subscribes before it returns, and again whenever the broker was away.
func newPlace(t testing.TB, s *testserver.Mosquitto) *place {
	t.Helper()
	n := placeCount.Add(1)
	p := &place{
		topic: fmt.Sprintf("p%d/made", n), name: fmt.Sprintf("reader-%d", n), addr: s.Addr(), session: state.NewInMemory(),
		markers: map[string]bool{}, news: make(chan struct{}),
	}
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	t.Cleanup(func() {
		cancel()
		running.Wait()
	})
	client := p.connect(ctx)
	if client == nil {
		t.Fatal("the recorder cannot connect")
	}
	subscription := &paho.Subscribe{Subscriptions: []paho.SubscribeOptions{{Topic: fmt.Sprintf("p%d/#", n), QoS: 1}}}
	if _, err := client.Subscribe(ctx, subscription); err != nil {
		t.Fatalf("the recorder cannot subscribe: %v", err)
	}
	running.Go(func() { p.stay(ctx, client) })
	return p
}

// stay keeps the recorder connected until ctx ends.
func (p *place) stay(ctx context.Context, client *paho.Client) {
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		if client != nil {
			select {
			case <-ctx.Done():
				_ = client.Disconnect(&paho.Disconnect{})
				return
			case <-client.Done():
			}
		}
		p.set(nil)
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			client = p.connect(ctx)
		}
	}
}

func (p *place) connect(ctx context.Context) *paho.Client {
	conn, err := new(net.Dialer).DialContext(ctx, "tcp", p.addr)
	if err != nil {
		return nil
	}
	client := paho.NewClient(paho.ClientConfig{
		Conn: conn, Session: p.session, OnPublishReceived: []func(paho.PublishReceived) (bool, error){p.record},
	})
	expiry := uint32(3600)
	_, err = client.Connect(ctx, &paho.Connect{ // never with a clean start: Mosquitto 2.0.11 saves no session that began with one
		ClientID: p.name, KeepAlive: 30, Username: "reader", UsernameFlag: true, Password: []byte(password), PasswordFlag: true,
		Properties: &paho.ConnectProperties{SessionExpiryInterval: &expiry},
	})
	if err != nil {
		return nil
	}
	p.set(client)
	return client
}

func (p *place) set(client *paho.Client) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.client = client
	p.changed()
}

func (p *place) changed() {
	close(p.news)
	p.news = make(chan struct{})
}

// record takes one message, but for one that the broker sends to the recorder a
// second time.
func (p *place) record(r paho.PublishReceived) (bool, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	m := r.Packet
	if marker := m.Properties.User.Get("marker"); marker != "" {
		p.markers[marker] = true
	} else if !m.Duplicate() || !p.has(m) {
		p.got = append(p.got, m)
	}
	p.changed()
	return true, nil
}

func (p *place) has(m *paho.Publish) bool {
	for _, old := range p.got {
		if old.Properties.User.Get(broker.HeaderID) == m.Properties.User.Get(broker.HeaderID) && string(old.Payload) == string(m.Payload) {
			return true
		}
	}
	return false
}

// all returns what has come to the topic, after a message of the recorder's own has
// come back, behind everything that the broker had before.
func (p *place) all(t testing.TB) []*paho.Publish {
	t.Helper()
	deadline := publishtest.Timeout(t, time.Minute)
	marker := fmt.Sprint(placeCount.Add(1))
	var sent time.Time // again after a while: an outage may have taken it
	for {
		p.mu.Lock()
		client, come, news := p.client, p.markers[marker], p.news
		got := append([]*paho.Publish(nil), p.got...)
		p.mu.Unlock()
		if come {
			return got
		}
		if client != nil && time.Since(sent) > 2*time.Second {
			props := &paho.PublishProperties{}
			props.User.Add("marker", marker)
			once, cancel := context.WithTimeout(deadline, 5*time.Second)
			if _, err := client.Publish(once, &paho.Publish{Topic: p.topic, QoS: 1, Properties: props}); err == nil {
				sent = time.Now()
			}
			cancel()
		}
		select {
		case <-news:
		case <-deadline.Done():
			t.Fatal("what the broker holds cannot be read")
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// stored is all for the suite, decoded by its rules, not by Message.
func (p *place) stored(t *testing.T) []brokertest.Received {
	t.Helper()
	var held []brokertest.Received
	for _, m := range p.all(t) {
		headers := map[string]string{}
		for _, u := range m.Properties.User {
			headers[u.Key] = u.Value
		}
		r, err := brokertest.FromASCII(m.Topic, headers, m.Payload)
		if err != nil {
			t.Fatal(err)
		}
		held = append(held, r)
	}
	return held
}

func (p *place) wired(t *testing.T) []brokertest.Wired {
	t.Helper()
	var held []brokertest.Wired
	for _, m := range p.all(t) {
		w := brokertest.Wired{Headers: map[string]string{}, ContentType: m.Properties.ContentType, Payload: m.Payload}
		for _, u := range m.Properties.User {
			w.Headers[u.Key] = u.Value
		}
		held = append(held, w)
	}
	return held
}

func (p *place) fixture(d *mqttbroker.Destination) brokertest.Fixture {
	return brokertest.Fixture{Destination: d, Topic: p.topic, Stored: p.stored, Wired: p.wired}
}

// dial makes a destination as the user relay.
func dial(t testing.TB, addr string, o mqttbroker.Options) *mqttbroker.Destination {
	t.Helper()
	if o.Login.User == "" {
		o.Login.User, o.Login.Password = "relay", password
	}
	d, err := mqttbroker.Dial(t.Context(), "mqtt://"+addr, o)
	if err != nil {
		t.Fatal(err)
	}
	return publishtest.Closing(t, d)
}

// wants wants every result to be of an outcome, with these words in its error or,
// if it is accepted, as its note.
func wants(t testing.TB, results []broker.Result, outcome broker.Outcome, words string) {
	t.Helper()
	publishtest.Wants(t, results, outcome, words, password)
}
