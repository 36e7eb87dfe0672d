package main

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/postbag/postbag/relay"
	"github.com/postbag/postbag/store"
)

// runRelay begins to run a relay of one subscription, without a log. stop ends it gracefully
// and returns what its Run did; you may call it again.
func runRelay(ctx context.Context, s store.Store, sub relay.Subscription, o relay.Options) (r *relay.Relay, stop func() error, err error) {
	o.Subscriptions, o.Logger = []relay.Subscription{sub}, quiet
	if r, err = relay.New(s, o); err != nil {
		return nil, nil, err
	}
	ctx, cancel := context.WithCancel(ctx)
	ended := make(chan error, 1)
	go func() { ended <- r.Run(ctx) }()
	return r, sync.OnceValue(func() error {
		cancel()
		select {
		case err := <-ended:
			return err
		case <-time.After(time.Minute):
			return errors.New("a relay does not end")
		}
	}), nil
}
