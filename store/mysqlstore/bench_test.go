package mysqlstore_test

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/broker"
	"github.com/postbag/postbag/relay"
	"github.com/postbag/postbag/store"
	"github.com/postbag/postbag/store/mysqlstore"
)

// The message of the benchmarks: 512 bytes of JSON, a key, a topic, two headers.
func benchMessages(n int) []postbag.Message {
	payload := fmt.Appendf(nil, `{"order":"%0498d"}`, 1)
	headers := map[string]string{"traceparent": "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01", "tenant": "acme"}
	out := make([]postbag.Message, n)
	for i := range out {
		out[i] = postbag.Message{
			ID: postbag.NewID(), Topic: "orders", Key: fmt.Sprintf("customer-%d", i%1000),
			Type: "order.created", Headers: headers, Payload: payload,
		}
	}
	return out
}

const (
	benchRows = 100_000
	benchPage = 1000
)

// rivals runs a reference and the store in turns, since machines are noisy, and
// reports the store's rate and its ratio to the reference, by medians.
func rivals(b *testing.B, count int, reference, own func()) {
	b.Helper()
	var times [2][]float64
	run := func(i int, fn func()) {
		began := time.Now()
		fn()
		times[i] = append(times[i], time.Since(began).Seconds())
	}
	for b.Loop() {
		run(0, reference)
		run(1, own)
	}
	median := func(t []float64) float64 { slices.Sort(t); return t[len(t)/2] }
	b.ReportMetric(float64(count)/median(times[1]), "msg/s")
	b.ReportMetric(median(times[0])/median(times[1]), "×reference")
	b.ReportMetric(0, "ns/op")
}

// benchOnBoth runs a benchmark on a durable server of each kind.
func benchOnBoth(b *testing.B, bench func(*testing.B, *testBox)) {
	b.Helper()
	for _, k := range []*kind{mariadb, oracle} {
		b.Run(k.name, func(b *testing.B) {
			m := k.private(b, "innodb-flush-log-at-trx-commit=1", "sync-binlog=1", "innodb-buffer-pool-size=1G")
			bench(b, testBoxOn(b, databaseOn(b, m, "bench"), func(o *mysqlstore.Options) { o.Connections = 16 }))
		})
	}
}

// BenchmarkDrain reads and settles pages of 1,000. The reference is a bare SELECT
// by primary key in the same pages, which settles nothing.
func BenchmarkDrain(b *testing.B) {
	benchOnBoth(b, func(b *testing.B, s *testBox) {
		b.Helper()
		for range benchRows / 5000 {
			s.publish(benchMessages(5000)...)
		}
		bare := openSQL(b, s.dsn+"?interpolateParams=true")
		rivals(b, benchRows, func() { bareDrain(b, bare) }, func() { drain(b, s) })
	})
}

func drain(b *testing.B, s *testBox) {
	b.Helper()
	n := 0
	t := store.Turn{Read: []store.Request{request("", benchPage)}}
	for more := true; more; {
		result, err := s.Turn(b.Context(), t)
		s.Must(err)
		batch := result.Batches[0]
		s.Must(batch.Err)
		n += len(batch.Records)
		sum := store.Tally{Fate: store.TallyDelivered, Count: int64(len(batch.Records))}
		t = store.Turn{
			Settle: []store.Settlement{{Lease: s.Lease, To: batch.Next, Tally: []store.Tally{sum}}},
			Read:   []store.Request{request(batch.Next, benchPage)},
		}
		s.Lease.Version++
		more = batch.More
	}
	if _, err := s.Turn(b.Context(), store.Turn{Settle: t.Settle}); err != nil || n != benchRows {
		b.Fatalf("drained %d messages of %d: %v", n, benchRows, err)
	}
}

func bareDrain(b *testing.B, db *sql.DB) {
	b.Helper()
	for last, n := int64(0), benchPage; n == benchPage; {
		last, n = barePage(b, db, last)
	}
}

func barePage(b *testing.B, db *sql.DB, last int64) (int64, int) {
	b.Helper()
	rows, err := db.QueryContext(b.Context(), "SELECT seq, id, at, topic, `key`, shard_key, type, headers, payload "+
		"FROM postbag_outbox WHERE seq > ? ORDER BY seq LIMIT ?", last, benchPage)
	if err != nil {
		b.Fatal(err)
	}
	defer rows.Close() //nolint:errcheck // Err is looked at
	var at int64
	var raw [7]sql.RawBytes
	n := 0
	for ; rows.Next(); n++ {
		if err := rows.Scan(&last, &raw[0], &at, &raw[1], &raw[2], &raw[3], &raw[4], &raw[5], &raw[6]); err != nil {
			b.Fatal(err)
		}
	}
	if err := rows.Err(); err != nil {
		b.Fatal(err)
	}
	return last, n
}

// BenchmarkPark is a settlement that parks 600 messages, each of a key of its own, as a
// stop does with what is in flight, and BenchmarkResolve one that lets go of them.
func BenchmarkPark(b *testing.B) { benchParking(b, true) }

func BenchmarkResolve(b *testing.B) { benchParking(b, false) }

func benchParking(b *testing.B, parking bool) {
	b.Helper()
	benchOnBoth(b, func(b *testing.B, s *testBox) {
		b.Helper()
		msgs := benchMessages(parkedAtOnce)
		for i := range msgs {
			msgs[i].Key = fmt.Sprintf("key-%d", i)
		}
		s.publish(msgs...)
		parks, resolved := parked(s.Read())
		for b.Loop() {
			clock := func(on bool) {
				if on {
					b.StartTimer()
				} else {
					b.StopTimer()
				}
			}
			clock(parking)
			s.Settle(&s.Lease, store.Settlement{Park: parks})
			clock(!parking)
			s.Settle(&s.Lease, store.Settlement{Resolve: resolved})
			clock(true)
		}
	})
}

// BenchmarkIdle is a Turn that finds nothing.
func BenchmarkIdle(b *testing.B) {
	benchOnBoth(b, func(b *testing.B, s *testBox) {
		b.Helper()
		s.publish(benchMessages(10)...)
		s.Read()
		for b.Loop() {
			s.Read()
		}
	})
}

// BenchmarkProducers counts what eight producers of single messages commit in a
// second and a half, with a relay to a destination that takes everything, in the
// same process, and without one.
func BenchmarkProducers(b *testing.B) {
	benchOnBoth(b, func(b *testing.B, s *testBox) {
		b.Helper()
		var rates [2][]float64
		s.leave()
		for b.Loop() {
			for i := range rates {
				rates[i] = append(rates[i], float64(producers(b, s, i == 1)))
			}
		}
		median := func(t []float64) float64 { slices.Sort(t); return t[len(t)/2] }
		b.ReportMetric(median(rates[0])/1.5, "msg/s-alone")
		b.ReportMetric(median(rates[1])/median(rates[0]), "×alone")
		b.ReportMetric(0, "ns/op")
	})
}

func producers(b *testing.B, s *testBox, with bool) int64 {
	b.Helper()
	ctx, cancel := context.WithTimeout(b.Context(), 1500*time.Millisecond)
	defer cancel()
	var made atomic.Int64
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for ctx.Err() == nil {
				err := s.InTx(context.WithoutCancel(ctx), func(ctx context.Context, tx postbag.SQLTx) error {
					return s.Append(ctx, tx, "outbox", benchMessages(1))
				})
				if err != nil {
					b.Error(err)
					return
				}
				made.Add(1)
			}
		})
	}
	if with {
		rel, err := relay.New(s.Store, relay.Options{Subscriptions: []relay.Subscription{{To: nowhere{}}}})
		s.Must(err)
		all.Go(func() {
			if err := rel.Run(ctx); err != nil {
				b.Error(err)
			}
		})
	}
	all.Wait()
	return made.Load()
}

// leave gives the box's leases to whatever relay wants them.
func (s *testBox) leave() {
	s.Helper()
	for _, relay := range []string{"relay", "housekeeper"} {
		_, err := s.Beat(s.Context(), store.Beat{Relay: relay, Leave: true})
		s.Must(err)
	}
}

// nowhere takes every message at once.
type nowhere struct{}

func (nowhere) Publish(_ context.Context, msgs []broker.Delivery, report func(i int, r broker.Result)) {
	for i := range msgs {
		report(i, broker.Result{Outcome: broker.Accepted})
	}
}

func (nowhere) Features() broker.Features { return broker.Features{Ordered: true} }

func (nowhere) Close(context.Context) error { return nil }
