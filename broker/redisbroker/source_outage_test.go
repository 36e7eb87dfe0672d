package redisbroker_test

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/postbag/postbag/broker/redisbroker"
	"github.com/postbag/postbag/internal/publishtest"
	"github.com/postbag/postbag/internal/testserver"
	"github.com/postbag/postbag/internal/testserver/servertest"
	"github.com/postbag/postbag/source"
)

// reads fetches and acks until each of the messages 0 to n-1 came, making faults on the way. Errors of an outage are borne.
// It returns how often a message came again.
func reads(t *testing.T, s *redisbroker.Source, n, faults int, fault func()) (repeats int) {
	t.Helper()
	ctx := publishtest.Timeout(t, 2*time.Minute)
	came := map[int]bool{}
	made := 0
	var making sync.WaitGroup
	defer making.Wait()
	for len(came) < n {
		if made < faults && len(came) >= (made+1)*n/(faults+1) {
			made++
			making.Wait()
			making.Go(fault) // while messages and acks are under way
		}
		within, cancel := context.WithTimeout(ctx, 2*time.Second)
		batch, err := s.Fetch(within, source.Limits{Messages: 50})
		cancel()
		switch {
		case ctx.Err() != nil:
			t.Fatalf("%d of %d messages came: %v", len(came), n, err)
		case errors.Is(err, source.ErrMisconfigured), errors.Is(err, source.ErrClosed):
			t.Fatalf("Fetch: %v", err)
		}
		for _, m := range batch.Messages {
			i, err := strconv.Atoi(string(m.Payload))
			if err != nil {
				t.Fatal(err)
			}
			if came[i] {
				repeats++
			}
			came[i] = true
		}
		if _, err := s.Ack(publishtest.Timeout(t, 2*time.Second), receiptsOf(batch.Messages)); errors.Is(err, source.ErrMisconfigured) {
			t.Fatalf("Ack: %v", err)
		}
	}
	return repeats
}

// fill stores n messages over streams, with numbers as their payloads.
func fill(t *testing.T, c redis.UniversalClient, n int, streams ...string) {
	t.Helper()
	pipe := c.Pipeline()
	for i := range n {
		pipe.XAdd(t.Context(), &redis.XAddArgs{Stream: streams[i%len(streams)], Values: []string{"payload", strconv.Itoa(i)}})
	}
	if _, err := pipe.Exec(t.Context()); err != nil {
		t.Fatal(err)
	}
}

func TestAServerThatIsKilledTakesNoMessageAwayFromASource(t *testing.T) {
	t.Parallel()
	s := servertest.Redis(t, testserver.RedisOptions{Password: password})
	p := newPlace(admin(t, s))
	o := p.taking(s)
	o.AckWait = shortWait
	src := openSource(t, o)
	fill(t, p.client, 1500, p.topic)
	t.Logf("%d messages came again", reads(t, src, 1500, 3, func() {
		if err := s.Kill(t.Context()); err != nil {
			t.Error(err)
		}
		if err := s.Start(t.Context()); err != nil {
			t.Error(err)
		}
	}))
}

// What an answer held that got lost is at work in the source's name, and is found there at once: the ack wait is an hour.
func TestAConnectionThatIsCutTakesNoMessageAwayFromASource(t *testing.T) {
	t.Parallel()
	server := sharedServer(t)
	p := newPlace(admin(t, server))
	line := servertest.Proxy(t, server.Addr())
	o := p.taking(server)
	o.URL, o.AckWait = "redis://"+line.Addr(), time.Hour
	src := openSource(t, o)
	fill(t, p.client, 1500, p.topic)
	t.Logf("%d messages came again", reads(t, src, 1500, 10, func() {
		tick := time.NewTicker(time.Millisecond)
		defer tick.Stop()
		for range 5 {
			<-tick.C
			line.Cut()
		}
	}))
}

// The client is as go-redis makes it, and would repeat the question without a word: what the first answer held would stay
// where it is for an hour.
func TestAnAnswerThatIsLostIsReadInTheHistoryAtOnce(t *testing.T) {
	t.Parallel()
	server := sharedServer(t)
	p := newPlace(admin(t, server))
	line := servertest.Proxy(t, server.Addr())
	own := redis.NewClient(&redis.Options{Addr: line.Addr(), Password: password})
	t.Cleanup(func() { _ = own.Close() })
	o := p.taking(server)
	o.URL, o.Login, o.Client, o.AckWait = "", redisbroker.Login{}, own, time.Hour
	src := openSource(t, o)
	nothing(t, src, 100*time.Millisecond)
	line.Watch(testserver.Down, func(_ int, bytes []byte) testserver.Verdict {
		if strings.Contains(string(bytes), "payload") {
			return testserver.CutBefore
		}
		return testserver.Forward
	})
	p.store(t, 0, 3)
	publishtest.Eventually(t, "the answer is lost", func() bool {
		_, err := src.Fetch(publishtest.Timeout(t, time.Second), source.Limits{})
		return errors.Is(err, source.ErrUnavailable)
	})
	line.Watch(testserver.Down, nil)
	if n := p.pending(t, ""); n == 0 {
		t.Fatal("nothing was read: the answer was not lost")
	}
	msgs, _ := take(t, src, 3)
	wantNumbers(t, msgs, 0, 3)
	ack(t, src, 0, msgs...)
}

func TestAServerThatDoesNotAnswerIsUnavailableForFetchAndAck(t *testing.T) {
	t.Parallel()
	server := sharedServer(t)
	p := newPlace(admin(t, server))
	line := servertest.Proxy(t, server.Addr())
	own := redis.NewClient(&redis.Options{Addr: line.Addr(), Password: password, ReadTimeout: time.Second, MaxRetries: -1})
	t.Cleanup(func() { _ = own.Close() })
	o := p.taking(server)
	o.URL, o.Login, o.Client = "", redisbroker.Login{}, own
	src := openSource(t, o)
	p.store(t, 0, 3)
	msgs, _ := take(t, src, 3)
	line.BlackHole(testserver.Down)
	if _, err := src.Ack(publishtest.Timeout(t, 300*time.Millisecond), receiptsOf(msgs[:2])); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("Ack with a context that ended: %v", err)
	}
	if _, err := src.Ack(publishtest.Timeout(t, time.Minute), receiptsOf(msgs)); !saysThat(err, source.ErrUnavailable, "call again") {
		t.Errorf("Ack without an answer: %v", err)
	}
	saysUntil(t, src, source.ErrUnavailable, "no answer")
	line.Cut()
	if err := line.Resume(); err != nil {
		t.Fatal(err)
	}
	publishtest.Eventually(t, "the acks arrive", func() bool {
		lost, err := src.Ack(publishtest.Timeout(t, time.Second), receiptsOf(msgs))
		return lost == 0 && err == nil
	})
	publishtest.Eventually(t, "Fetch goes on", func() bool {
		_, err := src.Fetch(publishtest.Timeout(t, time.Second), source.Limits{})
		return errors.Is(err, context.DeadlineExceeded)
	})
}

func TestASourceWhoseServerIsAwayOrRefusesTheLoginIsNotOpened(t *testing.T) {
	t.Parallel()
	server := start(t, nil)
	p := newPlace(admin(t, server))
	o := p.taking(server)
	o.Login.Password = "wrong"
	_, err := redisbroker.OpenSource(publishtest.Timeout(t, 10*time.Second), o)
	if !saysThat(err, source.ErrMisconfigured, "WRONGPASS") {
		t.Errorf("a login that is refused: %v", err)
	}
	if err := server.Kill(t.Context()); err != nil {
		t.Fatal(err)
	}
	_, err = redisbroker.OpenSource(publishtest.Timeout(t, 10*time.Second), p.taking(server))
	if !saysThat(err, source.ErrUnavailable, server.Addr()) {
		t.Errorf("a server that is away: %v", err)
	}
}

func TestCloseOfASourceWhoseServerIsAwaySaysThatMessagesComeLate(t *testing.T) {
	t.Parallel()
	server := start(t, nil)
	p := newPlace(admin(t, server))
	src := openSource(t, p.taking(server))
	p.store(t, 0, 3)
	take(t, src, 3)
	if err := server.Kill(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := src.Close(publishtest.Timeout(t, 20*time.Second)); !saysThat(err, source.ErrUnavailable, "comes again after 1m0s") {
		t.Errorf("Close: %v", err)
	}
	if _, err := src.Fetch(t.Context(), source.Limits{}); !errors.Is(err, source.ErrClosed) {
		t.Errorf("Fetch after Close: %v", err)
	}
}

func TestNoMessageOfASourceIsLostWhenASentinelPromotesAReplica(t *testing.T) {
	t.Parallel()
	primary := servertest.Redis(t, testserver.RedisOptions{Password: password})
	replica := servertest.Redis(t, testserver.RedisOptions{Password: password, ReplicaOf: primary})
	sentinel := servertest.RedisSentinel(t, "orders", primary, 1)
	p := newPlace(admin(t, primary))
	fill(t, p.client, 2000, p.topic)
	if got := do(t, primary, "WAIT", "1", "10000"); got != "1" {
		t.Fatalf("%s replicas have the messages", got)
	}
	publishtest.Eventually(t, "the replica has them", func() bool { return do(t, replica, "XLEN", p.topic) == "2000" })
	o := p.taking(primary)
	o.URL, o.AckWait = "redis://"+sentinel.Addr(), shortWait
	o.Login.Primary = "orders"
	src := openSource(t, o)
	t.Logf("%d messages came again", reads(t, src, 2000, 1, func() {
		if err := primary.Kill(context.Background()); err != nil {
			t.Error(err)
		}
	}))
	port, err := sentinel.PrimaryPort(t.Context())
	if err != nil || port != replica.Port() {
		t.Errorf("the primary is still the one that was killed: %v", err)
	}
}

func TestNoMessageOfASourceIsLostWhenAClusterFailsOver(t *testing.T) {
	t.Parallel()
	nodes := servertest.RedisCluster(t, 3, 3, testserver.RedisOptions{Password: password})
	c := clusterAdmin(t, nodes)
	p := newPlace(c)
	o := redisbroker.SourceOptions{
		URL: "redis://" + strings.Join(nodes.Addrs(), ",redis://"), Login: redisbroker.Login{Password: password},
		Topics: []string{p.topic}, Shards: 3, Group: "readers", AckWait: shortWait,
	}
	src := openSource(t, o)
	streams := p.streams(t)
	if len(streams) != 3 {
		t.Fatalf("the streams are %q", streams)
	}
	fill(t, c, 1500, streams...)
	for _, node := range nodes.Primaries {
		publishtest.Eventually(t, "the replicas have the messages", func() bool {
			info := do(t, node, "INFO", "replication")
			return strings.Contains(info, "state=online") && do(t, node, "WAIT", "1", "1000") == "1"
		})
	}
	t.Logf("%d messages came again", reads(t, src, 1500, 1, func() { failOver(t, nodes, streams[0]) }))
}
