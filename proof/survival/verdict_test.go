package survival

import (
	"context"
	"fmt"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/postbag/postbag/proof/history"
	"github.com/postbag/postbag/proof/internal/record"
)

// stored is one message in the stream.
type stored struct {
	record.Arrival

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
				s, err := w.read(m)
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

func (w *world) read(m jetstream.Msg) (stored, error) {
	s := stored{Arrival: record.Arrived(w.t, m.Data())}
	meta, err := m.Metadata()
	if err != nil {
		return s, err
	}
	s.From, s.To = meta.Timestamp, meta.Timestamp
	put, err := time.Parse(time.RFC3339Nano, m.Headers().Get("Postbag-Time"))
	s.took = s.To.Sub(put)
	return s, err
}

// judge compares a stream with what was committed.
func (w *world) judge(messages []stored, committed map[string]int, faults *record.Faults) *history.Report {
	w.t.Helper()
	all := make([]record.Arrival, len(messages))
	for i, m := range messages {
		all[i] = m.Arrival
	}
	return record.Require(w.t, all, committed, w.payload, faults, history.Options{InFlight: inFlight, Slack: slack})
}

// longest is the longest that a message took from the database to the broker.
func longest(messages []stored) (d time.Duration) {
	for _, m := range messages {
		d = max(d, m.took)
	}
	return d
}

// slack is how long after a fault it can still cause a duplicate: by then the leases have changed hands, and what was not
// settled was sent again.
const slack = 3*ttl + 5*time.Second

// expect waits for everything that ws committed, and fails the test for whatever
// is lost, a phantom, out of order, or a duplicate that no fault explains: each
// lies in a fault's window, and they are no more than in_flight a fault.
func (w *world) expect(ws *writers, within time.Duration) []stored {
	w.t.Helper()
	total := ws.total()
	w.messages(total, within)
	pause(time.Second) // what a zombie still has to say
	all := w.messages(0, time.Minute)
	r := w.judge(all, ws.committed, &w.faults)
	w.t.Logf("committed %d, rolled back %d transactions, %s, faults %d, %v",
		total, ws.rolled, record.Line(r), w.faults.Count(), time.Since(w.began).Round(time.Millisecond))
	return all
}

// expectOnce is expect of a test without faults, in which there is nothing to repeat.
func (w *world) expectOnce(ws *writers, within time.Duration) []stored {
	w.t.Helper()
	if n := w.faults.Count(); n != 0 {
		w.t.Errorf("%d faults explain what is to be repeated", n)
	}
	return w.expect(ws, within)
}
