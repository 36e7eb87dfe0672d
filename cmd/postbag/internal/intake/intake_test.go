package intake

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// record notes what ended, in sequence.
type record struct {
	mu   sync.Mutex
	ends []string
}

// until returns a function that works until its context ends, and then so much longer.
func (r *record) until(name string, longer time.Duration, err error) func(context.Context) error {
	return func(ctx context.Context) error {
		<-ctx.Done()
		<-time.After(longer)
		r.mu.Lock()
		defer r.mu.Unlock()
		r.ends = append(r.ends, name)
		return err
	}
}

func TestWhatTakesInEndsBeforeWhatDelivers(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var r record
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(time.Second, cancel)
		if err := Before(ctx, r.until("take", time.Second, nil), r.until("deliver", 0, nil)); err != nil {
			t.Error(err)
		}
		if want := []string{"take", "deliver"}; !slices.Equal(r.ends, want) {
			t.Errorf("the sequence is %v, want %v", r.ends, want)
		}
	})
}

func TestAnEndOfOneHalfEndsTheOther(t *testing.T) {
	t.Parallel()
	fault := errors.New("fault")
	failing := func(context.Context) error { return fault }
	synctest.Test(t, func(t *testing.T) {
		var r record
		if err := Before(t.Context(), failing, r.until("deliver", 0, nil)); !errors.Is(err, fault) {
			t.Errorf("the error is %v", err)
		}
		if err := Before(t.Context(), r.until("take", 0, nil), failing); !errors.Is(err, fault) {
			t.Errorf("the error is %v", err)
		}
		if want := []string{"deliver", "take"}; !slices.Equal(r.ends, want) {
			t.Errorf("what ended is %v, want %v", r.ends, want)
		}
	})
}

func TestWithoutIntakesRunAllWaitsForItsEnd(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		begun := time.Now()
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		if err := RunAll(ctx, nil); err != nil || time.Since(begun) != time.Minute {
			t.Errorf("it ended after %v with %v", time.Since(begun), err)
		}
	})
}
