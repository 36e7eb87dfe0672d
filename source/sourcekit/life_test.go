package sourcekit_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/postbag/postbag/source"
	"github.com/postbag/postbag/source/sourcekit"
)

func TestOneFetchIsLetInAtATime(t *testing.T) {
	t.Parallel()
	var l sourcekit.Life
	_, done, err := l.Fetch(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := l.Fetch(t.Context()); !errors.Is(err, source.ErrBusy) {
		t.Errorf("a second Fetch: %v", err)
	}
	leave, err := l.Call(t.Context())
	if err != nil {
		t.Errorf("a call beside a Fetch: %v", err)
	}
	leave()
	done()
	done()
	if _, done, err = l.Fetch(t.Context()); err != nil {
		t.Fatalf("a Fetch after the first: %v", err)
	}
	done()
}

func TestAContextThatIsOverIsNotLetIn(t *testing.T) {
	t.Parallel()
	var l sourcekit.Life
	reason := errors.New("enough")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(reason)
	if _, _, err := l.Fetch(ctx); !errors.Is(err, reason) {
		t.Errorf("Fetch: %v", err)
	}
	if _, err := l.Call(ctx); !errors.Is(err, reason) {
		t.Errorf("Call: %v", err)
	}
}

func TestCloseEndsAFetchAndWaitsForThoseInside(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var l sourcekit.Life
		work, done, err := l.Fetch(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		leave, err := l.Call(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		ended := 0
		failed := errors.New("failed")
		closed := make(chan error, 2)
		for range 2 {
			go func() {
				closed <- l.Close(context.Background(), func(context.Context) error {
					ended++
					return failed
				})
			}()
		}
		<-work.Done()
		if cause := context.Cause(work); !errors.Is(cause, source.ErrClosed) {
			t.Errorf("a Fetch ends with %v", cause)
		}
		done()
		synctest.Wait()
		if ended > 0 || len(closed) > 0 {
			t.Error("Close does not wait for a call inside")
		}
		leave()
		if err := errors.Join(<-closed, <-closed); !errors.Is(err, failed) || ended != 1 {
			t.Errorf("Close ends %d times, with %v", ended, err)
		}
		if err := l.Close(context.Background(), nil); !errors.Is(err, failed) {
			t.Errorf("a later Close returns %v", err)
		}
		if _, _, err := l.Fetch(t.Context()); !errors.Is(err, source.ErrClosed) {
			t.Errorf("Fetch after Close: %v", err)
		}
		if _, err := l.Call(t.Context()); !errors.Is(err, source.ErrClosed) {
			t.Errorf("Call after Close: %v", err)
		}
	})
}

func TestCloseWaitsNoLongerThanItsContext(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var l sourcekit.Life
		leave, err := l.Call(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		if err := l.Close(ctx, func(ctx context.Context) error { return ctx.Err() }); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("Close: %v", err)
		}
		if took := time.Since(began); took != time.Minute {
			t.Errorf("Close took %v", took)
		}
		leave()
	})
}
