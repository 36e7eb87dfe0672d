package redisbroker_test

import (
	"context"
	"hash/fnv"
	"slices"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/postbag/postbag/broker"
	"github.com/postbag/postbag/broker/redisbroker"
	"github.com/postbag/postbag/internal/publishtest"
	"github.com/postbag/postbag/internal/testserver/servertest"
	"github.com/postbag/postbag/source"
	"github.com/postbag/postbag/source/sourcetest"
)

// suiteWait is the ack wait of the suite's sources. It is long enough for a case that acks nothing on a busy machine, and
// short enough for those that let it run out.
const suiteWait = 6 * time.Second

// clientMaker makes a client of its own for a member.
type clientMaker func() redis.UniversalClient

// The client is as go-redis makes it by default: it speaks protocol 3 and repeats commands.
func TestASourceConforms(t *testing.T) {
	t.Parallel()
	shared := sharedServer(t)
	h := sourceHarness("Redis Streams 7.0, as a source", func() redis.UniversalClient {
		return redis.NewClient(&redis.Options{Addr: shared.Addr(), Password: password})
	}, 1)
	h.Outage = func(t *testing.T) (sourcetest.Fixture, sourcetest.Switch) {
		s := servertest.Redis(t, settings())
		do := func(what func(context.Context) error) func() {
			return func() {
				if err := what(context.Background()); err != nil {
					t.Fatal(err)
				}
			}
		}
		return sourceFixture(t, func() redis.UniversalClient {
			return redis.NewClient(&redis.Options{Addr: s.Addr(), Password: password})
		}, 1), sourcetest.Switch{Off: do(s.Kill), On: do(s.Start)}
	}
	delete(h.Lacks, sourcetest.PartOutage)
	sourcetest.Run(t, h)
}

// One command reads all streams.
func TestASourceOfSeveralStreamsConforms(t *testing.T) {
	t.Parallel()
	shared := sharedServer(t)
	sourcetest.Run(t, sourceHarness("", func() redis.UniversalClient {
		return redis.NewClient(&redis.Options{Addr: shared.Addr(), Password: password, Protocol: 2})
	}, 4))
}

// The streams are in different slots, so that no command can name them all.
func TestASourceOfAClusterConforms(t *testing.T) {
	t.Parallel()
	nodes := servertest.RedisCluster(t, 3, 0, settings())
	sourcetest.Run(t, sourceHarness("Redis Streams 7.0, cluster, as a source", func() redis.UniversalClient {
		return redis.NewClusterClient(&redis.ClusterOptions{Addrs: nodes.Addrs(), Password: password})
	}, 4))
}

func sourceHarness(on string, client clientMaker, shards int) sourcetest.Harness {
	return sourcetest.Harness{
		On:   on,
		Open: func(t *testing.T) sourcetest.Fixture { return sourceFixture(t, client, shards) },
		Lacks: map[sourcetest.Part]string{
			sourcetest.PartRebalance: "members share messages, not partitions",
			sourcetest.PartOutage:    "shown on a single server with one stream",
		},
		Features: source.Features{Order: source.OrderNone, Places: true, Counts: true, AckWait: suiteWait, Binding: broker.BindingRedis},
		NoKeys:   true,
		Secrets:  []string{password},
		Quiet:    500 * time.Millisecond,
		Patience: time.Minute,
	}
}

func sourceFixture(t *testing.T, client clientMaker, shards int) sourcetest.Fixture {
	t.Helper()
	sender := client()
	t.Cleanup(func() { _ = sender.Close() })
	p := newPlace(sender)
	clients := map[source.Source]redis.UniversalClient{}
	streams := []string{p.topic}
	if shards > 1 {
		streams = nil
		for i := range shards {
			streams = append(streams, "{"+p.topic+":"+string(rune('0'+i))+"}")
		}
	}
	send := func(t *testing.T, m source.Message, fields ...string) {
		hash := fnv.New32a()
		_, _ = hash.Write([]byte(m.Key))
		for _, h := range m.Headers {
			fields = slices.Concat([]string{h.Name, h.Value}, fields)
		}
		args := &redis.XAddArgs{Stream: streams[int(hash.Sum32())%len(streams)], Values: fields}
		publishtest.Eventually(t, "the message is stored", func() bool { return sender.XAdd(context.Background(), args).Err() == nil })
	}
	return sourcetest.Fixture{
		Join: func(t *testing.T) source.Source {
			own := client()
			t.Cleanup(func() { _ = own.Close() })
			s := openSource(t, redisbroker.SourceOptions{Client: own, Topics: []string{p.topic}, Shards: shards, Group: "readers", AckWait: suiteWait})
			clients[s] = own
			return s
		},
		Send: func(t *testing.T, msgs ...source.Message) {
			for _, m := range msgs {
				m.Headers = slices.Clone(m.Headers)
				slices.Reverse(m.Headers) // send puts each before the others
				send(t, m, "payload", string(m.Payload))
			}
		},
		Kill: func(_ *testing.T, s source.Source) { _ = clients[s].Close() },
		SendUndecodable: func(t *testing.T) {
			send(t, source.Message{}, "no", "payload")
		},
	}
}
