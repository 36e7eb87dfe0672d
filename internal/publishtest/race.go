package publishtest

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/broker"
)

// Load gives messages the body that the benchmarks send: 512 bytes, a type and two
// headers.
func Load(msgs []broker.Delivery) []broker.Delivery {
	for i := range msgs {
		msgs[i].Payload = make([]byte, 512)
		msgs[i].Type = "order.created"
		msgs[i].Headers = map[string]string{"traceparent": "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01", "tenant": "acme"}
	}
	return msgs
}

// InCalls publishes msgs in calls of a size, by some callers side by side.
func InCalls(d broker.Destination, msgs []broker.Delivery, size, callers int) error {
	var group sync.WaitGroup
	faults := make([]error, callers)
	share := len(msgs) / callers
	for c := range callers {
		group.Go(func() {
			own := msgs[c*share : (c+1)*share]
			results := make([]broker.Result, size)
			report := func(i int, r broker.Result) { results[i] = r }
			for at := 0; at < len(own); at += size {
				clear(results)
				d.Publish(context.Background(), own[at:at+size], report)
				for _, r := range results {
					faults[c] = errors.Join(faults[c], r.Err)
				}
			}
		})
	}
	group.Wait()
	return errors.Join(faults...)
}

// Publisher is one way to publish, with a name.
type Publisher struct {
	Name string
	Run  func(msgs []broker.Delivery) error
}

// Through publishes by calls of a size, one after another.
func Through(name string, d broker.Destination, size int) Publisher {
	return Publisher{name, func(msgs []broker.Delivery) error { return InCalls(d, msgs, size, 1) }}
}

// InPieces publishes with run, so many messages at a time, one piece after another.
func InPieces(name string, run func(msgs []broker.Delivery) error, size int) Publisher {
	return Publisher{name, func(msgs []broker.Delivery) error {
		for piece := range slices.Chunk(msgs, size) {
			if err := run(piece); err != nil {
				return err
			}
		}
		return nil
	}}
}

// Race has all publish what load makes, turn by turn in one run, since machines are
// noisy. It reports messages a second of each, and how each compares with the first.
func Race(b *testing.B, load func() []broker.Delivery, publishers ...Publisher) {
	b.Helper()
	took := make([]time.Duration, len(publishers))
	n := 0
	for b.Loop() {
		for i, p := range publishers {
			msgs := load()
			n = len(msgs)
			began := time.Now()
			if err := p.Run(msgs); err != nil {
				b.Fatal(err)
			}
			took[i] += time.Since(began)
		}
	}
	for i, p := range publishers {
		b.ReportMetric(float64(b.N)*float64(n)/took[i].Seconds(), p.Name+"-msg/s")
		if i > 0 {
			b.ReportMetric(took[0].Seconds()/took[i].Seconds(), p.Name+"-of-"+publishers[0].Name)
		}
	}
	b.ReportMetric(0, "ns/op")
}

// Alone is for profiles: one caller, calls of msgs, whose ids are new in each.
func Alone(b *testing.B, d broker.Destination, msgs []broker.Delivery) {
	b.Helper()
	results := make([]broker.Result, len(msgs))
	report := func(i int, r broker.Result) { results[i] = r }
	b.ReportAllocs()
	for b.Loop() {
		for i := range msgs {
			msgs[i].ID = postbag.NewID()
		}
		d.Publish(b.Context(), msgs, report)
	}
	b.ReportMetric(float64(b.N)*float64(len(msgs))/b.Elapsed().Seconds(), "msg/s")
}
