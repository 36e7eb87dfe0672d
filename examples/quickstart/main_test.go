package main

import (
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/postbag/postbag/internal/testserver"
	"github.com/postbag/postbag/internal/testserver/servertest"
)

func TestTheOrderAndItsMessageArrive(t *testing.T) {
	t.Parallel()
	pg := servertest.Postgres(t, testserver.PostgresOptions{NoSync: true})
	if _, err := pg.Exec(t.Context(), "postgres", `create table orders (id bigint primary key, total bigint not null)`); err != nil {
		t.Fatal(err)
	}
	server := servertest.NATS(t, testserver.NATSOptions{})
	nc, err := nats.Connect(server.URL())
	if err != nil {
		t.Fatal(err)
	}
	defer nc.Close()
	js, err := jetstream.New(nc)
	if err != nil {
		t.Fatal(err)
	}
	stream, err := js.CreateStream(t.Context(), jetstream.StreamConfig{Name: "ORDERS", Subjects: []string{"orders.>"}})
	if err != nil {
		t.Fatal(err)
	}
	if err := connect(t.Context(), pg.DSN("postgres"), server.URL()); err != nil {
		t.Fatal(err)
	}
	consumer, err := stream.OrderedConsumer(t.Context(), jetstream.OrderedConsumerConfig{})
	if err != nil {
		t.Fatal(err)
	}
	m, err := consumer.Next(jetstream.FetchMaxWait(30 * time.Second))
	if err != nil {
		t.Fatal(err)
	}
	if m.Subject() != "orders.placed" || string(m.Data()) != `{"order":17}` || m.Headers().Get("Postbag-Key") != "customer-7" {
		t.Errorf("what arrived is %s %s with %v", m.Subject(), m.Data(), m.Headers())
	}
	if n, err := pg.Exec(t.Context(), "postgres", `select count(*) from orders`); err != nil || n != "1" {
		t.Errorf("there are %s orders (%v), want 1", n, err)
	}
}
