package memstore

import (
	"context"
	"fmt"
)

// Prepare is the first phase of a two-phase commit. tx can no longer be used, and stays
// open until CommitPrepared or RollbackPrepared of its global name.
func (tx *Tx) Prepare(ctx context.Context, name string) error {
	s := tx.s
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.opts.SingleWriter:
		return fmt.Errorf("memstore: prepare %q: a store with a single writer has no prepared transactions; commit", name)
	case tx.over:
		return fmt.Errorf("memstore: prepare %q: %w", name, errTxEnded)
	case s.prepared[name] != nil:
		return fmt.Errorf("memstore: prepare %q: the name is taken; choose another", name)
	}
	if err := tx.number(); err != nil {
		return err
	}
	tx.over = true
	s.flush()
	s.prepared[name] = tx
	return ctx.Err()
}

// CommitPrepared commits a prepared transaction.
func (s *Store) CommitPrepared(ctx context.Context, name string) error {
	return s.endPrepared(ctx, name, true)
}

// RollbackPrepared rolls a prepared transaction back.
func (s *Store) RollbackPrepared(ctx context.Context, name string) error {
	return s.endPrepared(ctx, name, false)
}

func (s *Store) endPrepared(ctx context.Context, name string, commit bool) error {
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("memstore: end prepared %q: %w", name, err)
	}
	wrote, err := s.decidePrepared(name, commit)
	if wrote {
		s.wake()
	}
	return err
}

func (s *Store) decidePrepared(name string, commit bool) (wrote bool, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	tx := s.prepared[name]
	if tx == nil {
		return false, fmt.Errorf("memstore: end prepared %q: there is none; prepare it first", name)
	}
	delete(s.prepared, name)
	return tx.end(commit), nil
}
