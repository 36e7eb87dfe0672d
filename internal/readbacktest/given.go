package readbacktest

import (
	"context"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/broker"
	"github.com/postbag/postbag/store"
)

// given are messages that a publisher gives to the relay of its process.
type given struct {
	mu       sync.Mutex
	messages map[postbag.ID]postbag.Message
}

func (g *given) put(msgs []postbag.Message) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for i := range msgs {
		g.messages[msgs[i].ID] = msgs[i]
	}
}

// take returns a message that was given, once.
func (g *given) take(id postbag.ID) (postbag.Message, bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	m, ok := g.messages[id]
	delete(g.messages, id)
	return m, ok
}

// givenStore is a store whose pages come without headers and payloads. They are those that were given.
type givenStore struct {
	store.Store
	store.Waker

	from *given
	b    *testing.B
}

// Turn implements store.Store.
func (s *givenStore) Turn(ctx context.Context, t store.Turn) (store.TurnResult, error) {
	r, err := s.Store.Turn(ctx, t)
	for i := range r.Batches {
		for j := range r.Batches[i].Records {
			s.complete(&r.Batches[i].Records[j])
		}
	}
	return r, err
}

func (s *givenStore) complete(r *store.Record) {
	m, ok := s.from.take(r.ID)
	if !ok || len(r.Payload)+len(r.Headers) > 0 {
		s.b.Errorf("message %s was read back (%d bytes), or was not given (%v)", r.ID, len(r.Payload), ok)
	}
	r.Headers, r.Payload = m.Headers, m.Payload
}

// arrivals is a destination that notes when each message came.
type arrivals struct {
	mu   sync.Mutex
	at   map[postbag.ID]time.Time
	more chan struct{}
}

func newArrivals() *arrivals {
	return &arrivals{at: make(map[postbag.ID]time.Time), more: make(chan struct{}, 1)}
}

// Publish implements broker.Destination.
func (a *arrivals) Publish(_ context.Context, msgs []broker.Delivery, report func(i int, r broker.Result)) {
	now := time.Now()
	a.mu.Lock()
	for i := range msgs {
		a.at[msgs[i].ID] = now
	}
	a.mu.Unlock()
	for i := range msgs {
		report(i, broker.Result{Outcome: broker.Accepted})
	}
	select {
	case a.more <- struct{}{}:
	default:
	}
}

// Features implements broker.Destination.
func (*arrivals) Features() broker.Features { return broker.Features{Ordered: true} }

// Close implements broker.Destination.
func (*arrivals) Close(context.Context) error { return nil }

// wait waits until n messages came.
func (a *arrivals) wait(n int) {
	for {
		a.mu.Lock()
		came := len(a.at)
		a.mu.Unlock()
		if came >= n {
			return
		}
		<-a.more
	}
}

// processCPU is the CPU time of this process.
func processCPU() time.Duration {
	var u syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &u) // what it cannot tell is zero
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
