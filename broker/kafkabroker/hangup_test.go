package kafkabroker_test

import (
	"context"
	"net"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/postbag/postbag/broker"
	"github.com/postbag/postbag/broker/kafkabroker"
	"github.com/postbag/postbag/internal/publishtest"
)

// switched makes connections to where they should lead, or to a listener that hangs up.
type switched struct {
	to atomic.Pointer[string] // nil: where they should lead

	mu   sync.Mutex
	open []net.Conn
}

// hangUp ends all connections, and leads those to come to the listener.
func (s *switched) hangUp(t *testing.T) {
	t.Helper()
	address := publishtest.Curt(t)
	s.to.Store(&address)
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, conn := range s.open {
		_ = conn.Close()
	}
}

// answer ends the hanging up.
func (s *switched) answer() { s.to.Store(nil) }

func (s *switched) dial(ctx context.Context, network, address string) (net.Conn, error) {
	if to := s.to.Load(); to != nil {
		address = *to
	}
	conn, err := (&net.Dialer{Timeout: 20 * time.Second}).DialContext(ctx, network, address)
	if err == nil {
		s.mu.Lock()
		s.open = append(s.open, conn)
		s.mu.Unlock()
	}
	return conn, err
}

// Seen under load: a broker that was killed hung up on a first request, which the
// client library takes for a setting, and a good message was misconfigured.
func TestABrokerThatHangsUpAfterItHasAnsweredIsUnavailable(t *testing.T) {
	t.Parallel()
	p := newPlace(t, plainKafka.get(t).Brokers()).create(t)
	other := newPlace(t, p.brokers).create(t)
	var s switched
	d := publishtest.Closing(t, dial(t, p.brokers, kafkabroker.Options{Login: kafkabroker.Login{Dial: s.dial}}))
	publishtest.Wants(t, publishtest.Publish(t, d, 30*time.Second, publishtest.Messages(p.topic, 3)...), broker.Accepted, "")
	s.hangUp(t)
	msgs := append(publishtest.Messages(p.topic, 3), publishtest.Messages(other.topic, 3)...)
	publishtest.HungUp(t, d, msgs...)
	s.answer()
	persist(t, d, msgs...)
}

// So is one that has not answered yet, for a moment: a relay and a broker that start
// together.
func TestABrokerThatHangsUpForAMomentAtFirstIsUnavailable(t *testing.T) {
	t.Parallel()
	p := newPlace(t, plainKafka.get(t).Brokers()).create(t)
	var s switched
	s.hangUp(t)
	d := publishtest.Closing(t, dial(t, p.brokers, kafkabroker.Options{Login: kafkabroker.Login{Dial: s.dial}}))
	msgs := publishtest.Messages(p.topic, 3)
	for i, r := range publishtest.Publish(t, d, 400*time.Millisecond, msgs...) {
		if r.Outcome != broker.NotSent && r.Outcome != broker.Unavailable {
			t.Errorf("message %d is %v (%v)", i, r.Outcome, r.Err)
		}
	}
	s.answer()
	persist(t, d, msgs...)
}

func TestABrokerThatOnlyEverHangsUpIsMisconfigured(t *testing.T) {
	t.Parallel()
	var s switched
	s.hangUp(t)
	d := publishtest.Closing(t, dial(t, []string{"127.0.0.1:9"}, kafkabroker.Options{Login: kafkabroker.Login{Dial: s.dial}}))
	publishtest.Wants(t, publishtest.Publish(t, d, 30*time.Second, publishtest.Messages("t", 2)...), broker.Misconfigured, "hangs up on the first request")
	if err := d.Probe(publishtest.Timeout(t, 30*time.Second)); broker.OutcomeOf(err) != broker.Misconfigured {
		t.Errorf("Probe: %v", err)
	}
}
