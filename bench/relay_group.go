package main

import (
	"context"
	"fmt"
	"time"

	"github.com/postbag/postbag/relay"
)

// relayGroup is relays that share a box.
type relayGroup struct {
	stores []*relayStore
	relays []*relay.Relay
	ended  chan error
}

// startRelays starts relays, each with a store and a pool of its own.
func (l *testbed) startRelays(ctx context.Context, sub relay.Subscription, n int) (*relayGroup, error) {
	c := &relayGroup{ended: make(chan error, n)}
	for range n {
		s, err := l.relayStore(ctx)
		if err != nil {
			c.close()
			return nil, err
		}
		c.stores = append(c.stores, s)
		r, err := relay.New(s.store, relay.Options{
			Subscriptions: []relay.Subscription{sub}, Logger: quiet, NoMaintenance: true,
		})
		if err != nil {
			c.close()
			return nil, err
		}
		c.relays = append(c.relays, r)
		go func() { c.ended <- r.Run(ctx) }()
	}
	return c, nil
}

// share waits until each relay has as many shards as another.
func (c *relayGroup) share(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	for {
		all := true
		for _, r := range c.relays {
			s := r.Stats().Subscriptions
			all = all && len(s) == 1 && s[0].Shards == shards/len(c.relays)
		}
		if all {
			return nil
		}
		select {
		case err := <-c.ended:
			return fmt.Errorf("a relay ended before it had work: %w", err)
		case <-ctx.Done():
			return fmt.Errorf("the relays do not share the shards: %w", ctx.Err())
		case <-time.After(10 * time.Millisecond):
		}
	}
}

// shards is how many a subscription has, unless it says otherwise.
const shards = 4

// wake has all relays look at the log.
func (c *relayGroup) wake(box string) {
	for _, s := range c.stores {
		s.store.Wake(box)
	}
}

// turns is how many round trips all relays have made.
func (c *relayGroup) turns() (n int64) {
	for _, r := range c.relays {
		n += r.Stats().Turns
	}
	return n
}

// wait returns when all relays have ended.
func (c *relayGroup) wait() error {
	for range c.relays {
		if err := <-c.ended; err != nil {
			return fmt.Errorf("a relay did not end well: %w", err)
		}
	}
	return nil
}

func (c *relayGroup) close() {
	for _, s := range c.stores {
		s.close()
	}
}
