package redisbroker_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/postbag/postbag/broker"
	"github.com/postbag/postbag/broker/redisbroker"
	"github.com/postbag/postbag/internal/publishtest"
	"github.com/postbag/postbag/internal/testserver"
	"github.com/postbag/postbag/internal/testserver/servertest"
)

// inOrder wants every message held, those of a key first in their order, and says
// how many are there once more.
func inOrder(t *testing.T, p place, plan [][]broker.Delivery) (repeats int) {
	t.Helper()
	var held []string
	for _, x := range p.entries(t) {
		m, err := redisbroker.Message(x)
		if err != nil {
			t.Fatal(err)
		}
		held = append(held, m.ID.String())
	}
	return publishtest.InOrder(t, plan, held)
}

// A sentinel promotes a replica that has all: what was accepted had been waited for.
func TestNothingIsLostWhenASentinelPromotesAReplica(t *testing.T) {
	t.Parallel()
	primary := servertest.Redis(t, testserver.RedisOptions{Password: password})
	replica := servertest.Redis(t, testserver.RedisOptions{Password: password, ReplicaOf: primary})
	spare := servertest.Redis(t, testserver.RedisOptions{Password: password, ReplicaOf: primary})
	sentinel := servertest.RedisSentinel(t, "orders", primary, 2)
	d := dial(t, "redis://"+sentinel.Addr(), redisbroker.Options{Replicas: 1, Login: redisbroker.Login{Password: password, Primary: "orders"}})
	p := publishtest.Plan("orders", 8, 60)
	publishtest.Traffic(t, d, p, 1, func() {
		if err := primary.Kill(context.Background()); err != nil {
			t.Error(err)
		}
	})
	port, err := sentinel.PrimaryPort(t.Context())
	if err != nil || port == primary.Port() {
		t.Fatalf("the primary is still the one that was killed: %v", err)
	}
	now := replica
	if port == spare.Port() {
		now = spare
	}
	inOrder(t, place{client: admin(t, now), topic: "orders"}, p)
}

// failOver kills the node that has a stream, and brings it back as a replica of the
// one that took its place.
func failOver(t *testing.T, nodes *testserver.RedisCluster, stream string) {
	t.Helper()
	killed, err := nodes.Owner(t.Context(), stream)
	if err != nil {
		t.Fatal(err)
	}
	if err := killed.Kill(t.Context()); err != nil {
		t.Fatal(err)
	}
	publishtest.Eventually(t, "a replica took over", func() bool {
		owner, err := nodes.Owner(t.Context(), stream)
		if err != nil || owner == killed {
			return false
		}
		_, err = owner.Do(t.Context(), "XLEN", stream)
		return err == nil
	})
	if err := killed.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	publishtest.Eventually(t, "the node is a replica", func() bool {
		info, err := killed.Do(t.Context(), "INFO", "replication")
		return err == nil && strings.Contains(info, "role:slave") && strings.Contains(info, "master_link_status:up")
	})
}

func TestNothingIsLostWhenAClusterFailsOver(t *testing.T) {
	t.Parallel()
	nodes := servertest.RedisCluster(t, 3, 3, testserver.RedisOptions{Password: password})
	for name, o := range map[string]redisbroker.Options{
		"waiting for replicas": {Shards: 6, Replicas: 1, ReplicaWait: 500 * time.Millisecond},
		"fenced":               {Fence: true, Replicas: 1, ReplicaWait: 500 * time.Millisecond},
	} {
		t.Run(name, func(t *testing.T) {
			place := newPlace(clusterAdmin(t, nodes))
			p := publishtest.Plan(place.topic, 8, 40)
			d := dial(t, "redis://"+strings.Join(nodes.Addrs(), ",redis://"), o)
			publishtest.Traffic(t, d, p, 1, func() { failOver(t, nodes, place.streams(t)[0]) })
			repeats := inOrder(t, place, p)
			if o.Fence && repeats > 0 {
				t.Errorf("%d messages are stored twice in spite of the fence", repeats)
			}
		})
	}
}

func TestAClusterWithoutAllSlotsIsUnavailableUntilItHasThem(t *testing.T) {
	t.Parallel()
	nodes := servertest.RedisCluster(t, 3, 0, testserver.RedisOptions{Password: password})
	d := dial(t, "redis://"+nodes.Addrs()[0], redisbroker.Options{Login: redisbroker.Login{Password: password, Cluster: true}})
	var all []broker.Delivery
	for i := range 12 {
		all = append(all, publishtest.Messages(fmt.Sprintf("orders-%d", i), 1)...)
	}
	wants(t, publishtest.Publish(t, d, 20*time.Second, all...), broker.Accepted, "")
	if err := nodes.Primaries[2].Kill(t.Context()); err != nil {
		t.Fatal(err)
	}
	publishtest.Eventually(t, "the cluster is down", func() bool {
		for _, r := range publishtest.Publish(t, d, 5*time.Second, all...) {
			if r.Outcome == broker.Unavailable && strings.Contains(r.Err.Error(), "CLUSTERDOWN") {
				return true
			}
			if r.Outcome == broker.Rejected || r.Outcome == broker.Misconfigured {
				t.Fatalf("in an outage: %v (%v)", r.Outcome, r.Err)
			}
		}
		return false
	})
	if err := nodes.Primaries[2].Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	publishtest.Eventually(t, "the cluster is whole", func() bool {
		for _, r := range publishtest.Publish(t, d, 5*time.Second, all...) {
			if r.Outcome != broker.Accepted {
				return false
			}
		}
		return true
	})
}

// A slot on its way from one node to another: a cluster's client follows it, a plain
// one is told that it may wait.
func TestMessagesFollowASlotThatMovesToAnotherNode(t *testing.T) {
	t.Parallel()
	nodes := servertest.RedisCluster(t, 2, 0, testserver.RedisOptions{Password: password})
	from, err := nodes.Owner(t.Context(), "orders")
	if err != nil {
		t.Fatal(err)
	}
	target := nodes.Primaries[0]
	if target == from {
		target = nodes.Primaries[1]
	}
	cluster := dial(t, "redis://"+from.Addr(), redisbroker.Options{Login: redisbroker.Login{Password: password, Cluster: true}})
	waiting := dial(t, "redis://"+from.Addr(), redisbroker.Options{
		Replicas: 1, ReplicaWait: time.Millisecond, Login: redisbroker.Login{Password: password, Cluster: true},
	})
	plain := dial(t, "redis://"+from.Addr(), redisbroker.Options{})
	m := publishtest.Messages("orders", 3)
	wants(t, publishtest.Publish(t, waiting, 10*time.Second, m...), broker.Unknown, "0 of 1 replicas")
	do(t, from, "DEL", "orders")
	slot := do(t, from, "CLUSTER", "KEYSLOT", "orders")
	do(t, target, "CLUSTER", "SETSLOT", slot, "IMPORTING", do(t, from, "CLUSTER", "MYID"))
	do(t, from, "CLUSTER", "SETSLOT", slot, "MIGRATING", do(t, target, "CLUSTER", "MYID"))
	wants(t, publishtest.Publish(t, plain, 10*time.Second, m...), broker.Unavailable, "ASK")
	wants(t, publishtest.Publish(t, cluster, 10*time.Second, m...), broker.Accepted, "")
	for _, node := range []*testserver.Redis{target, from} {
		do(t, node, "CLUSTER", "SETSLOT", slot, "NODE", do(t, target, "CLUSTER", "MYID"))
	}
	wants(t, publishtest.Publish(t, plain, 10*time.Second, m...), broker.Unavailable, "MOVED")
	wants(t, publishtest.Publish(t, cluster, 10*time.Second, m...), broker.Accepted, "")
	wants(t, publishtest.Publish(t, waiting, 10*time.Second, m...), broker.Unavailable, "MOVED")
	publishtest.Eventually(t, "the slot's new node is known", func() bool { return publishtest.Publish(t, waiting, 10*time.Second, m...)[0].Outcome == broker.Unknown })
	p := place{client: clusterAdmin(t, nodes), topic: "orders"}
	if held := len(p.entries(t)); held < 9 {
		t.Errorf("%d entries, want 9 or more", held)
	}
}

// The client would repeat a pipeline whose connection broke, four times by default,
// and store it as often.
func TestTheClientLibraryDoesNotRetryBrokenPipelines(t *testing.T) {
	t.Parallel()
	s := servertest.RedisCluster(t, 1, 0, testserver.RedisOptions{Password: password})
	line := servertest.Proxy(t, s.Addrs()[0])
	single := redis.NewClient(&redis.Options{Addr: line.Addr(), Password: password})
	cluster := redis.NewClusterClient(&redis.ClusterOptions{
		Password: password,
		ClusterSlots: func(context.Context) ([]redis.ClusterSlot, error) {
			return []redis.ClusterSlot{{Start: 0, End: 16383, Nodes: []redis.ClusterNode{{Addr: line.Addr()}}}}, nil
		},
	})
	for name, c := range map[string]redis.UniversalClient{"single": single, "cluster": cluster} {
		t.Cleanup(func() { _ = c.Close() })
		d := publishtest.Made[*redisbroker.Destination](t)(redisbroker.New(c, redisbroker.Options{}))
		topic := "orders-" + name
		m := publishtest.Messages(topic, 5)
		wants(t, publishtest.Publish(t, d, 10*time.Second, m[0]), broker.Accepted, "")
		line.Watch(testserver.Up, func(_ int, bytes []byte) testserver.Verdict {
			if strings.Contains(string(bytes), topic) {
				return testserver.CutAfter
			}
			return testserver.Forward
		})
		wants(t, publishtest.Publish(t, d, 10*time.Second, m[1:]...), broker.Unknown, "")
		line.Watch(testserver.Up, nil)
		publishtest.Eventually(t, "what was sent is stored", func() bool { return do(t, s.Primaries[0], "XLEN", topic) == "5" })
		wants(t, publishtest.Publish(t, d, 10*time.Second, publishtest.Messages(topic, 1)...), broker.Accepted, "")
		if got := do(t, s.Primaries[0], "XLEN", topic); got != "6" {
			t.Errorf("%s: %s entries, want 6: the client repeated what it sent", name, got)
		}
	}
}
