package testserver_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/postbag/postbag/internal/testserver"
	"github.com/postbag/postbag/internal/testserver/servertest"
)

// redisDo gives a command that must succeed.
func redisDo(t *testing.T, r *testserver.Redis, args ...string) string {
	t.Helper()
	answer, err := r.Do(t.Context(), args...)
	if err != nil {
		t.Fatalf("%s: %v", args[0], err)
	}
	return answer
}

// redisRefuses wants an error that begins with code.
func redisRefuses(t *testing.T, r *testserver.Redis, code string, args ...string) {
	t.Helper()
	if answer, err := r.Do(t.Context(), args...); err == nil || !strings.HasPrefix(err.Error(), code) {
		t.Errorf("%s: %q, %v, want an error %s", args[0], answer, err, code)
	}
}

// eventuallyTrue repeats try until it says true.
func eventuallyTrue(t *testing.T, what string, try func(ctx context.Context) bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for !try(ctx) {
		select {
		case <-ctx.Done():
			t.Fatalf("still not: %s", what)
		case <-tick.C:
		}
	}
}

func TestRedisKeepsAcknowledgedWritesAfterStopKillAndPause(t *testing.T) {
	t.Parallel()
	r := servertest.Redis(t, testserver.RedisOptions{Password: "s3cret\" x"})
	for range 10 {
		redisDo(t, r, "XADD", "kept", "*", "field", "value\r\n")
	}
	if err := r.Restart(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := redisDo(t, r, "XLEN", "kept"); got != "10" {
		t.Errorf("%s entries after a restart, want 10", got)
	}
	if err := r.Kill(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := r.Do(t.Context(), "PING"); err == nil {
		t.Error("a killed server answers")
	}
	if err := r.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := redisDo(t, r, "XLEN", "kept"); got != "10" {
		t.Errorf("%s entries after a kill, want 10", got)
	}
	if err := r.Start(t.Context()); err == nil {
		t.Error("a running server was started a second time")
	}
	if err := r.Pause(); err != nil {
		t.Fatal(err)
	}
	short, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	if _, err := r.Do(short, "PING"); err == nil {
		t.Error("a frozen server answers")
	}
	if err := r.Resume(); err != nil {
		t.Fatal(err)
	}
	redisDo(t, r, "PING")
}

func TestRedisTakesItsLimitsAndUsers(t *testing.T) {
	t.Parallel()
	r := servertest.Redis(t, testserver.RedisOptions{
		MaxMemory: 4 << 20, AppendFsync: "off", Users: []string{"reader on >x ~kept +xlen"}, TLS: true,
	})
	redisRefuses(t, r, "OOM", "SET", "big", strings.Repeat("x", 5<<20))
	if got := redisDo(t, r, "ACL", "LIST"); !strings.Contains(got, "user reader on") {
		t.Errorf("the users are %q", got)
	}
	if _, err := r.ClientTLS("client"); err != nil {
		t.Error(err)
	}
}

func TestASentinelPromotesAReplica(t *testing.T) {
	t.Parallel()
	slow(t)
	primary := servertest.Redis(t, testserver.RedisOptions{})
	replica := servertest.Redis(t, testserver.RedisOptions{ReplicaOf: primary})
	sentinel := servertest.RedisSentinel(t, "main", primary, 1)
	redisDo(t, primary, "SET", "k", "v")
	if got := redisDo(t, primary, "WAIT", "1", "10000"); got != "1" {
		t.Fatalf("%s replicas have the key", got)
	}
	redisRefuses(t, replica, "READONLY", "SET", "k", "w")
	if err := primary.Kill(t.Context()); err != nil {
		t.Fatal(err)
	}
	eventuallyTrue(t, "the replica is the primary", func(ctx context.Context) bool {
		port, err := sentinel.PrimaryPort(ctx)
		return err == nil && port == replica.Port()
	})
	eventuallyTrue(t, "it takes writes", func(ctx context.Context) bool {
		_, err := replica.Do(ctx, "SET", "k", "w")
		return err == nil
	})
}

func TestAClusterSharesSlotsAndFailsOver(t *testing.T) {
	t.Parallel()
	slow(t)
	c := servertest.RedisCluster(t, 3, 3, testserver.RedisOptions{})
	owner, err := c.Owner(t.Context(), "some key")
	if err != nil {
		t.Fatal(err)
	}
	redisDo(t, owner, "SET", "some key", "v")
	redisDo(t, owner, "WAIT", "1", "10000")
	for _, node := range c.Primaries {
		if node != owner {
			redisRefuses(t, node, "MOVED", "GET", "some key")
		}
	}
	if err := owner.Kill(t.Context()); err != nil {
		t.Fatal(err)
	}
	eventuallyTrue(t, "another node serves the slot", func(ctx context.Context) bool {
		next, err := c.Owner(ctx, "some key")
		if err != nil || next == owner {
			return false
		}
		answer, err := next.Do(ctx, "GET", "some key")
		return err == nil && answer == "v"
	})
}
