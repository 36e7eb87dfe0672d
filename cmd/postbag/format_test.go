package main

import (
	"fmt"
	"path/filepath"
	"testing"

	"github.com/postbag/postbag/cmd/postbag/internal/exit"
)

// One box, and a subscription for each form of it.
func TestTheRelaySendsTheFormatThatASubscriptionNames(t *testing.T) {
	t.Parallel()
	path := write(t, "postbag.yaml", fmt.Sprintf(`
store: {dsn: %q, create: true}
destinations: {out: {stdout: {}}}
subscriptions:
  - name: events
    format: {kind: cloudevents, source: /shop, mode: structured}
  - name: connect
    format: {kind: debezium}
  - name: named
    format: {kind: plain, names: {id: Message-Id}, reserved: true}
`, filepath.Join(t.TempDir(), "shop.db")))
	cli(t, "relay", "-c", path, "--drain").ok() // it makes the box
	cliWith(t, `{"n":1}`, "publish", "-c", path, "--topic", "orders", "--key", "7", "--type", "order.created").ok()
	cli(t, "relay", "-c", path, "--drain").ok().says(
		`\"source\":\"/shop\"`, `\"data\":{\"n\":1}`, `"content_type":"application/cloudevents+json`,
		`"topic":"outbox.event.orders"`, `"eventType":"order.created"`,
		`"Message-Id":"`, `"Outbox-Name":"outbox"`,
	)
}

func TestAFormatThatIsWrongIsNamedWithItsLine(t *testing.T) {
	t.Parallel()
	path := write(t, "postbag.yaml", `
store: {dsn: shop.db}
destinations: {out: {stdout: {}}}
subscriptions:
  - format: {kind: debezium, source: /x}
`)
	cli(t, "config", "check", "-c", path).ends(exit.Usage, "postbag.yaml:5: subscriptions[0].format.source is no setting of the format debezium")
}

func TestTheRelayAddsTheHeadersThatTheFileNames(t *testing.T) {
	t.Parallel()
	path := write(t, "postbag.yaml", fmt.Sprintf(`
stores:
  shop: {dsn: %q, create: true}
  depot: {dsn: %q, create: true}
destinations: {out: {stdout: {}}}
boxes: {outbox: {headers: {producer: shop, region: eu}}, other: {headers: {producer: depot}}}
subscriptions:
  - {store: shop, headers: {region: west, version: 2}}
  - {store: depot, box: other}
`, filepath.Join(t.TempDir(), "shop.db"), filepath.Join(t.TempDir(), "depot.db")))
	cli(t, "config", "check", "-c", path).ok()
	cli(t, "relay", "-c", path, "--drain").ok() // it makes the boxes
	cliWith(t, "first", "publish", "-c", path, "--store-name", "shop", "--topic", "orders", "--header", "version=3").ok()
	cliWith(t, "second", "publish", "-c", path, "--store-name", "depot", "--box", "other", "--topic", "orders").ok()
	cli(t, "relay", "-c", path, "--drain").ok().says(
		`"headers":{"producer":"shop","region":"west","version":"3"},"payload":"first"`,
		`"headers":{"producer":"depot"},"payload":"second"`,
	)
}

func TestAHeaderThatItsDestinationRejectsIsFoundInTheFile(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ destination, header string }{
		{"rabbitmq: {url: 'amqp://127.0.0.1:1'}", "rabbitmq.priority"},
		{"kafka: {url: 'kafka://127.0.0.1:1'}", "kafka.partition"},
		{"mqtt: {url: 'mqtt://127.0.0.1:1'}", "mqtt.expiry"},
		{"nats: {url: 'nats://127.0.0.1:1'}", "nats.ttl"},
	} {
		path := write(t, "postbag.yaml", fmt.Sprintf(`
store: {dsn: shop.db}
destinations: {there: {%s}}
boxes: {outbox: {headers: {%s: CANARY}}}
subscriptions:
  - headers: {own: x, redis.x: y}
`, c.destination, c.header))
		r := cli(t, "config", "check", "-c", path)
		r.ends(exit.Usage, "postbag.yaml:6: subscriptions[0].headers with those of its box has what there rejects", "the header "+c.header+" is not")
		later := write(t, "postbag.yaml", fmt.Sprintf(`
store: {dsn: shop.db}
destinations: {there: {%s}}
boxes: {outbox: {headers: {%s: "${POSTBAG_TEST_NO_VALUE}"}}}
`, c.destination, c.header))
		cli(t, "config", "check", "--form-only", "-c", later).ok()
	}
}
