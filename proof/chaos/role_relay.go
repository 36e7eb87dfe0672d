package chaos

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"time"

	"github.com/postbag/postbag/relay"
)

// inFlight is how many messages a relay may have sent and not settled: what a fault may repeat.
const inFlight = 1000

// keep is how long messages stay in the log: so short that it is emptied under the relays all the time.
const keep = 5 * time.Second

// beRelay works until ctx ends.
func beRelay(ctx context.Context, job *Job, s Store, b Broker, log io.Writer) (err error) {
	opening, cancel := context.WithTimeout(ctx, 20*time.Second)
	defer cancel()
	st, closeStore, err := s.Open(opening, job.From)
	if err != nil {
		return fmt.Errorf("chaos: the store is not opened: %w", err)
	}
	defer func() { err = errors.Join(err, closeStore()) }()
	to, err := b.Open(opening, job.To)
	if err != nil {
		return fmt.Errorf("chaos: the destination is not opened: %w", err)
	}
	defer func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
		defer cancel()
		err = errors.Join(err, to.Close(ctx))
	}()
	to, unwatch, err := watch(to, job.History)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, unwatch()) }()
	sub := relay.Subscription{
		To: to, ToName: destinationName, InFlight: inFlight, Timeout: 10 * time.Second,
		Retry:       relay.Retry{Min: time.Second, Max: 2 * time.Second, MaxAttempts: 3},
		ExactlyOnce: exactlyOnce(b),
	}
	if exactlyOnce(b) {
		sub.InFlight = 0
	}
	if job.Supersede {
		sub.OnReject = relay.Supersede
	}
	r, err := relay.New(st, relay.Options{
		Name: job.Name, TTL: job.TTL, Grace: 2 * time.Second, Keep: keep, Subscriptions: []relay.Subscription{sub},
		Logger: slog.New(slog.NewTextHandler(log, nil)),
	})
	if err != nil {
		return err
	}
	return r.Run(ctx)
}

func exactlyOnce(b any) bool {
	e, ok := b.(ExactlyOnce)
	return ok && e.ExactlyOnce()
}
