package survival

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

// verdict is what a comparison of the two records found.
type verdict struct {
	distinct, lost, phantoms, inversions int
	duplicates                           []time.Time
	longest                              time.Duration // from store to broker, of first arrivals
}

// stored is one message in the stream.
type stored struct {
	event
	at   time.Time     // when the broker stored it
	took time.Duration // since the database had stored it, commit or not
}

// messages is messagesIn of the stream that all tests have.
func (w *world) messages(n int, within time.Duration) []stored {
	w.t.Helper()
	return w.messagesIn(stream, n, within)
}

// messagesIn waits until a stream holds at least n distinct messages, or time is
// out, and returns all of them in their order.
func (w *world) messagesIn(stream string, n int, within time.Duration) []stored {
	w.t.Helper()
	deadline := time.Now().Add(within)
	var out []stored
	distinct := map[string]bool{}
	w.jetstream(func(ctx context.Context, js jetstream.JetStream) error {
		c, err := js.OrderedConsumer(ctx, stream, jetstream.OrderedConsumerConfig{})
		if err != nil {
			return err
		}
		for (len(distinct) < n || n == 0) && time.Now().Before(deadline) {
			batch, err := c.Fetch(5000, jetstream.FetchMaxWait(500*time.Millisecond))
			if err != nil {
				continue
			}
			got := 0
			for m := range batch.Messages() {
				got++
				s, err := read(m)
				if err != nil {
					return err
				}
				out = append(out, s)
				distinct[fmt.Sprint(s.Key, "/", s.N)] = true
			}
			if n == 0 && got == 0 {
				break
			}
		}
		return nil
	})
	return out
}

func read(m jetstream.Msg) (stored, error) {
	var s stored
	if err := json.Unmarshal(m.Data(), &s.event); err != nil {
		return s, fmt.Errorf("a message in the stream is damaged: %w", err)
	}
	meta, err := m.Metadata()
	if err != nil {
		return s, err
	}
	s.at = meta.Timestamp
	put, err := time.Parse(time.RFC3339Nano, m.Headers().Get("Postbag-Time"))
	s.took = s.at.Sub(put)
	return s, err
}

// judge compares the stream with what was committed.
func judge(messages []stored, committed map[string]int) verdict {
	var v verdict
	next, seen := map[string]int{}, map[string]map[int]bool{}
	for _, m := range messages {
		if m.Phantom || m.N >= committed[m.Key] {
			v.phantoms++
			continue
		}
		if seen[m.Key] == nil {
			seen[m.Key] = map[int]bool{}
		}
		if seen[m.Key][m.N] {
			v.duplicates = append(v.duplicates, m.at)
			continue
		}
		seen[m.Key][m.N] = true
		v.distinct++
		v.longest = max(v.longest, m.took)
		if m.N != next[m.Key] {
			v.inversions++
		}
		next[m.Key] = max(next[m.Key], m.N+1)
	}
	for key, n := range committed {
		v.lost += n - len(seen[key])
	}
	return v
}

// expect waits for everything that ws committed, and fails the test for whatever
// is lost, a phantom, out of order, or a duplicate that no fault explains: each
// lies in a fault's window, and they are no more than in_flight a fault.
func (w *world) expect(ws *writers, within time.Duration) verdict {
	w.t.Helper()
	total := ws.total()
	w.messages(total, within)
	pause(time.Second) // what a zombie still has to say
	v := judge(w.messages(0, time.Minute), ws.committed)
	w.t.Logf("committed %d, rolled back %d transactions, distinct %d, lost %d, phantoms %d, inversions %d, duplicates %d, faults %d, %v",
		total, ws.rolled, v.distinct, v.lost, v.phantoms, v.inversions, len(v.duplicates), len(w.faults), time.Since(w.began).Round(time.Millisecond))
	if v.lost+v.phantoms+v.inversions != 0 {
		w.t.Errorf("lost %d, phantoms %d, inversions %d", v.lost, v.phantoms, v.inversions)
	}
	if most := len(w.faults) * inFlight; len(v.duplicates) > most {
		w.t.Errorf("%d duplicates; %d faults explain %d", len(v.duplicates), len(w.faults), most)
	}
	for _, at := range v.duplicates {
		if !w.explained(at) {
			w.t.Errorf("a duplicate at %v lies in no fault's window", at.Sub(w.began))
			break
		}
	}
	return v
}

// explained says that a fault can have caused a duplicate at this time: it was
// sent again after the fault, by when the leases had changed hands.
func (w *world) explained(at time.Time) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, f := range w.faults {
		if at.After(f.from) && at.Before(f.to.Add(3*ttl+5*time.Second)) {
			return true
		}
	}
	return false
}
