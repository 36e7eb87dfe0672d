package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"os"
	"os/signal"
	"path/filepath"
	"sync"
	"time"

	"github.com/postbag/postbag/examples/internal/shop"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	dir, err := os.MkdirTemp("", "postbag-inbox-")
	if err == nil {
		err = errors.Join(run(ctx, dir, os.Stdout), os.RemoveAll(dir))
	}
	stop()
	if err != nil {
		log.Fatal(err)
	}
}

// count is how many orders are placed.
const count = 100

// run runs both services until each order has its invoice.
func run(ctx context.Context, dir string, out io.Writer) error {
	broker, err := startBroker(ctx, filepath.Join(dir, "jetstream"))
	if broker != nil {
		defer broker.WaitForShutdown()
		defer broker.Shutdown()
	}
	if err != nil {
		return err
	}
	o, err := openOrders(ctx, filepath.Join(dir, "orders.db"), broker.ClientURL())
	if err != nil {
		return err
	}
	b, err := openBilling(ctx, filepath.Join(dir, "billing.db"), broker.ClientURL())
	if err != nil {
		return err
	}

	work, end := context.WithCancel(ctx)
	var services sync.WaitGroup
	ended := make(chan error, 2)
	services.Go(func() { ended <- o.relay(work) })
	services.Go(func() { ended <- b.consumer.Run(work) })

	err = sell(ctx, o, b, out)
	end()
	services.Wait()
	return errors.Join(err, <-ended, <-ended, o.to.Close(context.WithoutCancel(ctx)), o.store.Close(), b.store.Close())
}

// sell places orders and waits for their invoices.
func sell(ctx context.Context, o *orders, b *billing, out io.Writer) error {
	for i := range count {
		if err := o.place(ctx, shop.Order{Customer: fmt.Sprintf("customer-%d", i%7), Cents: 100 + i}); err != nil {
			return err
		}
	}
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for {
		n, cents, err := b.invoices(ctx)
		if err != nil {
			return err
		}
		if n >= count {
			_, err := fmt.Fprintf(out, "%d orders have %d invoices, of %d cents in all\n", count, n, cents)
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-tick.C:
		}
	}
}
