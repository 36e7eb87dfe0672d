package sqlstore

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	"github.com/postbag/postbag/store"
	"github.com/postbag/postbag/store/storekit"
)

// Command queues an order for parked messages; see [store.Operator].
func (s *Base) Command(ctx context.Context, a store.Audit, r store.Ref, kind store.CommandKind, seqs []int64) (int, error) {
	name, err := storekit.CommandName(kind)
	if err != nil {
		return 0, s.dialect.Translate("command", err)
	}
	var queued []int64
	err = s.order(ctx, a, name, r, func(t *Tx, id int64) (string, error) {
		queued = nil
		for _, seq := range seqs {
			n, err := t.Exec(t.Command, int(kind), id, seq)
			if err != nil {
				return "", err
			}
			if n > 0 {
				queued = append(queued, seq)
			}
		}
		if len(queued) == 0 {
			return "", nil
		}
		return fmt.Sprintf("%s %s %s", name, r, storekit.SeqList(queued)), nil
	})
	if err != nil {
		return 0, err
	}
	s.hooks.Wake(r.Box)
	return len(queued), nil
}

// SetShards asks for another number of shards; see [store.Operator].
func (s *Base) SetShards(ctx context.Context, a store.Audit, r store.Ref, n int) error {
	if n < 1 || n > store.SlotCount {
		return fmt.Errorf("%s: set shards: %d shards; ask for 1 to %d", s.dialect.Package, n, store.SlotCount)
	}
	return s.order(ctx, a, "set the shards of", r, func(t *Tx, id int64) (string, error) {
		changed, err := t.Exec(sqlSetWanted, n, id, n)
		t.Moved = t.Moved || changed > 0
		return fmt.Sprintf("shards %s %d", r, n), err
	})
}

// Audited returns the latest entries of the audit log; see [store.Operator].
func (s *Base) Audited(ctx context.Context, limit int) ([]store.AuditEntry, error) {
	var out []store.AuditEntry
	err := s.hooks.Query(ctx)(sqlAudited, []any{max(limit, 0)}, func(rows *sql.Rows) error {
		var e store.AuditEntry
		var at int64
		err := rows.Scan(&at, &e.Who, &e.Why, &e.What)
		e.At = time.UnixMicro(at).UTC()
		out = append(out, e)
		return err
	})
	return out, s.dialect.Translate("read the audit log", err)
}

// order carries out an operator's order about a subscription, and writes what fn
// says of it to the audit log in the same transaction.
func (s *Base) order(ctx context.Context, a store.Audit, doing string, r store.Ref,
	fn func(*Tx, int64) (string, error),
) error {
	doing += " " + r.String()
	if err := storekit.CheckAudit(a); err != nil {
		return s.dialect.Translate(doing, err)
	}
	return s.hooks.Change(ctx, doing, func(t *Tx) error {
		id, err := t.Subscription(r)
		if err != nil {
			return err
		}
		if id == 0 || r.Subscription == store.Maintenance {
			return store.ErrNoSubscription
		}
		what, err := fn(t, id)
		if err != nil || what == "" {
			return err
		}
		_, err = t.Exec(SQLAudit, t.Now, a.Who, a.Why, what)
		return err
	})
}
