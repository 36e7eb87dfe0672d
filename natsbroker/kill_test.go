package natsbroker_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/postbag/postbag/broker"
	"github.com/postbag/postbag/internal/testserver"
	"github.com/postbag/postbag/internal/testserver/servertest"
	"github.com/postbag/postbag/natsbroker"
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
	return closing(t, d), p
}

// send sends the messages of one key as a relay does: each until it is accepted,
// the next one only then. What is said of a good message may be any doubt, but no
// verdict.
func send(t *testing.T, d broker.Destination, msgs []broker.Delivery, accepted func()) {
	t.Helper()
	deadline := timeout(t, 2*time.Minute)
	for _, m := range msgs {
		for {
			results := publish(t, d, 2*time.Second, m)
			got := results[0]
			if got.Outcome == broker.Accepted {
				accepted()
				break
			}
			if got.Outcome == broker.Rejected || deadline.Err() != nil {
				t.Errorf("message %d is %v (%v)", m.Seq, got.Outcome, got.Err)
				return
			}
			pause := time.NewTimer(5 * time.Millisecond) // a failing call returns at once
			<-pause.C
		}
	}
}

// inOrder wants every message in the stream, those of a key first in their order.
func inOrder(t *testing.T, p place, plan [][]broker.Delivery) (repeats int) {
	t.Helper()
	seen := map[string]bool{}
	next := map[string]int{}
	position := map[string][2]int{}
	for k, msgs := range plan {
		for i, m := range msgs {
			position[m.ID.String()] = [2]int{k, i}
		}
	}
	for _, m := range p.read(t) {
		id := m.Headers().Get(broker.HeaderID)
		if m.Subject() != p.topic() {
			continue
		}
		at, known := position[id]
		key := fmt.Sprint(at[0])
		switch {
		case !known:
			t.Errorf("the stream holds %s, which was not sent", id)
		case seen[id]:
			repeats++
		case at[1] != next[key]:
			t.Errorf("message %d of key %s came when %d was due", at[1], key, next[key])
		}
		if !seen[id] {
			seen[id] = true
			next[key] = at[1] + 1
		}
	}
	if len(seen) != len(position) {
		t.Errorf("the stream holds %d different messages of %d", len(seen), len(position))
	}
	return repeats
}

// traffic sends plan, key by key side by side, and runs fault each time another
// part of it was accepted.
func traffic(t *testing.T, d broker.Destination, plan [][]broker.Delivery, faults int, fault func()) {
	t.Helper()
	total := 0
	for _, msgs := range plan {
		total += len(msgs)
	}
	accepted := make(chan struct{}, total)
	var senders sync.WaitGroup
	for _, msgs := range plan {
		senders.Go(func() { send(t, d, msgs, func() { accepted <- struct{}{} }) })
	}
	for range faults {
		for range total / (faults + 1) {
			<-accepted
		}
		fault()
	}
	senders.Wait()
}

func plan(topic string, keys, each int) [][]broker.Delivery {
	all := make([][]broker.Delivery, keys)
	for k := range all {
		all[k] = messages(topic, each)
		for i := range all[k] {
			all[k][i].Key = fmt.Sprint(k)
		}
	}
	return all
}

func TestAServerThatIsKilledLosesNothingThatWasAccepted(t *testing.T) {
	t.Parallel()
	s := servertest.NATS(t, testserver.NATSOptions{})
	d, p := dialled(t, s.URL())
	all := plan(p.topic(), 16, 200)
	traffic(t, d, all, 3, func() {
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
	all := plan(p.topic(), 16, 200)
	traffic(t, d, all, 10, line.Cut)
	if repeats := inOrder(t, p, all); repeats != 0 {
		t.Errorf("%d messages are stored twice within the duplicate window", repeats)
	}
}

// A server that is frozen reads nothing, so that the client blocks with its lock
// held; the calls end with their contexts all the same.
func TestAServerThatIsFrozenHoldsNoCallBeyondItsContext(t *testing.T) {
	t.Parallel()
	s := servertest.NATS(t, testserver.NATSOptions{})
	d, p := dialled(t, s.URL())
	wants(t, publish(t, d, 20*time.Second, messages(p.topic(), 1)...), broker.Accepted, "")
	if err := s.Pause(); err != nil {
		t.Fatal(err)
	}
	large := messages(p.topic(), 40) // more than the buffers of any socket hold
	for i := range large {
		large[i].Payload = make([]byte, 900<<10)
	}
	began := time.Now()
	results := publish(t, d, time.Second, large...)
	probed := d.Probe(timeout(t, time.Second))
	closed := d.Close(timeout(t, time.Second))
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
	if err := d.Close(timeout(t, 20*time.Second)); err != nil {
		t.Errorf("Close once the server goes on: %v", err)
	}
}

func TestAServerThatIsFrozenForAWhileIsUsedAgain(t *testing.T) {
	t.Parallel()
	s := servertest.NATS(t, testserver.NATSOptions{})
	d, p := dialled(t, s.URL())
	all := plan(p.topic(), 8, 60)
	traffic(t, d, all, 2, func() {
		if err := s.Pause(); err != nil {
			t.Error(err)
		}
		wants(t, publish(t, d, 300*time.Millisecond, messages(p.name+".other", 1)...), broker.Unknown, "no answer")
		if err := s.Resume(); err != nil {
			t.Error(err)
		}
	})
	inOrder(t, p, all)
}

// The connection of an application, with the client's own defaults but for the
// number of reconnects.
func TestAGivenConnectionOutlivesAKill(t *testing.T) {
	t.Parallel()
	s := servertest.NATS(t, testserver.NATSOptions{})
	nc := connect(t, s.URL(), nats.ReconnectBufSize(nats.DefaultReconnectBufSize))
	p := newPlace(t, nc).create(t, nil)
	d := closing(t, natsbroker.New(jetStream(t, nc), natsbroker.Options{Stream: p.name}))
	all := plan(p.topic(), 8, 100)
	traffic(t, d, all, 1, func() {
		if err := s.Kill(t.Context()); err != nil {
			t.Error(err)
		}
		if err := s.Start(t.Context()); err != nil {
			t.Error(err)
		}
	})
	inOrder(t, p, all)
}
