package redisbroker_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
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

// do gives the server a command that must succeed.
func do(t testing.TB, s *testserver.Redis, args ...string) string {
	t.Helper()
	answer, err := s.Do(context.Background(), args...)
	if err != nil {
		t.Fatalf("%s: %v", args[0], err)
	}
	return answer
}

// to is a destination on a server that is the test's own.
func to(t testing.TB, s *testserver.Redis, o redisbroker.Options) *redisbroker.Destination {
	t.Helper()
	return dial(t, "redis://"+s.Addr(), o)
}

// start starts one with the tests' password and these settings.
func start(t testing.TB, more map[string]string) *testserver.Redis {
	t.Helper()
	return servertest.Redis(t, testserver.RedisOptions{Password: password, AppendFsync: "off", Settings: more})
}

func TestAServerThatIsOutOfMemoryIsUnavailableUntilThereIsRoom(t *testing.T) {
	t.Parallel()
	s := start(t, nil)
	d := to(t, s, redisbroker.Options{})
	m := publishtest.Messages("orders", 2)
	do(t, s, "SET", "ballast", strings.Repeat("x", 4<<20))
	do(t, s, "CONFIG", "SET", "maxmemory", "4mb")
	wants(t, publishtest.Publish(t, d, 10*time.Second, m...), broker.Unavailable, "OOM")
	do(t, s, "DEL", "ballast")
	wants(t, publishtest.Publish(t, d, 10*time.Second, m...), broker.Accepted, "")
}

func TestAReplicaIsUnavailable(t *testing.T) {
	t.Parallel()
	primary := start(t, nil)
	replica := servertest.Redis(t, testserver.RedisOptions{
		Password: password, AppendFsync: "off", ReplicaOf: primary, Settings: map[string]string{"replica-serve-stale-data": "no"},
	})
	d := to(t, replica, redisbroker.Options{})
	m := publishtest.Messages("orders", 2)
	wants(t, publishtest.Publish(t, d, 10*time.Second, m...), broker.Unavailable, "READONLY")
	do(t, replica, "CONFIG", "SET", "replica-read-only", "no")
	if err := primary.Kill(t.Context()); err != nil {
		t.Fatal(err)
	}
	publishtest.Eventually(t, "without its primary", func() bool {
		r := publishtest.Publish(t, d, 10*time.Second, m...)
		return r[0].Outcome == broker.Unavailable && strings.Contains(r[0].Err.Error(), "MASTERDOWN")
	})
	if got := broker.OutcomeOf(d.Probe(publishtest.Timeout(t, 10*time.Second))); got != broker.Unavailable {
		t.Errorf("the probe says %v", got)
	}
}

func TestAServerThatLoadsItsDataIsUnavailable(t *testing.T) {
	t.Parallel()
	s := start(t, map[string]string{"enable-debug-command": "yes", "loading-process-events-interval-bytes": "1024"})
	d := to(t, s, redisbroker.Options{})
	m := publishtest.Messages("orders", 2)
	for key := range strings.SplitSeq("abcdefghij", "") {
		do(t, s, "SET", key, strings.Repeat(key, 4096), "EX", "600")
	}
	do(t, s, "CONFIG", "SET", "rdbcompression", "no")
	do(t, s, "CONFIG", "SET", "key-load-delay", "200000") // microseconds
	loaded := make(chan error, 1)
	go func() {
		_, err := s.Do(publishtest.Timeout(t, time.Minute), "DEBUG", "RELOAD")
		loaded <- err
	}()
	publishtest.Eventually(t, "loading", func() bool {
		r := publishtest.Publish(t, d, 10*time.Second, m...)
		return r[0].Outcome == broker.Unavailable && strings.Contains(r[0].Err.Error(), "LOADING")
	})
	if err := <-loaded; err != nil {
		t.Fatal(err)
	}
	wants(t, publishtest.Publish(t, d, 10*time.Second, m...), broker.Accepted, "")
}

func TestAServerThatRunsAScriptIsUnavailable(t *testing.T) {
	t.Parallel()
	s := start(t, map[string]string{"busy-reply-threshold": "10"})
	d := to(t, s, redisbroker.Options{})
	ran := make(chan error, 1)
	go func() {
		_, err := s.Do(publishtest.Timeout(t, time.Minute), "EVAL", "while true do end", "0")
		ran <- err
	}()
	publishtest.Eventually(t, "busy", func() bool {
		r := publishtest.Publish(t, d, 10*time.Second, publishtest.Messages("orders", 1)...)
		return r[0].Outcome == broker.Unavailable && strings.Contains(r[0].Err.Error(), "BUSY")
	})
	publishtest.Eventually(t, "the script ends", func() bool {
		_, err := s.Do(t.Context(), "SCRIPT", "KILL")
		return err == nil
	})
	if err := <-ran; err == nil {
		t.Error("the script ended by itself")
	}
	wants(t, publishtest.Publish(t, d, 10*time.Second, publishtest.Messages("orders", 2)...), broker.Accepted, "")
}

func TestAServerWithTooFewReplicasIsUnavailable(t *testing.T) {
	t.Parallel()
	s := start(t, map[string]string{"min-replicas-to-write": "1"})
	wants(t, publishtest.Publish(t, to(t, s, redisbroker.Options{}), 10*time.Second, publishtest.Messages("orders", 2)...), broker.Unavailable, "NOREPLICAS")
}

func TestAServerThatCannotWriteItsDataIsUnavailable(t *testing.T) {
	t.Parallel()
	s := start(t, map[string]string{"save": "3600 1"})
	d := to(t, s, redisbroker.Options{})
	wants(t, publishtest.Publish(t, d, 10*time.Second, publishtest.Messages("orders", 1)...), broker.Accepted, "")
	_, dir, _ := strings.Cut(do(t, s, "CONFIG", "GET", "dir"), "\n")
	if err := os.Mkdir(filepath.Join(dir, "dump.rdb"), 0o700); err != nil { // a file cannot be renamed onto a folder
		t.Fatal(err)
	}
	do(t, s, "BGSAVE")
	publishtest.Eventually(t, "it cannot write", func() bool {
		r := publishtest.Publish(t, d, 10*time.Second, publishtest.Messages("orders", 1)...)
		return r[0].Outcome == broker.Unavailable && strings.Contains(r[0].Err.Error(), "MISCONF")
	})
}

func TestAServerWithTooManyClientsIsUnavailable(t *testing.T) {
	t.Parallel()
	s := start(t, map[string]string{"maxclients": "1"})
	keeper := redis.NewClient(&redis.Options{Addr: s.Addr(), Password: password, PoolSize: 1})
	t.Cleanup(func() { _ = keeper.Close() })
	if err := keeper.Ping(t.Context()).Err(); err != nil {
		t.Fatal(err)
	}
	wants(t, publishtest.Publish(t, to(t, s, redisbroker.Options{}), 10*time.Second, publishtest.Messages("orders", 2)...), broker.Unavailable, "")
}

func TestALoginThatIsRefusedIsMisconfiguredUntilItIsGranted(t *testing.T) {
	t.Parallel()
	s := start(t, nil)
	m := publishtest.Messages("orders", 2)
	nobody := redis.NewClient(&redis.Options{Addr: s.Addr()})
	t.Cleanup(func() { _ = nobody.Close() })
	stranger := publishtest.Made[*redisbroker.Destination](t)(redisbroker.New(nobody, redisbroker.Options{}))
	wants(t, publishtest.Publish(t, stranger, 10*time.Second, m...)[:1], broker.Misconfigured, "asks for a login")
	if got := broker.OutcomeOf(stranger.Probe(publishtest.Timeout(t, 10*time.Second))); got != broker.Misconfigured {
		t.Errorf("the probe says %v", got)
	}
	d := to(t, s, redisbroker.Options{Login: redisbroker.Login{User: "relay", Password: "another-" + password}})
	wants(t, publishtest.Publish(t, d, 10*time.Second, m...), broker.Misconfigured, "WRONGPASS")
	if got := broker.OutcomeOf(d.Probe(publishtest.Timeout(t, 10*time.Second))); got != broker.Misconfigured {
		t.Errorf("the probe says %v", got)
	}
	do(t, s, "ACL", "SETUSER", "relay", "on", ">another-"+password, "~other*", "+@all")
	wants(t, publishtest.Publish(t, d, 10*time.Second, m...), broker.Misconfigured, "NOPERM")
	do(t, s, "ACL", "SETUSER", "relay", "~orders*")
	wants(t, publishtest.Publish(t, d, 10*time.Second, m...), broker.Accepted, "")
}

func TestAKeyOfAnotherTypeIsMisconfigured(t *testing.T) {
	t.Parallel()
	p := newPlace(admin(t, sharedServer(t)))
	d := dial(t, "redis://"+sharedServer(t).Addr(), redisbroker.Options{})
	do(t, sharedServer(t), "SET", p.topic, "text")
	wants(t, publishtest.Publish(t, d, 10*time.Second, publishtest.Messages(p.topic, 2)...), broker.Misconfigured, "WRONGTYPE")
	do(t, sharedServer(t), "DEL", p.topic)
	wants(t, publishtest.Publish(t, d, 10*time.Second, publishtest.Messages(p.topic, 2)...), broker.Accepted, "")
}

func TestAStreamThatMustExistIsMisconfiguredUntilItDoes(t *testing.T) {
	t.Parallel()
	p := newPlace(admin(t, sharedServer(t)))
	d := dial(t, "redis://"+sharedServer(t).Addr(), redisbroker.Options{Existing: true})
	wants(t, publishtest.Publish(t, d, 10*time.Second, publishtest.Messages(p.topic, 2)...), broker.Misconfigured, "does not exist")
	do(t, sharedServer(t), "XGROUP", "CREATE", p.topic, "readers", "$", "MKSTREAM")
	wants(t, publishtest.Publish(t, d, 10*time.Second, publishtest.Messages(p.topic, 2)...), broker.Accepted, "")
}

func TestAStreamWithoutEntryIDsLeftIsMisconfigured(t *testing.T) {
	t.Parallel()
	p := newPlace(admin(t, sharedServer(t)))
	do(t, sharedServer(t), "XADD", p.topic, "18446744073709551615-18446744073709551615", "last", "1")
	d := dial(t, "redis://"+sharedServer(t).Addr(), redisbroker.Options{})
	wants(t, publishtest.Publish(t, d, 10*time.Second, publishtest.Messages(p.topic, 2)...), broker.Misconfigured, "no ids left")
}

func TestARenamedCommandIsMisconfigured(t *testing.T) {
	t.Parallel()
	s := servertest.Redis(t, testserver.RedisOptions{Password: password, AppendFsync: "off", Settings: map[string]string{"rename-command XADD": ""}})
	wants(t, publishtest.Publish(t, to(t, s, redisbroker.Options{}), 10*time.Second, publishtest.Messages("orders", 2)...), broker.Misconfigured, "does not know the command")
}

// A payload above the limit would have the server close the connection, and take
// the answers of all others with it.
func TestARaisedLimitIsSeenAtTheNextAttempt(t *testing.T) {
	t.Parallel()
	s := start(t, map[string]string{"proto-max-bulk-len": "1mb"})
	d := to(t, s, redisbroker.Options{})
	m := publishtest.Messages("orders", 3)
	m[1].Payload = make([]byte, tooLarge)
	results := publishtest.Publish(t, d, 10*time.Second, m...)
	wants(t, results[1:2], broker.Rejected, "has 1048577 bytes, the server allows 1048576")
	wants(t, []broker.Result{results[0], results[2]}, broker.Accepted, "")
	do(t, s, "CONFIG", "SET", "proto-max-bulk-len", "2mb")
	wants(t, publishtest.Publish(t, d, 10*time.Second, m[1]), broker.Rejected, "")
	m[1].Attempt = 2
	wants(t, publishtest.Publish(t, d, 10*time.Second, m[1]), broker.Accepted, "")
}

func TestTheDefaultLimitIsAssumedIfItMayNotBeRead(t *testing.T) {
	t.Parallel()
	s := start(t, nil)
	do(t, s, "ACL", "SETUSER", "relay", "on", ">"+password, "~*", "+xadd", "+hello", "+ping")
	d := to(t, s, redisbroker.Options{Login: redisbroker.Login{User: "relay", Password: password}})
	m := publishtest.Messages("orders", 3)
	m[1].Payload = make([]byte, 3<<20)
	wants(t, publishtest.Publish(t, d, 20*time.Second, m...), broker.Accepted, "")
}

func TestAServerWhoseCertificateIsNotTrustedIsMisconfigured(t *testing.T) {
	t.Parallel()
	s := servertest.Redis(t, testserver.RedisOptions{Password: password, AppendFsync: "off", TLS: true})
	m := publishtest.Messages("orders", 2)
	wants(t, publishtest.Publish(t, dial(t, "rediss://"+s.Addr(), redisbroker.Options{}), 20*time.Second, m...), broker.Misconfigured, "not trusted")
	config, err := s.ClientTLS("")
	if err != nil {
		t.Fatal(err)
	}
	d := dial(t, "rediss://"+s.Addr(), redisbroker.Options{Login: redisbroker.Login{Password: password, TLS: config}})
	wants(t, publishtest.Publish(t, d, 20*time.Second, m...), broker.Accepted, "")
	results := publishtest.Publish(t, dial(t, "redis://"+s.Addr(), redisbroker.Options{}), 3*time.Second, m...)
	for _, r := range results {
		if r.Outcome == broker.Accepted || r.Outcome == broker.Rejected {
			t.Errorf("without TLS: %v (%v)", r.Outcome, r.Err)
		}
	}
}

func TestAFrozenServerLeavesMessagesUnknown(t *testing.T) {
	t.Parallel()
	s := start(t, nil)
	d := to(t, s, redisbroker.Options{})
	m := publishtest.Messages("orders", 2)
	wants(t, publishtest.Publish(t, d, 10*time.Second, m[0]), broker.Accepted, "")
	if err := s.Pause(); err != nil {
		t.Fatal(err)
	}
	wants(t, publishtest.Publish(t, d, time.Second, m[1]), broker.Unknown, "no answer")
	if err := s.Resume(); err != nil {
		t.Fatal(err)
	}
	wants(t, publishtest.Publish(t, d, 10*time.Second, m[1]), broker.Accepted, "")
}

func TestAClientThatIsClosedIsUnavailable(t *testing.T) {
	t.Parallel()
	c := redis.NewClient(&redis.Options{Addr: sharedServer(t).Addr(), Password: password})
	d := publishtest.Made[*redisbroker.Destination](t)(redisbroker.New(c, redisbroker.Options{}))
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	wants(t, publishtest.Publish(t, d, 10*time.Second, publishtest.Messages("orders", 2)...), broker.Unavailable, "closed")
}

func TestAStreamFunctionThatPanicsRejectsItsMessage(t *testing.T) {
	t.Parallel()
	p := newPlace(admin(t, sharedServer(t)))
	d := dial(t, "redis://"+sharedServer(t).Addr(), redisbroker.Options{Stream: func(m broker.Delivery) string {
		if m.Seq == 2 {
			panic(errors.New("no stream"))
		}
		return m.Topic
	}})
	results := publishtest.Publish(t, d, 10*time.Second, publishtest.Messages(p.topic, 3)...)
	wants(t, results[1:2], broker.Rejected, "panicked")
	wants(t, []broker.Result{results[0], results[2]}, broker.Accepted, "")
}
