package main

import (
	"context"
	"strings"
	"testing"

	"github.com/postbag/postbag/cmd/postbag/internal/exit"
	"github.com/postbag/postbag/internal/testserver"
	"github.com/postbag/postbag/internal/testserver/servertest"
)

// While the database is away nothing is acknowledged, and the log has a line for its beginning and one for its end.
func TestASourceAcknowledgesNothingWhileTheDatabaseIsAway(t *testing.T) {
	t.Parallel()
	s := twoStreams(t)
	pg := servertest.Postgres(t, testserver.PostgresOptions{NoSync: true})
	dsn := write(t, "dsn", pg.DSN("postgres")+"\n")
	at := &place{flag: "--store-file", where: dsn, yaml: "{dsn_file: '" + dsn + "'}"}
	cli(t, "migrate", "up", at.flag, at.where, "--box", "inbox").ok()
	one := start(t, "consume", "-c", write(t, "postbag.yaml", s.takesIn(at, "admin: {listen: '0'}\n")))
	s.publish(0, 10)
	holds := func(n string) func() bool {
		return func() bool {
			return strings.Contains(scrape(t, one, "/metrics"), `postbag_source_stored_total{box="inbox",source="orders"} `+n+"\n")
		}
	}
	await(t, "the first messages are stored", holds("10"))
	await(t, "they are acknowledged", func() bool { return s.unacked() == 0 })
	if err := pg.Stop(t.Context(), testserver.StopFast); err != nil {
		t.Fatal(err)
	}
	s.publish(10, 30)
	await(t, "the log says that the store is away", func() bool { return strings.Contains(one.err.String(), "the store of an inbox fails") })
	if n := s.unacked(); n != 20 {
		t.Errorf("%d messages are not acknowledged, want 20", n)
	}
	if err := pg.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	await(t, "the others are stored", holds("30"))
	await(t, "all are acknowledged", func() bool { return s.unacked() == 0 })
	log := one.err.String()
	for _, line := range []string{"the store of an inbox fails", "the store of an inbox works again"} {
		if n := strings.Count(log, line); n != 1 {
			t.Errorf("the log says %d times: %s", n, line)
		}
	}
	if code := one.end(); code != exit.OK {
		t.Errorf("consume ended with %d", code)
	}
}

// unacked is how many messages of the stream in the consumer billing has not acknowledged.
func (s *streams) unacked() int {
	s.t.Helper()
	c, err := s.js.Consumer(context.WithoutCancel(s.t.Context()), "in", "billing")
	if err != nil {
		s.t.Fatal(err)
	}
	info := c.CachedInfo()
	return int(info.NumPending) + info.NumAckPending
}

func TestEachSourceFillsTheBoxOfItsStore(t *testing.T) {
	t.Parallel()
	s := twoStreams(t)
	first, second, third := emptyFile(t), emptyFile(t), emptyFile(t)
	for _, at := range []*place{first, second, third} {
		cli(t, "migrate", "up", at.flag, at.where, "--box", "inbox").ok()
	}
	source := func(name, store string) string {
		return "  - {name: " + name + ", store: " + store + ", from: {nats: {url: '" + s.server.URL() + "', stream: in, consumer: " + name + "}}}\n"
	}
	file := write(t, "postbag.yaml", "stores: {a: "+first.yaml+", b: "+second.yaml+", idle: "+third.yaml+"}\nsources:\n"+
		source("one", "a")+source("two", "b")+"admin: {listen: '0'}\n")
	s.publish(0, 10)
	one := start(t, "consume", "-c", file)
	for _, want := range []string{
		`postbag_source_stored_total{box="inbox",source="one",store="a"} 10`, `postbag_source_stored_total{box="inbox",source="two",store="b"} 10`,
		`postbag_log_last_seq{box="inbox",store="b"} 10`,
	} {
		await(t, want, func() bool { return strings.Contains(scrape(t, one, "/metrics"), want) })
	}
	if strings.Contains(scrape(t, one, "/metrics"), `store="idle"`) {
		t.Error("a store without a source is opened")
	}
	if code := one.end(); code != exit.OK {
		t.Errorf("consume ended with %d", code)
	}
}
