package main

import (
	"context"
	"fmt"

	"github.com/redis/go-redis/v9"

	"github.com/postbag/postbag/broker"
	"github.com/postbag/postbag/broker/redisbroker"
	"github.com/postbag/postbag/internal/testserver"
)

// startRedis starts the server once. It writes every command to its file and has it flushed every second, as it does by
// default when asked to append.
func (l *testbed) startRedis(ctx context.Context) (*testserver.Redis, error) {
	return once(l, &l.redis, func() (*testserver.Redis, error) { return testserver.StartRedis(ctx, testserver.RedisOptions{}) })
}

func redisRaw(ctx context.Context, l *testbed) (rawSender, error) {
	s, err := l.startRedis(ctx)
	if err != nil {
		return rawSender{}, err
	}
	c := redis.NewClient(&redis.Options{Addr: s.Addr(), MaxRetries: -1})
	send := func(rows []rawRow) error {
		p := c.Pipeline()
		for i := range rows {
			p.XAdd(ctx, &redis.XAddArgs{Stream: rows[i].topic, Values: []any{
				"payload", rows[i].payload, "trace", "0af7651916cd43dd8448eb211c80319c", "tenant", "7", "id", fmt.Sprintf("%036d", rows[i].seq),
			}})
		}
		_, err := p.Exec(ctx)
		return err
	}
	return rawSender{send: send, close: func() { _ = c.Close() }}, c.FlushAll(ctx).Err()
}

func redisDestination(ctx context.Context, l *testbed) (broker.Destination, error) {
	s, err := l.startRedis(ctx)
	if err != nil {
		return nil, err
	}
	if _, err := s.Do(ctx, "FLUSHALL"); err != nil {
		return nil, err
	}
	return redisbroker.Dial(ctx, "redis://"+s.Addr(), redisbroker.Options{})
}
