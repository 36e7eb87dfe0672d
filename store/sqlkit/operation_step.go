package sqlkit

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/store"
	"github.com/postbag/postbag/store/storekit"
)

// stepOperation gives the command to the next n messages of an operation, counts them, and returns how many have it. The caller
// writes the row.
func (t *Tx) stepOperation(o *operationRow, n int) (given int64, err error) {
	messages, err := t.messagesOf(o, n)
	if err != nil {
		return 0, err
	}
	sub, err := t.operated(&o.Operation)
	if err == nil && sub != o.sub {
		err = fmt.Errorf("another %s was declared since: %w", o.Ref, store.ErrNoSubscription)
	}
	if err != nil {
		return 0, err
	}
	changed := int64(0)
	switch o.Of {
	case store.StateScheduled:
		given, err = t.stepScheduled(o, messages)
	case store.StateDead:
		given, changed, err = t.stepDead(o, messages)
	default:
		given, changed, err = t.stepOthers(o, messages)
	}
	if err != nil {
		return 0, err
	}
	if line := storekit.EndStep(&o.Operation, int64(n), given, changed, time.UnixMicro(t.Now)); line != "" {
		err = t.audit(store.Audit{Who: o.Who, Why: o.Why}, line)
	}
	return given, err
}

// messagesOf reads the next n messages of an operation.
func (t *Tx) messagesOf(o *operationRow, n int) ([]store.OperationMessage, error) {
	var parts [][]byte
	first, last := storekit.PartsOf(o.At, o.At+int64(n))
	err := t.Query(SQLParts, []any{int64(o.ID), first, last}, func(rows *sql.Rows) error {
		var part []byte
		err := rows.Scan(&part)
		parts = append(parts, part)
		return err
	})
	if err != nil {
		return nil, err
	}
	return storekit.MessagesOf(parts, o.At, n)
}

// stepScheduled changes scheduled messages.
func (t *Tx) stepScheduled(o *operationRow, messages []store.OperationMessage) (given int64, err error) {
	for i := range messages {
		id := messages[i].ID
		rows, err := t.reschedule(o.Box, o.Kind.Command(), id)
		if err != nil {
			return 0, err
		}
		if len(rows) > 0 {
			given++
		}
	}
	return given, nil
}

// stepDead queues the command for messages that are dead since the time of the choice, and have no command.
func (t *Tx) stepDead(o *operationRow, messages []store.OperationMessage) (given, changed int64, err error) {
	seqs, err := t.same(o, messages)
	if err != nil {
		return 0, 0, err
	}
	changed = int64(len(messages) - len(seqs))
	kind := int(o.Kind.Command())
	for _, seq := range seqs {
		n, err := t.Exec(SQLExpire, kind, o.sub, seq, int(store.ParkDead), microsOf(o.AsOf))
		if err != nil {
			return 0, 0, err
		}
		if n > 0 {
			given++
			continue
		}
		queued, err := t.Row(sqlHasCommand, []any{o.sub, seq, kind}, new(int))
		if err != nil {
			return 0, 0, err
		}
		if !queued {
			changed++
		}
	}
	return given, changed, nil
}

// stepOthers queues the command for messages of other states.
func (t *Tx) stepOthers(o *operationRow, messages []store.OperationMessage) (given, changed int64, err error) {
	seqs, err := t.same(o, messages)
	if err != nil {
		return 0, 0, err
	}
	q := ordering{t: t, ref: o.Ref, id: o.sub, kind: o.Kind.Command()}
	err = q.queue(seqs)
	return int64(len(q.queued)), int64(len(messages) - len(seqs)), err
}

// same returns the seqs of those messages that have the ids they had.
func (t *Tx) same(o *operationRow, messages []store.OperationMessage) ([]int64, error) {
	ids := make(map[int64]postbag.ID, len(messages))
	args := make([]any, len(messages))
	for i := range messages {
		args[i] = messages[i].Seq
	}
	err := t.Query(t.In(o.Box, inLists(sqlIDsOf, len(args))), args, func(rows *sql.Rows) error {
		var seq int64
		var id []byte
		err := rows.Scan(&seq, &id)
		if len(id) == len(postbag.ID{}) {
			ids[seq] = postbag.ID(id)
		}
		return err
	})
	var out []int64
	for i := range messages {
		if id, there := ids[messages[i].Seq]; there && storekit.SameMessage(&messages[i], id) {
			out = append(out, messages[i].Seq)
		}
	}
	return out, err
}

// partsMost is how many parts of an operation go in one transaction.
const partsMost = 100

// ForgetOperations removes the records of operations that nobody changed for long, with their messages.
func (m *Maintenance) ForgetOperations(ctx context.Context) error {
	if !m.operation.Valid || m.Late() {
		return nil
	}
	now, err := m.base.hooks.Now(ctx)
	if err != nil || m.operation.Int64 > now-store.OperationPlannedKept.Microseconds() {
		return err
	}
	planned, err := m.planned(ctx, now-store.OperationPlannedKept.Microseconds())
	for err == nil && !m.Late() {
		var id int64
		found, failed := m.base.row(ctx, SQLOldOperation, []any{m.Box, now - store.OperationKept.Microseconds()}, &id)
		if err = failed; err != nil || !found {
			break
		}
		_, err = m.forgetOperation(ctx, id)
	}
	for _, id := range planned {
		for more := true; err == nil && more && !m.Late(); {
			more, err = m.forgetOperation(ctx, id)
		}
	}
	return err
}

// planned returns the operations of the box that did not begin, and that nobody changed since a time.
func (m *Maintenance) planned(ctx context.Context, since int64) (ids []int64, err error) {
	err = m.Query(ctx)(SQLPlannedOperations, nil, func(rows *sql.Rows) error {
		var id, touched int64
		var box string
		err := rows.Scan(&id, &box, &touched)
		if box == m.Box && touched <= since {
			ids = append(ids, id)
		}
		return err
	})
	return ids, err
}

func (m *Maintenance) forgetOperation(ctx context.Context, id int64) (more bool, err error) {
	err = m.Write(ctx, func(t *Tx) (err error) {
		more, err = t.forgetOperation(store.OperationID(id))
		return err
	})
	return more, err
}

// forgetOperation deletes some parts of an operation, and the record after the last of them. It says whether there is more.
func (t *Tx) forgetOperation(id store.OperationID) (more bool, err error) {
	var o operationRow
	found, err := oneOperation(t.Query, SQLOperation+t.Lock, id, &o)
	if err != nil || !found || !storekit.OperationOver(&o.Operation, time.UnixMicro(t.Now)) {
		return false, err
	}
	var last sql.NullInt64
	if more, err = t.Row(SQLLastOfParts, []any{int64(id), partsMost - 1}, &last); err != nil {
		return false, err
	}
	if !more {
		last.Int64 = store.MaxOperationMessages
	}
	if _, err := t.Exec(SQLDeleteParts, int64(id), last.Int64); err != nil || more {
		return more, err
	}
	_, err = t.Exec(sqlDeleteOperation, int64(id))
	return false, err
}
