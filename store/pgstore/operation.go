package pgstore

import (
	"context"
	"errors"
	"time"

	"github.com/postbag/postbag/store"
	"github.com/postbag/postbag/store/storekit"
)

var _ store.Bookkeeper = (*Store)(nil)

// operationRow is the row of an operation, as it was at the time of now.
type operationRow struct {
	store.Operation

	now           time.Time
	revision, sub int64
}

func readOperation(r row) (o operationRow, err error) {
	c := columns{rest: r}
	moment := func() time.Time {
		if micros := c.int8(); micros != 0 {
			return time.UnixMicro(micros).UTC()
		}
		return time.Time{}
	}
	o.now, o.ID, o.revision, o.sub = moment(), store.OperationID(c.int8()), c.int8(), int64(c.int4())
	o.Version, o.Kind = int(c.int4()), store.OperationKind(c.text())
	o.Box, o.Subscription, o.Of, o.Chosen = c.text(), c.text(), store.State(c.text()), c.text()
	o.AsOf, o.Rate, o.Who, o.Why = moment(), int(c.int8()), c.text(), c.text()
	o.Matched, o.Made = c.int8(), moment()
	o.At, o.Given, o.Changed, o.Passed = c.int8(), c.int8(), c.int8(), c.int8()
	o.State, o.Error, o.By, o.ByWhy = store.OperationState(c.text()), c.text(), c.text(), c.text()
	o.Worker, o.Token, o.LeaseEnds = c.text(), c.int8(), moment()
	o.Begun, o.Touched, o.Ended = moment(), moment(), moment()
	return o, c.err
}

// Clock implements store.Bookkeeper.
func (s *Store) Clock(ctx context.Context) (now time.Time, err error) {
	err = s.guarded(ctx, func(v *server) error {
		return s.run(ctx, s.guard(v, "", nil), call{st: s.statements.get("clock", ""), each: func(r row) error {
			c := columns{rest: r}
			now = time.UnixMicro(c.int8()).UTC()
			return c.err
		}})
	})
	return now, translateError("ask for the time", err)
}

// PlanOperation implements store.Bookkeeper.
func (s *Store) PlanOperation(ctx context.Context, a store.Audit, o store.Operation) (id store.OperationID, err error) {
	const doing = "plan an operation"
	a, err = audited(a)
	if err != nil {
		return 0, translateError(doing, err)
	}
	now, err := s.Clock(ctx)
	if err != nil {
		return 0, err
	}
	made, err := storekit.PlanOperation(a, o, now)
	if err != nil {
		return 0, translateError(doing, err)
	}
	err = s.guarded(ctx, func(v *server) error {
		sub, err := s.operated(ctx, &made)
		if err != nil {
			return err
		}
		args := new(parameters).int4(sub).int4(int32(made.Version)).text(string(made.Kind)).text(made.Box).text(made.Subscription).text(string(made.Of))
		args.text(made.Chosen).int8(microsOf(made.AsOf)).int8(int64(made.Rate)).text(made.Who).text(made.Why).int8(made.Matched)
		args.int8(microsOf(made.Made)).text(string(made.State)).int8(store.MaxOperations)
		return s.run(ctx, s.guard(v, "", nil), call{
			st: s.statements.get("plan_operation", ""), args: args,
			reset: func() { id = 0 },
			each: func(r row) error {
				c := columns{rest: r}
				id = store.OperationID(c.int8())
				return c.err
			},
		})
	})
	if err == nil && id == 0 {
		err = store.ErrTooManyOperations
	}
	return id, translateError(doing, err)
}

// operated returns the id of the subscription that an operation is about, zero for scheduled messages.
func (s *Store) operated(ctx context.Context, o *store.Operation) (int32, error) {
	known, err := s.readCatalog(ctx) // another of this name may be there by now
	switch {
	case err != nil:
		return 0, err
	case known.boxes[o.Box] == nil:
		return 0, store.ErrNoBox
	case o.Of == store.StateScheduled:
		return 0, nil
	case o.Subscription == store.Maintenance:
		return 0, store.ErrNoSubscription
	}
	sub, err := s.subscription(ctx, o.Ref)
	if err != nil {
		return 0, err
	}
	return sub.id, nil
}

// AddMessages implements store.Bookkeeper.
func (s *Store) AddMessages(ctx context.Context, id store.OperationID, from int64, of []store.OperationMessage) error {
	return s.operate(ctx, "write messages of", id, func(o *operationRow) (store.Audit, string, []call, error) {
		part, packed, err := storekit.AddToOperation(&o.Operation, from, of)
		o.Touched = o.now
		add := call{st: s.statements.get("add_part", ""), args: new(parameters).int8(int64(id)).int8(o.revision).int8(part).bytes(packed)}
		return store.Audit{}, "", []call{s.lockOperation(o), add}, err
	})
}

// BeginOperation implements store.Bookkeeper.
func (s *Store) BeginOperation(ctx context.Context, a store.Audit, id store.OperationID) error {
	a, err := audited(a)
	if err != nil {
		return translateError(storekit.OperationDoing("begin", id), err)
	}
	return s.operate(ctx, "begin", id, func(o *operationRow) (store.Audit, string, []call, error) {
		var parts int64
		err := s.run(ctx, call{st: s.statements.get("count_parts", ""), args: new(parameters).int8(int64(id)), each: func(r row) error {
			c := columns{rest: r}
			parts = c.int8()
			return c.err
		}})
		if err != nil {
			return a, "", nil, err
		}
		line, err := storekit.BeginOperation(a, &o.Operation, parts, o.now)
		return a, line + selectedBy(a), nil, err
	})
}

// ClaimOperation implements store.Bookkeeper.
func (s *Store) ClaimOperation(ctx context.Context, id store.OperationID, worker string, lease time.Duration) (out store.Operation, err error) {
	err = s.operate(ctx, "claim", id, func(o *operationRow) (store.Audit, string, []call, error) {
		err := storekit.ClaimOperation(&o.Operation, auditText(worker), lease, o.now)
		out = o.Operation
		return store.Audit{}, "", nil, err
	})
	return out, err
}

// ReleaseOperation implements store.Bookkeeper.
func (s *Store) ReleaseOperation(ctx context.Context, c store.OperationClaim, failed string) error {
	return s.operate(ctx, "release", c.ID, func(o *operationRow) (store.Audit, string, []call, error) {
		line, err := storekit.ReleaseOperation(&o.Operation, c, failed, o.now)
		return store.Audit{Who: o.Who, Why: o.Why}, line, nil, err
	})
}

// SetOperation implements store.Bookkeeper. A step that has begun is over before it returns: both lock the row.
func (s *Store) SetOperation(ctx context.Context, a store.Audit, id store.OperationID, to store.OperationState) error {
	a, err := audited(a)
	if err != nil {
		return translateError(storekit.OperationDoing("change", id), err)
	}
	return s.operate(ctx, "change", id, func(o *operationRow) (store.Audit, string, []call, error) {
		line, _, err := storekit.SetOperation(a, &o.Operation, to, o.now)
		if line != "" {
			line += selectedBy(a)
		}
		return a, line, nil, err
	})
}

// Operation implements store.Bookkeeper.
func (s *Store) Operation(ctx context.Context, id store.OperationID) (store.Operation, error) {
	o, err := s.operation(ctx, id)
	return o.Operation, translateError(storekit.OperationDoing("look at", id), err)
}

func (s *Store) operation(ctx context.Context, id store.OperationID) (out operationRow, err error) {
	err = s.guarded(ctx, func(v *server) error {
		return s.run(ctx, s.guard(v, "", nil), call{
			st: s.statements.get("operation", ""), args: new(parameters).int8(int64(id)),
			reset: func() { out = operationRow{} },
			each: func(r row) (err error) {
				out, err = readOperation(r)
				return err
			},
		})
	})
	if err == nil && out.ID == 0 {
		err = store.ErrNoOperation
	}
	return out, err
}

// Operations implements store.Bookkeeper.
func (s *Store) Operations(ctx context.Context, limit int) (out []store.Operation, err error) {
	err = s.guarded(ctx, func(v *server) error {
		return s.run(ctx, s.guard(v, "", nil), call{
			st: s.statements.get("operations", ""), args: new(parameters).int4(int32(storekit.OperationLimit(limit))),
			reset: func() { out = nil },
			each: func(r row) error {
				o, err := readOperation(r)
				out = append(out, o.Operation)
				return err
			},
		})
	})
	return out, translateError("list operations", err)
}

// lockOperation comes before all else that changes an operation, or what is its own.
func (s *Store) lockOperation(o *operationRow) call {
	return call{st: s.statements.get("lock_operation", ""), args: new(parameters).int8(int64(o.ID)).int8(o.revision)}
}

// errRevised says that somebody else changed an operation since it was read.
var errRevised = errors.New("others change the operation all the time; try again")

// revisions is how often a change is tried again because somebody else made one.
const revisions = 50

// operate reads an operation, calls do with it, and writes what do has changed, with a line in the audit log if it is not empty, unless
// somebody else has changed it by then. Then it begins again. do returns what comes before that in the transaction.
func (s *Store) operate(ctx context.Context, doing string, id store.OperationID,
	do func(*operationRow) (a store.Audit, line string, before []call, err error),
) error {
	err := s.revise(ctx, id, func(o *operationRow) (written bool, err error) {
		was := o.Operation
		a, line, before, err := do(o)
		if err != nil || o.Operation == was && len(before) == 0 {
			return true, err
		}
		return s.setOperation(ctx, o, a, line, before)
	})
	return translateError(storekit.OperationDoing(doing, id), err)
}

// setOperation writes what changes of an operation, unless somebody else has changed it since it was read.
func (s *Store) setOperation(ctx context.Context, o *operationRow, a store.Audit, line string, before []call) (written bool, err error) {
	err = s.guarded(ctx, func(v *server) error {
		args := new(parameters).int8(int64(o.ID)).int8(o.revision).text(string(o.State)).text(o.Error).text(o.By).text(o.ByWhy).text(o.Worker)
		args.int8(o.Token).int8(microsOf(o.LeaseEnds)).int8(microsOf(o.Begun)).int8(microsOf(o.Touched)).int8(microsOf(o.Ended))
		args.text(a.Who).text(a.Why).text(line)
		calls := append([]call{s.guard(v, "", nil)}, before...)
		return s.run(ctx, append(calls, call{
			st: s.statements.get("set_operation", ""), args: args,
			reset: func() { written = false },
			each:  func(row) error { written = true; return nil },
		})...)
	})
	return written, err
}

// revise reads an operation and calls do with it until it has written what it wanted.
func (s *Store) revise(ctx context.Context, id store.OperationID, do func(*operationRow) (written bool, err error)) error {
	for range revisions {
		o, err := s.operation(ctx, id)
		if err != nil {
			return err
		}
		if written, err := do(&o); err != nil || written {
			return err
		}
	}
	return errRevised
}
