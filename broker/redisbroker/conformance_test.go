package redisbroker_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/redis/go-redis/v9"

	"github.com/postbag/postbag/broker"
	"github.com/postbag/postbag/broker/brokertest"
	"github.com/postbag/postbag/broker/redisbroker"
	"github.com/postbag/postbag/internal/publishtest"
	"github.com/postbag/postbag/internal/testserver"
	"github.com/postbag/postbag/internal/testserver/servertest"
)

func TestADialledDestinationConforms(t *testing.T) {
	t.Parallel()
	features := broker.Features{Binding: broker.BindingRedis}
	brokertest.Run(t, harness("Redis Streams 7.0", features, redisbroker.Options{}))
}

func TestAFencedDestinationConforms(t *testing.T) {
	t.Parallel()
	features := broker.Features{Binding: broker.BindingRedis, Fences: "entry id", MaxBytes: 512 << 10}
	brokertest.Run(t, harness("Redis Streams 7.0, fenced", features, redisbroker.Options{Fence: true, MaxBytes: 512 << 10}))
}

func TestAShardedDestinationConforms(t *testing.T) {
	t.Parallel()
	features := broker.Features{Binding: broker.BindingRedis}
	h := harness("", features, redisbroker.Options{Shards: 4, MaxLen: 100_000, ExactTrim: true})
	brokertest.Run(t, h)
}

// An application's own client, which repeats commands by default.
func TestADestinationOverAGivenClientConforms(t *testing.T) {
	t.Parallel()
	h := harness("", broker.Features{Binding: broker.BindingRedis}, redisbroker.Options{})
	dest := func(t *testing.T, addr string) *redisbroker.Destination {
		t.Helper()
		c := redis.NewClient(&redis.Options{Addr: addr, Password: password})
		t.Cleanup(func() { _ = c.Close() })
		return publishtest.Made[*redisbroker.Destination](t)(redisbroker.New(c, redisbroker.Options{}))
	}
	h.Open = func(t *testing.T) brokertest.Fixture {
		p := newPlace(admin(t, sharedServer(t)))
		return p.fixture(dest(t, sharedServer(t).Addr()))
	}
	h.Outage = outage(func(t *testing.T, s *testserver.Redis) *redisbroker.Destination { return dest(t, s.Addr()) })
	h.Mute = mute(func(t *testing.T, addr string) *redisbroker.Destination { return dest(t, addr) })
	brokertest.Run(t, h)
}

// The nodes of a cluster: what no single one shows is in cluster_test.go.
func TestADestinationOverAClusterConforms(t *testing.T) {
	t.Parallel()
	nodes := servertest.RedisCluster(t, 3, 0, settings())
	urls := "redis://" + nodes.Addrs()[0] + ",redis://" + nodes.Addrs()[1]
	h := harness("Redis Streams 7.0, cluster", broker.Features{Binding: broker.BindingRedis}, redisbroker.Options{Shards: 8})
	h.Open = func(t *testing.T) brokertest.Fixture {
		return newPlace(clusterAdmin(t, nodes)).fixture(dial(t, urls, redisbroker.Options{Shards: 8}))
	}
	h.Outage, h.Mute, h.Misconfigured, h.Topics = nil, nil, nil, nil
	h.Lacks = map[brokertest.Part]string{
		brokertest.PartOutage:        "a cluster's nodes fail singly, which tests of their own show",
		brokertest.PartMute:          "the client finds the nodes' own addresses, so that no proxy stands between",
		brokertest.PartMisconfigured: "shown on a single server",
		brokertest.PartTopics:        "shown on a single server",
	}
	brokertest.Run(t, h)
}

func clusterAdmin(t testing.TB, nodes *testserver.RedisCluster) *redis.ClusterClient {
	t.Helper()
	c := redis.NewClusterClient(&redis.ClusterOptions{Addrs: nodes.Addrs(), Password: password})
	t.Cleanup(func() { _ = c.Close() })
	return c
}

func harness(on string, features broker.Features, o redisbroker.Options) brokertest.Harness {
	limit := tooLarge
	if o.MaxBytes > 0 {
		limit = o.MaxBytes + 1
	}
	return brokertest.Harness{
		On: on,
		Open: func(t *testing.T) brokertest.Fixture {
			s := sharedServer(t)
			return newPlace(admin(t, s)).fixture(dial(t, "redis://"+s.Addr(), o))
		},
		Outage: outage(func(t *testing.T, s *testserver.Redis) *redisbroker.Destination {
			t.Helper()
			return dial(t, "redis://"+s.Addr(), o)
		}),
		Mute: mute(func(t *testing.T, addr string) *redisbroker.Destination {
			t.Helper()
			return dial(t, "redis://"+addr, o)
		}),
		Misconfigured: func(t *testing.T) (brokertest.Fixture, brokertest.Switch) {
			p := newPlace(admin(t, sharedServer(t)))
			user := fmt.Sprintf("user%d", placeCount.Add(1))
			grant := func(rules ...any) {
				args := append([]any{"ACL", "SETUSER", user, "on", ">" + password, "~*", "+ping", "+hello", "+client", "+config"}, rules...)
				if err := p.client.Do(context.Background(), args...).Err(); err != nil {
					t.Fatal(err)
				}
			}
			grant()
			o := o
			o.Login = redisbroker.Login{User: user, Password: password}
			d := dial(t, "redis://"+sharedServer(t).Addr(), o)
			return p.fixture(d), brokertest.Switch{On: func() { grant("+xadd", "+xrange") }}
		},
		Topics: func(t *testing.T) (brokertest.Fixture, string, brokertest.Switch) {
			p, other := newPlace(admin(t, sharedServer(t))), newPlace(admin(t, sharedServer(t)))
			user := fmt.Sprintf("user%d", placeCount.Add(1))
			grant := func(streams string) {
				err := p.client.Do(context.Background(), "ACL", "SETUSER", user, "on", ">"+password, "resetkeys", streams,
					"+ping", "+hello", "+client", "+config", "+xadd", "+xrange", "+xinfo").Err()
				if err != nil {
					t.Fatal(err)
				}
			}
			grant("~*" + p.topic + "*")
			o := o
			o.Login = redisbroker.Login{User: user, Password: password}
			d := dial(t, "redis://"+sharedServer(t).Addr(), o)
			return p.fixture(d), other.topic, brokertest.Switch{On: func() { grant("~*") }}
		},
		TooLarge: limit,
		Features: features,
		Reserved: []string{"payload", "Postbag-Topic", "postbag-id", "header:payload", "header:", "header:header:x", "content-type", "*", "MAXLEN", "NOMKSTREAM"},
		Secrets:  []string{password},
	}
}

func outage(dest func(t *testing.T, s *testserver.Redis) *redisbroker.Destination) func(*testing.T) (brokertest.Fixture, brokertest.Switch) {
	return func(t *testing.T) (brokertest.Fixture, brokertest.Switch) {
		s := servertest.Redis(t, settings())
		do := func(what func(context.Context) error) func() {
			return func() {
				if err := what(context.Background()); err != nil {
					t.Fatal(err)
				}
			}
		}
		return newPlace(admin(t, s)).fixture(dest(t, s)), brokertest.Switch{Off: do(s.Kill), On: do(s.Start)}
	}
}

func mute(dest func(t *testing.T, addr string) *redisbroker.Destination) func(*testing.T) (brokertest.Fixture, brokertest.Switch) {
	return func(t *testing.T) (brokertest.Fixture, brokertest.Switch) {
		s := sharedServer(t)
		line := servertest.Proxy(t, s.Addr())
		return newPlace(admin(t, s)).fixture(dest(t, line.Addr())), brokertest.Switch{
			Off: func() { line.BlackHole(testserver.Down) },
			On: func() {
				line.Cut()
				if err := line.Resume(); err != nil {
					t.Fatal(err)
				}
			},
		}
	}
}
