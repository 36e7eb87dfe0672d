package sqlkit

import (
	"context"
	"database/sql"
	"time"

	"github.com/postbag/postbag/store"
	"github.com/postbag/postbag/store/storekit"
)

// operationRow is the row of an operation.
type operationRow struct {
	store.Operation

	sub int64 // the id of its subscription
}

// scan reads a row.
func (o *operationRow) scan(rows *sql.Rows) error {
	var asOf, made, leaseEnds, begun, touched, ended int64
	err := rows.Scan(&o.ID, &o.Version, &o.Kind, &o.Box, &o.Subscription, &o.sub, &o.Of, &o.Chosen, &asOf, &o.Rate, &o.Who, &o.Why, &o.Matched, &made,
		&o.At, &o.Given, &o.Changed, &o.Passed, &o.State, &o.Error, &o.By, &o.ByWhy, &o.Worker, &o.Token, &leaseEnds, &begun, &touched, &ended)
	o.AsOf, o.Made, o.LeaseEnds, o.Begun, o.Touched, o.Ended = momentOf(asOf), momentOf(made), momentOf(leaseEnds), momentOf(begun), momentOf(touched), momentOf(ended)
	return err
}

// changing are the values of the columns that change.
func (o *operationRow) changing() []any {
	return []any{
		o.At, o.Given, o.Changed, o.Passed, string(o.State), o.Error, o.By, o.ByWhy, o.Worker, o.Token,
		microsOf(o.LeaseEnds), microsOf(o.Begun), microsOf(o.Touched), microsOf(o.Ended),
	}
}

// momentOf and microsOf are times of operations as columns have them: 0 is none.
func momentOf(micros int64) time.Time {
	if micros == 0 {
		return time.Time{}
	}
	return time.UnixMicro(micros).UTC()
}

func microsOf(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMicro()
}

// Clock returns the database's time; see [store.Bookkeeper].
func (s *Base) Clock(ctx context.Context) (time.Time, error) {
	now, err := s.hooks.Now(ctx)
	return momentOf(now), s.dialect.Translate("ask for the time", err)
}

// PlanOperation makes the record of an operation; see [store.Bookkeeper].
func (s *Base) PlanOperation(ctx context.Context, a store.Audit, o store.Operation) (id store.OperationID, err error) {
	err = s.hooks.Change(ctx, "plan an operation", func(t *Tx) error {
		made, err := storekit.PlanOperation(a, o, time.UnixMicro(t.Now))
		if err != nil {
			return err
		}
		row := operationRow{Operation: made}
		if row.sub, err = t.operated(&made); err != nil {
			return err
		}
		var open int
		if _, err := t.Row(SQLOpenOperations, nil, &open); err != nil || open >= store.MaxOperations {
			return orElse(err, store.ErrTooManyOperations)
		}
		n, err := t.Insert(sqlPlanOperation, append([]any{
			made.Version, string(made.Kind), made.Box, made.Subscription, row.sub, string(made.Of), made.Chosen, microsOf(made.AsOf), made.Rate,
			made.Who, made.Why, made.Matched, microsOf(made.Made),
		}, row.changing()...)...)
		id = store.OperationID(n)
		return err
	})
	return id, err
}

// operated returns the id of the subscription that an operation is about, zero for scheduled messages.
func (t *Tx) operated(o *store.Operation) (int64, error) {
	if found, err := t.Row(SQLHasBox, []any{o.Box}, new(int)); err != nil || !found {
		return 0, orElse(err, store.ErrNoBox)
	}
	if o.Of == store.StateScheduled {
		return 0, nil
	}
	id, err := t.Subscription(o.Ref)
	if err == nil && (id == 0 || o.Subscription == store.Maintenance) {
		err = store.ErrNoSubscription
	}
	return id, err
}

// AddMessages writes messages of an operation; see [store.Bookkeeper].
func (s *Base) AddMessages(ctx context.Context, id store.OperationID, from int64, of []store.OperationMessage) error {
	return s.operate(ctx, s.hooks.Write, "write messages of", id, func(t *Tx, o *operationRow) error {
		part, packed, err := storekit.AddToOperation(&o.Operation, from, of)
		if err != nil {
			return err
		}
		o.Touched = time.UnixMicro(t.Now).UTC()
		_, err = t.Exec(sqlAddPart, int64(id), part, packed)
		return err
	})
}

// BeginOperation has an operation run; see [store.Bookkeeper].
func (s *Base) BeginOperation(ctx context.Context, a store.Audit, id store.OperationID) error {
	return s.operate(ctx, s.hooks.Write, "begin", id, func(t *Tx, o *operationRow) error {
		var parts int64
		if _, err := t.Row(sqlCountParts, []any{int64(id)}, &parts); err != nil {
			return err
		}
		line, err := storekit.BeginOperation(a, &o.Operation, parts, time.UnixMicro(t.Now))
		if err != nil {
			return err
		}
		return t.audit(a, line)
	})
}

// ClaimOperation takes the lease of an operation; see [store.Bookkeeper].
func (s *Base) ClaimOperation(ctx context.Context, id store.OperationID, worker string, lease time.Duration) (out store.Operation, err error) {
	err = s.operate(ctx, s.hooks.Write, "claim", id, func(t *Tx, o *operationRow) error {
		err := storekit.ClaimOperation(&o.Operation, worker, lease, time.UnixMicro(t.Now))
		out = o.Operation
		return err
	})
	return out, err
}

// StepOperation gives the command to the next messages; see [store.Bookkeeper].
func (s *Base) StepOperation(ctx context.Context, c store.OperationClaim, from int64, n int) (out store.Operation, err error) {
	given, box, scheduled := int64(0), "", false
	within := s.hooks.Write
	if n > 0 && c.Of != store.StateScheduled { // commands are queued one after another
		within = s.hooks.Change
	}
	err = s.operate(ctx, within, "step", c.ID, func(t *Tx, o *operationRow) (err error) {
		n, err := storekit.StepOperation(&o.Operation, c, from, n, time.UnixMicro(t.Now))
		if given = 0; err == nil && n > 0 {
			given, err = t.stepOperation(o, n)
		}
		out, box, scheduled = o.Operation, o.Box, o.Of == store.StateScheduled
		t.Moved = t.Moved || scheduled && given > 0 // so that the box's maintainer looks
		return err
	})
	if err != nil {
		return store.Operation{}, err
	}
	if given > 0 {
		s.hooks.Wake(box)
	}
	return out, nil
}

// ReleaseOperation gives the lease back; see [store.Bookkeeper].
func (s *Base) ReleaseOperation(ctx context.Context, c store.OperationClaim, failed string) error {
	return s.operate(ctx, s.hooks.Write, "release", c.ID, func(t *Tx, o *operationRow) error {
		line, err := storekit.ReleaseOperation(&o.Operation, c, failed, time.UnixMicro(t.Now))
		if err != nil || line == "" {
			return err
		}
		return t.audit(store.Audit{Who: o.Who, Why: o.Why}, line)
	})
}

// SetOperation pauses, resumes or cancels an operation; see [store.Bookkeeper].
func (s *Base) SetOperation(ctx context.Context, a store.Audit, id store.OperationID, to store.OperationState) error {
	return s.operate(ctx, s.hooks.Write, "change", id, func(t *Tx, o *operationRow) error {
		line, _, err := storekit.SetOperation(a, &o.Operation, to, time.UnixMicro(t.Now))
		if err != nil || line == "" {
			return err
		}
		return t.audit(a, line)
	})
}

// Operation returns a record; see [store.Bookkeeper].
func (s *Base) Operation(ctx context.Context, id store.OperationID) (store.Operation, error) {
	var o operationRow
	found, err := oneOperation(s.hooks.Query(ctx), SQLOperation, id, &o)
	if err == nil && !found {
		err = store.ErrNoOperation
	}
	return o.Operation, s.dialect.Translate(storekit.OperationDoing("look at", id), err)
}

// Operations returns records, the newest first; see [store.Bookkeeper].
func (s *Base) Operations(ctx context.Context, limit int) ([]store.Operation, error) {
	var out []store.Operation
	err := s.hooks.Query(ctx)(SQLOperations, []any{storekit.OperationLimit(limit)}, func(rows *sql.Rows) error {
		var o operationRow
		err := o.scan(rows)
		out = append(out, o.Operation)
		return err
	})
	return out, s.dialect.Translate("list operations", err)
}

func oneOperation(query Querier, text string, id store.OperationID, o *operationRow) (found bool, err error) {
	err = query(text, []any{int64(id)}, func(rows *sql.Rows) error {
		found = true
		return o.scan(rows)
	})
	return found, err
}

// operate calls do with the row of an operation, which it has locked, and writes what do has changed of it. An error of do leaves
// everything as it was.
func (s *Base) operate(ctx context.Context, within func(context.Context, string, func(*Tx) error) error, doing string, id store.OperationID,
	do func(*Tx, *operationRow) error,
) error {
	return within(ctx, storekit.OperationDoing(doing, id), func(t *Tx) error {
		var o operationRow
		found, err := oneOperation(t.Query, SQLOperation+t.Lock, id, &o)
		if err != nil || !found {
			return orElse(err, store.ErrNoOperation)
		}
		before := o
		if err := do(t, &o); err != nil || o == before {
			return err
		}
		_, err = t.Exec(sqlSetOperation, append(o.changing(), int64(id))...)
		return err
	})
}
