package operations_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/postbag/postbag/internal/boxtest"
	"github.com/postbag/postbag/internal/operations"
	"github.com/postbag/postbag/store"
	"github.com/postbag/postbag/store/memstore"
)

var errAway = errors.New("the store does not answer")

// shaky is a store whose calls about operations fail as it is told.
type shaky struct {
	*memstore.Store
	claim, step func(n int) (acted bool, err error) // n is the number of messages, zero for a claim
	steps       int
}

func (s *shaky) ClaimOperation(ctx context.Context, id store.OperationID, worker string, lease time.Duration) (store.Operation, error) {
	acted, err := s.claim(0)
	if err == nil || acted {
		o, failed := s.Store.ClaimOperation(ctx, id, worker, lease)
		return o, cmpErr(err, failed)
	}
	return store.Operation{}, err
}

func (s *shaky) StepOperation(ctx context.Context, c store.OperationClaim, from int64, n int) (store.Operation, error) {
	s.steps++
	acted, err := s.step(n)
	if err == nil || acted {
		o, failed := s.Store.StepOperation(ctx, c, from, n)
		return o, cmpErr(err, failed)
	}
	return store.Operation{}, err
}

func cmpErr(err, otherwise error) error {
	if err != nil {
		return err
	}
	return otherwise
}

// shakyWork is an operation over n dead messages in a shaky store, and what works it.
func shakyWork(t *testing.T, n int) (*shaky, operations.Store, store.OperationID) {
	t.Helper()
	s, m := withDead(t, n)
	fine := func(int) (bool, error) { return false, nil }
	sh := &shaky{Store: m, claim: fine, step: fine}
	s.Bookkeeper = sh
	return sh, s, begun(t, s, 0)
}

// commandOnce fails the test unless each of n dead messages has the command.
func commandOnce(t *testing.T, s operations.Store) {
	t.Helper()
	items, _, err := s.List(t.Context(), store.Query{Ref: boxtest.Outbox, State: store.StateDead, Limit: 1000})
	if err != nil || slices.ContainsFunc(items, func(i store.Item) bool { return i.Queued != store.Discard }) {
		t.Errorf("not all have the command: %v", err)
	}
}

// A step whose answer is lost may be done, or not. The record says so, and the worker goes on from there by itself.
func TestNoMessageIsLeftOutOrGivenTwiceWhenAnAnswerIsLost(t *testing.T) {
	t.Parallel()
	for name, acted := range map[string]bool{"the step was not made": false, "the step was made": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				sh, s, id := shakyWork(t, 1200)
				lost := 0
				sh.step = func(n int) (bool, error) {
					if n > 0 && sh.steps == 2 {
						lost++
						return acted, errAway
					}
					return false, nil
				}
				var troubles []string
				w := s.Work(id, audit(), "a worker")
				w.OnProgress = func(at operations.Progress) { troubles = append(troubles, at.Trouble) }
				at, err := w.Do(t.Context())
				if err != nil || at.Queued != 1200 || at.Changed != 0 || lost != 1 {
					t.Errorf("in the end it says %+v after %d lost answers: %v", at, lost, err)
				}
				if !slices.Contains(troubles, errAway.Error()) || troubles[len(troubles)-1] != "" {
					t.Errorf("it tells of these troubles: %q", troubles)
				}
				is(t, s, id, store.OperationDone, 1200)
				commandOnce(t, s)
			})
		})
	}
}

// A store that is away for hours ends no operation. What it is asked meanwhile is bounded.
func TestAWorkerWaitsUntilTheStoreIsBack(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		sh, s, id := shakyWork(t, 1200)
		begin := time.Now()
		sh.step = func(int) (bool, error) {
			if away := time.Since(begin); sh.steps > 1 && away < 3*time.Hour {
				return false, errAway
			}
			return false, nil
		}
		if at, err := s.Work(id, audit(), "a worker").Do(t.Context()); err != nil || at.Queued != 1200 {
			t.Errorf("in the end it says %+v: %v", at, err)
		}
		if took := time.Since(begin); took < 3*time.Hour || took > 3*time.Hour+time.Minute {
			t.Errorf("it is done after %s", took)
		}
		if most := int(3*time.Hour/(10*time.Second))*2 + 20; sh.steps > most {
			t.Errorf("the store was asked %d times in three hours", sh.steps)
		}
	})
}

// Who looks at the operation sees what keeps it, as soon as the store can write that down.
func TestTheRecordSaysWhatKeepsAWorkerFromAStep(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		sh, s, id := shakyWork(t, 1200)
		var back atomic.Bool
		sh.step = func(n int) (bool, error) {
			if n > 0 && !back.Load() {
				return false, errAway
			}
			return false, nil
		}
		ended := make(chan error, 1)
		go func() {
			_, err := s.Work(id, audit(), "a worker").Do(t.Context())
			ended <- err
		}()
		<-time.After(5 * time.Minute)
		if o := is(t, s, id, store.OperationRunning, 0); o.Trouble != errAway.Error() || o.Error != "" || o.Idle || o.Worker != "a worker" {
			t.Errorf("in trouble it is %+v", o)
		}
		back.Store(true)
		if err := <-ended; err != nil {
			t.Error(err)
		}
		if o := is(t, s, id, store.OperationDone, 1200); o.Trouble != "" || o.Error != "" {
			t.Errorf("in the end it is %+v", o)
		}
	})
}

// A step that cannot be made although the store answers ends the operation, but not at once.
func TestAnErrorThatDoesNotPassFailsTheOperation(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		err   error
		least time.Duration
		says  string
	}{
		"a right is missing":         {store.ErrDenied, 0, "postbag operations resume 1 goes on once the cause is gone"},
		"the subscription is gone":   {store.ErrNoSubscription, 0, "cannot go on"},
		"the messages are damaged":   {store.ErrOperationDamaged, 0, "cannot go on"},
		"a step fails all the time":  {errAway, 10 * time.Minute, "no step was made, although the store answers"},
		"the record is removed":      {store.ErrNoOperation, -1, "there is no operation 1"},
		"another process has it now": {store.ErrOperationLost, -1, "taken the operation over"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				sh, s, id := shakyWork(t, 1200)
				sh.step = func(n int) (bool, error) {
					if n > 0 {
						return false, c.err
					}
					return false, nil
				}
				begin := time.Now()
				_, err := s.Work(id, audit(), "a worker").Do(t.Context())
				if took := time.Since(begin); err == nil || !strings.Contains(err.Error(), c.says) || took < c.least || took > c.least+time.Minute {
					t.Errorf("after %s it ends with: %v", took, err)
				}
				if c.least < 0 {
					is(t, s, id, store.OperationRunning, 0)
				} else if o := is(t, s, id, store.OperationFailed, 0); !strings.Contains(o.Error, c.err.Error()) || o.Trouble != "" || o.Worker != "" {
					t.Errorf("it is left as %+v", o)
				}
			})
		})
	}
}

// A claim whose answer is lost may be made. Then nobody can take the operation until its lease ends, this worker included.
func TestAClaimWhoseAnswerIsLostIsMadeAgain(t *testing.T) {
	t.Parallel()
	for name, acted := range map[string]bool{"the claim was not made": false, "the claim was made": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				sh, s, id := shakyWork(t, 1200)
				asked := 0
				sh.claim = func(int) (bool, error) {
					if asked++; asked == 1 {
						return acted, errAway
					}
					return false, nil
				}
				if at, err := s.Work(id, audit(), "a worker").Do(t.Context()); err != nil || at.Queued != 1200 {
					t.Errorf("in the end it says %+v: %v", at, err)
				}
			})
		})
	}
}

// Who interrupts a process that waits for another one's lease pauses nothing: that other one goes on.
func TestAnInterruptDoesNotPauseWhatAnotherWorks(t *testing.T) {
	t.Parallel()
	s, m := withDead(t, 1200)
	id := begun(t, s, 0)
	ctx, cancel := context.WithCancel(t.Context())
	o, err := m.ClaimOperation(t.Context(), id, "another", time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	sh := &shaky{Store: m, claim: func(int) (bool, error) { cancel(); return true, store.ErrOperationHeld }}
	s.Bookkeeper = sh
	if _, err := s.Work(id, audit(), "a worker").Do(ctx); !errors.Is(err, store.ErrOperationHeld) {
		t.Errorf("it ends with %v", err)
	}
	if is(t, s, id, store.OperationRunning, 0); o.Token != 1 {
		t.Errorf("the token is %d", o.Token)
	}
}

// Between the pause of an interrupted worker and the end of its lease nobody else may begin.
func TestAnInterruptedWorkerGivesItsLeaseBackBehindThePause(t *testing.T) {
	t.Parallel()
	s, m := withDead(t, 1200)
	id := begun(t, s, 0)
	watched := &releasing{Store: m}
	s.Bookkeeper = watched
	ctx, cancel := context.WithCancel(t.Context())
	w := s.Work(id, audit(), "a worker")
	w.OnProgress = func(at operations.Progress) {
		if at.Handled == 500 {
			cancel()
		}
	}
	if _, err := w.Do(ctx); !errors.Is(err, context.Canceled) {
		t.Fatalf("it ends with %v", err)
	}
	if watched.state != store.OperationPaused {
		t.Errorf("its lease was given back while the operation was %q", watched.state)
	}
	if o := is(t, s, id, store.OperationPaused, 500); o.Worker != "" {
		t.Errorf("it is left as %+v", o)
	}
}

// releasing notes in which state an operation is as its lease is given back.
type releasing struct {
	*memstore.Store
	state store.OperationState
}

func (r *releasing) ReleaseOperation(ctx context.Context, c store.OperationClaim, failed string) error {
	o, err := r.Operation(ctx, c.ID)
	if err != nil {
		return err
	}
	r.state = o.State
	return r.Store.ReleaseOperation(ctx, c, failed)
}

// A call that hangs, such as on a connection that nobody closed, keeps a worker for a minute at most.
func TestACallThatHangsEnds(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s, m := withDead(t, 1200)
		id := begun(t, s, 0)
		s.Bookkeeper = &hanging{Store: m, left: 1}
		begin := time.Now()
		if at, err := s.Work(id, audit(), "a worker").Do(t.Context()); err != nil || at.Queued != 1200 {
			t.Errorf("in the end it says %+v: %v", at, err)
		}
		if took := time.Since(begin); took > 2*time.Minute {
			t.Errorf("it took %s", took)
		}
	})
}

// hanging is a store whose first steps never answer.
type hanging struct {
	*memstore.Store
	left int
}

func (h *hanging) StepOperation(ctx context.Context, c store.OperationClaim, from int64, n int) (store.Operation, error) {
	if h.left--; h.left >= 0 {
		<-ctx.Done()
		return store.Operation{}, ctx.Err()
	}
	return h.Store.StepOperation(ctx, c, from, n)
}
