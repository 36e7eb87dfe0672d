package matrix

import (
	"fmt"
	"testing"

	"github.com/redis/go-redis/v9"

	"github.com/postbag/postbag/broker"
	"github.com/postbag/postbag/broker/redisbroker"
	"github.com/postbag/postbag/internal/testserver"
	"github.com/postbag/postbag/internal/testserver/servertest"
)

func startRedis(t *testing.T) *server {
	t.Helper()
	s := servertest.Redis(t, testserver.RedisOptions{})
	c := redis.NewClient(&redis.Options{Addr: s.Addr()})
	t.Cleanup(func() { _ = c.Close() })
	return &server{
		place:   func(*testing.T) *place { return redisPlace(s, c) },
		restart: s.Restart,
	}
}

// redisPlace is a topic of three streams.
func redisPlace(s *testserver.Redis, c *redis.Client) *place {
	name := newName()
	return &place{
		topic: name,
		yaml:  fmt.Sprintf("{redis: {url: 'redis://%s', shards: 3}}", s.Addr()),
		open: func(t *testing.T) broker.Destination {
			t.Helper()
			d, err := redisbroker.Dial(t.Context(), "redis://"+s.Addr(), redisbroker.Options{Shards: 3})
			if err != nil {
				t.Fatal(err)
			}
			return d
		},
		stored: func(t *testing.T) (out [][]byte) {
			t.Helper()
			for shard := range 3 {
				entries, err := c.XRange(t.Context(), fmt.Sprintf("{%s:%d}", name, shard), "-", "+").Result()
				if err != nil {
					t.Fatal(err)
				}
				for i := range entries {
					m, err := redisbroker.Message(entries[i])
					if err != nil {
						t.Fatal(err)
					}
					out = append(out, m.Payload)
				}
			}
			return out
		},
	}
}
