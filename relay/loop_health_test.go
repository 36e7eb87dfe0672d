package relay_test

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/postbag/postbag/broker/membroker"
	"github.com/postbag/postbag/relay"
	"github.com/postbag/postbag/store"
	"github.com/postbag/postbag/store/memstore"
)

// lines is a log in memory.
type lines struct {
	mu  sync.Mutex
	all []string
}

func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.all = append(l.all, string(p))
	return len(p), nil
}

func (l *lines) with(text string) (out []string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, line := range l.all {
		if strings.Contains(line, text) {
			out = append(out, line)
		}
	}
	return out
}

// A full disk is such a store: what reads works, and so the check does.
func TestAStoreThatPassesItsCheckButFailsIsRetriedWithBackoff(t *testing.T) {
	t.Parallel()
	var full atomic.Bool
	var refused atomic.Int64
	w := newWorld(t, memstore.Options{Fault: func(_ context.Context, op memstore.Op) memstore.Fault {
		if full.Load() && op == memstore.OpTurn {
			refused.Add(1)
			return memstore.Fault{Err: errors.New("no space left")}
		}
		return memstore.Fault{}
	}}, membroker.Options{})
	log := &lines{}
	r, err := relay.New(w.store, relay.Options{
		Subscriptions: []relay.Subscription{{To: w.to}}, TTL: time.Second, Logger: slog.New(slog.NewTextHandler(log, nil)),
	})
	if err != nil {
		t.Fatal(err)
	}
	stop := w.run(r)
	w.publish(100, 10)
	w.delivered(100)
	full.Store(true)
	w.publish(100, 10)
	begun := time.Now()
	w.eventually("it is asked five times", func() bool { return refused.Load() >= 5 })
	// Pauses of half of 50, 100, 200 and 400 ms lie between them, or more.
	if took := time.Since(begun); took < 300*time.Millisecond {
		t.Errorf("the store was asked five times within %v", took)
	}
	full.Store(false)
	w.delivered(200)
	w.eventually("the relay says that the store is back", func() bool { return len(log.with("answers again")) > 0 })
	stop()
	w.inOrder()
	if n := w.to.Repeats(); n != 0 {
		t.Errorf("%d duplicates", n)
	}
	if down, up := log.with("does not answer"), log.with("answers again"); len(down) != 1 || len(up) != 1 {
		t.Errorf("%d lines say that the store does not answer and %d that it does:\n%s%s", len(down), len(up), down, up)
	}
}

// readOnly is a store that declares nothing for a while.
type readOnly struct {
	store.Store

	refusals atomic.Int64
}

func (s *readOnly) Declare(ctx context.Context, specs []store.Spec) error {
	if s.refusals.Add(-1) >= 0 {
		return errors.New("the transaction is read-only")
	}
	return s.Store.Declare(ctx, specs)
}

func TestHealthSaysWhetherTheStoreIsOpenAndWhyNot(t *testing.T) {
	t.Parallel()
	w := newWorld(t, memstore.Options{}, membroker.Options{})
	s := &readOnly{Store: w.store}
	s.refusals.Store(3)
	log, _, stop := w.logged(s, relay.Options{})
	w.publish(1, 1)
	w.delivered(1)
	stop()
	if n := log.count("store opened"); n != 1 {
		t.Errorf("the store is said to be open %d times:\n%s", n, log)
	}
	if n := log.count("declare the subscriptions: the transaction is read-only"); n != 1 {
		t.Errorf("it is said %d times why the store is not open:\n%s", n, log)
	}
}
