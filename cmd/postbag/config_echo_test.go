package main

import (
	"fmt"
	"testing"

	"github.com/postbag/postbag/cmd/postbag/internal/exit"
)

func TestABridgeThatLeadsBackToItsSourceIsRefused(t *testing.T) {
	t.Parallel()
	const topology = "topology: {exchanges: [{name: events}], queues: [{name: orders}], bindings: [{exchange: events, queue: orders, routing_key: 'o.#'}]}"
	for name, c := range map[string]struct {
		from, to string
		echoes   bool
	}{
		"kafka":                         {"kafka: {url: 'kafka://a:1,b:2', group: g, topics: [orders]}", "kafka: {url: 'b:2,c:3'}", true},
		"kafka, a prefix":               {"kafka: {url: a, group: g, topics: [orders]}", "kafka: {url: a, prefix: copy.}", false},
		"kafka, a topic of the prefix":  {"kafka: {url: a, group: g, topics: [orders, copy.orders]}", "kafka: {url: a, prefix: copy.}", true},
		"kafka, a pattern":              {"kafka: {url: a, group: g, pattern: 'orders.*'}", "kafka: {url: a}", true},
		"kafka, every topic":            {"kafka: {url: a, group: g, pattern: '.*'}", "kafka: {url: a, prefix: copy.}", true},
		"kafka, a pattern and a prefix": {"kafka: {url: a, group: g, pattern: 'orders.*'}", "kafka: {url: a, prefix: copy.}", false},
		"kafka, another server":         {"kafka: {url: a, group: g, topics: [orders]}", "kafka: {url: b}", false},
		"one variable":                  {"kafka: {url_env: BROKERS, group: g, topics: [orders]}", "kafka: {url_env: BROKERS}", true},
		"two variables":                 {"kafka: {url_env: BROKERS, group: g, topics: [orders]}", "kafka: {url_env: OTHERS}", false},
		"nats":                          {"nats: {url: nats://a, stream: S, consumer: c}", "nats: {url: nats://A/, stream: S}", true},
		"nats, a prefix":                {"nats: {url: nats://a, stream: S, consumer: c}", "nats: {url: nats://a, prefix: copy.}", false},
		"nats, another stream":          {"nats: {url: nats://a, stream: S, consumer: c}", "nats: {url: nats://a, stream: T}", false},
		"rabbitmq, the queue":           {"rabbitmq: {url: amqp://a, queue: orders}", "rabbitmq: {url: amqp://a, routing_key: orders}", true},
		"rabbitmq, another queue":       {"rabbitmq: {url: amqp://a, queue: orders}", "rabbitmq: {url: amqp://a, routing_key: copies}", false},
		"rabbitmq, another vhost":       {"rabbitmq: {url: amqp://a, queue: orders}", "rabbitmq: {url: amqp://a, vhost: b, routing_key: orders}", false},
		"rabbitmq, its exchange":        {"rabbitmq: {url: amqp://a, queue: orders, " + topology + "}", "rabbitmq: {url: amqp://a, exchange: events}", true},
		"rabbitmq, another key":         {"rabbitmq: {url: amqp://a, queue: orders, " + topology + "}", "rabbitmq: {url: amqp://a, exchange: events, routing_key: copies}", false},
		"redis":                         {"redis: {url: redis://a, group: g, topics: [orders], prefix: 'p:'}", "redis: {url: redis://a, prefix: 'p:'}", true},
		"redis, another prefix":         {"redis: {url: redis://a, group: g, topics: [orders], prefix: 'p:'}", "redis: {url: redis://a}", false},
		"redis, other shards":           {"redis: {url: redis://a, group: g, topics: [orders]}", "redis: {url: redis://a, shards: 4}", false},
		"redis, a stream":               {"redis: {url: redis://a, group: g, streams: [orders]}", "redis: {url: redis://a}", true},
		"mqtt":                          {"mqtt: {url: mqtt://a, client_id: c, filters: [orders/+]}", "mqtt: {url: mqtt://a}", true},
		"mqtt, another topic":           {"mqtt: {url: mqtt://a, client_id: c, filters: [orders/+]}", "mqtt: {url: mqtt://a, topic: 'copy/{topic}'}", false},
		"another kind":                  {"mqtt: {url: mqtt://a, client_id: c, filters: [orders/+]}", "redis: {url: redis://a}", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			const text = "store: {dsn: a.db}\nsources: [{from: {%s}}]\ndestinations: {m: {%s}}\nsubscriptions: [{box: %s}]\n"
			got := cli(t, "config", "check", "--form-only", "-c", write(t, "postbag.yaml", fmt.Sprintf(text, c.from, c.to, "inbox")))
			if c.echoes {
				got.ends(exit.Usage, "subscriptions[0].to sends what comes from sources[0] back")
			} else {
				got.ok()
			}
			cli(t, "config", "check", "--form-only", "-c", write(t, "postbag.yaml", fmt.Sprintf(text, c.from, c.to, "outbox"))).ok()
		})
	}
}
