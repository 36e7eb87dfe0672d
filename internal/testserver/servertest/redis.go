package servertest

import (
	"context"
	"testing"
	"time"

	"github.com/postbag/postbag/internal/testserver"
)

// Redis starts a Redis server for one test.
func Redis(tb testing.TB, opts testserver.RedisOptions) *testserver.Redis {
	tb.Helper()
	r, err := testserver.StartRedis(context.Background(), opts)
	Need(tb, err)
	keep(tb, "Redis", r)
	return r
}

// RedisCluster starts a cluster for one test.
func RedisCluster(tb testing.TB, primaries, replicas int, opts testserver.RedisOptions) *testserver.RedisCluster {
	tb.Helper()
	c, err := testserver.StartRedisCluster(context.Background(), primaries, replicas, opts)
	Need(tb, err)
	keep(tb, "the Redis cluster", c)
	return c
}

// RedisSentinel starts a sentinel for one test, which takes the primary for dead after 500 ms.
func RedisSentinel(tb testing.TB, name string, primary *testserver.Redis, replicas int) *testserver.RedisSentinel {
	tb.Helper()
	s, err := testserver.StartRedisSentinel(context.Background(), name, primary, replicas, 500*time.Millisecond)
	Need(tb, err)
	keep(tb, "the sentinel", s)
	return s
}
