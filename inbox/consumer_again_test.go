package inbox_test

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/postbag/postbag/inbox"
	"github.com/postbag/postbag/source"
	"github.com/postbag/postbag/source/memsource"
	"github.com/postbag/postbag/store"
	"github.com/postbag/postbag/store/memstore"
)

// knowing is a store that knows an error of its driver.
type knowing struct{ *memstore.Store }

var errDriver = errors.New("1213: Deadlock found")

func (knowing) RunAgain(err error) bool { return errors.Is(err, errDriver) }

func TestAnErrorThatTheStoreKnowsIsNotCounted(t *testing.T) {
	t.Parallel()
	w := consume(t, memsource.Options{Order: source.OrderStream}, memstore.Options{}, func(w *consuming, o *consumerOptions) {
		o.Store, o.Retry.MaxAttempts = knowing{w.store}, 1
	}, handle(func(_ context.Context, m *inbox.Message, call int) error {
		switch {
		case string(m.Payload) == "bad":
			return errors.New("1062: Duplicate entry")
		case call < 6:
			return fmt.Errorf("charge: %w", errDriver)
		}
		return nil
	}))
	w.publish(of("a", "good"), of("a", "bad"))
	w.acked()
	w.applied("good")
	if s := w.c.Stats(); s.Failed != 1 || s.Parked != 1 {
		t.Errorf("it counted %+v", s)
	}
	w.end()
}

// A handler that waits for its own transaction through another connection meets another one for ever.
func TestATransactionThatMeetsAnotherOneFiftyTimesInARowIsCountedOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var calls atomic.Int64
		w := consume(t, memsource.Options{Order: source.OrderStream}, memstore.Options{}, options(func(o *consumerOptions) { o.Retry.MaxAttempts = 1 }),
			handle(func(_ context.Context, m *inbox.Message, _ int) error {
				if string(m.Payload) != "bad" {
					return nil
				}
				calls.Add(1)
				return store.ErrAgain
			}))
		w.publish(of("a", "bad"), of("a", "good"))
		w.acked()
		w.applied("good")
		if s := w.c.Stats(); s.Failed != 1 || s.Parked != 1 || calls.Load() != 51 {
			t.Errorf("after %d calls it counted %+v", calls.Load(), s)
		}
		w.end()
	})
}
