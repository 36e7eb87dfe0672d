package redisbroker_test

import (
	"context"
	"fmt"
	"os"
	"sort"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/redis/go-redis/v9"

	"github.com/postbag/postbag/broker"
	"github.com/postbag/postbag/broker/brokertest"
	"github.com/postbag/postbag/broker/redisbroker"
	"github.com/postbag/postbag/internal/publishtest"
	"github.com/postbag/postbag/internal/testserver"
	"github.com/postbag/postbag/internal/testserver/servertest"
)

// password is one of a server, and of its users.
const password = "pa55-w0rd"

// tooLarge is the payload that the tests' servers do not take.
const tooLarge = 1<<20 + 1

// shared is a server for the tests that do no harm to one.
var shared struct {
	once   sync.Once
	server *testserver.Redis
	err    error
}

func TestMain(m *testing.M) {
	redis.SetLogger(quiet{}) // it tells of every dial that fails in an outage
	code := m.Run()
	shared.once.Do(func() {})
	if shared.server != nil {
		if err := shared.server.Close(); err != nil {
			fmt.Fprintln(os.Stderr, "the shared Redis was not closed:", err)
			code = max(code, 1)
		}
	}
	os.Exit(code)
}

type quiet struct{}

func (quiet) Printf(context.Context, string, ...any) {}

// settings make a server's limit for one part of a command reachable.
func settings() testserver.RedisOptions {
	return testserver.RedisOptions{Password: password, Settings: map[string]string{"proto-max-bulk-len": "1mb"}}
}

func sharedServer(t testing.TB) *testserver.Redis {
	t.Helper()
	shared.once.Do(func() { shared.server, shared.err = testserver.StartRedis(context.Background(), settings()) })
	servertest.Need(t, shared.err)
	return shared.server
}

// admin is a client for the test itself, with the client's own defaults.
func admin(t testing.TB, s *testserver.Redis) *redis.Client {
	t.Helper()
	c := redis.NewClient(&redis.Options{Addr: s.Addr(), Password: password})
	t.Cleanup(func() { _ = c.Close() })
	return c
}

var placeCount atomic.Int64

// place is a topic of one test's own.
type place struct {
	client redis.UniversalClient
	topic  string
}

func newPlace(c redis.UniversalClient) place {
	return place{client: c, topic: fmt.Sprintf("p%d.made", placeCount.Add(1))}
}

// streams are the names of what holds the topic's messages, whatever the options.
func (p place) streams(t testing.TB) []string {
	t.Helper()
	var names []string
	for _, pattern := range []string{p.topic, "{" + p.topic + ":*"} {
		ask := func(ctx context.Context, c *redis.Client) error {
			keys, err := c.Keys(ctx, pattern).Result()
			names = append(names, keys...)
			return err
		}
		var err error
		if cluster, ok := p.client.(*redis.ClusterClient); ok {
			var mu sync.Mutex
			err = cluster.ForEachMaster(t.Context(), func(ctx context.Context, c *redis.Client) error {
				mu.Lock()
				defer mu.Unlock()
				return ask(ctx, c)
			})
		} else if c, ok := p.client.(*redis.Client); ok {
			err = ask(context.Background(), c)
		}
		if err != nil {
			t.Fatalf("the streams cannot be listed: %v", err)
		}
	}
	sort.Strings(names)
	return names
}

// entries reads all that the topic's streams hold.
func (p place) entries(t testing.TB) []redis.XMessage {
	t.Helper()
	var held []redis.XMessage
	for _, name := range p.streams(t) {
		entries, err := p.client.XRange(context.Background(), name, "-", "+").Result()
		if err != nil {
			t.Fatalf("a stream cannot be read: %v", err)
		}
		held = append(held, entries...)
	}
	return held
}

// stored is entries for the suite, decoded by rules of its own, not by Message.
func (p place) stored(t *testing.T) []brokertest.Received {
	t.Helper()
	var held []brokertest.Received
	for _, x := range p.entries(t) {
		facts, headers := map[string]string{}, map[string]string{}
		for name, value := range x.Values {
			text, _ := value.(string)
			switch {
			case name == "payload":
			case strings.HasPrefix(name, "Postbag-") && name != "Postbag-Replay":
				facts[name] = text
			default:
				headers[strings.TrimPrefix(name, "header:")] = text
			}
		}
		payload, _ := x.Values["payload"].(string)
		topic := facts["Postbag-Topic"]
		delete(facts, "Postbag-Topic")
		r, err := brokertest.FromHeaders(topic, facts, []byte(payload))
		if err != nil {
			t.Fatal(err)
		}
		r.Headers = headers
		held = append(held, r)
	}
	return held
}

func (p place) wired(t *testing.T) []brokertest.Wired {
	t.Helper()
	var held []brokertest.Wired
	for _, x := range p.entries(t) {
		w := brokertest.Wired{Headers: map[string]string{}}
		for name, value := range x.Values {
			w.Headers[name], _ = value.(string)
		}
		w.ContentType, w.Payload = w.Headers["content-type"], []byte(w.Headers["payload"])
		delete(w.Headers, "payload")
		held = append(held, w)
	}
	return held
}

func (p place) fixture(d *redisbroker.Destination) brokertest.Fixture {
	return brokertest.Fixture{Destination: d, Topic: p.topic, Stored: p.stored, Wired: p.wired}
}

// dial makes a destination with a client of its own.
func dial(t testing.TB, urls string, o redisbroker.Options) *redisbroker.Destination {
	t.Helper()
	if o.Login.Password == "" {
		o.Login.Password = password
	}
	d, err := redisbroker.Dial(t.Context(), urls, o)
	if err != nil {
		t.Fatal(err)
	}
	return publishtest.Closing(t, d)
}

// wants wants every result to be of an outcome, with these words in its error or,
// if it is accepted, as its note.
func wants(t testing.TB, results []broker.Result, outcome broker.Outcome, words string) {
	t.Helper()
	publishtest.Wants(t, results, outcome, words, password)
}

// replicaOf starts a replica that has its primary's data.
func replicaOf(t testing.TB, primary *testserver.Redis) *testserver.Redis {
	t.Helper()
	return servertest.Redis(t, testserver.RedisOptions{Password: password, AppendFsync: "off", ReplicaOf: primary})
}
