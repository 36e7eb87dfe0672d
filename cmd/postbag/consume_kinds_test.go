package main

import (
	"fmt"
	"strings"
	"testing"

	"github.com/postbag/postbag/cmd/postbag/internal/exit"
	"github.com/postbag/postbag/internal/testserver"
	"github.com/postbag/postbag/internal/testserver/servertest"
)

// pair is a broker of one kind as a destination and as a source: the settings, with POSTBAG_TEST_URL for its URL.
type pair struct{ url, to, from string }

// Messages go from an outbox over each kind of broker into the box of a source of that kind. A stop in the middle, and a new start, lose none
// and store none twice. Kafka fills a box of MariaDB.
func TestASourceOfEachKindTakesInWhatADestinationOfItsKindSends(t *testing.T) {
	t.Parallel()
	for kind, start := range map[string]func(t *testing.T) pair{
		"kafka": func(t *testing.T) pair {
			k := servertest.Kafka(t, testserver.KafkaOptions{})
			return pair{"kafka://" + k.Brokers()[0], "create: {partitions: 3}", "group: billing, topics: [orders], refresh: 1s"}
		},
		"rabbitmq": func(t *testing.T) pair {
			queue := "topology: {queues: [{name: orders}]}"
			return pair{servertest.RabbitMQ(t, testserver.RabbitMQOptions{}).URL("/"), queue, "queue: orders, " + queue}
		},
		"redis": func(t *testing.T) pair {
			return pair{"redis://" + servertest.Redis(t, testserver.RedisOptions{}).Addr(), "prefix: 'events:'", "group: billing, topics: [orders], prefix: 'events:', consumer: one"}
		},
		"mqtt": func(t *testing.T) pair {
			return pair{"mqtt://" + servertest.Mosquitto(t, testserver.MosquittoOptions{}).Addr(), "", "client_id: billing, filters: [orders]"}
		},
	} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			p := start(t)
			url := "url_file: '" + write(t, "url", p.url) + "', "
			takeIn(t, fmt.Sprintf("destinations: {out: {%s: {%s%s}}}\n", kind, url, p.to), fmt.Sprintf("sources: [{name: orders, from: {%s: {%s%s}}}]\n", kind, url, p.from), kind == "kafka")
		})
	}
}

// takeIn sends 600 messages, and takes them in by two processes, one after the other.
func takeIn(t *testing.T, to, from string, mariaDB bool) {
	t.Helper()
	out, in := emptyFile(t), emptyFile(t)
	if mariaDB {
		in = emptyMariaDB(t)
	}
	cli(t, "migrate", "up", out.flag, out.where, "--box", "outbox").ok()
	cli(t, "migrate", "up", in.flag, in.where, "--box", "inbox").ok()
	sender := write(t, "sender.yaml", "store: "+out.yaml+"\n"+to)
	taker := write(t, "taker.yaml", "store: "+in.yaml+"\n"+from+"admin: {listen: '0'}\n")
	cli(t, "config", "check", "-c", taker).ok()
	publish := func(first, behind int) {
		var lines strings.Builder
		for i := first; i < behind; i++ {
			fmt.Fprintf(&lines, `{"topic":"orders","key":"k%d","payload":"%d"}`+"\n", i%7, i)
		}
		cliWith(t, lines.String(), "publish", out.flag, out.where, "--ndjson").ok()
	}
	publish(0, 1)
	one := start(t, "consume", "-c", taker)
	await(t, "the source is ready", func() bool { return scrape(t, one, "/readyz") == "ready\n" })
	await(t, "a message is stored", func() bool { // MQTT refuses it until the source has subscribed
		cli(t, "relay", "-c", sender, "--drain")
		return strings.Contains(scrape(t, one, "/metrics"), `stored_total{box="inbox",source="orders"} 1`)
	})
	publish(1, 300)
	cli(t, "relay", "-c", sender, "--drain").ok()
	if code := one.end(); code != exit.OK {
		t.Fatalf("consume ended with %d", code)
	}
	publish(300, 600)
	cli(t, "relay", "-c", sender, "--drain").ok()
	two := start(t, "consume", "-c", taker)
	await(t, "all are stored", func() bool {
		return strings.Contains(scrape(t, two, "/metrics"), `postbag_log_last_seq{box="inbox"} 600`)
	})
	if code := two.end(); code != exit.OK {
		t.Errorf("consume ended with %d", code)
	}
	reader := start(t, "relay", in.flag, in.where, "--box", "inbox", "--to", "stdout:")
	await(t, "all come out of the box", func() bool { return strings.Count(reader.out.String(), "\n") >= 600 })
	if code := reader.end(); code != exit.OK {
		t.Errorf("the relay ended with %d", code)
	}
	for i := range 600 {
		if n := strings.Count(reader.out.String(), fmt.Sprintf(`:"%d"`, i)); n != 1 {
			t.Errorf("message %d came %d times", i, n)
		}
	}
}
