package matrix

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync/atomic"
	"testing"
	"time"

	"github.com/postbag/postbag/proof/internal/daemon"
	"github.com/postbag/postbag/relay"
	"github.com/postbag/postbag/store"
)

// running is a relay that works.
type running struct {
	kill func()
	stop func(t *testing.T)
}

// startRelay starts a relay: in a process of its own where box and place allow it, else in this one.
func startRelay(t *testing.T, name string, b *box, p *place) running {
	t.Helper()
	if b.dsn == "" || p.yaml == "" {
		return embed(t, name, b, p)
	}
	yaml := fmt.Sprintf("name: %s\nttl: %s\nstore: {dsn_env: POSTBAG_DSN}\ndestinations:\n  there: %s\nsubscriptions:\n  - in_flight: %d\n",
		name, ttl, p.yaml, inFlight)
	process := daemon.Start(t, name, yaml, append(p.env, "POSTBAG_DSN="+b.dsn)...)
	process.Ready()
	return running{kill: process.Kill, stop: func(*testing.T) { process.Stop() }}
}

// embed starts a relay in this process. To kill it is to take its store away.
func embed(t *testing.T, name string, b *box, p *place) running {
	t.Helper()
	s := &mortal{Store: b.store}
	to := p.open(t)
	r, err := relay.New(s, relay.Options{
		Name: name, TTL: ttl, Grace: time.Second, Logger: slog.New(slog.DiscardHandler),
		Subscriptions: []relay.Subscription{{To: to, InFlight: inFlight}},
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	ended := make(chan error, 1)
	go func() { ended <- r.Run(ctx) }()
	end := func() error {
		cancel()
		select {
		case err := <-ended:
			ended <- err
			return err
		case <-time.After(time.Minute):
			return errors.New("it does not end")
		}
	}
	t.Cleanup(func() {
		_ = end()
		_ = to.Close(context.WithoutCancel(ctx))
	})
	return running{
		kill: func() {
			s.dead.Store(true)
			cancel()
		},
		stop: func(t *testing.T) {
			t.Helper()
			if err := end(); err != nil {
				t.Errorf("the relay ended with %v", err)
			}
		},
	}
}

// mortal is a store that is gone for its relay once it is dead.
type mortal struct {
	store.Store

	dead atomic.Bool
}

var errDead = errors.New("the relay was killed")

func (m *mortal) Beat(ctx context.Context, b store.Beat) (store.View, error) {
	if m.dead.Load() {
		return store.View{}, errDead
	}
	return m.Store.Beat(ctx, b)
}

func (m *mortal) Turn(ctx context.Context, t store.Turn) (store.TurnResult, error) {
	if m.dead.Load() {
		return store.TurnResult{}, errDead
	}
	return m.Store.Turn(ctx, t)
}
