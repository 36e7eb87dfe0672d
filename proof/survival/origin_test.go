package survival

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"
	amqp "github.com/rabbitmq/amqp091-go"
	"github.com/redis/go-redis/v9"
	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/postbag/postbag/broker/kafkabroker"
	"github.com/postbag/postbag/broker/natsbroker"
	"github.com/postbag/postbag/broker/rabbitbroker"
	"github.com/postbag/postbag/broker/redisbroker"
	"github.com/postbag/postbag/internal/testserver"
	"github.com/postbag/postbag/internal/testserver/servertest"
	"github.com/postbag/postbag/source"
	"github.com/postbag/postbag/source/sourcekit"
)

// session is how long the brokers wait for a sign of life of a consumer, where that can be set.
const session = 2 * time.Second

// origin is a broker of a test, from which consumers take messages in.
type origin struct {
	kind, url string
	ordered   bool // it keeps the messages of a key in sequence
	frozen    time.Duration
	brief     faults // of the short form; none: those of most origins
	// publish stores messages from one number on, up to another, in sequence.
	publish func(ctx context.Context, from, to int) error
	restart func(ctx context.Context) error
	// passed fails the test unless the position that is kept in the base has passed n messages; nil: the broker keeps it.
	passed func(b *base, n int)
}

// faults are how many messages there are, and what happens to their consumers.
type faults struct{ messages, kills, freezes, moves int }

// killed is a restart without a warning.
func killed(s interface {
	Kill(ctx context.Context) error
	Start(ctx context.Context) error
},
) func(context.Context) error {
	return func(ctx context.Context) error {
		if err := s.Kill(ctx); err != nil {
			return err
		}
		return s.Start(ctx)
	}
}

func natsOrigin(t *testing.T, subjects int) *origin {
	t.Helper()
	w := &world{t: t, nats: servertest.NATS(t, testserver.NATSOptions{})}
	w.addStream(jetstream.StreamConfig{})
	return &origin{
		kind: "nats", url: w.nats.URL(), ordered: true, frozen: 2 * session, restart: killed(w.nats),
		publish: func(_ context.Context, from, to int) error {
			w.fillStreamFrom(from, to, subjects)
			return nil
		},
	}
}

func kafkaOrigin(t *testing.T, subjects int) *origin {
	t.Helper()
	k := servertest.Kafka(t, testserver.KafkaOptions{Properties: map[string]string{"group.min.session.timeout.ms": "500"}})
	c, err := kgo.NewClient(kgo.SeedBrokers(k.Brokers()...), kgo.DefaultProduceTopic(stream), kgo.UnknownTopicRetries(-1))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	if _, err := kadm.NewClient(c).CreateTopic(t.Context(), 8, 1, nil, stream); err != nil {
		t.Fatal(err)
	}
	return &origin{
		kind: "kafka", url: strings.Join(k.Brokers(), ","), ordered: true, frozen: 2 * session, restart: killed(k),
		publish: func(ctx context.Context, from, to int) error {
			records := make([]*kgo.Record, 0, to-from)
			for i := from; i < to; i++ {
				records = append(records, &kgo.Record{Key: []byte(subject(i % subjects)), Value: []byte(strconv.Itoa(i))})
			}
			return c.ProduceSync(ctx, records...).FirstErr()
		},
	}
}

// rabbitOrigin publishes in batches of consecutive messages, which no two of a subject are in, and sends one again until the broker has
// stored each of its messages.
func rabbitOrigin(t *testing.T, subjects int) *origin {
	t.Helper()
	r := servertest.RabbitMQ(t, testserver.RabbitMQOptions{})
	o := &origin{kind: "rabbitmq", url: r.URL("/"), ordered: true, frozen: 3 * session, restart: killed(r)}
	src, err := openOrigin(t.Context(), o.kind, o.url, nil) // this shows that the options can be used; consumers declare the queue
	if err == nil {
		err = src.Close(t.Context())
	}
	if err != nil {
		t.Fatal(err)
	}
	o.publish = publishesToRabbit(o.url, subjects)
	return o
}

// rabbitStreamOrigin is the same with a stream. No message comes again by itself. When another consumer takes over, all come that are behind
// the position in the base.
func rabbitStreamOrigin(t *testing.T, subjects int) *origin {
	t.Helper()
	r := servertest.RabbitMQ(t, testserver.RabbitMQOptions{})
	c, err := amqp.Dial(r.URL("/"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = c.Close() }()
	ch, err := c.Channel()
	if err == nil {
		_, err = ch.QueueDeclare(stream, true, false, false, false, amqp.Table{amqp.QueueTypeArg: amqp.QueueTypeStream})
	}
	if err != nil {
		t.Fatal(err)
	}
	return &origin{
		kind: "rabbitmq stream", url: r.URL("/"), ordered: true, frozen: 3 * session, brief: faults{messages: 1200, kills: 4}, restart: killed(r),
		publish: publishesToRabbit(r.URL("/"), subjects), passed: passedInStream,
	}
}

// passedInStream looks at the record of the only position.
func passedInStream(b *base, n int) {
	b.t.Helper()
	if lanes := b.lanes(); lanes != 1 {
		b.t.Errorf("%d positions are kept, want one", lanes)
	}
	table := "postbag__lane"
	if b.kind == postgres {
		table = "postbag._lanes"
	}
	(&world{t: b.t}).eventually(time.Minute, "the position has passed all messages", func() bool {
		var record []byte
		var at struct {
			Next  int
			Waits bool
		}
		err := b.db.QueryRowContext(b.t.Context(), "select record from "+table).Scan(&record)
		return err == nil && json.Unmarshal(record, &at) == nil && at.Next >= n && !at.Waits
	})
}

// publishesToRabbit publishes in batches, each until it is stored.
func publishesToRabbit(url string, subjects int) func(ctx context.Context, from, to int) error {
	return func(ctx context.Context, from, to int) error {
		for first := from; first < to; {
			end := min(first+subjects, to)
			for publishRabbit(ctx, url, first, end, subjects) != nil { // what it refuses, or does not confirm, it may have
				if ctx.Err() != nil {
					return ctx.Err()
				}
				pause(50 * time.Millisecond)
			}
			first = end
		}
		return nil
	}
}

// publishRabbit sends the messages from first on, up to end, and waits for all confirms. The broker confirms what it has no queue for,
// too; it returns that before.
func publishRabbit(ctx context.Context, url string, first, end, subjects int) error {
	c, err := amqp.Dial(url)
	if err != nil {
		return err
	}
	defer func() { _ = c.Close() }()
	ch, err := c.Channel()
	if err == nil {
		err = ch.Confirm(false)
	}
	if err != nil {
		return err
	}
	returned := ch.NotifyReturn(make(chan amqp.Return, end-first))
	var sent []*amqp.DeferredConfirmation
	for i := first; i < end; i++ {
		one, err := ch.PublishWithDeferredConfirmWithContext(ctx, "", stream, true, false, amqp.Publishing{
			DeliveryMode: amqp.Persistent, MessageId: strconv.Itoa(i), Body: []byte(strconv.Itoa(i)), Headers: amqp.Table{"Postbag-Key": subject(i % subjects)},
		})
		if err != nil {
			return err
		}
		sent = append(sent, one)
	}
	for i, one := range sent {
		if ok, err := one.WaitContext(ctx); err != nil || !ok {
			return errors.Join(err, fmt.Errorf("message %d is not confirmed", first+i))
		}
	}
	if n := len(returned); n > 0 {
		return fmt.Errorf("%d messages have no queue", n)
	}
	return nil
}

func redisOrigin(t *testing.T, subjects int) *origin {
	t.Helper()
	s := servertest.Redis(t, testserver.RedisOptions{})
	c := redis.NewClient(&redis.Options{Addr: s.Addr()})
	t.Cleanup(func() { _ = c.Close() })
	return &origin{
		kind: "redis", url: "redis://" + s.Addr(), frozen: 2 * session, restart: killed(s),
		publish: func(ctx context.Context, from, to int) error {
			_, err := c.Pipelined(ctx, func(p redis.Pipeliner) error {
				for i := from; i < to; i++ {
					p.XAdd(ctx, &redis.XAddArgs{Stream: stream, Values: []any{"payload", i, "Postbag-Key", subject(i % subjects)}})
				}
				return nil
			})
			return err
		},
	}
}

// openOrigin opens the source of a consumer, of a group that all consumers are in. The positions are for an origin that keeps none.
func openOrigin(ctx context.Context, kind, url string, kept source.Positions) (source.Source, error) {
	switch kind {
	case "nats":
		return natsbroker.OpenSource(ctx, natsbroker.SourceOptions{
			URL: url, Stream: stream, Consumer: "billing", Order: source.OrderStream, AckWait: ackWait, MaxUnacked: 2000,
		})
	case "kafka":
		return kafkabroker.OpenSource(ctx, kafkabroker.SourceOptions{
			Brokers: url, Group: "billing", Topics: []string{stream}, SessionTimeout: session, HeartbeatInterval: session / 4, RebalanceTimeout: 10 * time.Second,
		})
	case "rabbitmq":
		return rabbitbroker.OpenSource(ctx, rabbitbroker.SourceOptions{
			URL: url, Queue: stream, Order: source.OrderStream, Login: rabbitbroker.Login{Heartbeat: session / 2},
			Topology: rabbitbroker.Topology{Queues: []rabbitbroker.Queue{{Name: stream, Arguments: map[string]any{amqp.SingleActiveConsumerArg: true}}}},
		})
	case "rabbitmq stream":
		return rabbitbroker.OpenStream(ctx, rabbitbroker.StreamOptions{
			URL: url, Stream: stream, Consumer: "billing", Positions: kept, Login: rabbitbroker.Login{Heartbeat: session / 2},
		})
	case "redis":
		return redisbroker.OpenSource(ctx, redisbroker.SourceOptions{URL: url, Streams: []string{stream}, Group: "billing", AckWait: session})
	}
	return nil, fmt.Errorf("there is no kind of origin %q", kind)
}

// awaitOrigin opens the source, and waits while the broker is away.
func awaitOrigin(ctx context.Context, kind, url string, kept source.Positions) (source.Source, error) {
	for {
		s, err := openOrigin(ctx, kind, url, kept)
		if err == nil || ctx.Err() != nil || !errors.Is(err, source.ErrUnavailable) {
			return s, err
		}
		pause(50 * time.Millisecond)
	}
}

// originKeys find the key of a message of any origin.
func originKeys(binding string) sourcekit.Keys {
	return append(sourcekit.DefaultKeys(binding), func(m *source.Message) string { return m.Topic })
}
