package natsbroker_test

import (
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/postbag/postbag/broker"
	"github.com/postbag/postbag/broker/natsbroker"
	"github.com/postbag/postbag/internal/publishtest"
	"github.com/postbag/postbag/internal/testserver"
	"github.com/postbag/postbag/internal/testserver/servertest"
)

// dialled is a destination over a connection of its own to a server in a process
// of its own, and its place there.
func dialled(t *testing.T, url string) (*natsbroker.Destination, place) {
	t.Helper()
	p := newPlace(t, connect(t, url)).create(t, nil)
	d, err := natsbroker.Dial(t.Context(), url, natsbroker.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return publishtest.Closing(t, d), p
}

// inOrder wants every message in the stream, those of a key first in their order.
func inOrder(t *testing.T, p place, plan [][]broker.Delivery) (repeats int) {
	t.Helper()
	var held []string
	for _, m := range p.read(t) {
		if m.Subject() == p.topic() {
			held = append(held, m.Headers().Get(broker.HeaderID))
		}
	}
	return publishtest.InOrder(t, plan, held)
}

func TestAServerThatIsKilledLosesNothingThatWasAccepted(t *testing.T) {
	t.Parallel()
	s := servertest.NATS(t, testserver.NATSOptions{})
	d, p := dialled(t, s.URL())
	all := publishtest.Plan(p.topic(), 16, 200)
	publishtest.Traffic(t, d, all, 3, func() {
		if err := s.Kill(t.Context()); err != nil {
			t.Error(err)
		}
		if err := s.Start(t.Context()); err != nil {
			t.Error(err)
		}
	})
	t.Logf("%d messages are stored more than once after 3 kills", inOrder(t, p, all))
}

func TestAConnectionThatIsCutLosesNothingThatWasAccepted(t *testing.T) {
	t.Parallel()
	s := servertest.NATS(t, testserver.NATSOptions{})
	line := servertest.Proxy(t, strings.TrimPrefix(s.URL(), "nats://"))
	d, p := dialled(t, "nats://"+line.Addr())
	all := publishtest.Plan(p.topic(), 16, 200)
	publishtest.Traffic(t, d, all, 10, line.Cut)
	if repeats := inOrder(t, p, all); repeats != 0 {
		t.Errorf("%d messages are stored twice within the duplicate window", repeats)
	}
}

// A server that is frozen reads nothing, so that the client blocks with its lock
// held; the calls end with their contexts all the same.
func TestACallToAFrozenServerEndsWithItsContext(t *testing.T) {
	t.Parallel()
	s := servertest.NATS(t, testserver.NATSOptions{})
	d, p := dialled(t, s.URL())
	publishtest.Wants(t, publishtest.Publish(t, d, 20*time.Second, publishtest.Messages(p.topic(), 1)...), broker.Accepted, "")
	if err := s.Pause(); err != nil {
		t.Fatal(err)
	}
	large := publishtest.Messages(p.topic(), 40) // more than the buffers of any socket hold
	for i := range large {
		large[i].Payload = make([]byte, 900<<10)
	}
	began := time.Now()
	results := publishtest.Publish(t, d, time.Second, large...)
	probed := d.Probe(publishtest.Timeout(t, time.Second))
	closed := d.Close(publishtest.Timeout(t, time.Second))
	if took := time.Since(began); took > 8*time.Second {
		t.Errorf("three calls with a second each took %v", took)
	}
	unknown := 0
	for i, r := range results {
		if r.Outcome != broker.Unknown && r.Outcome != broker.NotSent {
			t.Errorf("message %d is %v (%v), want unknown or not sent", i, r.Outcome, r.Err)
		}
		if r.Outcome == broker.Unknown {
			unknown++
		}
	}
	if unknown == 0 || unknown == len(large) {
		t.Errorf("%d of %d messages are unknown; the test wants the client blocked half-way", unknown, len(large))
	}
	if probed == nil || closed == nil {
		t.Errorf("the probe says %v, Close says %v; a frozen server answers neither", probed, closed)
	}
	if err := s.Resume(); err != nil {
		t.Fatal(err)
	}
	if err := d.Close(publishtest.Timeout(t, 20*time.Second)); err != nil {
		t.Errorf("Close once the server goes on: %v", err)
	}
}

func TestAServerThatIsFrozenForAWhileIsUsedAgain(t *testing.T) {
	t.Parallel()
	s := servertest.NATS(t, testserver.NATSOptions{})
	d, p := dialled(t, s.URL())
	all := publishtest.Plan(p.topic(), 8, 60)
	publishtest.Traffic(t, d, all, 2, func() {
		if err := s.Pause(); err != nil {
			t.Error(err)
		}
		publishtest.Wants(t, publishtest.Publish(t, d, 300*time.Millisecond, publishtest.Messages(p.name+".other", 1)...), broker.Unknown, "no answer")
		if err := s.Resume(); err != nil {
			t.Error(err)
		}
	})
	inOrder(t, p, all)
}

// The connection of an application, with the client's own defaults but for the
// number of reconnects.
func TestAGivenConnectionWorksAgainAfterTheServerWasKilled(t *testing.T) {
	t.Parallel()
	s := servertest.NATS(t, testserver.NATSOptions{})
	nc := connect(t, s.URL(), nats.ReconnectBufSize(nats.DefaultReconnectBufSize))
	p := newPlace(t, nc).create(t, nil)
	d := publishtest.Made[*natsbroker.Destination](t)(natsbroker.New(jetStream(t, nc), natsbroker.Options{Stream: p.name}))
	all := publishtest.Plan(p.topic(), 8, 100)
	publishtest.Traffic(t, d, all, 1, func() {
		if err := s.Kill(t.Context()); err != nil {
			t.Error(err)
		}
		if err := s.Start(t.Context()); err != nil {
			t.Error(err)
		}
	})
	inOrder(t, p, all)
}
