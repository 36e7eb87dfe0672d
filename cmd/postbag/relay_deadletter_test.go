package main

import (
	"fmt"
	"strings"
	"testing"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/cmd/postbag/internal/exit"
	"github.com/postbag/postbag/store"
)

// letters are the messages that the endpoint has.
func (h *hook) letters() []postbag.Message {
	h.mu.Lock()
	defer h.mu.Unlock()
	return append([]postbag.Message(nil), h.got...)
}

func TestRelaySendsDeadLettersToAnotherDestination(t *testing.T) {
	t.Parallel()
	onEachStore(t, func(t *testing.T, at *place) {
		partner, alarms := startHook(t, "bad"), startHook(t)
		config := write(t, "postbag.yaml", fmt.Sprintf(`
store: %s
destinations:
  partner: {webhook: {url: %q, secrets_env: [%[4]s], allow_private: [127.0.0.0/8]}}
  alarms: {webhook: {url: %[3]q, secrets_env: [%[4]s], allow_private: [127.0.0.0/8]}}
subscriptions:
- {to: partner, retry: {max_attempts: 1}, dead_to: {box: dead, to: alarms, topic: "deaths of partner"}}
`, at.yaml, partner.url, alarms.url, hookSecret))
		cliWith(t, `{"topic":"orders","key":"a","type":"bad","payload":"1"}`, "publish", "-c", config, "--ndjson").ok()
		cli(t, "relay", "-c", config).ends(exit.NotFound, "dead", "postbag migrate up --box")
		cli(t, "migrate", "up", "-c", config, "--box", "dead").ok()
		relay := start(t, "relay", "-c", config)
		await(t, "the dead letter is delivered", func() bool { return len(alarms.letters()) == 1 })
		cli(t, "messages", "list", "-c", config, "--state", "dead").ok().says("orders")
		await(t, "the dead letter is listed", func() bool {
			out := cli(t, "messages", "list", "-c", config, "--box", "dead", "--state", "delivered", "--json").ok().out
			return out != ""
		})
		if code := relay.end(); code != exit.OK {
			t.Fatalf("the relay ended with %d:\n%s", code, relay.err.String())
		}
		m := alarms.letters()[0]
		if m.Topic != "deaths of partner" || m.Headers[store.HeaderDeadTopic] != "orders" || m.Key != "a" || m.Type != "bad" || string(m.Payload) != "1" || m.Headers[store.HeaderDeadCause] != "attempts" || m.Headers[store.HeaderDeadBox] != "outbox" {
			t.Errorf("the dead letter is %+v", m)
		}
	})
}

// A destination that rejects the topic of dead letters would have all of them die. What makes the topic, such as a prefix, counts too.
func TestConfigCheckRefusesATopicThatTheDestinationOfDeadLettersRejects(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ to, topic, want string }{
		{"nats: {url: 'nats://a'}", "deaths", ""},
		{"nats: {url: 'nats://a'}", "all deaths", "the topic's subject holds a space"},
		{"nats: {url: 'nats://a', prefix: 'x.'}", "deaths.*", "has a wildcard for a token"},
		{"kafka: {url: 'kafka://a:9092'}", "deaths/partner", "holds a character that Kafka allows in no name"},
		{"kafka: {url: 'kafka://a:9092', prefix: x.}", strings.Repeat("a", 248), "has 250 bytes, Kafka allows 249"},
		{"mqtt: {url: 'mqtt://a', topic: 'x/{topic}'}", "deaths/#", "holds a wildcard, + or #"},
		{"mqtt: {url: 'mqtt://a', topic: 'x/{key}'}", "deaths/#", ""},
		{"rabbitmq: {url: 'amqp://a', routing_key: 'dead.{topic}.{key}'}", strings.Repeat("a", 250), "the routing key has 256 bytes"},
		{"rabbitmq: {url: 'amqp://a'}", strings.Repeat("a", 255), ""},
		{"redis: {url: 'redis://a'}", "all deaths", ""},
		{"stdout: {}", "all deaths", ""},
		{"stdout: {}", strings.Repeat("a", 256), "use at most 255 bytes"},
	} {
		for name, letters := range map[string]string{
			"made by dead_to":        "- {to: partner, dead_to: {box: dead, to: alarms, topic: %[1]q}}\n",
			"a subscription beside":  "- {to: partner, dead_to: {box: dead, topic: %[1]q}}\n- {name: other, box: dead, to: alarms}\n",
			"of a route":             "- {to: partner, routes: {list: [{name: a, where: {types: [a]}, dead_to: {box: dead, to: alarms, topic: %[1]q}}], no_fallback: true}}\n",
			"another has the topic":  "- {to: partner, dead_to: {box: dead, topic: %[1]q}}\n- {box: dead, to: alarms, where: {topics: [else]}}\n",
			"another excepts topics": "- {to: partner, dead_to: {box: dead, topic: %[1]q}}\n- {box: dead, to: alarms, where: {except: [{topics: [%[1]q]}]}}\n",
		} {
			file := write(t, "postbag.yaml", "store: {dsn: a.db}\ndestinations:\n  partner: {stdout: {}}\n  alarms: {"+c.to+"}\nsubscriptions:\n"+fmt.Sprintf(letters, c.topic))
			got := cli(t, "config", "check", "-c", file)
			want := c.want
			if strings.HasPrefix(name, "another") && !strings.Contains(want, "255") {
				want = ""
			}
			if want == "" {
				got.ok()
				continue
			}
			got.ends(exit.Usage, "dead_to.topic", want)
		}
	}
}

// A prefix that is a variable of another machine may make any topic a good one.
func TestConfigCheckSaysNothingOfATopicWhoseDestinationIsNotKnownYet(t *testing.T) {
	t.Parallel()
	const text = "store: {dsn: a.db}\ndestinations: {out: {kafka: {url: 'kafka://a:9092', prefix: '${POSTBAG_TEST_NOT_SET}'}}}\nsubscriptions: [{dead_to: {box: dead, to: out, topic: %s}}]\n"
	cli(t, "config", "check", "-c", write(t, "postbag.yaml", fmt.Sprintf(text, "deaths/partner")), "--form-only").ok()
	cli(t, "config", "check", "-c", write(t, "postbag.yaml", fmt.Sprintf(text, strings.Repeat("a", 256))), "--form-only").ends(exit.Usage, "use at most 255 bytes")
}
