package rabbitbroker_test

import (
	"errors"
	"testing"

	amqp "github.com/rabbitmq/amqp091-go"

	"github.com/postbag/postbag/broker"
	"github.com/postbag/postbag/broker/rabbitbroker"
	"github.com/postbag/postbag/internal/publishtest"
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
	d := publishtest.Closing(b, dial(b, p.url, rabbitbroker.Options{}))
	publishtest.Race(b, func() []broker.Delivery { return publishtest.Load(publishtest.Messages(p.queue, round)) },
		publishtest.Publisher{Name: "raw", Run: raw(b, p, call)},
		publishtest.Through("destination", d, call),
		publishtest.Publisher{Name: "four-callers", Run: func(msgs []broker.Delivery) error { return publishtest.InCalls(d, msgs, call/4, 4) }})
}

// BenchmarkPublish is for profiles: one caller, calls of 1,000.
func BenchmarkPublish(b *testing.B) {
	const call = 1000
	p := newPlace(b, shared(b), "quorum", false).create(b, amqp.Table{"x-max-length": 10 * call})
	d := publishtest.Closing(b, dial(b, p.url, rabbitbroker.Options{}))
	publishtest.Alone(b, d, publishtest.Load(publishtest.Messages(p.queue, call)))
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
