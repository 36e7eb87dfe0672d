package interop_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/postbag/postbag/broker/kafkabroker"
	"github.com/postbag/postbag/inbox"
	"github.com/postbag/postbag/internal/testserver"
	"github.com/postbag/postbag/internal/testserver/servertest"
	"github.com/postbag/postbag/store"
	"github.com/postbag/postbag/store/memstore"
)

// takeIn has a receiver take what a topic has, until it has fetched so many messages, and returns what its box holds then,
// the oldest first.
func takeIn(t *testing.T, brokers, topic string, fetched int64) []store.Item {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	s := memstore.New(memstore.Options{})
	if err := s.CreateBox(ctx, "inbox"); err != nil {
		t.Fatal(err)
	}
	if err := s.Declare(ctx, []store.Spec{{Ref: store.Ref{Box: "inbox", Subscription: "worker"}, Shards: 1}}); err != nil {
		t.Fatal(err)
	}
	src, err := kafkabroker.OpenSource(ctx, kafkabroker.SourceOptions{Brokers: brokers, Group: "billing", Topics: []string{topic}})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = src.Close(t.Context()) }()
	r, err := inbox.NewReceiver(inbox.ReceiverOptions[*memstore.Tx]{Store: s, Source: src})
	if err != nil {
		t.Fatal(err)
	}
	run, end := context.WithCancel(ctx)
	ended := make(chan error, 1)
	go func() { ended <- r.Run(run) }()
	for st := r.Stats(); st.Stored+st.Repeated < fetched; st = r.Stats() {
		select {
		case err := <-ended:
			t.Fatalf("the receiver ended early: %v; it counted %+v", err, st)
		case <-time.After(20 * time.Millisecond):
		}
	}
	end()
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
	items, _, err := s.List(t.Context(), store.Query{Ref: store.Ref{Box: "inbox"}, Oldest: true, Limit: 1000})
	if err != nil {
		t.Fatal(err)
	}
	return items
}

// CloudEvents by the SDK for Python, in both modes, and messages with the headers of sbmt-outbox. Each is sent twice.
func TestEventsOfOthersAreTakenInOnceWithTheirIDKeyAndType(t *testing.T) {
	t.Parallel()
	path := python(t)
	s := servertest.Kafka(t, testserver.KafkaOptions{Properties: map[string]string{"auto.create.topics.enable": "true"}})
	address := strings.Join(s.Brokers(), ",")
	output, err := exec.CommandContext(t.Context(), path, filepath.Join("testdata", "produce.py"), address, "orders").Output()
	if err != nil {
		t.Fatalf("the producer failed: %v\n%s", err, stderrOf(err))
	}
	var wanted []struct {
		ID, Key, Type string
	}
	if err := json.Unmarshal(output, &wanted); err != nil || len(wanted) != 3 {
		t.Fatalf("the producer says %q: %v", output, err)
	}
	items := takeIn(t, address, "orders", 6)
	if len(items) != len(wanted) {
		t.Fatalf("the box holds %d messages, want %d, as each came twice", len(items), len(wanted))
	}
	got := map[string]store.Item{}
	for i := range items {
		got[items[i].Key] = items[i]
	}
	for i, want := range wanted {
		m, there := got[want.Key]
		if !there || m.Type != want.Type || m.Topic != "orders" || want.ID != "" && m.ID.String() != want.ID || m.State != store.StatePending {
			t.Errorf("message %d is %+v, want %+v", i, m, want)
		}
	}
}

func stderrOf(err error) string {
	if exit, is := err.(*exec.ExitError); is { //nolint:errorlint // Output wraps nothing
		return string(exit.Stderr)
	}
	return ""
}

// Debezium's own outbox event router, set up as its documentation has it, with the type as a header.
func TestWhatDebeziumSendsIsTakenInWithItsIDKeyAndType(t *testing.T) {
	t.Parallel()
	python(t) // it runs with the others
	pg := servertest.Postgres(t, testserver.PostgresOptions{Settings: map[string]string{"wal_level": "logical"}})
	const table = `create table outbox (id uuid primary key, aggregatetype text not null, aggregateid text not null, type text not null, payload text not null)`
	run := func(query string) string {
		t.Helper()
		out, err := pg.Exec(t.Context(), "postgres", query)
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	run(table)
	k := servertest.Kafka(t, testserver.KafkaOptions{Properties: map[string]string{"auto.create.topics.enable": "true"}})
	d, err := k.StartDebezium(t.Context(), nil, map[string]string{
		"database.hostname": "127.0.0.1", "database.port": strconv.Itoa(pg.Port()), "database.user": "postgres", "database.password": pg.Password(),
		"database.dbname": "postgres", "topic.prefix": "interop", "plugin.name": "pgoutput", "slot.name": "interop", "snapshot.mode": "no_data",
		"publication.name": "interop", "publication.autocreate.mode": "filtered", "table.include.list": "public.outbox",
		"transforms": "outbox", "transforms.outbox.type": "io.debezium.transforms.outbox.EventRouter",
		"transforms.outbox.table.fields.additional.placement": "type:header:eventType",
	})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = d.Close() }()
	for end := time.Now().Add(time.Minute); run(`select count(*) from pg_replication_slots where active`) != "1"; <-time.After(100 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("debezium does not stream:\n%s", d.LogTail(20))
		}
	}
	const n = 20
	run(fmt.Sprintf(`insert into outbox select ('00000000-0000-7000-8000-' || lpad(i::text, 12, '0'))::uuid, 'order', 'customer-' || i %% 3, 'order.placed',
		'{"order":' || i || '}' from generate_series(1, %d) i`, n))
	items := takeIn(t, strings.Join(k.Brokers(), ","), "outbox.event.order", n)
	if len(items) != n {
		t.Fatalf("the box holds %d messages, want %d", len(items), n)
	}
	for i, m := range items {
		if id := fmt.Sprintf("00000000-0000-7000-8000-%012d", i+1); m.ID.String() != id || m.Type != "order.placed" || !strings.Contains(m.Key, fmt.Sprint("customer-", (i+1)%3)) {
			t.Errorf("message %d is %+v", i, m)
		}
	}
}
