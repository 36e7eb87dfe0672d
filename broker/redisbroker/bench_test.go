package redisbroker_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/redis/go-redis/v9"

	"github.com/postbag/postbag/broker"
	"github.com/postbag/postbag/broker/redisbroker"
	"github.com/postbag/postbag/internal/publishtest"
	"github.com/postbag/postbag/internal/testserver"
	"github.com/postbag/postbag/internal/testserver/servertest"
)

// BenchmarkAgainstRaw adds the same messages (512 bytes, a key, two headers) through
// the destination and through the client library's own pipeline, turn by turn in
// one run, and reports messages a second of each and their ratio:
//
//	go test -run xxx -bench AgainstRaw -benchtime 10x ./redisbroker
func BenchmarkAgainstRaw(b *testing.B) {
	const round, size = 20_000, 1000
	s := servertest.Redis(b, testserver.RedisOptions{Password: password, AppendFsync: "everysec"})
	d := dial(b, "redis://"+s.Addr(), redisbroker.Options{MaxLen: 4 * round})
	fenced := dial(b, "redis://"+s.Addr(), redisbroker.Options{Fence: true, MaxLen: 4 * round})
	var seq int64
	publishtest.Race(b, func() []broker.Delivery { return load(round, &seq) },
		publishtest.InPieces("raw", raw(admin(b, s), 4*round), size),
		publishtest.Through("destination", d, size),
		publishtest.Through("fenced", fenced, size))
}

func load(n int, seq *int64) []broker.Delivery {
	msgs := publishtest.Load(publishtest.Messages("orders", n))
	for i := range msgs {
		*seq++
		msgs[i].Seq = *seq
		msgs[i].Key = fmt.Sprintf("customer-%d", i%500)
	}
	return msgs
}

// raw writes the same fields with the client's own types.
func raw(c *redis.Client, maxLen int64) func([]broker.Delivery) error {
	return func(msgs []broker.Delivery) error {
		ctx := context.Background()
		_, err := c.Pipelined(ctx, func(pipe redis.Pipeliner) error {
			for _, m := range msgs {
				values := []any{
					broker.HeaderID, m.ID.String(), "Postbag-Topic", m.Topic, broker.HeaderKey, m.Key, broker.HeaderType, m.Type,
					broker.HeaderTime, broker.FormatTime(m.At),
				}
				for name, value := range m.Headers {
					values = append(values, name, value)
				}
				pipe.XAdd(ctx, &redis.XAddArgs{Stream: "raw", MaxLen: maxLen, Approx: true, Values: append(values, "payload", m.Payload)})
			}
			return nil
		})
		return err
	}
}
