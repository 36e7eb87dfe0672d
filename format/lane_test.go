package format_test

import (
	"errors"
	"testing"

	"github.com/postbag/postbag/broker"
	"github.com/postbag/postbag/broker/membroker"
	"github.com/postbag/postbag/format"
)

func openLane(t *testing.T, m *membroker.Destination, encoder broker.Encoder) broker.Lane {
	t.Helper()
	d, ok := broker.TransactionalOf(broker.Wrap(m, format.Encode(encoder)))
	if !ok {
		t.Fatal("it is not broker.Transactional")
	}
	l, err := d.OpenLane(t.Context(), broker.LaneName{Box: "outbox", Subscription: "default", Lane: "0"})
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func TestATransactionHoldsEncodedMessages(t *testing.T) {
	t.Parallel()
	m := membroker.New(membroker.Options{Transactions: true})
	l := openLane(t, m, format.Debezium{})
	results := make([]broker.Result, 2)
	outcome, err := l.Commit(t.Context(), []broker.Delivery{delivery("a"), delivery("a")}, []byte("record"), results)
	if outcome != broker.Committed || err != nil || results[1].Outcome != broker.Accepted {
		t.Fatalf("it is %v (%v), %+v", outcome, err, results)
	}
	for _, r := range m.Taken() {
		if r.Topic != "outbox.event.orders" || r.Wire == nil || r.Wire.Headers["id"] != idText {
			t.Errorf("stored is %+v", r.Delivery)
		}
	}
	if got := openLane(t, m, format.Debezium{}).Record(); string(got) != "record" {
		t.Errorf("the record is %q", got)
	}
}

func TestATransactionWithAMessageThatCannotBeEncodedIsAborted(t *testing.T) {
	t.Parallel()
	const (
		good = broker.NotSent
		away = broker.Unavailable
	)
	for name, c := range map[string]struct {
		types []string
		want  []broker.Outcome
	}{
		"one at fault":          {[]string{"good", "bad", "good"}, []broker.Outcome{good, broker.Rejected, good}},
		"two":                   {[]string{"worse", "unset", "away"}, []broker.Outcome{broker.Rejected, broker.Misconfigured, good}},
		"none, but no registry": {[]string{"good", "away", "good"}, []broker.Outcome{away, away, away}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := membroker.New(membroker.Options{Transactions: true})
			l := openLane(t, m, picky)
			var msgs []broker.Delivery
			for _, kind := range c.types {
				x := delivery("k")
				x.Type = kind
				msgs = append(msgs, x)
			}
			results := make([]broker.Result, len(msgs))
			outcome, err := l.Commit(t.Context(), msgs, []byte("r"), results)
			if outcome != broker.Aborted || err == nil || m.Len() != 0 {
				t.Errorf("it is %v (%v), and %d messages are stored", outcome, err, m.Len())
			}
			for i, r := range results {
				if r.Outcome != c.want[i] || r.Err == nil {
					t.Errorf("message %d is %v (%v), want %v", i, r.Outcome, r.Err, c.want[i])
				}
			}
			clear(results)
			if outcome, err := l.Commit(t.Context(), msgs[:1], nil, results[:1]); outcome != broker.Aborted || !errors.Is(err, broker.ErrLane) || results[0].Outcome != broker.NotSent {
				t.Errorf("the finished lane says %v (%v), %v", outcome, err, results[0].Outcome)
			}
			if err := l.Close(t.Context()); err != nil {
				t.Errorf("Close: %v", err)
			}
		})
	}
}
