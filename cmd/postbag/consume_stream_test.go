package main

import (
	"fmt"
	"strings"
	"testing"

	"github.com/postbag/postbag/cmd/postbag/internal/exit"
	"github.com/postbag/postbag/internal/testserver"
	"github.com/postbag/postbag/internal/testserver/servertest"
)

// A stream of RabbitMQ keeps no position. A process that begins where another one has stopped gets no message again, whatever the store.
func TestTheStoreOfTheBoxKeepsThePositionInAStreamOfRabbitMQ(t *testing.T) {
	t.Parallel()
	server := servertest.RabbitMQ(t, testserver.RabbitMQOptions{})
	for name, empty := range map[string]func(t *testing.T) *place{"sqlite": emptyFile, "postgresql": emptyDatabase, "mariadb": emptyMariaDB} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			out, in := emptyFile(t), empty(t)
			cli(t, "migrate", "up", out.flag, out.where, "--box", "outbox").ok()
			cli(t, "migrate", "up", in.flag, in.where, "--box", "inbox").ok()
			stream := name + "-orders"
			rabbit := "rabbitmq: {url_file: '" + write(t, "url", server.URL("/")) + "', topology: {queues: [{name: " + stream + ", type: stream}]}"
			sender := write(t, "sender.yaml", "store: "+out.yaml+"\ndestinations: {out: {"+rabbit+"}}}\n")
			taker := write(t, "taker.yaml", "store: "+in.yaml+"\nsources: [{name: orders, from: {"+rabbit+", stream: "+stream+", consumer: billing, begin: first}}}]\nadmin: {listen: '0'}\n")
			cli(t, "config", "check", "-c", taker).ok().says("source orders (rabbitmq) goes into inbox")
			for round, end := 0, 0; round < 3; round++ {
				var lines strings.Builder
				for ; end < 200*(round+1); end++ {
					fmt.Fprintf(&lines, `{"topic":"%s","key":"k%d","payload":"%d"}`+"\n", stream, end%7, end)
				}
				cliWith(t, lines.String(), "publish", out.flag, out.where, "--ndjson").ok()
				cli(t, "relay", "-c", sender, "--drain").ok()
				process := start(t, "consume", "-c", taker)
				await(t, "all are stored", func() bool {
					return strings.Contains(scrape(t, process, "/metrics"), fmt.Sprintf(`postbag_log_last_seq{box="inbox"} %d`, end))
				})
				if text := scrape(t, process, "/metrics"); !strings.Contains(text, `repeated_total{box="inbox",source="orders"} 0`) {
					t.Errorf("process %d got messages again", round)
				}
				if code := process.end(); code != exit.OK {
					t.Fatalf("consume ended with %d", code)
				}
			}
		})
	}
}

func TestASourceOfAStreamThatIsWrongIsRefusedAtItsPlaceInTheFile(t *testing.T) {
	t.Parallel()
	at := emptyFile(t)
	for _, c := range []struct{ settings, says string }{
		{"{}", `needs one of queue and stream`},
		{"{queue: a, stream: b, consumer: c}", `needs one of queue and stream`},
		{"{stream: a}", `has no consumer; name the group`},
		{"{queue: a, consumer: c}", `consumer is for a stream`},
		{"{queue: a, life: c}", `life is for a stream`},
		{"{queue: a, begin: next}", `begin is for a stream`},
		{"{queue: a, since: 2026-01-31T12:00:00Z}", `since is for a stream`},
		{"{queue: a, skip_deleted: true}", `skip_deleted is for a stream`},
		{"{stream: a, consumer: c, begin: last}", `begin is "last"`},
		{"{stream: a, consumer: c, since: yesterday}", `since is no time`},
		{"{stream: a, consumer: c, since: 1931-01-31T12:00:00Z}", `since is before 1970`},
		{"{stream: a, consumer: c, begin: next, since: 2026-01-31T12:00:00Z}", `since and begin are both set`},
		{"{stream: a, consumer: c, prefetch: 65536}", `prefetch`},
		{"{stream: a, consumer: " + strings.Repeat("c", 101) + "}", `consumer has 101 bytes`},
		{"{stream: a, consumer: c, topology: {queues: [{name: a}]}}", `stream "a" is no stream in topology`},
	} {
		file := write(t, "postbag.yaml", "store: "+at.yaml+"\nsources:\n  - name: orders\n    from:\n      rabbitmq: "+strings.Replace(c.settings, "{", "{url: 'amqp://h', ", 1)+"\n")
		cli(t, "config", "check", "-c", file).ends(exit.Usage, c.says, "postbag.yaml:")
	}
}
