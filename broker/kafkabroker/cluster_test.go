package kafkabroker_test

import (
	"context"
	"fmt"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/broker"
	"github.com/postbag/postbag/broker/kafkabroker"
	"github.com/postbag/postbag/internal/publishtest"
	"github.com/postbag/postbag/internal/testserver"
	"github.com/postbag/postbag/internal/testserver/servertest"
)

// traffic sends keys of messages as a relay does: of each key several at a time,
// the next only when those before are accepted.
type traffic struct {
	d     *kafkabroker.Destination
	topic string
	keys  int

	stop     chan struct{}
	senders  sync.WaitGroup
	accepted atomic.Int64
	mu       sync.Mutex
	sent     [][]postbag.ID // by key, in order
	faults   []string
}

func startTraffic(d *kafkabroker.Destination, topic string, keys int) *traffic {
	l := &traffic{d: d, topic: topic, keys: keys, stop: make(chan struct{}), sent: make([][]postbag.ID, keys)}
	for k := range keys {
		l.senders.Go(func() { l.send(k) })
	}
	return l
}

func (l *traffic) send(k int) {
	const most = 8
	var queue []broker.Delivery
	seq := 0
	for {
		ended := false
		select {
		case <-l.stop:
			ended = true
		default:
		}
		for ; len(queue) < most && !ended; seq++ {
			m := publishtest.Messages(l.topic, 1)[0]
			m.Key, m.Seq, m.Payload = fmt.Sprintf("key-%d", k), int64(seq), fmt.Appendf(nil, "%d-%d", k, seq)
			queue = append(queue, m)
			l.sent[k] = append(l.sent[k], m.ID)
		}
		if len(queue) == 0 {
			return
		}
		queue = l.call(queue)
	}
}

// call sends a key's messages and returns those that were not accepted.
func (l *traffic) call(queue []broker.Delivery) (rest []broker.Delivery) {
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	results := broker.Publish(ctx, l.d, queue)
	for i, r := range results {
		switch {
		case r.Outcome != broker.Accepted:
			rest = append(rest, queue[i])
		case len(rest) > 0:
			l.faultf("message %d of a key was accepted behind one that was not", queue[i].Seq)
		default:
			l.accepted.Add(1)
		}
		if r.Outcome == broker.Rejected {
			l.faultf("a good message is rejected: %v", r.Err)
		}
	}
	pause := 5 * time.Millisecond // others use the machine too
	if len(rest) > 0 {
		pause = 50 * time.Millisecond // as a circuit breaker does
	}
	<-time.After(pause)
	return rest
}

func (l *traffic) faultf(format string, args ...any) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.faults = append(l.faults, fmt.Sprintf(format, args...))
}

// await waits for so many more to be accepted.
func (l *traffic) await(t testing.TB, n int64) {
	t.Helper()
	want := l.accepted.Load() + n
	publishtest.Eventually(t, "messages flow", func() bool { return l.accepted.Load() >= want })
}

// end stops the traffic, and compares what was sent with what is there: nothing
// lost, first occurrences of a key in order where its partition did not change.
func (l *traffic) end(t testing.TB, held []*kgo.Record, ordered bool) {
	t.Helper()
	for _, fault := range l.faults {
		t.Error(fault)
	}
	place := map[postbag.ID]int{}
	for i, r := range held {
		m, err := kafkabroker.Message(r)
		must(t, err)
		if _, seen := place[m.ID]; !seen {
			place[m.ID] = i
		}
	}
	total := 0
	for k, ids := range l.sent {
		last := -1
		for n, id := range ids {
			total++
			at, ok := place[id]
			if !ok {
				t.Fatalf("message %d of key %d is lost", n, k)
			}
			if ordered && at < last {
				t.Fatalf("message %d of key %d stands before an earlier one", n, k)
			}
			last = at
		}
	}
	t.Logf("%d messages sent, %d records there", total, len(held))
}

func (l *traffic) halt() {
	close(l.stop)
	l.senders.Wait()
}

// leader is the node that leads a partition.
func (p place) leader(t testing.TB, k *testserver.Kafka, partition int32) *testserver.KafkaNode {
	t.Helper()
	var node *testserver.KafkaNode
	publishtest.Eventually(t, "the partition has a leader", func() bool {
		topics, err := p.admin.ListTopics(publishtest.Timeout(t, 10*time.Second), p.topic)
		if err != nil || topics[p.topic].Err != nil {
			return false
		}
		id := topics[p.topic].Partitions[partition].Leader
		if id < 1 {
			return false
		}
		node = k.Nodes()[id-1]
		return true
	})
	return node
}

// inSync waits until every partition has n in-sync replicas.
func (p place) inSync(t testing.TB, n int) {
	t.Helper()
	publishtest.Eventually(t, fmt.Sprintf("%d replicas are in sync", n), func() bool {
		topics, err := p.admin.ListTopics(publishtest.Timeout(t, 10*time.Second), p.topic)
		if err != nil || topics[p.topic].Err != nil {
			return false
		}
		for _, partition := range topics[p.topic].Partitions {
			if len(partition.ISR) != n || partition.Leader < 0 {
				return false
			}
		}
		return true
	})
}

func TestAClusterOfThreeGoesOnWithoutLossAndInOrder(t *testing.T) {
	t.Parallel()
	k := servertest.Kafka(t, testserver.KafkaOptions{Nodes: 3})
	p := newPlace(t, k.Brokers())
	p.partitions, p.replicas = 3, 3
	p.create(t, "min.insync.replicas=2")
	p.inSync(t, 3)
	d := publishtest.Closing(t, dial(t, k.Brokers(), kafkabroker.Options{Recheck: time.Second}))
	l := startTraffic(d, p.topic, 24)
	defer func() { t.Logf("%d accepted", l.accepted.Load()) }()
	l.await(t, 500)

	rounds := 1
	if os.Getenv("POSTBAG_FULL") == "1" {
		rounds = 5
	}
	for round := range rounds {
		node := p.leader(t, k, int32(round%3))
		must(t, node.Kill(t.Context()))
		l.await(t, 500) // a new leader
		must(t, node.Start(t.Context()))
		p.inSync(t, 3)

		node = k.Nodes()[node.ID()%3]
		must(t, node.Stop(t.Context()))
		l.await(t, 500) // without a follower
		p.inSync(t, 2)
		minISRLost(t, p, d, l)
		l.await(t, 500)
		must(t, node.Start(t.Context()))
		p.inSync(t, 3)
	}
	l.await(t, 500)
	l.halt()
	l.end(t, p.read(t), true)
}

// Fewer replicas than min.insync.replicas: nothing is accepted, nothing is given up
// as bad, and messages of the topic say why. Then there are enough again.
func minISRLost(t *testing.T, p place, d *kafkabroker.Destination, l *traffic) {
	t.Helper()
	p.set(t, "min.insync.replicas", "3")
	last, since := l.accepted.Load(), time.Now()
	publishtest.Eventually(t, "nothing is accepted any more", func() bool {
		if now := l.accepted.Load(); now != last {
			last, since = now, time.Now()
		}
		return time.Since(since) > 500*time.Millisecond
	})
	for i, r := range publishtest.Publish(t, d, 3*time.Second, publishtest.Messages(p.topic, 20)...) {
		if r.Outcome != broker.Unknown && r.Outcome != broker.NotSent && r.Outcome != broker.Unavailable {
			t.Errorf("without enough replicas message %d is %v (%v)", i, r.Outcome, r.Err)
		}
	}
	for i, r := range publishtest.Publish(t, d, 30*time.Second, publishtest.Messages(p.topic, 3)...) {
		if r.Outcome != broker.Unavailable || r.Scope != broker.ScopeTopic || !strings.Contains(r.Err.Error(), "in-sync replicas") {
			t.Errorf("once that is known message %d is %v (%v) with the scope %v", i, r.Outcome, r.Err, r.Scope)
		}
	}
	if err := d.Probe(publishtest.Timeout(t, 30*time.Second)); err != nil {
		t.Errorf("the brokers are there, and a probe says %v", err)
	}
	if l.accepted.Load() != last {
		t.Error("messages were accepted by too few replicas")
	}
	p.set(t, "min.insync.replicas", "2")
	publishtest.Eventually(t, "messages are accepted again", func() bool {
		return publishtest.Publish(t, d, 30*time.Second, publishtest.Messages(p.topic, 1)...)[0].Outcome == broker.Accepted
	})
}

func TestPartitionsAddedUnderLoadLoseNothing(t *testing.T) {
	t.Parallel()
	p := newPlace(t, plainKafka.get(t).Brokers()).create(t)
	d := publishtest.Closing(t, dial(t, p.brokers, kafkabroker.Options{Recheck: 200 * time.Millisecond}))
	l := startTraffic(d, p.topic, 24)
	l.await(t, 500)
	for _, n := range []int{3, 8} {
		answers, err := p.admin.UpdatePartitions(publishtest.Timeout(t, 30*time.Second), n, p.topic)
		must(t, err)
		must(t, answers.Error())
		l.await(t, 500)
		publishtest.Eventually(t, "the new partitions are used", func() bool {
			used := 0
			for _, end := range p.ends(t) {
				if end > 0 {
					used++
				}
			}
			return used == n
		})
	}
	l.halt()
	held := p.read(t)
	l.end(t, held, false)
	inOrderWithinPartitions(t, held)
}

// Each partition has the messages of a key in order; only from one to the other
// there is none that a consumer could see.
func inOrderWithinPartitions(t *testing.T, held []*kgo.Record) {
	t.Helper()
	type lane struct {
		key       string
		partition int32
	}
	last := map[lane]int{}
	seen := map[postbag.ID]bool{}
	for _, r := range held {
		m, err := kafkabroker.Message(r)
		must(t, err)
		if seen[m.ID] {
			continue
		}
		seen[m.ID] = true
		var k, n int
		if _, err := fmt.Sscanf(string(r.Value), "%d-%d", &k, &n); err != nil {
			t.Fatal(err)
		}
		at := lane{string(r.Key), r.Partition}
		if before, ok := last[at]; ok && n < before {
			t.Fatalf("in partition %d, message %d of a key stands behind %d", r.Partition, n, before)
		}
		last[at] = n
	}
}

func TestATopicDeletedAndMadeAnewUnderLoadIsUsedAgain(t *testing.T) {
	t.Parallel()
	p := newPlace(t, plainKafka.get(t).Brokers()).create(t)
	d := publishtest.Closing(t, dial(t, p.brokers, kafkabroker.Options{}))
	l := startTraffic(d, p.topic, 8)
	l.await(t, 200)
	p.delete(t)
	p.create(t)
	l.await(t, 200)
	l.halt()
	for _, fault := range l.faults {
		t.Error(fault)
	}
	if _, err := p.admin.DeleteTopic(publishtest.Timeout(t, 30*time.Second), p.topic); err != nil {
		t.Error(err)
	}
}
