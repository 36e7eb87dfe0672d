package postbag

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
)

func TestInTxCommitsThenWakesIfSomethingWasPublished(t *testing.T) {
	t.Parallel()
	p, r := newTestPublisher(t, PublisherOptions{})
	err := p.InTx(t.Context(), func(ctx context.Context, tx *testTx) error {
		return errors.Join(p.Publish(ctx, tx, Message{}), p.Bind(tx).Publish(ctx, Message{}))
	})
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"begin", "append outbox", "append outbox", "commit", "wake outbox"}
	if !slices.Equal(r.calls, want) {
		t.Errorf("calls are %v, want %v", r.calls, want)
	}
}

func TestInTxWakesNobodyIfNothingWasPublished(t *testing.T) {
	t.Parallel()
	stop := errors.New("stop")
	for _, tc := range []struct {
		name string
		fn   func(p *Publisher[*testTx], r *recording) func(context.Context, *testTx) error
	}{
		{"nothing published", func(*Publisher[*testTx], *recording) func(context.Context, *testTx) error {
			return func(context.Context, *testTx) error { return nil }
		}},
		{"no message given", func(p *Publisher[*testTx], _ *recording) func(context.Context, *testTx) error {
			return func(ctx context.Context, tx *testTx) error { return p.Publish(ctx, tx) }
		}},
		{"a refused message", func(p *Publisher[*testTx], _ *recording) func(context.Context, *testTx) error {
			return func(ctx context.Context, tx *testTx) error {
				if p.Publish(ctx, tx, Message{Key: "\xff"}) == nil {
					t.Error("not refused")
				}
				return nil
			}
		}},
		{"a failed append", func(p *Publisher[*testTx], r *recording) func(context.Context, *testTx) error {
			r.appendErr = stop
			return func(ctx context.Context, tx *testTx) error {
				_ = p.Publish(ctx, tx, Message{})
				return nil
			}
		}},
		{"a rollback", func(p *Publisher[*testTx], _ *recording) func(context.Context, *testTx) error {
			return func(ctx context.Context, tx *testTx) error {
				return errors.Join(p.Publish(ctx, tx, Message{}), stop)
			}
		}},
		{"a failed commit", func(p *Publisher[*testTx], r *recording) func(context.Context, *testTx) error {
			r.commitErr = stop
			return func(ctx context.Context, tx *testTx) error { return p.Publish(ctx, tx, Message{}) }
		}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			p, r := newTestPublisher(t, PublisherOptions{})
			if err := p.InTx(t.Context(), tc.fn(p, r)); err != nil && !errors.Is(err, stop) {
				t.Fatal(err)
			}
			if slices.Contains(r.calls, "wake outbox") {
				t.Errorf("woken: %v", r.calls)
			}
		})
	}
}

func TestInTxPassesTheErrorOnAsItIs(t *testing.T) {
	t.Parallel()
	stop := errors.New("stop")
	p, r := newTestPublisher(t, PublisherOptions{})
	if err := p.InTx(t.Context(), func(context.Context, *testTx) error { return stop }); err != stop { //nolint:errorlint // the very value
		t.Errorf("error is %v", err)
	}
	if !slices.Equal(r.calls, []string{"begin", "rollback"}) {
		t.Errorf("calls are %v", r.calls)
	}
}

func TestInTxWakesIfTheOutcomeOfTheCommitIsUnknown(t *testing.T) {
	t.Parallel()
	p, r := newTestPublisher(t, PublisherOptions{})
	r.commitErr = errors.Join(ErrCommitUnknown, errors.New("connection reset"))
	err := p.InTx(t.Context(), func(ctx context.Context, tx *testTx) error { return p.Publish(ctx, tx, Message{}) })
	if !errors.Is(err, ErrCommitUnknown) {
		t.Errorf("error is %v", err)
	}
	if r.calls[len(r.calls)-1] != "wake outbox" {
		t.Errorf("calls are %v", r.calls)
	}
}

func TestInTxPassesAPanicOnAndWakesNobody(t *testing.T) {
	t.Parallel()
	p, r := newTestPublisher(t, PublisherOptions{})
	func() {
		defer func() {
			if got := recover(); got != "boom" {
				t.Errorf("recovered %v", got)
			}
		}()
		_ = p.InTx(t.Context(), func(ctx context.Context, tx *testTx) error {
			_ = p.Publish(ctx, tx, Message{})
			panic("boom")
		})
	}()
	if slices.Contains(r.calls, "wake outbox") || slices.Contains(r.calls, "commit") {
		t.Errorf("calls are %v", r.calls)
	}
}

func TestInTxWithoutAFunctionIsAnError(t *testing.T) {
	t.Parallel()
	p, r := newTestPublisher(t, PublisherOptions{})
	if err := p.InTx(t.Context(), nil); err == nil || len(r.calls) > 0 {
		t.Errorf("error is %v, calls %v", err, r.calls)
	}
}

func TestInTxWakesEveryBoxThatWasWrittenToOnce(t *testing.T) {
	t.Parallel()
	r := &recording{}
	boxes := map[string]*Publisher[*testTx]{}
	for _, box := range []string{"a", "b", "c"} {
		p, err := NewPublisher(r, PublisherOptions{Box: box})
		if err != nil {
			t.Fatal(err)
		}
		boxes[box] = p
	}
	err := boxes["c"].InTx(t.Context(), func(ctx context.Context, tx *testTx) error {
		return errors.Join(
			boxes["b"].Publish(ctx, tx, Message{}),
			boxes["a"].Publish(ctx, tx, Message{}),
			boxes["b"].Publish(ctx, tx, Message{}),
		)
	})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := r.calls[len(r.calls)-3:], []string{"commit", "wake b", "wake a"}; !slices.Equal(got, want) {
		t.Errorf("calls end %v, want %v", got, want)
	}
}

func TestANestedInTxIsATransactionOfItsOwnAndWakesForBoth(t *testing.T) {
	t.Parallel()
	p, r := newTestPublisher(t, PublisherOptions{})
	err := p.InTx(t.Context(), func(ctx context.Context, outer *testTx) error {
		return p.InTx(ctx, func(ctx context.Context, _ *testTx) error {
			return p.Publish(ctx, outer, Message{}) // the inner context, the outer transaction
		})
	})
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"begin", "begin", "append outbox", "commit", "wake outbox", "commit", "wake outbox"}
	if !slices.Equal(r.calls, want) {
		t.Errorf("calls are %v, want %v", r.calls, want)
	}
}

func TestPublishingFromSeveralGoroutinesWithinOneInTx(t *testing.T) {
	t.Parallel()
	p, r := newTestPublisher(t, PublisherOptions{})
	err := p.InTx(t.Context(), func(ctx context.Context, tx *testTx) error {
		var wg sync.WaitGroup
		for range 8 {
			wg.Go(func() {
				if err := p.Publish(ctx, tx, Message{}); err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	woken := 0
	for _, call := range r.calls {
		if call == "wake outbox" {
			woken++
		}
	}
	if woken != 1 {
		t.Errorf("woken %d times, want once", woken)
	}
}

func TestOutsideOfInTxNobodyIsWoken(t *testing.T) {
	t.Parallel()
	p, r := newTestPublisher(t, PublisherOptions{})
	if err := p.Publish(t.Context(), &testTx{}, Message{}); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(r.calls, []string{"append outbox"}) {
		t.Errorf("calls are %v", r.calls)
	}
}
