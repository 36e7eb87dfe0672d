package relay_test

import (
	"context"
	"fmt"
	"log/slog"
	"testing"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/broker/membroker"
	"github.com/postbag/postbag/relay"
	"github.com/postbag/postbag/store/memstore"
)

// BenchmarkDrain is the relay's own cost: a store in memory, a destination that
// takes everything at once, order per key. One operation is one message.
func BenchmarkDrain(b *testing.B) {
	for _, keys := range []int{1, 500, 1_000_000} {
		b.Run(fmt.Sprintf("keys=%d", keys), func(b *testing.B) {
			s := memstore.New(memstore.Options{})
			if err := s.CreateBox(b.Context(), "outbox"); err != nil {
				b.Fatal(err)
			}
			fill(b, s, b.N, keys)
			r, err := relay.New(s, relay.Options{
				Subscriptions: []relay.Subscription{{To: membroker.Null()}},
				Logger:        slog.New(slog.DiscardHandler),
			})
			if err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			b.ResetTimer()
			if err := r.Drain(b.Context()); err != nil {
				b.Fatal(err)
			}
			if got := r.Stats().Subscriptions[0].Delivered; got != int64(b.N) {
				b.Fatalf("%d of %d delivered", got, b.N)
			}
		})
	}
}

// BenchmarkDrainWithHooks is what hooks cost beside none: those of metrics, which need calls
// and settlements, and all of them.
func BenchmarkDrainWithHooks(b *testing.B) {
	metrics := relay.Hooks{Call: func(relay.CallEvent) {}, Settled: func(relay.ProgressEvent) {}}
	all := metrics
	all.PageRead, all.Message, all.Parked, all.Died = func(relay.PageEvent) {}, func(relay.MessageEvent) {}, func(relay.ParkEvent) {}, func(relay.DeathEvent) {}
	all.Circuit, all.Lease = func(relay.CircuitEvent) {}, func(relay.LeaseEvent) {}
	for _, c := range []struct {
		name  string
		hooks []relay.Hooks
	}{{"none", nil}, {"metrics", []relay.Hooks{metrics}}, {"all", []relay.Hooks{all}}} {
		b.Run("hooks="+c.name, func(b *testing.B) {
			s := memstore.New(memstore.Options{})
			if err := s.CreateBox(b.Context(), "outbox"); err != nil {
				b.Fatal(err)
			}
			fill(b, s, b.N, 500)
			r, err := relay.New(s, relay.Options{
				Subscriptions: []relay.Subscription{{To: membroker.Null()}}, Hooks: c.hooks,
				Logger: slog.New(slog.DiscardHandler),
			})
			if err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			b.ResetTimer()
			if err := r.Drain(b.Context()); err != nil {
				b.Fatal(err)
			}
			if got := r.Stats().HooksDropped; got > 0 {
				b.Logf("%d events were dropped", got)
			}
		})
	}
}

// BenchmarkDrainExactlyOnce is the same in transactions: one after the other, each
// with its record, and a settlement between.
func BenchmarkDrainExactlyOnce(b *testing.B) {
	s := memstore.New(memstore.Options{})
	if err := s.CreateBox(b.Context(), "outbox"); err != nil {
		b.Fatal(err)
	}
	fill(b, s, b.N, 500)
	to := membroker.New(membroker.Options{Transactions: true})
	r, err := relay.New(s, relay.Options{
		Subscriptions: []relay.Subscription{{To: to, ExactlyOnce: true}},
		Logger:        slog.New(slog.DiscardHandler),
	})
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	b.ResetTimer()
	if err := r.Drain(b.Context()); err != nil {
		b.Fatal(err)
	}
	if got := to.Len(); got != b.N {
		b.Fatalf("%d of %d delivered", got, b.N)
	}
}

func fill(b *testing.B, s *memstore.Store, n, keys int) {
	b.Helper()
	p, err := postbag.NewPublisher(s, postbag.PublisherOptions{})
	if err != nil {
		b.Fatal(err)
	}
	payload := make([]byte, 512)
	for done := 0; done < n; {
		k := min(1000, n-done)
		msgs := make([]postbag.Message, k)
		for i := range msgs {
			msgs[i] = postbag.Message{Topic: "t", Key: fmt.Sprintf("key-%d", (done+i)%keys), Payload: payload}
		}
		err := p.InTx(b.Context(), func(ctx context.Context, tx *memstore.Tx) error { return p.Publish(ctx, tx, msgs...) })
		if err != nil {
			b.Fatal(err)
		}
		done += k
	}
}
