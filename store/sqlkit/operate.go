package sqlkit

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	"github.com/postbag/postbag/store"
	"github.com/postbag/postbag/store/storekit"
)

// SetShards asks for another number of shards; see [store.Operator].
func (s *Base) SetShards(ctx context.Context, a store.Audit, r store.Ref, n int) error {
	if n < 1 || n > store.SlotCount {
		return fmt.Errorf("%s: set shards: %d shards; ask for 1 to %d", s.dialect.Package, n, store.SlotCount)
	}
	return s.order(ctx, a, "set the shards of", r, func(t *Tx, id int64) (string, error) {
		changed, err := t.Exec(sqlSetWanted, n, id, n)
		t.Moved = t.Moved || changed > 0
		if err == nil {
			_, err = t.Exec(sqlSetWantedBy, who(a), id)
		}
		return fmt.Sprintf("shards %s %d", r, n), err
	})
}

// Audited returns the latest entries of the audit log; see [store.Operator].
func (s *Base) Audited(ctx context.Context, limit int) ([]store.AuditEntry, error) {
	out, err := audited(s.hooks.Query(ctx), limit)
	return out, s.dialect.Translate("read the audit log", err)
}

func audited(query Querier, limit int) ([]store.AuditEntry, error) {
	return auditLines(query, sqlAudited, max(limit, 0))
}

func auditLines(query Querier, text string, args ...any) ([]store.AuditEntry, error) {
	var out []store.AuditEntry
	err := query(text, args, func(rows *sql.Rows) error {
		var e store.AuditEntry
		var at int64
		err := rows.Scan(&at, &e.Who, &e.Why, &e.What)
		e.At = time.UnixMicro(at).UTC()
		out = append(out, e)
		return err
	})
	return out, err
}

// order carries out an operator's command about a subscription, and writes what fn
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
		return t.audit(a, what)
	})
}
