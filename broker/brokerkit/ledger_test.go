package brokerkit_test

import (
	"slices"
	"sync"
	"testing"

	"github.com/postbag/postbag/broker"
	"github.com/postbag/postbag/broker/brokerkit"
)

const adapter = brokerkit.Adapter("testbroker")

// told is what a ledger reported.
type told struct {
	mu       sync.Mutex
	outcomes map[int][]broker.Outcome
	left     []brokerkit.State // how far each had come
	over     int
}

func open(n int) (*brokerkit.Ledger, *told) {
	r := &told{outcomes: map[int][]broker.Outcome{}}
	l := new(brokerkit.Ledger)
	l.Open(make([]broker.Delivery, n), func(i int, result broker.Result) {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.outcomes[i] = append(r.outcomes[i], result.Outcome)
	}, func() { r.over++ }, func(_ int, was brokerkit.State) { r.left = append(r.left, was) })
	return l, r
}

func TestALedgerReportsEachMessagesResultOnce(t *testing.T) {
	t.Parallel()
	l, r := open(4)
	if !l.Sending(0) || !l.Sending(1) || !l.Sending(2) {
		t.Fatal("a message that waits cannot be sent")
	}
	l.Answer(0, broker.Result{Outcome: broker.Accepted})
	l.Answer(0, broker.Result{Outcome: broker.Rejected})
	if l.Sending(0) || l.Mark(0, brokerkit.Waiting) {
		t.Error("a message that has its fate can be sent")
	}
	l.Mark(2, brokerkit.Waiting) // the client did not let it out
	if out := l.End(adapter.NoAnswer(), adapter.NotInTime()); !out {
		t.Error("End says that no answer was out")
	}
	l.Answer(1, broker.Result{Outcome: broker.Accepted}) // too late
	want := map[int][]broker.Outcome{0: {broker.Accepted}, 1: {broker.Unknown}, 2: {broker.NotSent}, 3: {broker.NotSent}}
	for i, outcomes := range want {
		if !slices.Equal(r.outcomes[i], outcomes) {
			t.Errorf("of message %d is reported %v, want %v", i, r.outcomes[i], outcomes)
		}
	}
	if r.over != 1 || !slices.Equal(r.left, []brokerkit.State{brokerkit.Sent, brokerkit.Sent, brokerkit.Waiting, brokerkit.Waiting}) {
		t.Errorf("over %d times, messages came from %v", r.over, r.left)
	}
	if _, ok := l.Message(0); ok {
		t.Error("the slice is read after the call is over")
	}
	if out := l.End(adapter.NoAnswer(), adapter.NotInTime()); out || r.over != 1 {
		t.Error("a call that is over is ended again")
	}
}

func TestALedgerEndsTheCallForConcurrentSettlers(t *testing.T) {
	t.Parallel()
	const n = 1000
	l, r := open(n)
	var group sync.WaitGroup
	for range 4 {
		group.Go(func() {
			for i := range n {
				if l.Sending(i) {
					l.Answer(i, broker.Result{Outcome: broker.Accepted})
				}
			}
		})
	}
	group.Go(func() { l.End(adapter.NoAnswer(), adapter.NotInTime()) })
	group.Wait()
	for i := range n {
		if len(r.outcomes[i]) != 1 {
			t.Fatalf("of message %d is reported %v", i, r.outcomes[i])
		}
	}
	if r.over != 1 {
		t.Errorf("the call is over %d times", r.over)
	}
}

func BenchmarkLedger(b *testing.B) {
	msgs := make([]broker.Delivery, 1000)
	report := func(int, broker.Result) {}
	b.ReportAllocs()
	for b.Loop() {
		var l brokerkit.Ledger
		l.Open(msgs, report, nil, nil)
		for i := range msgs {
			l.Sending(i)
			l.Answer(i, broker.Result{Outcome: broker.Accepted})
		}
	}
}
