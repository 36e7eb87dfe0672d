package memstore

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/postbag/postbag/store"
	"github.com/postbag/postbag/store/storekit"
)

// operation is a long operation with its messages.
type operation struct {
	store.Operation

	sub   *subscription // nil: of scheduled messages
	parts map[int64][]byte
}

// Clock implements store.Bookkeeper.
func (s *Store) Clock(ctx context.Context) (time.Time, error) {
	return call(ctx, s, OpOperation, func() (time.Time, error) { return s.now().UTC(), nil })
}

// PlanOperation implements store.Bookkeeper.
func (s *Store) PlanOperation(ctx context.Context, a store.Audit, o store.Operation) (store.OperationID, error) {
	return call(ctx, s, OpOperation, func() (store.OperationID, error) {
		s.mu.Lock()
		defer s.mu.Unlock()
		made, err := s.planOperation(a, o)
		if err != nil {
			return 0, fmt.Errorf("memstore: plan an operation: %w", err)
		}
		s.operations = append(s.operations, made)
		return made.ID, nil
	})
}

func (s *Store) planOperation(a store.Audit, o store.Operation) (*operation, error) {
	o, err := storekit.PlanOperation(a, o, s.now())
	if err != nil {
		return nil, err
	}
	made := &operation{Operation: o, parts: map[int64][]byte{}}
	if o.Of == store.StateScheduled {
		_, err = s.box(o.Box)
	} else {
		made.sub, err = s.reader(a, o.Ref)
	}
	if err != nil {
		return nil, err
	}
	open := 0
	for _, other := range s.operations {
		if other.State.Open() {
			open++
		}
	}
	if open >= store.MaxOperations {
		return nil, store.ErrTooManyOperations
	}
	s.operated++
	made.ID = s.operated
	return made, nil
}

// AddMessages implements store.Bookkeeper.
func (s *Store) AddMessages(ctx context.Context, id store.OperationID, from int64, of []store.OperationMessage) error {
	return s.operate(ctx, "write messages of", id, func(o *operation) error {
		part, packed, err := storekit.AddToOperation(&o.Operation, from, of)
		if err == nil {
			o.parts[part] = packed
			o.Touched = s.now().UTC()
		}
		return err
	})
}

// BeginOperation implements store.Bookkeeper.
func (s *Store) BeginOperation(ctx context.Context, a store.Audit, id store.OperationID) error {
	return s.operate(ctx, "begin", id, func(o *operation) error {
		line, err := storekit.BeginOperation(a, &o.Operation, int64(len(o.parts)), s.now())
		if err == nil {
			s.note(a, line)
		}
		return err
	})
}

// ClaimOperation implements store.Bookkeeper.
func (s *Store) ClaimOperation(ctx context.Context, id store.OperationID, worker string, lease time.Duration) (out store.Operation, err error) {
	err = s.operate(ctx, "claim", id, func(o *operation) error {
		err := storekit.ClaimOperation(&o.Operation, worker, lease, s.now())
		out = o.Operation
		return err
	})
	return out, err
}

// StepOperation implements store.Bookkeeper.
func (s *Store) StepOperation(ctx context.Context, c store.OperationClaim, from int64, n int) (out store.Operation, err error) {
	err = s.operate(ctx, "step", c.ID, func(o *operation) error {
		next := o.Operation
		n, err := storekit.StepOperation(&next, c, from, n, s.now())
		if err != nil {
			return err
		}
		if n > 0 {
			given, changed, err := s.step(o, n)
			if err != nil {
				return err
			}
			if line := storekit.EndStep(&next, int64(n), given, changed, s.now()); line != "" {
				s.note(store.Audit{Who: next.Who, Why: next.Why}, line)
			}
		}
		o.Operation, out = next, next
		return nil
	})
	if err == nil && out.At > from {
		s.wake()
	}
	return out, err
}

// ReleaseOperation implements store.Bookkeeper.
func (s *Store) ReleaseOperation(ctx context.Context, c store.OperationClaim, failed string) error {
	return s.operate(ctx, "release", c.ID, func(o *operation) error {
		line, err := storekit.ReleaseOperation(&o.Operation, c, failed, s.now())
		if line != "" {
			s.note(store.Audit{Who: o.Who, Why: o.Why}, line)
		}
		return err
	})
}

// SetOperation implements store.Bookkeeper.
func (s *Store) SetOperation(ctx context.Context, a store.Audit, id store.OperationID, to store.OperationState) error {
	return s.operate(ctx, "change", id, func(o *operation) error {
		line, _, err := storekit.SetOperation(a, &o.Operation, to, s.now())
		if line != "" {
			s.note(a, line)
		}
		return err
	})
}

// Operation implements store.Bookkeeper.
func (s *Store) Operation(ctx context.Context, id store.OperationID) (out store.Operation, err error) {
	err = s.operate(ctx, "look at", id, func(o *operation) error {
		out = o.Operation
		return nil
	})
	return out, err
}

// Operations implements store.Bookkeeper.
func (s *Store) Operations(ctx context.Context, limit int) ([]store.Operation, error) {
	return call(ctx, s, OpOperation, func() ([]store.Operation, error) {
		s.mu.Lock()
		defer s.mu.Unlock()
		var out []store.Operation
		for _, o := range slices.Backward(s.operations) {
			if len(out) < storekit.OperationLimit(limit) {
				out = append(out, o.Operation)
			}
		}
		return out, nil
	})
}

// operate calls do with the record of an operation, under the lock. An error of do leaves the record as it was.
func (s *Store) operate(ctx context.Context, doing string, id store.OperationID, do func(*operation) error) error {
	_, err := call(ctx, s, OpOperation, func() (struct{}, error) {
		s.mu.Lock()
		defer s.mu.Unlock()
		err := store.ErrNoOperation
		if i := slices.IndexFunc(s.operations, func(o *operation) bool { return o.ID == id }); i >= 0 {
			before := s.operations[i].Operation
			if err = do(s.operations[i]); err != nil {
				s.operations[i].Operation = before
			}
		}
		if err != nil {
			return struct{}{}, fmt.Errorf("memstore: %s: %w", storekit.OperationDoing(doing, id), err)
		}
		return struct{}{}, nil
	})
	return err
}

// forgetOperations removes the records of a box whose time is over.
func (s *Store) forgetOperations(b *box, now time.Time) {
	s.operations = slices.DeleteFunc(s.operations, func(o *operation) bool {
		return o.Box == b.name && storekit.OperationOver(&o.Operation, now)
	})
}

// ChangeOperation makes the record of an operation one of a version, and its last change earlier by a time. It is for tests of
// what later versions made, and of what is old.
func (s *Store) ChangeOperation(ctx context.Context, id store.OperationID, version int, earlier time.Duration) error {
	return s.operate(ctx, "change", id, func(o *operation) error {
		o.Version, o.Touched = version, o.Touched.Add(-earlier)
		return nil
	})
}
