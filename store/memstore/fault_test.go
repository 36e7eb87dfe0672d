package memstore

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/store"
)

var errFault = errors.New("a fault")

// failing fails the calls op once each, from when it is armed.
type failing struct {
	armed bool
	op    Op
	fault Fault
}

func (f *failing) next(_ context.Context, op Op) Fault {
	if !f.armed || op != f.op {
		return Fault{}
	}
	f.armed = false
	return f.fault
}

func TestAFaultBeforeActingDoesNothing(t *testing.T) {
	t.Parallel()
	f := &failing{op: OpBeat, fault: Fault{Err: errFault}}
	w := newWorld(t, Options{Fault: f.next})
	f.armed = true
	b := store.Beat{Relay: "r", New: true, TTL: time.Hour}
	if _, err := w.Beat(w.ctx, b); !errors.Is(err, errFault) {
		t.Fatalf("the fault does not come through: %v", err)
	}
	b.New = false
	if v, err := w.Beat(w.ctx, b); err != nil || v.Alive {
		t.Errorf("a beat that failed before acting made a heartbeat (error: %v)", err)
	}
}

func TestAFaultAfterActingLosesOnlyTheAnswer(t *testing.T) {
	t.Parallel()
	f := &failing{op: OpBeat, fault: Fault{Err: errFault, Acted: true}}
	w := newWorld(t, Options{Fault: f.next})
	f.armed = true
	b := store.Beat{Relay: "r", New: true, TTL: time.Hour}
	if _, err := w.Beat(w.ctx, b); !errors.Is(err, errFault) {
		t.Fatalf("the fault does not come through: %v", err)
	}
	b.New = false
	if v, err := w.Beat(w.ctx, b); err != nil || !v.Alive {
		t.Errorf("a beat whose answer was lost made no heartbeat (error: %v)", err)
	}
}

func TestAHungCallWaitsForItsContext(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := &failing{op: OpTurn, fault: Fault{Hang: true}}
		w := newWorld(t, Options{Fault: f.next})
		f.armed = true
		ctx, cancel := context.WithTimeout(w.ctx, time.Hour)
		defer cancel()
		begun := time.Now()
		_, err := w.Turn(ctx, store.Turn{})
		if !errors.Is(err, context.DeadlineExceeded) || time.Since(begun) != time.Hour {
			t.Errorf("a call that hangs came back after %s: %v", time.Since(begun), err)
		}
	})
}

func TestAFailedCommitRollsBackAndALostAnswerKeepsTheCommit(t *testing.T) {
	t.Parallel()
	for _, acted := range []bool{false, true} {
		f := &failing{op: OpCommit, fault: Fault{Err: errFault, Acted: acted}}
		w := newWorld(t, Options{Fault: f.next})
		f.armed = true
		err := w.InTx(w.ctx, func(ctx context.Context, tx *Tx) error {
			return w.Append(ctx, tx, "outbox", []postbag.Message{{ID: postbag.ID{1}}})
		})
		if !errors.Is(err, errFault) || errors.Is(err, postbag.ErrCommitUnknown) != acted {
			t.Errorf("a commit whose work is done (%v) and that fails returns %v", acted, err)
		}
		if got := len(w.rows("")); got != map[bool]int{false: 0, true: 1}[acted] {
			t.Errorf("after a commit whose work is done (%v) and that fails %d messages are there", acted, got)
		}
	}
}

// rows returns all that can be read from a position.
func (w *world) rows(from store.Position) []store.Record {
	w.Helper()
	var out []store.Record
	for more := true; more; {
		res, err := w.Turn(w.ctx, store.Turn{Read: []store.Request{
			{Ref: w.ref, Slots: []store.Slots{store.AllSlots}, From: from, Limit: 1000, Bytes: 1 << 20},
		}})
		must(w, err)
		must(w, res.Batches[0].Err)
		out = append(out, res.Batches[0].Records...)
		from, more = res.Batches[0].Next, res.Batches[0].More
	}
	return out
}

func TestTheStoreUsesTheClockOfASynctestBubble(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, Options{})
		b := store.Beat{Relay: "r", New: true, TTL: 24 * time.Hour}
		_, err := w.Beat(w.ctx, b)
		must(t, err)
		<-time.After(24*time.Hour - time.Second)
		if v, err := w.Beat(w.ctx, b); err != nil || !v.Alive {
			t.Errorf("a second before its end a heartbeat is dead (error: %v)", err)
		}
		<-time.After(24 * time.Hour)
		if v, err := w.Beat(w.ctx, b); err != nil || v.Alive {
			t.Errorf("at its end a heartbeat is alive (error: %v)", err)
		}
	})
}

func TestWaitingForALockIsDurablyBlockedInASynctestBubble(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, Options{})
		first, second := w.writer(0), w.writer(0)
		must(t, w.Lock(w.ctx, first, "outbox", []string{"k"}))
		done := make(chan error)
		go func() { done <- w.Lock(w.ctx, second, "outbox", []string{"k"}) }()
		synctest.Wait()
		select {
		case err := <-done:
			t.Fatalf("the lock was given twice (error: %v)", err)
		default:
		}
		must(t, first.Rollback(w.ctx))
		must(t, <-done)
	})
}
