package pgstore

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/postbag/postbag/store"
)

var _ store.Operator = (*Store)(nil)

// maxAudit is the most bytes that the audit log keeps of who and of why, and
// auditMost the most entries of one answer.
const (
	maxAudit  = 1024
	auditMost = 10_000
)

// Command implements store.Operator.
func (s *Store) Command(ctx context.Context, a store.Audit, r store.Ref, kind store.CommandKind, seqs []int64) (int, error) {
	name := map[store.CommandKind]string{store.Retry: "retry", store.Discard: "discard"}[kind]
	if name == "" {
		return 0, &fault{doing: "command", said: fmt.Sprintf("kind %d is unknown", kind), mend: "use store.Retry or store.Discard"}
	}
	seqs = slices.Compact(slices.Sorted(slices.Values(seqs)))
	queued := 0
	err := s.order(ctx, a, r, func(v *server, sub *subEntry, a store.Audit) error {
		return s.run(ctx, s.guard(v, "", nil), call{
			st: s.catalog.get("command", ""),
			args: new(parameters).int4(sub.id).int8s(len(seqs), func(i int) int64 { return seqs[i] }).int4(int32(kind)).
				text(a.Who).text(a.Why).text(name + " " + r.String()),
			reset: func() { queued = 0 },
			each: func(row) error {
				queued++
				return nil
			},
		})
	})
	if err != nil {
		return 0, translateError(name+" messages of "+r.String(), err)
	}
	if queued > 0 {
		s.Wake(r.Box)
	}
	return queued, nil
}

// SetShards implements store.Operator.
func (s *Store) SetShards(ctx context.Context, a store.Audit, r store.Ref, n int) error {
	if n < 1 || n > store.SlotCount {
		return &fault{
			doing: "set the shards of " + r.String(), said: fmt.Sprintf("%d were asked for", n),
			mend: fmt.Sprintf("ask for 1 to %d", store.SlotCount),
		}
	}
	err := s.order(ctx, a, r, func(v *server, sub *subEntry, a store.Audit) error {
		return s.run(ctx, s.guard(v, "", nil), call{
			st: s.catalog.get("want_shards", ""),
			args: new(parameters).int4(sub.id).int4(int32(n)).text(a.Who).text(a.Why).
				text(fmt.Sprintf("shards %s %d", r, n)),
		})
	})
	return translateError("set the shards of "+r.String(), err)
}

// order carries out an operator's order about a subscription. Orders without who
// or why are refused; what is no valid text in them is made so.
func (s *Store) order(ctx context.Context, a store.Audit, r store.Ref, fn func(*server, *subEntry, store.Audit) error) error {
	a = store.Audit{Who: auditText(a.Who), Why: auditText(a.Why)}
	if a.Who == "" || a.Why == "" {
		return &fault{doing: "order", said: "who or why is missing", mend: "give both, they go to the audit log"}
	}
	return s.guarded(ctx, func(v *server) error {
		sub, err := s.subscription(ctx, r)
		if err != nil {
			return err
		}
		if r.Subscription == store.Maintenance {
			return store.ErrNoSubscription
		}
		return fn(v, sub, a)
	})
}

// auditText makes a text that the database takes.
func auditText(s string) string {
	s = strings.ToValidUTF8(strings.ReplaceAll(s, "\x00", "\uFFFD"), "\uFFFD")
	if len(s) > maxAudit {
		s = strings.ToValidUTF8(s[:maxAudit], "")
	}
	return s
}

// Audited implements store.Operator.
func (s *Store) Audited(ctx context.Context, limit int) ([]store.AuditEntry, error) {
	var out []store.AuditEntry
	err := s.guarded(ctx, func(v *server) error {
		return s.run(ctx, s.guard(v, "", nil), call{
			st: s.catalog.get("audited", ""), args: new(parameters).int4(int32(min(max(limit, 0), auditMost))),
			reset: func() { out = nil },
			each: func(r row) error {
				c := columns{rest: r}
				e := store.AuditEntry{At: time.UnixMicro(c.int8()).UTC()}
				e.Who, e.Why, e.What = c.text(), c.text(), c.text()
				out = append(out, e)
				return c.err
			},
		})
	})
	return out, translateError("read the audit log", err)
}
