package inbox_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/inbox"
	"github.com/postbag/postbag/source"
	"github.com/postbag/postbag/source/memsource"
	"github.com/postbag/postbag/store"
	"github.com/postbag/postbag/store/memstore"
)

type middleware = inbox.Middleware[*memstore.Tx]

func TestMiddlewareIsCalledOutermostFirstInTheTransactionOfTheMessage(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	var calls []string
	note := func(text string) {
		mu.Lock()
		defer mu.Unlock()
		calls = append(calls, text)
	}
	var made atomic.Int64
	step := func(w *consuming, name string) middleware {
		return func(next inbox.Handler[*memstore.Tx]) inbox.Handler[*memstore.Tx] {
			made.Add(1)
			return func(ctx context.Context, tx *memstore.Tx, m *inbox.Message) error {
				note(name + " before " + string(m.Payload))
				changed := *m
				changed.Payload = []byte(string(m.Payload) + name)
				if err := w.effects.Publish(ctx, tx, postbag.Message{Key: m.Key, Payload: []byte("of " + name)}); err != nil {
					return err
				}
				err := next(ctx, tx, &changed)
				note(name + " after")
				return err
			}
		}
	}
	w := consume(t, memsource.Options{Order: source.OrderStream}, memstore.Options{}, func(w *consuming, o *consumerOptions) {
		o.Use = []middleware{step(w, "A"), nil, step(w, "B")}
	})
	in := of("k", "x")
	w.publish(in, in)
	w.acked()
	w.applied("of A", "of B", "xAB")
	if want := []string{"A before x", "B before xA", "B after", "A after"}; !slices.Equal(calls, want) || made.Load() != 2 {
		t.Errorf("the calls are %q, not %q; handlers were made %d times", calls, want, made.Load())
	}
	if s := w.c.Stats(); s.Applied != 1 || s.Repeated != 1 {
		t.Errorf("it counted %+v", s)
	}
	w.end()
}

func TestAnErrorAndAPanicOfMiddlewareAreThoseOfTheHandler(t *testing.T) {
	t.Parallel()
	w := consume(t, memsource.Options{Order: source.OrderStream}, memstore.Options{}, options(func(o *consumerOptions) {
		o.Retry.MaxAttempts = 2
		o.Use = []middleware{func(next inbox.Handler[*memstore.Tx]) inbox.Handler[*memstore.Tx] {
			return func(ctx context.Context, tx *memstore.Tx, m *inbox.Message) error {
				if err := next(ctx, tx, m); err != nil {
					return err
				}
				switch string(m.Payload) {
				case "error":
					return errors.New("not signed")
				case "panic":
					panic("not signed")
				}
				return nil
			}
		}}
	}))
	w.publish(of("a", "error"), of("b", "panic"), of("c", "good"))
	w.acked()
	w.applied("good")
	if s := w.c.Stats(); s.Failed != 4 || s.Parked != 2 {
		t.Errorf("it counted %+v", s)
	}
	w.end()
}

func TestASkipIsCountedBehindMiddlewareThatCopiesTheMessage(t *testing.T) {
	t.Parallel()
	var none []string
	w := consume(t, memsource.Options{Order: source.OrderStream}, memstore.Options{}, options(func(o *consumerOptions) {
		handle, err := inbox.NewRouter(routerOptions{Unknown: inbox.UnknownSkip}, inbox.On(created, got[order](&none, "")))
		if err != nil {
			t.Fatal(err)
		}
		o.Handle = handle
		o.Use = []middleware{func(next inbox.Handler[*memstore.Tx]) inbox.Handler[*memstore.Tx] {
			return func(ctx context.Context, tx *memstore.Tx, m *inbox.Message) error {
				changed := *m
				return next(ctx, tx, &changed)
			}
		}}
	}))
	w.publish(of("a", "1"), of("a", "2"))
	w.acked()
	if s := w.c.Stats(); s.Skipped != 2 || s.Applied != 0 {
		t.Errorf("it counted %+v", s)
	}
	w.end()
}

func TestMiddlewareThatReturnsNoHandlerIsRefused(t *testing.T) {
	t.Parallel()
	s := memstore.New(memstore.Options{})
	_, err := inbox.NewConsumer(consumerOptions{
		Store: s, Source: memsource.New(memsource.Options{}).Join("billing"), Consumer: "billing",
		Handle: func(context.Context, *memstore.Tx, *inbox.Message) error { return nil },
		Use:    []middleware{nil, func(inbox.Handler[*memstore.Tx]) inbox.Handler[*memstore.Tx] { return nil }},
	})
	if err == nil || !strings.Contains(err.Error(), "ConsumerOptions.Use[1]") {
		t.Errorf("the error is %v", err)
	}
}

func TestAMessageThatIsRejectedIsParkedAtOnceWithItsReason(t *testing.T) {
	t.Parallel()
	w := consume(t, memsource.Options{Order: source.OrderStream}, memstore.Options{}, func(w *consuming, o *consumerOptions) {
		o.Retry = inbox.Retry{Min: time.Hour}
		o.Handle = func(ctx context.Context, tx *memstore.Tx, m *inbox.Message) error {
			if err := w.apply(ctx, tx, m); err != nil || string(m.Payload) != "bad" {
				return err
			}
			return fmt.Errorf("charge: %w: the amount is negative", inbox.ErrRejected)
		}
	})
	w.publish(of("a", "bad"), of("a", "good"))
	w.acked()
	w.applied("good")
	parked := w.in("aside")
	if len(parked) != 1 || string(parked[0].Payload) != "bad" || parked[0].Key != "a" || !strings.Contains(failed(parked[0]), "the amount is negative") {
		t.Errorf("parked are %+v", parked)
	}
	if s := w.c.Stats(); s.Failed != 1 || s.Parked != 1 || s.Applied != 1 || w.log.count("it is tried again") != 0 {
		t.Errorf("it counted %+v", s)
	}
	w.end()
}

func TestWithoutABoxARejectedMessageEndsRun(t *testing.T) {
	t.Parallel()
	w := consume(t, memsource.Options{Order: source.OrderStream}, memstore.Options{}, options(func(o *consumerOptions) { o.Box = "" }),
		handle(func(context.Context, *inbox.Message, int) error { return inbox.ErrRejected }))
	w.publish(of("a", "bad"))
	if err := <-w.ended; !errors.Is(err, inbox.ErrRejected) || !strings.Contains(err.Error(), "ConsumerOptions.Box") {
		t.Errorf("Run returned %v", err)
	}
	if n := w.broker.Unacked("billing"); n != 1 {
		t.Errorf("%d messages are not acknowledged, not one", n)
	}
}

// A handler may take every error of its queries for the message's. An outage must not park what is good.
func TestAMessageThatIsRejectedDuringAnOutageOrADeadlockIsTriedAgain(t *testing.T) {
	t.Parallel()
	var down atomic.Bool
	w := consume(t, memsource.Options{Order: source.OrderStream}, memstore.Options{Fault: func(_ context.Context, op memstore.Op) memstore.Fault {
		if down.Load() && op == memstore.OpBegin {
			down.Store(false)
			return memstore.Fault{Err: errors.New("the database is down")}
		}
		return memstore.Fault{}
	}}, handle(func(_ context.Context, _ *inbox.Message, call int) error {
		switch call {
		case 1:
			down.Store(true)
			return fmt.Errorf("%w: no connection", inbox.ErrRejected)
		case 2:
			return fmt.Errorf("%w: %w", inbox.ErrRejected, store.ErrAgain)
		}
		return nil
	}))
	w.publish(of("a", "good"))
	w.acked()
	w.applied("good")
	if s := w.c.Stats(); s.Failed != 0 || s.Parked != 0 {
		t.Errorf("it counted %+v", s)
	}
	w.end()
}

func TestARejectionThatComesTooLateIsAnAttemptLikeOthers(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := consume(t, memsource.Options{Order: source.OrderStream}, memstore.Options{}, handle(func(ctx context.Context, _ *inbox.Message, call int) error {
			if call > 1 {
				return nil
			}
			<-ctx.Done() // its query ended so
			return inbox.ErrRejected
		}))
		w.publish(of("a", "good"))
		w.acked()
		w.applied("good")
		if s := w.c.Stats(); s.Failed != 1 || s.Parked != 0 {
			t.Errorf("it counted %+v", s)
		}
		w.end()
	})
}

func TestASkipOfAnAttemptThatFailedIsForgotten(t *testing.T) {
	t.Parallel()
	var calls atomic.Int64
	w := consume(t, memsource.Options{Order: source.OrderStream}, memstore.Options{}, options(func(o *consumerOptions) {
		var none []string
		handle, err := inbox.NewRouter(routerOptions{Unknown: inbox.UnknownSkip}, inbox.On(created, got[order](&none, "")))
		if err != nil {
			t.Fatal(err)
		}
		o.Handle = handle
		o.Use = []middleware{func(next inbox.Handler[*memstore.Tx]) inbox.Handler[*memstore.Tx] {
			return func(ctx context.Context, tx *memstore.Tx, m *inbox.Message) error {
				if calls.Add(1) > 1 {
					return nil
				}
				return errors.Join(next(ctx, tx, m), errors.New("not yet"))
			}
		}}
	}))
	w.publish(of("a", "1"))
	w.acked()
	if s := w.c.Stats(); s.Skipped != 0 || s.Applied != 1 || s.Failed != 1 {
		t.Errorf("it counted %+v", s)
	}
	w.end()
}
