package readbacktest

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/relay"
	"github.com/postbag/postbag/store"
)

// Opened is a store in the hands of the benchmark.
type Opened[Tx any] struct {
	Store    store.Store
	Appender postbag.Appender[Tx]
	// ServerCPU is what the server has used of CPU time. Nil: the store is in this process.
	ServerCPU func() time.Duration
}

// Run compares a relay that is woken and reads each message back with one that is woken and gets payload and headers from the
// publisher in its process: the most that giving messages in memory could save. open makes a store with box outbox. With blank,
// what it reads has no payload and no headers.
//
// An operation is a message, in two sizes. "pace" sends one at a time, each in a transaction. Its latency is from the commit to the
// destination. "full" has eight writers with ten messages a transaction, as fast as they can.
func Run[Tx any](b *testing.B, open func(b *testing.B, blank bool) Opened[Tx]) {
	b.Helper()
	for _, size := range []int{512, 16 << 10} {
		for _, load := range []string{"pace", "full"} {
			for _, way := range []string{"read-back", "given"} {
				b.Run(fmt.Sprintf("%d/%s/%s", size, load, way), func(b *testing.B) {
					given := way == "given"
					m := begin(b, open(b, given), size, given)
					m.measure(load == "full")
					m.end()
				})
			}
		}
	}
}

// measurement is one relay and one publisher at work.
type measurement[Tx any] struct {
	*testing.B

	of        Opened[Tx]
	publisher *postbag.Publisher[Tx]
	payload   []byte
	given     *given // nil: the relay reads all of a message
	to        *arrivals
	committed sync.Map // of id to time.Time
	end       func()
}

// headers are those of each message.
var headers = map[string]string{"trace": "0af7651916cd43dd8448eb211c80319c", "tenant": "7"}

func begin[Tx any](b *testing.B, of Opened[Tx], size int, give bool) *measurement[Tx] {
	b.Helper()
	m := &measurement[Tx]{B: b, of: of, to: newArrivals(), payload: make([]byte, size)}
	for i := range m.payload {
		m.payload[i] = byte(i * 7919 >> 3)
	}
	s := of.Store
	if give {
		m.given = &given{messages: map[postbag.ID]postbag.Message{}}
		s = &givenStore{Store: s, Waker: s.(store.Waker), from: m.given, b: b} //nolint:errcheck,forcetypeassert // each store over SQL is one
	}
	var errs [2]error
	m.publisher, errs[0] = postbag.NewPublisher(of.Appender, postbag.PublisherOptions{})
	var r *relay.Relay
	r, errs[1] = relay.New(s, relay.Options{
		Subscriptions: []relay.Subscription{{To: m.to, Order: relay.Unordered}}, Logger: slog.New(slog.DiscardHandler),
	})
	if err := errors.Join(errs[:]...); err != nil {
		b.Fatal(err)
	}
	ctx, cancel := context.WithCancel(b.Context())
	ended := make(chan error, 1)
	go func() { ended <- r.Run(ctx) }()
	m.end = func() {
		cancel()
		if err := <-ended; err != nil {
			b.Error(err)
		}
	}
	return m
}

// send commits n messages.
func (m *measurement[Tx]) send(n int) {
	msgs := make([]postbag.Message, n)
	for i := range msgs {
		msgs[i] = postbag.Message{ID: postbag.NewID(), Key: fmt.Sprint("key-", i), Type: "t", Headers: headers, Payload: m.payload}
	}
	if m.given != nil {
		m.given.put(msgs)
	}
	if err := m.publisher.InTx(m.Context(), func(ctx context.Context, tx Tx) error { return m.publisher.Publish(ctx, tx, msgs...) }); err != nil {
		m.Error(err)
	}
	now := time.Now()
	for i := range msgs {
		m.committed.Store(msgs[i].ID, now)
	}
}

// warm is how many messages come before those that are measured.
const warm = 200

func (m *measurement[Tx]) measure(full bool) {
	m.Helper()
	for i := range warm {
		m.send(1)
		m.to.wait(i + 1)
	}
	client, server, began := processCPU(), m.serverCPU(), time.Now()
	m.ResetTimer()
	if full {
		m.sendAll()
	}
	for i := range m.N {
		if !full {
			m.send(1)
		}
		m.to.wait(warm + i + 1)
	}
	m.StopTimer()
	n := float64(m.N)
	m.ReportMetric(n/time.Since(began).Seconds(), "msg/s")
	m.ReportMetric(float64((processCPU()-client).Microseconds())/n, "client-µs/op")
	m.ReportMetric(float64((m.serverCPU()-server).Microseconds())/n, "server-µs/op")
	if !full {
		m.latency()
	}
}

func (m *measurement[Tx]) serverCPU() time.Duration {
	if m.of.ServerCPU == nil {
		return 0
	}
	return m.of.ServerCPU()
}

// sendAll has several writers commit all messages.
func (m *measurement[Tx]) sendAll() {
	const writers, perTx = 8, 10
	var all sync.WaitGroup
	rounds := m.N / (writers * perTx)
	for range writers {
		all.Go(func() {
			for range rounds {
				m.send(perTx)
			}
		})
	}
	all.Wait()
	if rest := m.N - rounds*writers*perTx; rest > 0 {
		m.send(rest)
	}
}

// latency reports how long after its commit a message came.
func (m *measurement[Tx]) latency() {
	var took []float64
	m.committed.Range(func(id, at any) bool {
		came := m.to.at[id.(postbag.ID)]                                                 //nolint:errcheck,forcetypeassert // nothing else is stored there
		took = append(took, max(0, float64(came.Sub(at.(time.Time)).Nanoseconds())/1e3)) //nolint:errcheck,forcetypeassert // as above
		return true
	})
	slices.Sort(took)
	m.ReportMetric(took[len(took)/2], "p50-µs")
	m.ReportMetric(took[len(took)*99/100], "p99-µs")
}
