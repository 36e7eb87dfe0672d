package natsbroker_test

import (
	"fmt"
	"net"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/postbag/postbag/broker"
	"github.com/postbag/postbag/broker/natsbroker"
	"github.com/postbag/postbag/internal/publishtest"
)

// startCluster starts three servers that know each other.
func startCluster(t *testing.T) []*natsServer {
	t.Helper()
	var routes []*url.URL
	var ports []int
	for range 3 {
		free, err := net.ListenTCP("tcp", &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)})
		if err != nil {
			t.Fatal(err)
		}
		address, err := net.ResolveTCPAddr("tcp", free.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		ports = append(ports, address.Port)
		routes = append(routes, &url.URL{Scheme: "nats", Host: address.String()})
		if err := free.Close(); err != nil {
			t.Fatal(err)
		}
	}
	var all []*natsServer
	for i, port := range ports {
		all = append(all, startServer(t, func(o *server.Options) {
			o.ServerName = fmt.Sprintf("s%d", i)
			o.Cluster = server.ClusterOpts{Name: "three", Host: "127.0.0.1", Port: port}
			o.Routes = routes
		}))
	}
	publishtest.Eventually(t, "the cluster has a leader", func() bool {
		for _, s := range all {
			if s.server.JetStreamIsLeader() {
				return len(s.server.JetStreamClusterPeers()) == 3
			}
		}
		return false
	})
	return all
}

func urlsOf(servers []*natsServer) string {
	var urls []string
	for _, s := range servers {
		urls = append(urls, s.url())
	}
	return strings.Join(urls, ",")
}

// leader is the server that leads the stream.
func leader(t *testing.T, servers []*natsServer, stream string) *natsServer {
	t.Helper()
	var found *natsServer
	publishtest.Eventually(t, "the stream has a leader", func() bool {
		for _, s := range servers {
			if s.server.JetStreamIsStreamLeader(server.DEFAULT_GLOBAL_ACCOUNT, stream) {
				found = s
			}
		}
		return found != nil
	})
	return found
}

// When the leader of a replicated stream dies, messages meet nobody, or a server
// that is not yet leader, or no answer: all of which pass.
func TestAReplicatedStreamThatLosesItsLeaderLosesNoMessage(t *testing.T) {
	t.Parallel()
	servers := startCluster(t)
	nc := connect(t, urlsOf(servers), nats.UserInfo(user, password))
	p := newPlace(t, nc).create(t, func(c *jetstream.StreamConfig) { c.Replicas = 3 })
	d, err := natsbroker.Dial(t.Context(), urlsOf(servers), natsbroker.Options{Login: natsbroker.Login{User: user, Password: password}})
	if err != nil {
		t.Fatal(err)
	}
	publishtest.Closing(t, d)
	all := publishtest.Plan(p.topic(), 8, 60)
	publishtest.Traffic(t, d, all, 2, func() {
		led := leader(t, servers, p.name)
		led.stop()
		led.start(t)
	})
	inOrder(t, p, all)
}

func TestAStreamWithoutAMajorityIsUnavailable(t *testing.T) {
	t.Parallel()
	servers := startCluster(t)
	nc := connect(t, urlsOf(servers), nats.UserInfo(user, password))
	p := newPlace(t, nc).create(t, func(c *jetstream.StreamConfig) { c.Replicas = 3 })
	d, err := natsbroker.Dial(t.Context(), urlsOf(servers), natsbroker.Options{Login: natsbroker.Login{User: user, Password: password}})
	if err != nil {
		t.Fatal(err)
	}
	publishtest.Closing(t, d)
	m := publishtest.Messages(p.topic(), 5)
	publishtest.Wants(t, publishtest.Publish(t, d, 20*time.Second, m...), broker.Accepted, "")
	servers[0].stop()
	servers[1].stop()
	next := publishtest.Messages(p.topic(), 5)
	for range 3 {
		for i, r := range publishtest.Publish(t, d, 3*time.Second, next...) {
			if r.Outcome != broker.Unavailable && r.Outcome != broker.Unknown && r.Outcome != broker.NotSent {
				t.Errorf("message %d is %v (%v) without a majority", i, r.Outcome, r.Err)
			}
		}
	}
	servers[0].start(t)
	servers[1].start(t)
	publishtest.Traffic(t, d, [][]broker.Delivery{next}, 0, nil)
	inOrder(t, p, [][]broker.Delivery{m[:1], m[1:2], m[2:3], m[3:4], m[4:], next[:1], next[1:2], next[2:3], next[3:4], next[4:]})
}
