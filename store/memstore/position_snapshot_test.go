package memstore

import (
	"context"
	"testing"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/store"
)

// world is a store with a box, for tests that look inside.
type world struct {
	*testing.T
	*Store
	ctx context.Context
	ref store.Ref
}

func newWorld(t *testing.T, o Options) *world {
	t.Helper()
	w := &world{T: t, Store: New(o), ctx: t.Context(), ref: store.Ref{Box: "outbox", Subscription: "default"}}
	must(t, w.CreateBox(w.ctx, "outbox"))
	must(t, w.Declare(w.ctx, []store.Spec{{Ref: w.ref, Shards: 1}}))
	return w
}

// writer opens a transaction that has written n messages.
func (w *world) writer(n int) *Tx {
	w.Helper()
	tx, err := w.Begin(w.ctx)
	must(w, err)
	must(w, tx.Write(w.ctx))
	for range n {
		must(w, w.Append(w.ctx, tx, "outbox", []postbag.Message{{ID: postbag.ID{1}, Key: "k"}}))
	}
	return tx
}

func (w *world) now() snapshot {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.snapshot(w.boxes["outbox"])
}

func TestSnapshotsFollowPostgreSQLsRules(t *testing.T) {
	t.Parallel()
	w := newWorld(t, Options{})
	one, two := w.writer(1), w.writer(2) // seq 1; seqs 2 and 3
	if s := w.now(); s.xmax != 1 || len(s.open) != 0 || s.low != 0 {
		t.Errorf("with two open, of which none ended: %+v; neither is listed, and the bound is below both", s)
	}
	must(t, two.Commit(w.ctx))
	if s := w.now(); s.xmax != 3 || len(s.open) != 1 || s.open[0] != (openTx{1, 0}) || s.low != 3 {
		t.Errorf("with the second ended: %+v; the first is listed with its bound", s)
	}
	three := w.writer(0)
	if s := w.now(); s.xmax != 3 || s.low != 3 {
		t.Errorf("with a third that has no message: %+v; its bound is the last seq", s)
	}
	must(t, w.Append(w.ctx, three, "outbox", []postbag.Message{{ID: postbag.ID{1}}}))
	must(t, one.Rollback(w.ctx))
	if s := w.now(); s.xmax != 3 || len(s.open) != 0 || s.low != 3 {
		t.Errorf("with the first rolled back and the third at seq 4: %+v", s)
	}
	must(t, three.Commit(w.ctx))
	if s := w.now(); s.xmax != 4 || s.low != 4 || s.sees(4) || !s.sees(3) {
		t.Errorf("with all ended: %+v", s)
	}
}

func TestTransactionsThatOnlyReadHaveNoNumber(t *testing.T) {
	t.Parallel()
	w := newWorld(t, Options{})
	before := w.now()
	tx, err := w.Begin(w.ctx)
	must(t, err)
	must(t, tx.Commit(w.ctx))
	if after := w.now(); after.xmax != before.xmax {
		t.Errorf("a transaction that wrote nothing moved the snapshot from %d to %d", before.xmax, after.xmax)
	}
}

func TestTooManyWritersAreRefused(t *testing.T) {
	t.Parallel()
	w := newWorld(t, Options{})
	for range MaxWriters {
		w.writer(0)
	}
	tx, err := w.Begin(w.ctx)
	must(t, err)
	if err := tx.Write(w.ctx); err == nil {
		t.Errorf("%d transactions write at a time", MaxWriters+1)
	}
}
