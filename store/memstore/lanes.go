package memstore

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/postbag/postbag/store"
	"github.com/postbag/postbag/store/storekit"
)

// laneRow is a lane of effects.
type laneRow struct {
	store.LaneState

	writer *Tx // who has opened or written it, and is open; nil: nobody
}

// laneUndo is what a lane was before a transaction changed it.
type laneUndo struct {
	name string
	was  store.LaneState
	held bool // the transaction had changed it before
}

// OpenLane implements store.Lanes.
func (s *Store) OpenLane(ctx context.Context, tx *Tx, lane string) (store.LaneState, error) {
	return call(ctx, s, OpLane, func() (now store.LaneState, err error) {
		err = s.changeLane(ctx, tx, lane, func(r *laneRow) error {
			r.Epoch = storekit.NewEpoch()
			now = store.LaneState{Epoch: r.Epoch, Record: bytes.Clone(r.Record)}
			return nil
		})
		if err != nil {
			return store.LaneState{}, fmt.Errorf("memstore: open lane %q: %w", lane, err)
		}
		return now, nil
	})
}

// WriteLane implements store.Lanes.
func (s *Store) WriteLane(ctx context.Context, tx *Tx, lane string, epoch int64, record []byte) error {
	_, err := call(ctx, s, OpLane, func() (struct{}, error) {
		err := s.changeLane(ctx, tx, lane, func(r *laneRow) error {
			if r.Epoch != epoch || epoch == 0 {
				return store.ErrFenced
			}
			r.Record = append([]byte{}, record...)
			return nil
		})
		if err != nil {
			err = fmt.Errorf("memstore: write lane %q: %w", lane, err)
		}
		return struct{}{}, err
	})
	return err
}

// Try implements store.Lanes.
func (s *Store) Try(ctx context.Context, tx *Tx, fn func(context.Context) error) (failed, broken error) {
	const name = "postbag_try"
	if tx == nil || tx.s != s {
		return nil, errForeignTx
	}
	if err := tx.Savepoint(ctx, name); err != nil {
		return nil, err
	}
	if failed = fn(ctx); failed != nil {
		broken = tx.RollbackTo(ctx, name)
	}
	return failed, cmp.Or(broken, tx.release(name))
}

// release forgets a savepoint, and keeps what came after it.
func (tx *Tx) release(name string) error {
	tx.s.mu.Lock()
	defer tx.s.mu.Unlock()
	if tx.over {
		return fmt.Errorf("memstore: release savepoint: %w", errTxEnded)
	}
	if n := len(tx.saves); n > 0 && tx.saves[n-1].name == name {
		tx.saves = tx.saves[:n-1]
	}
	return nil
}

// changeLane changes a lane in tx. It waits while another transaction has changed it.
func (s *Store) changeLane(ctx context.Context, tx *Tx, lane string, change func(*laneRow) error) error {
	if n := len(lane); n == 0 || n > store.MaxLane {
		return fmt.Errorf("its name has %d bytes; give it 1 to %d", n, store.MaxLane)
	}
	if tx == nil || tx.s != s {
		return errForeignTx
	}
	for {
		held, err := s.tryLane(tx, lane, change)
		if err != nil || held == nil {
			return err
		}
		select {
		case <-held:
		case <-ctx.Done():
			s.mu.Lock()
			tx.waitsFor = nil
			s.mu.Unlock()
			return ctx.Err()
		}
	}
}

// tryLane is changeLane, or returns what tells of the end of the transaction that has the lane.
func (s *Store) tryLane(tx *Tx, lane string, change func(*laneRow) error) (held <-chan struct{}, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	tx.waitsFor = nil
	if err := tx.number(); err != nil {
		return nil, err
	}
	r := s.lanes[lane]
	if r == nil {
		r = &laneRow{}
		s.lanes[lane] = r
	}
	if r.writer != nil && r.writer != tx {
		if r.writer.waitsOn(tx) {
			return nil, errors.Join(errors.New("two transactions wait for each other"), store.ErrAgain)
		}
		tx.waitsFor = r.writer
		return r.writer.wait(), nil
	}
	undo := laneUndo{name: lane, was: r.LaneState, held: r.writer == tx}
	if err := change(r); err != nil {
		return nil, err
	}
	r.writer = tx
	tx.lanes = append(tx.lanes, undo)
	return nil, nil //nolint:nilnil // it waits for nothing
}

// undoLanes takes back what tx did to lanes after its first n changes. The caller holds s.mu.
func (tx *Tx) undoLanes(n int) {
	for i := len(tx.lanes) - 1; i >= n; i-- {
		u := tx.lanes[i]
		r := tx.s.lanes[u.name]
		r.LaneState = u.was
		if !u.held {
			r.writer = nil
		}
	}
	tx.lanes = tx.lanes[:n]
}
