package memstore

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"time"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/store"
)

// lockName names the lock of one key of a box.
type lockName struct{ box, key string }

// Append implements postbag.Appender.
func (s *Store) Append(ctx context.Context, tx *Tx, boxName string, msgs []postbag.Message) error {
	_, err := call(ctx, s, OpAppend, func() (struct{}, error) {
		rows, err := s.copyRows(boxName, msgs)
		if err != nil {
			return struct{}{}, err
		}
		return struct{}{}, s.append(tx, boxName, rows)
	})
	return err
}

// copyRows checks msgs as a database's constraints would, and copies them. One
// without a topic gets the name of the box.
func (s *Store) copyRows(boxName string, msgs []postbag.Message) ([]*row, error) {
	now := s.now().UTC()
	rows := make([]*row, len(msgs))
	for i := range msgs {
		if err := s.checkMessage(&msgs[i]); err != nil {
			return nil, fmt.Errorf("memstore: append: message %d: %w", i, err)
		}
		rows[i] = newRow(msgs[i], now)
		rows[i].Topic = cmp.Or(rows[i].Topic, boxName)
	}
	return rows, nil
}

func newRow(m postbag.Message, now time.Time) *row {
	m.Payload = bytes.Clone(m.Payload)
	m.Headers = maps.Clone(m.Headers)
	return &row{Record: store.Record{
		Message: m,
		Slot:    store.SlotOf(&m), // until its box says otherwise: see place
		Hash:    store.KeyHash(m.Key),
		At:      now,
	}}
}

// place gives r the slot that it has in b, or says that b refuses it.
func (b *box) place(r *row) error {
	slot, ok := b.slots.SlotOf(&r.Message)
	if !ok {
		return store.ErrNoNumber
	}
	r.Slot = slot
	return nil
}

func (s *Store) append(tx *Tx, boxName string, rows []*row) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	b, err := s.writable(tx, boxName)
	if err != nil {
		return fmt.Errorf("memstore: append: %w", err)
	}
	for i, r := range rows {
		if err := b.place(r); err != nil {
			return fmt.Errorf("memstore: append: message %d: %w", i, err)
		}
	}
	if err := tx.number(); err != nil {
		return err
	}
	for _, r := range rows {
		if r.NotBefore.After(r.At) {
			tx.scheduled = append(tx.scheduled, b.schedule.add(b, r, tx))
			continue
		}
		tx.write(b, r)
	}
	return nil
}

// writable returns the box that tx is to write to. The caller holds s.mu.
func (s *Store) writable(tx *Tx, boxName string) (*box, error) {
	if tx == nil || tx.s != s {
		return nil, errForeignTx
	}
	if tx.over || tx.life != s.life {
		return nil, errTxEnded
	}
	return s.box(boxName)
}

// write puts r into b's log, as tx's. The caller holds s.mu and has numbered tx.
func (tx *Tx) write(b *box, r *row) {
	r.xid = tx.xid
	b.log.add(r)
	tx.rows = append(tx.rows, written{b, r})
	if _, ok := tx.first[b]; !ok {
		tx.first[b] = r.Seq
	}
}

// Lock implements postbag.Appender.
func (s *Store) Lock(ctx context.Context, tx *Tx, boxName string, keys []string) error {
	_, err := call(ctx, s, OpLock, func() (struct{}, error) {
		for _, k := range keys {
			if err := s.lockKey(ctx, tx, lockName{boxName, k}); err != nil {
				return struct{}{}, fmt.Errorf("memstore: lock: %w", err)
			}
		}
		return struct{}{}, nil
	})
	return err
}

// lockKey takes one lock, waiting for its holder's end.
func (s *Store) lockKey(ctx context.Context, tx *Tx, name lockName) error {
	for {
		taken, held, err := s.tryLock(tx, name)
		if err != nil || taken {
			return err
		}
		select {
		case <-held:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// tryLock takes a lock, or returns what tells of its holder's end.
func (s *Store) tryLock(tx *Tx, name lockName) (taken bool, held <-chan struct{}, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, err := s.writable(tx, name.box); err != nil {
		return false, nil, err
	}
	switch holder := s.locks[name]; holder {
	case nil:
		s.locks[name] = tx
		tx.locks = append(tx.locks, name)
		return true, nil, nil
	case tx:
		return true, nil, nil
	default:
		return false, holder.wait(), nil
	}
}

// InTx implements postbag.Appender.
func (s *Store) InTx(ctx context.Context, fn func(context.Context, *Tx) error) error {
	tx, err := s.Begin(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback(ctx) }()
	if err := fn(ctx, tx); err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("memstore: commit: %w", err)
	}
	return tx.Commit(ctx)
}

// checkMessage refuses what no store takes.
func (s *Store) checkMessage(m *postbag.Message) error {
	var errs []error
	if m.ID == (postbag.ID{}) {
		errs = append(errs, errors.New("the id is zero; draw one with postbag.NewID"))
	}
	if len(m.Payload) > s.opts.MaxMessage {
		errs = append(errs, fmt.Errorf("the payload has %d bytes, more than %d; send a reference to it", len(m.Payload), s.opts.MaxMessage))
	}
	errs = append(errs,
		checkText("topic", m.Topic, postbag.MaxName),
		checkText("type", m.Type, postbag.MaxName),
		checkText("key", m.Key, postbag.MaxKey),
		checkText("shard key", m.ShardKey, postbag.MaxKey),
	)
	for k, v := range m.Headers {
		errs = append(errs, checkText("name of a header", k, postbag.MaxHeader), checkText("value of a header", v, postbag.MaxHeader))
	}
	return errors.Join(errs...)
}
