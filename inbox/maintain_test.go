package inbox_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/store"
	"github.com/postbag/postbag/store/memstore"
)

// answer is what a call of Forget returns.
type answer struct {
	did store.Forgotten
	err error
}

// forgetful answers calls of Forget one after another, and then ends the context.
type forgetful struct {
	book
	answers  []answer
	end      context.CancelFunc
	called   []time.Time
	declared map[string]time.Duration
}

func (f *forgetful) Forget(ctx context.Context) (store.Forgotten, error) {
	f.called = append(f.called, time.Now())
	if len(f.answers) == 0 {
		f.end()
		return store.Forgotten{}, ctx.Err()
	}
	a := f.answers[0]
	f.answers = f.answers[1:]
	return a.did, a.err
}

func (f *forgetful) DeclareConsumer(_ context.Context, consumer string, keep time.Duration) error {
	f.declared[consumer] = keep
	return nil
}

func (f *forgetful) Consumers(context.Context) ([]store.Consumer, error) { return nil, nil }

// pauses runs Maintain over answers, in a bubble, and returns the pauses between calls.
func pauses(t *testing.T, every time.Duration, onError func(error), answers ...answer) (out []time.Duration) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		f := &forgetful{answers: answers, end: cancel}
		if err := newInbox(t, store.Inbox[postbag.SQLTx](f)).Maintain(ctx, every, onError); err != nil {
			t.Errorf("Maintain: %v", err)
		}
		for i := range f.called[1:] {
			out = append(out, f.called[i+1].Sub(f.called[i]))
		}
	})
	return out
}

func TestMaintainGoesOnUntilAllIsLookedAtAndThenRests(t *testing.T) {
	t.Parallel()
	more, done, busy := store.Forgotten{Looked: 5, Removed: 2}, store.Forgotten{Looked: 1, Done: true}, store.Forgotten{Busy: true}
	got := pauses(t, time.Minute, nil, answer{did: more}, answer{did: more}, answer{did: done}, answer{did: more}, answer{did: done}, answer{did: busy})
	want := []time.Duration{0, 0, time.Minute, 0, time.Minute, time.Minute}
	if !slices.Equal(got, want) {
		t.Errorf("the pauses are %v, want %v", got, want)
	}
}

func TestMaintainRestsAnHourByDefault(t *testing.T) {
	t.Parallel()
	if got := pauses(t, 0, nil, answer{did: store.Forgotten{Done: true}}); !slices.Equal(got, []time.Duration{time.Hour}) {
		t.Errorf("the pause is %v", got)
	}
}

func TestMaintainReportsErrorsAndTriesAgainLaterAndLater(t *testing.T) {
	t.Parallel()
	var said []error
	away := errors.New("away")
	answers := slices.Repeat([]answer{{err: away}}, 8)
	answers = append(answers, answer{did: store.Forgotten{Looked: 1}}, answer{err: away}, answer{did: store.Forgotten{Done: true}}, answer{err: away})
	got := pauses(t, time.Hour, func(err error) { said = append(said, err) }, answers...)
	s := time.Second
	want := []time.Duration{s, 2 * s, 4 * s, 8 * s, 16 * s, 32 * s, 60 * s, 60 * s, 0, s, time.Hour, s}
	if !slices.Equal(got, want) {
		t.Errorf("the pauses are %v, want %v", got, want)
	}
	if len(said) != 10 || !errors.Is(said[0], away) {
		t.Errorf("of ten errors %d were reported: %v", len(said), said)
	}
}

func TestMaintainDoesNotSpinWhereNothingCanBeDone(t *testing.T) {
	t.Parallel()
	got := pauses(t, time.Hour, nil, answer{}, answer{}, answer{err: errors.New("no onError is no fault")})
	if want := []time.Duration{time.Second, 2 * time.Second, 4 * time.Second}; !slices.Equal(got, want) {
		t.Errorf("the pauses are %v, want %v", got, want)
	}
}

func TestMaintainEndsWithItsContextWhileItRests(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 90*time.Minute)
		defer cancel()
		begun := time.Now()
		if err := newInbox(t, memstore.New(memstore.Options{})).Maintain(ctx, 0, nil); err != nil {
			t.Errorf("Maintain: %v", err)
		}
		if took := time.Since(begun); took != 90*time.Minute {
			t.Errorf("Maintain ended after %s, its context after 90 minutes", took)
		}
	})
}

func TestMaintainRemovesWhatDeclareLets(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := memstore.New(memstore.Options{})
		in := newInbox(t, s)
		if err := in.Declare(t.Context(), "billing", 2*time.Hour); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error)
		go func() { ended <- in.Maintain(ctx, 10*time.Minute, nil) }()
		once := func() (fresh bool) {
			err := s.InTx(t.Context(), func(ctx context.Context, tx *memstore.Tx) (err error) {
				fresh, err = in.Once(ctx, tx, "billing", "a")
				return err
			})
			if err != nil {
				t.Fatal(err)
			}
			return fresh
		}
		var fresh []bool
		for range 4 {
			fresh = append(fresh, once())
			<-time.After(59 * time.Minute)
		}
		if want := []bool{true, false, false, true}; !slices.Equal(fresh, want) {
			t.Errorf("each 59 minutes, with marks kept for two hours, the message is fresh: %v, want %v", fresh, want)
		}
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
}

func TestForgettingNeedsAStoreThatCan(t *testing.T) {
	t.Parallel()
	in := newInbox(t, store.Inbox[postbag.SQLTx](&book{}))
	for what, err := range map[string]error{
		"Declare":  in.Declare(t.Context(), "c", time.Hour),
		"Maintain": in.Maintain(t.Context(), time.Hour, nil),
	} {
		if err == nil || !strings.Contains(err.Error(), "store.Forgetter") {
			t.Errorf("%s over a store that keeps marks forever: %v", what, err)
		}
	}
}

func TestDeclareAndMaintainRefuseWrongArguments(t *testing.T) {
	t.Parallel()
	f := &forgetful{declared: map[string]time.Duration{}}
	in := newInbox(t, store.Inbox[postbag.SQLTx](f))
	for _, c := range []struct {
		err  error
		says string
	}{
		{in.Declare(t.Context(), "", time.Hour), "the consumer's name is empty"},
		{in.Declare(t.Context(), "c", time.Minute-1), `declare "c": keep is 59.999999999s`},
		{in.Declare(t.Context(), "c", 0), `keep is 0s`},
		{in.Maintain(t.Context(), -1, nil), "every is -1ns"},
	} {
		if c.err == nil || !strings.Contains(c.err.Error(), c.says) {
			t.Errorf("%v, want an error that says %q", c.err, c.says)
		}
	}
	if err := in.Declare(t.Context(), "c", time.Minute); err != nil || len(f.declared) != 1 || f.declared["c"] != time.Minute || len(f.called) > 0 {
		t.Errorf("declared %v, error %v, Forget was called %d times", f.declared, err, len(f.called))
	}
}
