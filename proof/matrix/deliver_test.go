package matrix

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/broker"
	"github.com/postbag/postbag/proof/history"
	"github.com/postbag/postbag/proof/internal/record"
	"github.com/postbag/postbag/store"
)

const (
	ttl      = 2 * time.Second
	inFlight = 1000
	patience = 2 * time.Minute
)

// source is a store of the matrix.
type source struct {
	name string
	open func(t *testing.T) *box
}

// box is a box in a database of its own.
type box struct {
	// write publishes messages in a transaction, and rolls it back if commit is false.
	write func(ctx context.Context, commit bool, msgs []postbag.Message) error
	store store.Store // for relays of this process
	// server is where the database is. Nil: there is none.
	server crasher
	dsn    string // for relays in processes; empty: there can be none
}

// sink is a kind of destination of the matrix, with its server.
type sink struct {
	name  string
	start func(t *testing.T) *server
}

// server is a broker that stores what several pairs deliver, each in a place of its own.
type server struct {
	place func(t *testing.T) *place
	// restart ends the broker and starts it again.
	restart func(ctx context.Context) error
}

// place is where the messages of one pair go.
type place struct {
	topic string
	// yaml is the destination in a configuration, with env for its secrets. Empty: only this process can have it.
	yaml string
	env  []string
	// open makes the destination in this process.
	open func(t *testing.T) broker.Destination
	// stored returns the payloads that have arrived so far, those of a key in their order.
	stored func(t *testing.T) [][]byte
}

// deliver runs one pair.
func deliver(t *testing.T, b *box, s *server) *history.Report {
	t.Helper()
	var faults record.Faults
	p := s.place(t)
	w := newWriters(b, p.topic)
	first := startRelay(t, "first", b, p)
	third := messages() / 3
	w.write(t, third)

	wait := w.meanwhile(t, third)
	w.reach(t, third+third/4)
	from := time.Now()
	first.kill()
	faults.Note("kill", from)
	second := startRelay(t, "second", b, p)
	wait()

	wait = w.meanwhile(t, messages()-2*third)
	w.reach(t, 2*third+third/4)
	from = time.Now()
	if err := s.restart(t.Context()); err != nil {
		t.Fatal(err)
	}
	faults.Note("restart", from)
	wait()

	o := history.Options{InFlight: inFlight}
	for deadline := time.Now().Add(patience); ; <-time.After(100 * time.Millisecond) {
		r := record.Judge(t, p.arrivals(t), w.committed, record.Plain, &faults, o)
		if r.Of(history.Lost).Held || time.Now().After(deadline) {
			break
		}
	}
	second.stop(t)
	r := record.Require(t, p.arrivals(t), w.committed, record.Plain, &faults, o)
	t.Logf("committed %d, rolled back %d: %s", w.done.Load(), w.rolled.Load(), record.Line(r))
	return r
}

// arrivals are what has arrived; when it was stored is not known.
func (p *place) arrivals(t *testing.T) []record.Arrival {
	t.Helper()
	payloads := p.stored(t)
	all := make([]record.Arrival, len(payloads))
	for i, payload := range payloads {
		all[i] = record.Arrived(t, payload)
	}
	return all
}

// writers commit messages, eight at a time. Each key has one writer, so that its transactions are ordered.
type writers struct {
	box   *box
	topic string
	done  atomic.Int64 // messages committed

	rolled atomic.Int64 // transactions rolled back

	mu        sync.Mutex
	committed map[string]int // by key
}

const writerCount = 8

func newWriters(b *box, topic string) *writers {
	return &writers{box: b, topic: topic, committed: map[string]int{}}
}

// write commits n messages more.
func (w *writers) write(t *testing.T, n int) {
	t.Helper()
	var wg sync.WaitGroup
	for i := range writerCount {
		share := n / writerCount
		if i == 0 {
			share += n % writerCount
		}
		wg.Go(func() {
			for share > 0 {
				k, err := w.transaction(t.Context(), i, min(share, 1+rand.IntN(10)))
				if err != nil {
					t.Errorf("a writer failed: %v", err)
					return
				}
				share -= k
			}
		})
	}
	wg.Wait()
}

// meanwhile begins to write and returns what waits for its end.
func (w *writers) meanwhile(t *testing.T, n int) (wait func()) {
	t.Helper()
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		w.write(t, n)
	}()
	return func() { <-ended }
}

// reach waits until n messages are committed.
func (w *writers) reach(t *testing.T, n int) {
	t.Helper()
	for deadline := time.Now().Add(patience); w.done.Load() < int64(n); <-time.After(time.Millisecond) {
		if time.Now().After(deadline) || t.Failed() {
			t.Fatalf("the writers came to %d of %d", w.done.Load(), n)
		}
	}
}

// transaction commits n messages, or publishes them and rolls back; it returns how many it committed.
func (w *writers) transaction(ctx context.Context, writer, n int) (int, error) {
	rolled := rand.IntN(15) == 0
	next := map[string]int{}
	msgs := make([]postbag.Message, n)
	w.mu.Lock()
	for i := range msgs {
		e := record.Event{Key: fmt.Sprintf("k%d", writer+writerCount*rand.IntN((keys-writer+writerCount-1)/writerCount)), Phantom: rolled}
		if _, known := next[e.Key]; !known {
			next[e.Key] = w.committed[e.Key]
		}
		e.N = next[e.Key]
		next[e.Key]++
		msgs[i] = postbag.Message{Topic: w.topic, Key: e.Key, Type: "event", Payload: e.Payload(), Headers: map[string]string{"a": "b"}}
	}
	w.mu.Unlock()
	if err := w.box.write(ctx, !rolled, msgs); err != nil {
		return 0, err
	}
	if rolled {
		w.rolled.Add(1)
		return 0, nil
	}
	w.mu.Lock()
	maps.Copy(w.committed, next)
	w.mu.Unlock()
	w.done.Add(int64(n))
	return n, nil
}
