package kafkabroker_test

import (
	"context"
	"net"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/postbag/postbag/broker"
	"github.com/postbag/postbag/internal/sendtest"
	"github.com/postbag/postbag/kafkabroker"
)

// curt is a listener that reads the first request of a connection and hangs up, as a
// broker does that ends, or that wants TLS or a login.
type curt struct {
	to atomic.Pointer[net.TCPAddr] // nil: connections go where they should

	mu   sync.Mutex
	open []net.Conn
	cut  atomic.Int64 // connections it hung up on
}

func newCurt(t *testing.T) (c *curt, hangUp func()) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	var running sync.WaitGroup
	t.Cleanup(func() {
		_ = listener.Close()
		running.Wait()
	})
	c = new(curt)
	running.Go(func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			_ = conn.SetDeadline(time.Now().Add(10 * time.Second))
			_, _ = conn.Read(make([]byte, 64<<10))
			_ = conn.Close()
			c.cut.Add(1)
		}
	})
	return c, func() {
		c.to.Store(listener.Addr().(*net.TCPAddr)) //nolint:errcheck // it is one of TCP
		c.mu.Lock()
		defer c.mu.Unlock()
		for _, conn := range c.open {
			_ = conn.Close()
		}
	}
}

// answer ends the hanging up.
func (c *curt) answer() { c.to.Store(nil) }

func (c *curt) dial(ctx context.Context, network, address string) (net.Conn, error) {
	if to := c.to.Load(); to != nil {
		address = to.String()
	}
	conn, err := (&net.Dialer{Timeout: 20 * time.Second}).DialContext(ctx, network, address)
	if err == nil {
		c.mu.Lock()
		c.open = append(c.open, conn)
		c.mu.Unlock()
	}
	return conn, err
}

// Seen under load: a broker that was killed hung up on a first request, which the
// client library takes for a setting, and a good message was misconfigured.
func TestABrokerThatHangsUpAfterItHasAnsweredIsUnavailable(t *testing.T) {
	t.Parallel()
	p := newPlace(t, plainKafka.get(t).Brokers()).create(t)
	other := newPlace(t, p.brokers).create(t)
	c, hangUp := newCurt(t)
	d := sendtest.Closing(t, dial(t, p.brokers, kafkabroker.Options{Login: kafkabroker.Login{Dial: c.dial}}))
	sendtest.Wants(t, sendtest.Publish(t, d, 30*time.Second, sendtest.Messages(p.topic, 3)...), broker.Accepted, "")
	hangUp()
	msgs := append(sendtest.Messages(p.topic, 3), sendtest.Messages(other.topic, 3)...)
	for began := time.Now(); time.Since(began) < 3*time.Second; {
		for i, r := range sendtest.Publish(t, d, time.Second, msgs...) {
			switch r.Outcome {
			case broker.Unavailable, broker.Unknown, broker.NotSent:
			default:
				t.Fatalf("message %d is %v (%v)", i, r.Outcome, r.Err)
			}
		}
		if err := d.Probe(sendtest.Timeout(t, time.Second)); broker.OutcomeOf(err) != broker.Unavailable {
			t.Fatalf("Probe: %v", err)
		}
	}
	if c.cut.Load() == 0 {
		t.Fatal("nobody was hung up on")
	}
	c.answer()
	persist(t, d, msgs...)
}

// So is one that has not answered yet, for a moment: a relay and a broker that start
// together.
func TestABrokerThatHangsUpForAMomentAtFirstIsUnavailable(t *testing.T) {
	t.Parallel()
	p := newPlace(t, plainKafka.get(t).Brokers()).create(t)
	c, hangUp := newCurt(t)
	hangUp()
	d := sendtest.Closing(t, dial(t, p.brokers, kafkabroker.Options{Login: kafkabroker.Login{Dial: c.dial}}))
	msgs := sendtest.Messages(p.topic, 3)
	for i, r := range sendtest.Publish(t, d, 400*time.Millisecond, msgs...) {
		if r.Outcome != broker.NotSent && r.Outcome != broker.Unavailable {
			t.Errorf("message %d is %v (%v)", i, r.Outcome, r.Err)
		}
	}
	c.answer()
	persist(t, d, msgs...)
}

func TestABrokerThatOnlyEverHangsUpIsMisconfigured(t *testing.T) {
	t.Parallel()
	c, hangUp := newCurt(t)
	hangUp()
	d := sendtest.Closing(t, dial(t, []string{"127.0.0.1:9"}, kafkabroker.Options{Login: kafkabroker.Login{Dial: c.dial}}))
	sendtest.Wants(t, sendtest.Publish(t, d, 30*time.Second, sendtest.Messages("t", 2)...), broker.Misconfigured, "hangs up on the first request")
	if err := d.Probe(sendtest.Timeout(t, 30*time.Second)); broker.OutcomeOf(err) != broker.Misconfigured {
		t.Errorf("Probe: %v", err)
	}
}
