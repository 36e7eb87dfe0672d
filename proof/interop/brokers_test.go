package interop_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync"
	"testing"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/postbag/postbag/broker"
	"github.com/postbag/postbag/broker/kafkabroker"
	"github.com/postbag/postbag/broker/natsbroker"
	"github.com/postbag/postbag/broker/rabbitbroker"
	"github.com/postbag/postbag/broker/redisbroker"
	"github.com/postbag/postbag/broker/webhook"
	"github.com/postbag/postbag/internal/testserver"
	"github.com/postbag/postbag/internal/testserver/servertest"
)

// closing closes a destination with its test.
func closing(t *testing.T, d broker.Destination, err error) broker.Destination {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = d.Close(t.Context()) })
	return d
}

func TestNATSConsumersReadEveryFormat(t *testing.T) {
	t.Parallel()
	python(t)
	s := servertest.NATS(t, testserver.NATSOptions{})
	nc, err := nats.Connect(s.URL())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(nc.Close)
	js, err := jetstream.New(nc)
	if err != nil {
		t.Fatal(err)
	}
	transport{
		ascii: true,
		open: func(t *testing.T, place string) broker.Destination {
			t.Helper()
			name := strings.ReplaceAll(place, ".", "-")
			if _, err := js.CreateStream(t.Context(), jetstream.StreamConfig{Name: name, Subjects: []string{place}}); err != nil {
				t.Fatal(err)
			}
			d, err := natsbroker.New(js, natsbroker.Options{})
			return closing(t, d, err)
		},
		read: func(t *testing.T, place string, n int) []seen {
			t.Helper()
			return consume(t, "nats", s.URL(), place, n, nil)
		},
	}.readsAll(t)
}

func TestRabbitMQConsumersReadEveryFormat(t *testing.T) {
	t.Parallel()
	python(t)
	s := servertest.RabbitMQ(t, testserver.RabbitMQOptions{})
	transport{
		open: func(t *testing.T, place string) broker.Destination {
			t.Helper()
			d, err := rabbitbroker.Dial(t.Context(), s.URL("/"), rabbitbroker.Options{
				Topology: rabbitbroker.Topology{Queues: []rabbitbroker.Queue{{Name: place}}},
			})
			return closing(t, d, err)
		},
		read: func(t *testing.T, place string, n int) []seen {
			t.Helper()
			return consume(t, "rabbitmq", s.URL("/"), place, n, nil)
		},
	}.readsAll(t)
}

func TestRedisConsumersReadEveryFormat(t *testing.T) {
	t.Parallel()
	python(t)
	s := servertest.Redis(t, testserver.RedisOptions{})
	transport{
		open: func(t *testing.T, _ string) broker.Destination {
			t.Helper()
			d, err := redisbroker.Dial(t.Context(), "redis://"+s.Addr(), redisbroker.Options{})
			return closing(t, d, err)
		},
		read: func(t *testing.T, place string, n int) []seen {
			t.Helper()
			return consume(t, "redis", s.Addr(), place, n, nil)
		},
	}.readsAll(t)
}

// confluent-kafka, and beside it the consumer that comes with Kafka.
func TestKafkaConsumersReadEveryFormat(t *testing.T) {
	t.Parallel()
	python(t)
	s := servertest.Kafka(t, testserver.KafkaOptions{})
	address := strings.Join(s.Brokers(), ",")
	tr := transport{
		keyed: true, nulls: true,
		open: func(t *testing.T, _ string) broker.Destination {
			t.Helper()
			d, err := kafkabroker.Dial(t.Context(), address, kafkabroker.Options{Create: &kafkabroker.Create{Partitions: 1, Replicas: 1}})
			return closing(t, d, err)
		},
	}
	for name, read := range map[string]func(t *testing.T, place string, n int) []seen{
		"confluent-kafka": func(t *testing.T, place string, n int) []seen {
			t.Helper()
			return consume(t, "kafka", address, place, n, nil)
		},
		"console consumer": func(t *testing.T, place string, n int) []seen {
			t.Helper()
			return console(t, s, place, n)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tr := tr
			tr.read = read
			tr.readsAll(t)
		})
	}
}

func TestAnHTTPEndpointReadsEveryFormat(t *testing.T) {
	t.Parallel()
	python(t)
	type request struct {
		Headers map[string]string `json:"headers"`
		Body    []byte            `json:"body"`
	}
	var mu sync.Mutex
	got := map[string][]request{} // by path
	s := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		headers := map[string]string{}
		for name, values := range r.Header {
			headers[name] = strings.Join(values, ", ")
		}
		mu.Lock()
		defer mu.Unlock()
		got[r.URL.Path] = append(got[r.URL.Path], request{headers, body})
	}))
	t.Cleanup(s.Close)
	transport{
		ascii: true, folds: true,
		open: func(t *testing.T, place string) broker.Destination {
			t.Helper()
			d, err := webhook.New(webhook.Options{
				URL: s.URL + "/" + place, Secrets: []string{webhook.NewSecret()}, AllowPrivate: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")},
			})
			return closing(t, d, err)
		},
		read: func(t *testing.T, place string, n int) []seen {
			t.Helper()
			mu.Lock()
			input, err := json.Marshal(got["/"+place])
			mu.Unlock()
			if err != nil {
				t.Fatal(err)
			}
			return consume(t, "http", "-", place, n, input)
		},
	}.readsAll(t)
}

// console reads with org.apache.kafka.tools.consumer.ConsoleConsumer. It prints
// headers, key and value; of events it makes nothing, so that they are made of what
// it printed.
func console(t *testing.T, s *testserver.Kafka, place string, n int) []seen {
	t.Helper()
	const field, entry, line, null = "\x1d", "\x1e", "\x1f\n", "\x1c"
	var args []string
	for name, value := range map[string]string{
		"print.headers": "true", "print.key": "true", "key.separator": field, "headers.separator": entry, "line.separator": line, "null.literal": null,
	} {
		args = append(args, "--property", name+"="+value)
	}
	output, err := s.Run(t.Context(), "", "org.apache.kafka.tools.consumer.ConsoleConsumer", append([]string{
		"--bootstrap-server", s.Brokers()[0], "--topic", place, "--from-beginning", "--max-messages", fmt.Sprint(n), "--timeout-ms", "60000",
	}, args...)...)
	if err != nil {
		t.Fatal(err)
	}
	var read []seen
	for text := range strings.SplitSeq(strings.TrimSuffix(output, line), line) {
		parts := strings.SplitN(text, field, 3)
		if len(parts) != 3 {
			t.Fatalf("the console consumer printed %q", text)
		}
		m := seen{Key: parts[1], Headers: map[string]string{}}
		for pair := range strings.SplitSeq(parts[0], entry) {
			name, value, _ := strings.Cut(pair, ":")
			m.Headers[name] = value
		}
		if parts[2] != null {
			m.Payload = []byte(parts[2])
		}
		m.Attributes, m.Data = eventOf(t, m)
		read = append(read, m)
	}
	if len(read) != n {
		t.Fatalf("the console consumer read %d messages, want %d", len(read), n)
	}
	return read
}

// eventOf is the event of what the console consumer printed, by the binding's names.
func eventOf(t *testing.T, m seen) (attributes map[string]string, data any) {
	t.Helper()
	attributes = map[string]string{}
	document := map[string]any{}
	if strings.HasPrefix(m.Headers["content-type"], "application/cloudevents+json") {
		if err := json.Unmarshal(m.Payload, &document); err != nil {
			t.Fatal(err)
		}
		data = document["data"]
	} else {
		for name, value := range m.Headers {
			if attribute, ok := strings.CutPrefix(name, "ce_"); ok {
				document[attribute] = value
			}
		}
		if len(document) == 0 {
			return attributes, nil
		}
		if contentType := m.Headers["content-type"]; contentType != "" {
			document["datacontenttype"] = contentType
		}
		_ = json.Unmarshal(m.Payload, &data) // an event without data has none
	}
	for name, value := range document {
		if text, ok := value.(string); ok {
			attributes[name] = text
		}
	}
	attributes["time"] = strings.NewReplacer("T", " ", "Z", "+00:00").Replace(attributes["time"])
	return attributes, data
}
