package broker_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/broker"
	"github.com/postbag/postbag/broker/membroker"
)

// stage is middleware that does something else than to publish.
type stage struct {
	broker.Destination

	publish func(next broker.Destination, ctx context.Context, msgs []broker.Delivery, report func(i int, r broker.Result))
}

func (s stage) Publish(ctx context.Context, msgs []broker.Delivery, report func(i int, r broker.Result)) {
	s.publish(s.Destination, ctx, msgs, report)
}

func doing(publish func(next broker.Destination, ctx context.Context, msgs []broker.Delivery, report func(i int, r broker.Result))) broker.Middleware {
	return func(next broker.Destination) broker.Destination { return stage{next, publish} }
}

// marked adds a letter to the type of every message, and to the note of its result.
func marked(letter string) broker.Middleware {
	return doing(func(next broker.Destination, ctx context.Context, msgs []broker.Delivery, report func(i int, r broker.Result)) {
		msgs = slices.Clone(msgs)
		for i := range msgs {
			msgs[i].Type += letter
		}
		next.Publish(ctx, msgs, func(i int, r broker.Result) {
			r.Note += letter
			report(i, r)
		})
	})
}

func numbered(keys ...string) []broker.Delivery {
	msgs := make([]broker.Delivery, len(keys))
	for i, key := range keys {
		msgs[i] = broker.Delivery{Message: postbag.Message{ID: postbag.ID{15: byte(i + 1)}, Topic: "t", Key: key, Payload: []byte{'1' + byte(i)}}, Seq: int64(i + 1)}
	}
	return msgs
}

// part of what a destination can, and no more.
type (
	bare    struct{ broker.Destination }
	probing struct {
		broker.Destination
		broker.Prober
	}
	named struct{ broker.Destination }
)

func (named) String() string { return "webhook https://x" }

func TestAWrappedDestinationHasTheOptionalInterfacesOfTheInner(t *testing.T) {
	t.Parallel()
	m := membroker.New(membroker.Options{Transactions: true})
	for name, c := range map[string]struct {
		to              broker.Destination
		probes, commits bool
	}{
		"all":     {m, true, true},
		"nothing": {bare{m}, false, false},
		"probes":  {probing{m, m}, true, false},
		"twice":   {broker.Wrap(m, marked("a")), true, true},
	} {
		d := broker.Wrap(c.to, marked("b"))
		p, probes := broker.ProberOf(d)
		if probes != c.probes {
			t.Errorf("%s: it has a Prober: %v, want %v", name, probes, c.probes)
		}
		if probes {
			if err := p.Probe(t.Context()); err != nil {
				t.Errorf("%s: Probe: %v", name, err)
			}
		}
		if _, commits := broker.TransactionalOf(d); commits != c.commits {
			t.Errorf("%s: it is Transactional: %v, want %v", name, commits, c.commits)
		}
		if d.Features() != c.to.Features() {
			t.Errorf("%s: its features are %+v, want %+v", name, d.Features(), c.to.Features())
		}
	}
	d := broker.Wrap(m, marked("c"))
	if err := d.Close(t.Context()); err != nil {
		t.Error(err)
	}
	if r := broker.Publish(t.Context(), m, numbered("a"))[0]; !errors.Is(r.Err, broker.ErrClosed) {
		t.Errorf("Close did not close the destination: %v", r)
	}
}

func TestWrapWithoutMiddlewareReturnsTheDestination(t *testing.T) {
	t.Parallel()
	m := membroker.New(membroker.Options{})
	if d := broker.Wrap(m, nil, nil); d != broker.Destination(m) {
		t.Errorf("it is %T", d)
	}
}

func TestAWrappedDestinationKeepsItsName(t *testing.T) {
	t.Parallel()
	if got := fmt.Sprint(broker.Wrap(named{membroker.Null()}, marked("a"))); got != "webhook https://x" {
		t.Errorf("its name is %q", got)
	}
	if got := fmt.Sprint(broker.Wrap(membroker.Null(), marked("a"))); got != "*membroker.null" {
		t.Errorf("one without a name is %q", got)
	}
}

func TestTheFirstMiddlewareSeesAMessageFirstAndItsResultLast(t *testing.T) {
	t.Parallel()
	m := membroker.New(membroker.Options{})
	r := broker.Publish(t.Context(), broker.Wrap(m, marked("a"), nil, marked("b")), numbered("k"))[0]
	if got := m.Taken()[0].Type; got != "ab" {
		t.Errorf("a message went through %q, want ab", got)
	}
	if r.Note != "ba" || r.Outcome != broker.Accepted {
		t.Errorf("its result came through %q and is %v, want ba and accepted", r.Note, r.Outcome)
	}
}

var laneName = broker.LaneName{Box: "outbox", Subscription: "default", Lane: "0"}

func open(t *testing.T, d broker.Destination) broker.Lane {
	t.Helper()
	to, ok := broker.TransactionalOf(d)
	if !ok {
		t.Fatal("it has no transactions")
	}
	l, err := to.OpenLane(t.Context(), laneName)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func TestTransactionsGoThroughMiddleware(t *testing.T) {
	t.Parallel()
	m := membroker.New(membroker.Options{Transactions: true})
	inside := 0
	counted := doing(func(next broker.Destination, ctx context.Context, msgs []broker.Delivery, report func(i int, r broker.Result)) {
		if broker.InTransaction(ctx) {
			inside++
		}
		next.Publish(ctx, msgs, report)
	})
	for _, d := range []broker.Destination{
		broker.Wrap(m, marked("a"), counted, marked("b")),
		broker.Wrap(broker.Wrap(m, counted, marked("b")), marked("a")),
	} {
		before := m.Len()
		l := open(t, d)
		results := make([]broker.Result, 2)
		outcome, err := l.Commit(t.Context(), numbered("k", "k"), []byte("record"), results)
		if outcome != broker.Committed || err != nil || results[0].Outcome != broker.Accepted || results[1].Outcome != broker.Accepted {
			t.Fatalf("it is %v (%v), %+v", outcome, err, results)
		}
		for _, r := range m.Taken()[before:] {
			if r.Type != "ab" {
				t.Errorf("a message went through %q, want ab", r.Type)
			}
		}
		if got := open(t, d).Record(); string(got) != "record" {
			t.Errorf("the record is %q", got)
		}
		if outcome, err := open(t, d).Commit(t.Context(), nil, []byte("alone"), nil); outcome != broker.Committed || err != nil {
			t.Errorf("a record alone is %v (%v)", outcome, err)
		}
		if r := broker.Publish(t.Context(), d, numbered("k"))[0]; r.Outcome != broker.Accepted {
			t.Errorf("outside of transactions it is %v", r)
		}
	}
	if inside != 2 {
		t.Errorf("%d calls were part of a transaction, want 2", inside)
	}
}

func TestMiddlewareThatWithholdsAMessageAbortsTheTransaction(t *testing.T) {
	t.Parallel()
	bad := errors.New("bad")
	for name, c := range map[string]struct {
		publish func(next broker.Destination, ctx context.Context, msgs []broker.Delivery, report func(i int, r broker.Result))
		want    []broker.Outcome
	}{
		"refuses one": {func(next broker.Destination, ctx context.Context, msgs []broker.Delivery, report func(i int, r broker.Result)) {
			report(0, broker.Result{Outcome: broker.Rejected, Err: bad})
			next.Publish(ctx, msgs[1:], func(i int, r broker.Result) { report(i+1, r) })
		}, []broker.Outcome{broker.Rejected, broker.NotSent, broker.NotSent}},
		"is away": {func(_ broker.Destination, _ context.Context, msgs []broker.Delivery, report func(i int, r broker.Result)) {
			for i := range msgs {
				report(i, broker.Result{Outcome: broker.Unavailable, Err: bad})
			}
		}, []broker.Outcome{broker.Unavailable, broker.Unavailable, broker.Unavailable}},
		"makes two calls of one": {func(next broker.Destination, ctx context.Context, msgs []broker.Delivery, report func(i int, r broker.Result)) {
			next.Publish(ctx, msgs[:1], report)
			next.Publish(ctx, msgs[1:], func(i int, r broker.Result) { report(i+1, r) })
		}, []broker.Outcome{broker.Unavailable, broker.Unavailable, broker.Unavailable}},
		"swallows": {func(_ broker.Destination, _ context.Context, _ []broker.Delivery, report func(i int, r broker.Result)) {
			report(1, broker.Result{Outcome: broker.Accepted})
		}, []broker.Outcome{broker.Unavailable, broker.Unavailable, broker.Unavailable}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := membroker.New(membroker.Options{Transactions: true})
			l := open(t, broker.Wrap(m, doing(c.publish)))
			results := make([]broker.Result, 3)
			outcome, err := l.Commit(t.Context(), numbered("a", "b", "c"), []byte("r"), results)
			if outcome != broker.Aborted || err == nil || m.Len() != 0 {
				t.Errorf("it is %v (%v), and %d messages are stored", outcome, err, m.Len())
			}
			for i, r := range results {
				if r.Outcome != c.want[i] || r.Err == nil {
					t.Errorf("message %d is %v (%v), want %v", i, r.Outcome, r.Err, c.want[i])
				}
			}
			if outcome, err := l.Commit(t.Context(), numbered("a"), nil, results[:1]); outcome != broker.Aborted || !errors.Is(err, broker.ErrLane) || results[0].Outcome != broker.NotSent {
				t.Errorf("the finished lane says %v (%v), %v", outcome, err, results[0].Outcome)
			}
			if err := l.Close(t.Context()); err != nil {
				t.Errorf("Close: %v", err)
			}
			if got := open(t, m).Record(); got != nil {
				t.Errorf("the record is %q, want none", got)
			}
		})
	}
}

func TestMiddlewarePassesOnTheErrorOfATransaction(t *testing.T) {
	t.Parallel()
	m := membroker.New(membroker.Options{Transactions: true, Transact: func(membroker.Tx) membroker.TxAct { return membroker.TxAct{Lose: true} }})
	var seen []broker.Outcome
	looking := doing(func(next broker.Destination, ctx context.Context, msgs []broker.Delivery, report func(i int, r broker.Result)) {
		next.Publish(ctx, msgs, func(i int, r broker.Result) {
			seen = append(seen, r.Outcome)
			report(i, r)
		})
	})
	outcome, err := open(t, broker.Wrap(m, looking)).Commit(t.Context(), numbered("a", "b"), []byte("r"), make([]broker.Result, 2))
	if outcome != broker.Unresolved || err == nil || !slices.Equal(seen, []broker.Outcome{broker.Unknown, broker.Unknown}) {
		t.Errorf("it is %v (%v), and the middleware saw %v", outcome, err, seen)
	}

	refusing := membroker.New(membroker.Options{Transactions: true, MaxBytes: 10})
	msgs := numbered("a", "b")
	msgs[1].Payload = make([]byte, 11)
	seen = nil
	results := make([]broker.Result, 2)
	outcome, err = open(t, broker.Wrap(refusing, looking)).Commit(t.Context(), msgs, []byte("r"), results)
	if outcome != broker.Aborted || err == nil || results[0].Outcome != broker.NotSent || results[1].Outcome != broker.Rejected || len(seen) != 2 {
		t.Errorf("it is %v (%v), %+v, and the middleware saw %v", outcome, err, results, seen)
	}
}

func BenchmarkWrap(b *testing.B) {
	msgs := numbered(make([]string, 200)...)
	results := make([]broker.Result, len(msgs))
	report := func(i int, r broker.Result) { results[i] = r }
	through := doing(func(next broker.Destination, ctx context.Context, msgs []broker.Delivery, report func(i int, r broker.Result)) {
		next.Publish(ctx, msgs, report)
	})
	d := broker.Wrap(membroker.Null(), through, through)
	b.ReportAllocs()
	for b.Loop() {
		d.Publish(b.Context(), msgs, report)
	}
}
