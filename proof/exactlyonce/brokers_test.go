package exactlyonce

import (
	"context"
	"testing"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/postbag/postbag/internal/testserver"
	"github.com/postbag/postbag/internal/testserver/servertest"
)

// Each of three brokers is killed and comes back, the next when the one before has all it missed: the leader of some
// partitions, and of the transactions, is among them. While the second is away the relay that works is killed too.
func TestKilledBrokersAndAKilledRelayDeliverEachMessageOnce(t *testing.T) {
	t.Parallel()
	rounds := 1
	if servertest.Full() {
		rounds = 5
	}
	w := newWorld(t, testserver.KafkaOptions{Nodes: 3})
	w.write()
	w.start("relay-0")
	w.start("relay-1")
	w.owner("")
	for round := range rounds {
		for i, node := range w.kafka.Nodes() {
			w.must(node.Kill(t.Context()))
			owner := w.owner("") // two brokers are enough
			if i == 1 {
				owner.kill()
				delete(w.relays, owner.name)
				w.start("relay-" + string(rune('2'+round)))
				w.owner("")
			}
			w.must(node.Start(t.Context()))
			w.whole()
		}
	}
	w.owner("")
	w.judge(w.end(), rounds)
}

func (w *world) must(err error) {
	w.t.Helper()
	if err != nil {
		w.t.Fatal(err)
	}
}

// whole waits until all replicas of all partitions have all there is.
func (w *world) whole() {
	w.t.Helper()
	c, err := kgo.NewClient(kgo.SeedBrokers(w.kafka.Brokers()...))
	w.must(err)
	defer c.Close()
	admin := kadm.NewClient(c)
	w.eventually("every replica is in sync", func() bool {
		ctx, cancel := context.WithTimeout(w.t.Context(), patience)
		defer cancel()
		topics, err := admin.ListTopicsWithInternal(ctx)
		if err != nil {
			return false
		}
		partitions := 0
		for _, topic := range topics {
			for _, p := range topic.Partitions {
				partitions++
				if p.Err != nil || len(p.ISR) < len(w.kafka.Nodes()) {
					return false
				}
			}
		}
		return partitions > 0
	})
}
