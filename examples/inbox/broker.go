package main

import (
	"context"
	"errors"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// startBroker starts a NATS server in this process, with a stream for orders.
func startBroker(ctx context.Context, dir string) (*server.Server, error) {
	s, err := server.NewServer(&server.Options{Host: "127.0.0.1", Port: server.RANDOM_PORT, JetStream: true, StoreDir: dir, NoSigs: true})
	if err != nil {
		return nil, err
	}
	s.Start()
	if !s.ReadyForConnections(10 * time.Second) {
		return s, errors.New("the NATS server did not come up in 10 s")
	}
	nc, err := nats.Connect(s.ClientURL())
	if err != nil {
		return s, err
	}
	defer nc.Close()
	js, err := jetstream.New(nc)
	if err != nil {
		return s, err
	}
	_, err = js.CreateStream(ctx, jetstream.StreamConfig{Name: "ORDERS", Subjects: []string{"orders.>"}})
	return s, err
}
