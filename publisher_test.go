package postbag

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
)

func TestPublishMakesOneAppendCallForAnyNumberOfMessages(t *testing.T) {
	t.Parallel()
	for _, n := range []int{1, 2, 1000} {
		p, r := newTestPublisher(t, PublisherOptions{})
		msgs := make([]Message, n)
		for i := range msgs {
			msgs[i].Key = strconv.Itoa(i)
		}
		if err := p.Publish(t.Context(), &testTx{}, msgs...); err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(r.calls, []string{"append outbox"}) {
			t.Errorf("%d messages: the store's calls are %v", n, r.calls)
		}
		for i, m := range r.only(t) {
			if m.Key != strconv.Itoa(i) {
				t.Fatalf("message %d has key %q", i, m.Key)
			}
		}
	}
}

func TestPublishOfNothingDoesNothing(t *testing.T) {
	t.Parallel()
	p, r := newTestPublisher(t, PublisherOptions{Wrap: func(PublishFunc) PublishFunc {
		t.Error("the wrapper was called")
		return nil
	}})
	for name, publish := range map[string]func() error{
		"Publish":        func() error { return p.Publish(t.Context(), &testTx{}) },
		"PublishOrdered": func() error { return p.PublishOrdered(t.Context(), &testTx{}) },
		"Bind":           func() error { return p.Bind(&testTx{}).Publish(t.Context()) },
	} {
		if err := publish(); err != nil || len(r.calls) > 0 {
			t.Errorf("%s of nothing: %v, calls %v", name, err, r.calls)
		}
	}
}

func TestTheStoresErrorIsPassedOnAsItIs(t *testing.T) {
	t.Parallel()
	full := errors.New("pgstore: append: disk full; free some")
	p, r := newTestPublisher(t, PublisherOptions{})
	r.appendErr = full
	if err := p.Publish(t.Context(), &testTx{}, Message{}); err != full { //nolint:errorlint // the very value
		t.Errorf("error is %v", err)
	}
}

func TestPublishOrderedLocksTheKeysFirst(t *testing.T) {
	t.Parallel()
	p, r := newTestPublisher(t, PublisherOptions{Box: "events"})
	err := p.PublishOrdered(t.Context(), &testTx{}, Message{Key: "b"}, Message{Key: "a", Payload: []byte("1")}, Message{Key: "b"})
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(r.calls, []string{"lock events", "append events"}) {
		t.Errorf("calls are %v", r.calls)
	}
	if len(r.locked) != 1 || !slices.Equal(r.locked[0], []string{"a", "b"}) {
		t.Errorf("locked %v, want a and b once each", r.locked)
	}
	if got := r.only(t); got[0].Key != "b" || got[1].Key != "a" || got[2].Key != "b" {
		t.Errorf("the messages' own order is lost: %v", got)
	}
}

func TestPublishOrderedRefusesAMessageWithoutAKey(t *testing.T) {
	t.Parallel()
	p, r := newTestPublisher(t, PublisherOptions{})
	got := messageErrors(t, p.PublishOrdered(t.Context(), &testTx{}, Message{Key: "a"}, Message{}, Message{Key: "\xff"}))
	if len(got) != 2 || got[0].Index != 1 || got[0].Field != "Key" || !strings.Contains(got[0].Reason, "PublishOrdered orders by it; set it") || got[1].Index != 2 {
		t.Errorf("faults are %v", got)
	}
	if len(r.calls) != 0 {
		t.Errorf("the store was called: %v", r.calls)
	}
}

func TestPublishOrderedWritesNothingWithoutItsLocks(t *testing.T) {
	t.Parallel()
	p, r := newTestPublisher(t, PublisherOptions{})
	r.lockErr = errors.New("deadlock")
	if err := p.PublishOrdered(t.Context(), &testTx{}, Message{Key: "a"}); !errors.Is(err, r.lockErr) {
		t.Errorf("error is %v", err)
	}
	if !slices.Equal(r.calls, []string{"lock outbox"}) {
		t.Errorf("calls are %v", r.calls)
	}
}

func TestANilTransactionIsAnErrorAndNoPanic(t *testing.T) {
	t.Parallel()
	p, r := newTestPublisher(t, PublisherOptions{})
	for name, publish := range map[string]func() error{
		"Publish":            func() error { return p.Publish(t.Context(), nil, Message{}) },
		"Publish of nothing": func() error { return p.Publish(t.Context(), nil) },
		"PublishOrdered":     func() error { return p.PublishOrdered(t.Context(), nil, Message{Key: "k"}) },
		"Bind":               func() error { return p.Bind(nil).Publish(t.Context(), Message{}) },
		"Cancel":             func() error { _, err := p.Cancel(t.Context(), nil, NewID()); return err },
	} {
		if err := publish(); !errors.Is(err, ErrNoTx) {
			t.Errorf("%s: error is %v, want ErrNoTx", name, err)
		}
	}
	if len(r.calls) != 0 {
		t.Errorf("the store was called: %v", r.calls)
	}
}

func TestIsNilKnowsEveryKindOfTransaction(t *testing.T) {
	t.Parallel()
	var typed SQLTx = (*fakeSQLTx)(nil)
	for name, v := range map[string]any{"nil": nil, "a nil pointer": (*testTx)(nil), "a nil pointer in an interface": typed, "a nil func": (func())(nil), "a nil map": map[string]int(nil)} {
		if !isNil(v) {
			t.Errorf("%s is not nil", name)
		}
	}
	for name, v := range map[string]any{"a pointer": &testTx{}, "a struct": testTx{}, "a number": 0, "a string": "", "a func": func() {}} {
		if isNil(v) {
			t.Errorf("%s is nil", name)
		}
	}
}

func TestBindPublishesInItsTransaction(t *testing.T) {
	t.Parallel()
	p, r := newTestPublisher(t, PublisherOptions{Box: "events"})
	s := p.Bind(&testTx{})
	if err := s.Publish(t.Context(), Message{Key: "a"}, Message{Key: "b"}); err != nil {
		t.Fatal(err)
	}
	if got := r.only(t); len(got) != 2 || got[1].Key != "b" {
		t.Errorf("stored %v", got)
	}
	if got := messageErrors(t, s.Publish(t.Context(), Message{Key: "\xff"})); len(got) != 1 {
		t.Errorf("faults are %v", got)
	}
}

func TestSenderFuncIsASender(t *testing.T) {
	t.Parallel()
	var got []Message
	var s Sender = SenderFunc(func(_ context.Context, msgs ...Message) error {
		got = append(got, msgs...)
		return nil
	})
	if err := s.Publish(t.Context(), Message{Key: "a"}, Message{Key: "b"}); err != nil || len(got) != 2 {
		t.Errorf("got %v, %v", got, err)
	}
}

func TestCancelAsksTheStore(t *testing.T) {
	t.Parallel()
	p, r := newTestPublisher(t, PublisherOptions{Box: "events"})
	id := NewID()
	for _, found := range []bool{true, false} {
		r.found = found
		if got, err := p.Cancel(t.Context(), &testTx{}, id); err != nil || got != found {
			t.Errorf("Cancel = %v, %v, want %v", got, err, found)
		}
	}
	if !slices.Equal(r.canceled, []ID{id, id}) || r.calls[0] != "cancel events" {
		t.Errorf("the store canceled %v by %v", r.canceled, r.calls)
	}
}

func TestCancelOfTheZeroIDSaysWhatToDo(t *testing.T) {
	t.Parallel()
	p, r := newTestPublisher(t, PublisherOptions{})
	_, err := p.Cancel(t.Context(), &testTx{}, ID{})
	if err == nil || !strings.Contains(err.Error(), "cancel: the id is zero; set Message.ID with NewID") || len(r.calls) > 0 {
		t.Errorf("error is %v, calls %v", err, r.calls)
	}
}

func TestCommittedWakesTheBoxesRelay(t *testing.T) {
	t.Parallel()
	p, r := newTestPublisher(t, PublisherOptions{Box: "events"})
	p.Committed()
	if !slices.Equal(r.calls, []string{"wake events"}) {
		t.Errorf("calls are %v", r.calls)
	}
}

func TestAPublisherServesManyGoroutines(t *testing.T) {
	t.Parallel()
	p, r := newTestPublisher(t, PublisherOptions{Headers: map[string]string{"a": "box"}, Context: tracing})
	ctx := traced(t, "t")
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 100 {
				if err := p.Publish(ctx, &testTx{}, Message{}, Message{Headers: map[string]string{"b": "own"}}); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	wg.Wait()
	if len(r.appended) != 800 {
		t.Errorf("appended %d times, want 800", len(r.appended))
	}
}

// nothing is a store that only costs what the publisher itself does.
type nothing struct{}

func (nothing) Append(context.Context, *testTx, string, []Message) error  { return nil }
func (nothing) Lock(context.Context, *testTx, string, []string) error     { return nil }
func (nothing) Cancel(context.Context, *testTx, string, ID) (bool, error) { return false, nil }
func (nothing) Wake(string)                                               {}
func (nothing) InTx(ctx context.Context, fn func(context.Context, *testTx) error) error {
	return fn(ctx, &testTx{})
}

func BenchmarkPublish(b *testing.B) {
	headers := map[string]string{"content-type": "application/json"}
	for _, tc := range []struct {
		name    string
		options PublisherOptions
		n       int
		ordered bool
	}{
		{"one", PublisherOptions{}, 1, false},
		{"one with box headers and a trace", PublisherOptions{Headers: headers, Context: tracing}, 1, false},
		{"one ordered", PublisherOptions{}, 1, true},
		{"one wrapped", PublisherOptions{Wrap: func(next PublishFunc) PublishFunc { return next }}, 1, false},
		{"1000", PublisherOptions{}, 1000, false},
		{"1000 ordered", PublisherOptions{}, 1000, true},
	} {
		b.Run(tc.name, func(b *testing.B) {
			p, err := NewPublisher(nothing{}, tc.options)
			if err != nil {
				b.Fatal(err)
			}
			publish := p.Publish
			if tc.ordered {
				publish = p.PublishOrdered
			}
			msgs := make([]Message, tc.n)
			for i := range msgs {
				msgs[i] = Message{Topic: "orders", Key: strconv.Itoa(i % 100), Type: "order.created", Payload: make([]byte, 512)}
			}
			ctx, tx := context.WithValue(b.Context(), traceKey{}, "t"), &testTx{}
			b.ReportAllocs()
			for b.Loop() {
				if err := publish(ctx, tx, msgs...); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
