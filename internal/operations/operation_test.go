package operations_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/postbag/postbag/internal/boxtest"
	"github.com/postbag/postbag/internal/operations"
	"github.com/postbag/postbag/store"
	"github.com/postbag/postbag/store/memstore"
)

// begun starts an operation over all dead messages.
func begun(t *testing.T, s operations.Store, rate int) store.OperationID {
	t.Helper()
	p, err := s.Preview(t.Context(), allDead())
	if err != nil {
		t.Fatal(err)
	}
	if !s.Recorded(p, rate) {
		t.Fatalf("a discard of %d messages is not recorded", p.Size())
	}
	id, err := s.StartOperation(t.Context(), p, audit(), rate)
	if err != nil {
		t.Fatal(err)
	}
	return id
}

// is fails the test unless the operation is in a state, with so many messages behind it.
func is(t *testing.T, s operations.Store, id store.OperationID, state store.OperationState, at int64) operations.Operation {
	t.Helper()
	o, err := s.Operation(t.Context(), id)
	if err != nil || o.State != state || o.At != at {
		t.Errorf("operation %d is %s at %d (%v), want %s at %d", id, o.State, o.At, err, state, at)
	}
	return o
}

func TestAnOperationGivesItsCommandToAllThatWereConfirmed(t *testing.T) {
	t.Parallel()
	s, m := withDead(t, 1200)
	id := begun(t, s, 0)
	if o := is(t, s, id, store.OperationRunning, 0); !o.Idle || string(o.Chosen) != `{"filter":"--all"}` || o.Kind != store.OperationDiscard {
		t.Errorf("an operation that nobody works is %+v", o)
	}
	var steps []operations.Progress
	w := s.Work(id, audit(), "a worker")
	w.OnProgress = func(at operations.Progress) { steps = append(steps, at) }
	at, err := w.Do(t.Context())
	if err != nil || at.Queued != 1200 || at.Handled != 1200 || at.Chosen != 1200 || len(steps) != 4 {
		t.Errorf("in the end it says %+v after %d looks: %v", at, len(steps), err)
	}
	is(t, s, id, store.OperationDone, 1200)
	lines, err := m.Audited(t.Context(), 10)
	if err != nil || len(lines) != 2 || !strings.Contains(lines[0].What, "1200 given") || !strings.Contains(lines[1].What, "begin operation 1: discard outbox/default, 1200 dead messages; selected by --all") {
		t.Errorf("the audit log says %+v: %v", lines, err)
	}
}

func TestACommandOfOnePortionIsNotRecorded(t *testing.T) {
	t.Parallel()
	s, _ := withDead(t, 600)
	few := allDead()
	few.Query.Topic = "first"
	for what, c := range map[string]operations.Choice{"one message": few, "ids": {Ref: boxtest.Outbox, Kind: store.Retry}} {
		if what == "ids" {
			items, _, err := s.List(t.Context(), store.Query{Ref: boxtest.Outbox, State: store.StateDead, Limit: 600})
			if err != nil {
				t.Fatal(err)
			}
			for i := range items {
				c.IDs = append(c.IDs, items[i].ID)
			}
		}
		p, err := s.Preview(t.Context(), c)
		if err != nil || s.Recorded(p, 0) {
			t.Errorf("a command for %s is recorded: %v", what, err)
		}
	}
	p, err := s.Preview(t.Context(), allDead())
	if err != nil || !s.Recorded(p, 0) {
		t.Errorf("one of 600 messages is not recorded: %v", err)
	}
	s.Bookkeeper = nil
	if p, err = s.Preview(t.Context(), allDead()); err != nil || s.Recorded(p, 0) {
		t.Errorf("on a store that keeps none it is recorded: %v", err)
	}
	if _, err := s.Operations(t.Context(), 10); !errors.Is(err, operations.ErrUnsupported) {
		t.Errorf("a store that keeps none lists them: %v", err)
	}
}

// A worker waits in a pause that anybody makes, and keeps its lease for as long as that takes.
func TestAWorkerWaitsForTheEndOfAPause(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s, _ := withDead(t, 1200)
		id := begun(t, s, 0)
		w, once := s.Work(id, audit(), "a worker"), true
		w.OnProgress = func(at operations.Progress) {
			if at.Handled == 500 && once {
				once = false
				if err := s.PauseOperation(t.Context(), audit(), id); err != nil {
					t.Error(err)
				}
			}
		}
		ended := make(chan error, 1)
		go func() {
			_, err := w.Do(t.Context())
			ended <- err
		}()
		<-time.After(5 * time.Minute)
		is(t, s, id, store.OperationPaused, 500)
		if _, err := s.Work(id, audit(), "another").Do(t.Context()); !errors.Is(err, store.ErrOperationState) {
			t.Errorf("another worker begins in the pause: %v", err)
		}
		if err := s.ResumeOperation(t.Context(), audit(), id); err != nil {
			t.Fatal(err)
		}
		if _, err := s.Work(id, audit(), "another").Do(t.Context()); !errors.Is(err, store.ErrOperationHeld) {
			t.Errorf("another worker takes a lease that was renewed in the pause: %v", err)
		}
		if err := <-ended; err != nil {
			t.Fatal(err)
		}
		is(t, s, id, store.OperationDone, 1200)
	})
}

func TestAToggleIsSeenByOthersToo(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s, _ := withDead(t, 300)
		id := begun(t, s, 20)
		w := s.Work(id, audit(), "a worker")
		ended := make(chan error, 1)
		go func() {
			_, err := w.Do(t.Context())
			ended <- err
		}()
		<-time.After(time.Second)
		at, err := w.Toggle(t.Context())
		if err != nil || !at.Paused || at.Handled == 0 || at.Handled > 30 {
			t.Errorf("a second after its begin, at 20 a second, it is %+v: %v", at, err)
		}
		<-time.After(time.Minute)
		is(t, s, id, store.OperationPaused, int64(at.Handled))
		if at, err = w.Toggle(t.Context()); err != nil || at.Paused {
			t.Errorf("it goes on as %+v: %v", at, err)
		}
		begin := time.Now()
		if err := <-ended; err != nil || time.Since(begin) < 10*time.Second {
			t.Errorf("the rest took %s at 20 a second: %v", time.Since(begin), err)
		}
	})
}

// What ends a worker decides what is left: a pause, or an operation that another one can take at once.
func TestAWorkerThatIsInterruptedLeavesTheOperationInGoodOrder(t *testing.T) {
	t.Parallel()
	for name, stays := range map[string]bool{"paused": false, "for another": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, m := withDead(t, 1200)
			id := begun(t, s, 0)
			ctx, cancel := context.WithCancel(t.Context())
			w := s.Work(id, audit(), "a worker")
			w.Stays = stays
			w.OnProgress = func(at operations.Progress) {
				if at.Handled == 500 {
					cancel()
				}
			}
			if at, err := w.Do(ctx); !errors.Is(err, context.Canceled) || at.Handled != 500 {
				t.Fatalf("interrupted, it says %+v: %v", at, err)
			}
			if stays {
				if o := is(t, s, id, store.OperationRunning, 500); !o.Idle {
					t.Errorf("somebody works it: %+v", o)
				}
			} else {
				if o := is(t, s, id, store.OperationPaused, 500); o.Worker != "" || o.By != "an operator" || !strings.HasPrefix(o.ByWhy, "interrupted") {
					t.Errorf("it is left as %+v", o)
				}
				if err := s.ResumeOperation(t.Context(), audit(), id); err != nil {
					t.Fatal(err)
				}
			}
			if at, err := s.Work(id, audit(), "another").Do(t.Context()); err != nil || at.Queued != 1200 {
				t.Errorf("the next worker says %+v: %v", at, err)
			}
			if lines, err := m.Audited(t.Context(), 10); err != nil || len(lines) != 2 {
				t.Errorf("the audit log has %d lines, not one of the begin and one of the end: %v", len(lines), err)
			}
		})
	}
}

func TestACancelledOperationIsOver(t *testing.T) {
	t.Parallel()
	s, _ := withDead(t, 1200)
	id := begun(t, s, 0)
	w := s.Work(id, audit(), "a worker")
	w.OnProgress = func(at operations.Progress) {
		if at.Handled == 500 {
			if err := s.CancelOperation(t.Context(), store.Audit{Who: "anna", Why: "the wrong ones"}, id); err != nil {
				t.Error(err)
			}
		}
	}
	if _, err := w.Do(t.Context()); err == nil || !strings.Contains(err.Error(), "cancelled by anna: the wrong ones; 500 of 1200") {
		t.Errorf("a cancel elsewhere: %v", err)
	}
	if err := s.ResumeOperation(t.Context(), audit(), id); !errors.Is(err, operations.ErrInvalid) || !strings.Contains(err.Error(), "cancelled") {
		t.Errorf("it is resumed: %v", err)
	}
	if err := s.PauseOperation(t.Context(), audit(), 99); !errors.Is(err, operations.ErrNotFound) {
		t.Errorf("one that is not there is paused: %v", err)
	}
}

func TestAPlanThatCannotBeWrittenIsDropped(t *testing.T) {
	t.Parallel()
	adds, fail := 0, errors.New("the disk is full")
	m := memstore.New(memstore.Options{})
	s := deadIn(t, m, 1200)
	s.Bookkeeper = &failing{Store: m, add: func() error {
		if adds++; adds == 2 {
			return fail
		}
		return nil
	}}
	p, err := s.Preview(t.Context(), allDead())
	if err != nil {
		t.Fatal(err)
	}
	id, err := s.StartOperation(t.Context(), p, audit(), 0)
	if !errors.Is(err, fail) {
		t.Fatalf("it begins: %v", err)
	}
	is(t, s, id, store.OperationCancelled, 0)
}

// failing is a memstore that cannot always write messages of operations.
type failing struct {
	*memstore.Store
	add func() error
}

func (f *failing) AddMessages(ctx context.Context, id store.OperationID, from int64, of []store.OperationMessage) error {
	if err := f.add(); err != nil {
		return err
	}
	return f.Store.AddMessages(ctx, id, from, of)
}
