package redisbroker_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/postbag/postbag/broker"
	"github.com/postbag/postbag/internal/testserver"
	"github.com/postbag/postbag/internal/testserver/servertest"
	"github.com/postbag/postbag/redisbroker"
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
	publishers := []struct {
		name string
		run  func(msgs []broker.Delivery) error
	}{
		{"raw", raw(admin(b, s), 4*round)},
		{"destination", through(d)},
		{"fenced", through(fenced)},
	}
	took := make([]time.Duration, len(publishers))
	var seq int64
	for b.Loop() {
		for i, publisher := range publishers {
			msgs := load(round, &seq)
			began := time.Now()
			for at := 0; at < round; at += size {
				if err := publisher.run(msgs[at : at+size]); err != nil {
					b.Fatal(err)
				}
			}
			took[i] += time.Since(began)
		}
	}
	for i, publisher := range publishers {
		b.ReportMetric(float64(b.N)*round/took[i].Seconds(), publisher.name+"-msg/s")
	}
	b.ReportMetric(took[0].Seconds()/took[1].Seconds(), "of-raw")
	b.ReportMetric(0, "ns/op")
}

func load(n int, seq *int64) []broker.Delivery {
	msgs := messages("orders", n)
	for i := range msgs {
		*seq++
		msgs[i].Seq = *seq
		msgs[i].Key = fmt.Sprintf("customer-%d", i%500)
		msgs[i].Payload = make([]byte, 512)
		msgs[i].Type = "order.created"
		msgs[i].Headers = map[string]string{"traceparent": "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01", "tenant": "acme"}
	}
	return msgs
}

func through(d *redisbroker.Destination) func([]broker.Delivery) error {
	return func(msgs []broker.Delivery) error {
		results := make([]broker.Result, len(msgs))
		d.Publish(context.Background(), msgs, results)
		var errs []error
		for _, r := range results {
			errs = append(errs, r.Err)
		}
		return errors.Join(errs...)
	}
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
