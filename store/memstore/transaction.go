package memstore

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/postbag/postbag"
)

// MaxWriters is how many transactions that have written can be open at a time. Like a
// server's max_connections it bounds the size of a snapshot, and so that of a position.
const MaxWriters = 1000

// Errors of transactions.
var (
	errTxEnded   = postbag.ErrTxEnded
	errForeignTx = errors.New("the transaction is nil or of another store; use one that this store began")
)

// Tx is a transaction of a Store. It is for one goroutine at a time.
type Tx struct {
	s *Store

	// What follows is guarded by s.mu.
	xid       uint64 // zero until the first write
	life      uint64 // of the store in which it began
	over      bool   // ended, or prepared
	ended     chan struct{}
	rows      []written
	scheduled []*scheduled
	cancelled []*scheduled
	first     map[*box]int64 // the lowest seq it got in each box
	saves     []savepoint
	locks     []lockName
	marks     []markName
	lanes     []laneUndo
	waitsFor  *Tx // the holder of a mark, or of a lane, that it waits for
}

// written is a row that a transaction wrote.
type written struct {
	box *box
	row *row
}

// savepoint remembers how much a transaction had done.
type savepoint struct {
	name                                     string
	rows, scheduled, cancelled, marks, lanes int
}

// Begin starts a transaction. With Options.SingleWriter it waits until no other
// is open, or ctx ends.
func (s *Store) Begin(ctx context.Context) (*Tx, error) {
	return call(ctx, s, OpBegin, func() (*Tx, error) {
		if s.writer != nil {
			select {
			case <-s.writer:
			case <-ctx.Done():
				return nil, fmt.Errorf("memstore: begin: another transaction is open: %w", ctx.Err())
			}
		}
		return s.begin()
	})
}

func (s *Store) begin() (*Tx, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	tx := &Tx{s: s, life: s.life}
	if s.writer == nil {
		return tx, nil
	}
	return tx, tx.number() // it is a writer from its beginning
}

// Commit ends the transaction and makes visible what it wrote. An error that wraps
// postbag.ErrCommitUnknown comes only from an injected fault: the transaction may then
// have committed.
func (tx *Tx) Commit(ctx context.Context) error {
	f := tx.s.fault(ctx, OpCommit)
	if f.strikes() && !f.Acted {
		_ = tx.Rollback(ctx)
		return f.answer(ctx, OpCommit)
	}
	wrote, err := tx.commit()
	if err != nil {
		return fmt.Errorf("memstore: commit: %w", err)
	}
	if wrote {
		tx.s.wake()
	}
	if f.strikes() {
		return errors.Join(postbag.ErrCommitUnknown, f.answer(ctx, OpCommit))
	}
	return nil
}

func (tx *Tx) commit() (wrote bool, err error) {
	tx.s.mu.Lock()
	defer tx.s.mu.Unlock()
	if tx.over {
		return false, errTxEnded
	}
	return tx.end(true), nil
}

// Rollback ends the transaction and drops what it wrote. After the end of the transaction
// it does nothing.
func (tx *Tx) Rollback(context.Context) error {
	tx.s.mu.Lock()
	defer tx.s.mu.Unlock()
	if !tx.over {
		tx.end(false)
	}
	return nil
}

// end ends tx one way or the other, and says whether it left rows behind. The
// caller holds s.mu.
func (tx *Tx) end(commit bool) (wrote bool) {
	if commit {
		tx.keep()
	} else {
		tx.undo(savepoint{})
	}
	s := tx.s
	tx.over = true
	if tx.xid != 0 {
		if commit {
			s.flush()
		}
		i, _ := slices.BinarySearchFunc(s.open, tx.xid, compareXID)
		s.open = slices.Delete(s.open, i, i+1)
		s.lastDone = max(s.lastDone, tx.xid)
	}
	for _, l := range tx.locks {
		delete(s.locks, l)
	}
	if tx.ended != nil {
		close(tx.ended)
	}
	if s.writer != nil {
		s.writer <- struct{}{}
	}
	wrote = commit && len(tx.rows) > 0
	tx.rows, tx.scheduled, tx.cancelled, tx.locks, tx.marks, tx.lanes, tx.first = nil, nil, nil, nil, nil, nil, nil
	return wrote
}

// keep makes what tx did outside the logs everyone's; rows in a log become
// visible by tx's end alone.
func (tx *Tx) keep() {
	for _, m := range tx.scheduled {
		m.writer = nil
		m.box.schedule.offer(m)
	}
	for _, m := range tx.cancelled {
		m.canceller = nil
		m.box.schedule.remove(m)
	}
	for _, name := range tx.marks {
		tx.s.marks[name].writer = nil
	}
	for _, u := range tx.lanes {
		tx.s.lanes[u.name].writer = nil
	}
}

// undo takes back what tx did after p.
func (tx *Tx) undo(p savepoint) {
	for _, w := range tx.rows[p.rows:] {
		w.box.log.remove(w.row.Seq)
	}
	for _, m := range tx.scheduled[p.scheduled:] {
		m.box.schedule.remove(m)
	}
	for _, m := range tx.cancelled[p.cancelled:] {
		m.canceller = nil
	}
	tx.rows = tx.rows[:p.rows]
	tx.scheduled = tx.scheduled[:p.scheduled]
	tx.cancelled = tx.cancelled[:p.cancelled]
	tx.unmark(p.marks)
	tx.undoLanes(p.lanes)
}

// Savepoint marks a point that RollbackTo returns to. It hides an earlier savepoint of the
// same name.
func (tx *Tx) Savepoint(_ context.Context, name string) error {
	tx.s.mu.Lock()
	defer tx.s.mu.Unlock()
	if tx.over {
		return fmt.Errorf("memstore: savepoint: %w", errTxEnded)
	}
	tx.saves = append(tx.saves, savepoint{name, len(tx.rows), len(tx.scheduled), len(tx.cancelled), len(tx.marks), len(tx.lanes)})
	return nil
}

// RollbackTo takes back what came after a savepoint. The seqs stay given out.
func (tx *Tx) RollbackTo(_ context.Context, name string) error {
	tx.s.mu.Lock()
	defer tx.s.mu.Unlock()
	if tx.over {
		return fmt.Errorf("memstore: rollback to savepoint: %w", errTxEnded)
	}
	for i, p := range slices.Backward(tx.saves) {
		if p.name == name {
			tx.undo(p)
			tx.saves = tx.saves[:i+1]
			return nil
		}
	}
	return fmt.Errorf("memstore: rollback to savepoint %q: there is none; set it first", name)
}

// Write stands for a write to a table that is not Postbag's. It only gives the transaction
// its number.
func (tx *Tx) Write(context.Context) error {
	tx.s.mu.Lock()
	defer tx.s.mu.Unlock()
	return tx.number()
}

// number gives tx its xid, if it has none. The caller holds s.mu.
func (tx *Tx) number() error {
	s := tx.s
	switch {
	case tx.over || tx.life != s.life:
		return fmt.Errorf("memstore: write: %w", errTxEnded)
	case tx.xid != 0:
		return nil
	case len(s.open) >= MaxWriters:
		return fmt.Errorf("memstore: write: %d transactions are open for writing; end some", MaxWriters)
	}
	tx.xid = s.nextXID
	s.nextXID++
	s.open = append(s.open, tx)
	tx.first = map[*box]int64{}
	return nil
}

func compareXID(tx *Tx, xid uint64) int { return cmp.Compare(tx.xid, xid) }

// wait returns a channel that is closed when tx ends. The caller holds s.mu.
func (tx *Tx) wait() <-chan struct{} {
	if tx.ended == nil {
		tx.ended = make(chan struct{})
	}
	return tx.ended
}
