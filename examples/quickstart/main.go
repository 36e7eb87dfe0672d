package main

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os"
	"os/signal"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/broker/natsbroker"
	"github.com/postbag/postbag/relay"
	"github.com/postbag/postbag/store/pgstore"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := connect(ctx, os.Getenv("DATABASE_URL"), os.Getenv("NATS_URL")); err != nil {
		log.Fatal(err)
	}
}

// connect opens the database and the broker, and runs.
func connect(ctx context.Context, dsn, url string) error {
	pool, err := pgxpool.New(ctx, dsn)
	if err != nil {
		return errors.New("DATABASE_URL is no connection string that can be used; see pgx's documentation")
	}
	defer pool.Close()
	// The library's default gives a connection up after 60 attempts, about two minutes. A relay waits for as long as it takes.
	nc, err := nats.Connect(url, nats.MaxReconnects(-1))
	if err != nil {
		return fmt.Errorf("NATS: %w", err)
	}
	defer nc.Close()
	js, err := jetstream.New(nc)
	if err != nil {
		return fmt.Errorf("JetStream: %w", err)
	}
	return run(ctx, pool, js)
}

// run publishes one order and lets the relay work until ctx ends, or for a few
// seconds.
func run(ctx context.Context, pool *pgxpool.Pool, js jetstream.JetStream) error {
	store, err := pgstore.Open(ctx, pool, pgstore.Options{Create: true})
	if err != nil {
		return err
	}
	defer func() { _ = store.Close() }()
	pub, err := postbag.NewPublisher(store, postbag.PublisherOptions{})
	if err != nil {
		return err
	}
	dest, err := natsbroker.New(js, natsbroker.Options{})
	if err != nil {
		return err
	}
	rel, err := relay.New(store, relay.Options{Subscriptions: []relay.Subscription{{To: dest}}})
	if err != nil {
		return err
	}
	ctx, stop := context.WithTimeout(ctx, 5*time.Second)
	defer stop()
	ended := make(chan error, 1)
	go func() { ended <- rel.Run(ctx) }() // nil after a graceful shutdown; outages do not end it
	err = pub.InTx(ctx, func(ctx context.Context, tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, `insert into orders (id, total) values ($1, $2)`, 17, 4200); err != nil {
			return err
		}
		return pub.Publish(ctx, tx, postbag.Message{Topic: "orders.placed", Key: "customer-7", Payload: []byte(`{"order":17}`)})
	})
	if err != nil {
		stop() // there is nothing to deliver
	}
	err = errors.Join(err, <-ended)
	if err == nil {
		for _, s := range rel.Stats().Subscriptions {
			log.Printf("order 17 is saved, and %s has delivered %d messages", s.Ref, s.Delivered)
		}
	}
	return err
}
