package relay_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/postbag/postbag/broker/membroker"
	"github.com/postbag/postbag/relay"
	"github.com/postbag/postbag/store"
	"github.com/postbag/postbag/store/memstore"
)

// stumbling is a store whose housekeeping fails some times.
type stumbling struct {
	store.Store

	left atomic.Int64
}

func (s *stumbling) Maintain(ctx context.Context, r store.Retention) (store.Report, error) {
	if s.left.Add(-1) >= 0 {
		return store.Report{}, errors.New("the connection was lost")
	}
	return s.Store.Maintain(ctx, r)
}

func TestOneFailureOfTheStoreDoesNotDelayAScheduledMessage(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, memstore.Options{}, membroker.Options{})
		s := &stumbling{Store: w.store}
		s.left.Store(1)
		const ttl = 2 * time.Second
		r := w.relayOver(s, relay.Options{TTL: ttl})
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- r.Run(ctx) }()
		err := w.pub.InTx(ctx, func(ctx context.Context, tx *memstore.Tx) error {
			return w.pub.Publish(ctx, tx, message("later", time.Now().Add(time.Second)))
		})
		if err != nil {
			t.Fatal(err)
		}
		<-time.After(ttl + 5*time.Second)
		if n := len(w.to.Taken()); n != 1 {
			t.Errorf("%d messages arrived within %v", n, ttl+5*time.Second)
		}
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
}

// surprised is a store whose housekeeping finds, once, that it is not as it was, and whose Check sees to that.
type surprised struct {
	store.Store

	found, seen atomic.Bool
}

func (s *surprised) Maintain(ctx context.Context, r store.Retention) (store.Report, error) {
	if !s.found.Swap(true) {
		return store.Report{}, store.ErrMoved
	}
	return s.Store.Maintain(ctx, r)
}

func (s *surprised) Check(ctx context.Context) (store.Info, error) {
	s.seen.CompareAndSwap(false, s.found.Load())
	return s.Store.Check(ctx)
}

func TestAfterHousekeepingReportsErrMovedTheStoreIsCheckedAndReadOn(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, memstore.Options{}, membroker.Options{})
		s := &surprised{Store: w.store}
		r := w.relayOver(s, relay.Options{TTL: 2 * time.Second})
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- r.Run(ctx) }()
		<-time.After(5 * time.Second)
		if !s.found.Load() || !s.seen.Load() {
			t.Errorf("housekeeping found that the store moved: %v; it is checked after that: %v", s.found.Load(), s.seen.Load())
		}
		err := w.pub.InTx(ctx, func(ctx context.Context, tx *memstore.Tx) error {
			return w.pub.Publish(ctx, tx, message("later", time.Time{}))
		})
		if err != nil {
			t.Fatal(err)
		}
		<-time.After(5 * time.Second)
		if n := len(w.to.Taken()); n != 1 {
			t.Errorf("%d messages arrived after that", n)
		}
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
}
