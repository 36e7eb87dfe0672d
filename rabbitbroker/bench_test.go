package rabbitbroker_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/broker"
	"github.com/postbag/postbag/rabbitbroker"
)

// BenchmarkAgainstRaw publishes the same messages (512 bytes, a key, two headers)
// to a quorum queue through the destination, in calls of 1,000 by one caller and of
// 250 by four, and through a raw publisher with 1,000 unconfirmed at a time, turn by
// turn in one run. It reports messages a second of each, and the destination's ratio
// to the raw one:
//
//	go test -run xxx -bench AgainstRaw -benchtime 5x ./rabbitbroker
func BenchmarkAgainstRaw(b *testing.B) {
	const round, call = 20_000, 1000
	p := newPlace(b, shared(b), "quorum", false).create(b, amqp.Table{"x-max-length": 10 * call})
	d := closing(b, dial(b, p.url, rabbitbroker.Options{}))
	publishers := []struct {
		name string
		run  func(msgs []broker.Delivery) error
	}{
		{"raw", raw(b, p, call)},
		{"destination", func(msgs []broker.Delivery) error { return inCalls(d, msgs, call, 1) }},
		{"four-callers", func(msgs []broker.Delivery) error { return inCalls(d, msgs, call/4, 4) }},
	}
	took := make([]time.Duration, len(publishers))
	for b.Loop() {
		for i, publisher := range publishers {
			msgs := load(p.queue, round)
			began := time.Now()
			if err := publisher.run(msgs); err != nil {
				b.Fatal(err)
			}
			took[i] += time.Since(began)
		}
	}
	for i, publisher := range publishers {
		b.ReportMetric(float64(b.N)*round/took[i].Seconds(), publisher.name+"-msg/s")
	}
	b.ReportMetric(took[0].Seconds()/took[1].Seconds(), "of-raw")
	b.ReportMetric(took[0].Seconds()/took[2].Seconds(), "four-of-raw")
	b.ReportMetric(0, "ns/op")
}

// BenchmarkPublish is for profiles: one caller, calls of 1,000.
func BenchmarkPublish(b *testing.B) {
	const call = 1000
	p := newPlace(b, shared(b), "quorum", false).create(b, amqp.Table{"x-max-length": 10 * call})
	d := closing(b, dial(b, p.url, rabbitbroker.Options{}))
	msgs, results := load(p.queue, call), make([]broker.Result, call)
	b.ReportAllocs()
	for b.Loop() {
		for i := range msgs {
			msgs[i].ID = postbag.NewID()
		}
		d.Publish(b.Context(), msgs, results)
	}
	b.ReportMetric(float64(b.N)*call/b.Elapsed().Seconds(), "msg/s")
}

func load(topic string, n int) []broker.Delivery {
	msgs := messages(topic, n)
	for i := range msgs {
		msgs[i].Payload = make([]byte, 512)
		msgs[i].Type = "order.created"
		msgs[i].Headers = map[string]string{"traceparent": "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01", "tenant": "acme"}
	}
	return msgs
}

// inCalls publishes msgs in calls of a size, by some callers side by side.
func inCalls(d broker.Destination, msgs []broker.Delivery, size, callers int) error {
	var group sync.WaitGroup
	faults := make([]error, callers)
	share := len(msgs) / callers
	for c := range callers {
		group.Go(func() {
			own := msgs[c*share : (c+1)*share]
			for at := 0; at < len(own); at += size {
				results := make([]broker.Result, size)
				d.Publish(context.Background(), own[at:at+size], results)
				for _, r := range results {
					faults[c] = errors.Join(faults[c], r.Err)
				}
			}
		})
	}
	group.Wait()
	return errors.Join(faults...)
}

// raw sends over one channel with never more than a window without confirmation,
// which is all that pipelining can be.
func raw(b *testing.B, p *place, window int) func(msgs []broker.Delivery) error {
	b.Helper()
	ch := channel(b, p.url)
	if err := ch.Confirm(false); err != nil {
		b.Fatal(err)
	}
	return func(msgs []broker.Delivery) error {
		confirms := make([]*amqp.DeferredConfirmation, len(msgs))
		for i, m := range msgs {
			if i >= window && !confirms[i-window].Wait() {
				return errors.New("a message was refused")
			}
			id := m.ID.String()
			headers := amqp.Table{
				broker.HeaderID: id, broker.HeaderKey: m.Key, broker.HeaderType: m.Type, broker.HeaderTime: broker.FormatTime(m.At),
			}
			for name, value := range m.Headers {
				headers[name] = value
			}
			var err error
			confirms[i], err = ch.PublishWithDeferredConfirm("", p.queue, true, false, amqp.Publishing{
				Headers: headers, DeliveryMode: amqp.Persistent, MessageId: id, Type: m.Type, Timestamp: m.At, Body: m.Payload,
			})
			if err != nil {
				return err
			}
		}
		for _, confirm := range confirms {
			if !confirm.Wait() {
				return errors.New("a message was refused")
			}
		}
		return nil
	}
}
