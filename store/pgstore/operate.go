package pgstore

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/postbag/postbag/store"
	"github.com/postbag/postbag/store/storekit"
)

var _ store.Operator = (*Store)(nil)

// maxAudit is the most bytes that the audit log keeps of who and of why, and
// auditMost the most entries of one answer.
const (
	maxAudit  = 1024
	auditMost = 10_000
)

// commandNames are what the audit log calls commands.
var commandNames = map[store.CommandKind]string{store.Retry: "retry", store.Discard: "discard"}

// Command implements store.Operator.
func (s *Store) Command(ctx context.Context, a store.Audit, r store.Ref, kind store.CommandKind, seqs []int64) (int, error) {
	name := commandNames[kind]
	if name == "" {
		return 0, unknownKind(kind)
	}
	seqs = slices.Compact(slices.Sorted(slices.Values(seqs)))
	queued := 0
	err := s.order(ctx, a, r, func(v *server, sub *catalogSubscription, a store.Audit) error {
		items, err := s.commanded(ctx, r, kind, seqs)
		if err != nil || len(items) == 0 {
			return err
		}
		n := len(items)
		args := new(parameters).int4(sub.id).int8s(n, func(i int) int64 { return items[i].Seq })
		args.int2s(n, func(i int) int { return items[i].Slot })
		args.bools(n, func(i int) bool { return items[i].State == store.StatePending }).texts(n, func(i int) string { return fmt.Sprintf("%d (%s, %s)", items[i].Seq, items[i].Topic, items[i].ID) })
		args.int4(int32(kind)).text(a.Who).text(a.Why).text(name + " " + r.String() + " ")
		args.int4(store.MaxPendingCommands).text(selectedBy(a))
		full := false
		err = s.run(ctx, s.guard(v, "", nil), call{st: s.statements.get("lock_subscription", ""), args: new(parameters).int4(sub.id)}, call{
			st: s.statements.get("command", ""), args: args,
			reset: func() { queued, full = 0, false },
			each: func(r row) error {
				c := columns{rest: r}
				full = c.int8() < 0
				queued++
				return c.err
			},
		})
		if err == nil && full {
			queued, err = 0, store.ErrTooManyCommands
		}
		return err
	})
	if err != nil {
		return 0, translateError(name+" messages of "+r.String(), err)
	}
	if queued > 0 {
		s.Wake(r.Box)
	}
	return queued, nil
}

func unknownKind(kind store.CommandKind) error {
	return &fault{doing: "command", said: fmt.Sprintf("kind %d is unknown", kind), fix: "use store.Retry or store.Discard"}
}

// selectedBy is how the audit log ends.
func selectedBy(a store.Audit) string {
	if a.Filter == "" {
		return ""
	}
	return "; selected by " + a.Filter
}

// commanded returns the messages, of those named, that a command is for: parked ones,
// and pending ones to be discarded.
func (s *Store) commanded(ctx context.Context, r store.Ref, kind store.CommandKind, seqs []int64) ([]store.Item, error) {
	l, err := s.lister(ctx, store.Query{Ref: r})
	if err != nil || len(seqs) == 0 {
		return nil, err
	}
	var rows []listRow
	err = s.run(ctx, call{
		st: s.statements.get("command_rows", r.Box), args: new(parameters).int8s(len(seqs), func(i int) int64 { return seqs[i] }).int4(l.box.id),
		reset: func() { rows = nil },
		each: func(r row) error {
			v, err := readListRow(r)
			rows = append(rows, v)
			return err
		},
	})
	if err != nil {
		return nil, err
	}
	found, err := l.items(ctx, rows)
	var out []store.Item
	for i := range found {
		_, parked := parkStateOf(found[i].State)
		if parked || kind == store.Discard && found[i].State == store.StatePending && l.subs[0].fault == nil && l.subs[0].filter.Take(&found[i].Record) {
			out = append(out, found[i].Item)
		}
	}
	return out, err
}

// SetShards implements store.Operator.
func (s *Store) SetShards(ctx context.Context, a store.Audit, r store.Ref, n int) error {
	if n < 1 || n > store.SlotCount {
		return &fault{
			doing: "set the shards of " + r.String(), said: fmt.Sprintf("%d were asked for", n),
			fix: fmt.Sprintf("ask for 1 to %d", store.SlotCount),
		}
	}
	err := s.order(ctx, a, r, func(v *server, sub *catalogSubscription, a store.Audit) error {
		return s.run(ctx, s.guard(v, "", nil), call{
			st: s.statements.get("want_shards", ""),
			args: new(parameters).int4(sub.id).int4(int32(n)).text(a.Who).text(a.Why).
				text(fmt.Sprintf("shards %s %d", r, n)),
		})
	})
	return translateError("set the shards of "+r.String(), err)
}

// order carries out an operator's command about a subscription. Commands without who
// or why are refused; what is no valid text in them is made so.
func (s *Store) order(ctx context.Context, a store.Audit, r store.Ref, fn func(*server, *catalogSubscription, store.Audit) error) error {
	a, err := audited(a)
	if err != nil {
		return err
	}
	return s.guarded(ctx, func(v *server) error {
		if _, err := s.readCatalog(ctx); err != nil { // another of this name may be there by now
			return err
		}
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

// audited makes what goes to the audit log valid, and refuses it without who or why.
func audited(a store.Audit) (store.Audit, error) {
	a = store.Audit{Who: auditText(a.Who), Why: auditText(a.Why), Filter: auditText(a.Filter)}
	if a.Who == "" || a.Why == "" {
		return a, &fault{doing: "order", said: "who or why is missing", fix: "give both, they go to the audit log"}
	}
	return a, nil
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
	err := s.guarded(ctx, func(v *server) (err error) {
		out, err = s.audited(ctx, v, limit)
		return err
	})
	return out, translateError("read the audit log", err)
}

func (s *Store) audited(ctx context.Context, v *server, limit int) ([]store.AuditEntry, error) {
	return s.auditLines(ctx, v, "audited", new(parameters).int4(int32(min(max(limit, 0), auditMost))))
}

func (s *Store) auditLines(ctx context.Context, v *server, name string, args *parameters) (out []store.AuditEntry, err error) {
	err = s.run(ctx, s.guard(v, "", nil), call{
		st: s.statements.get(name, ""), args: args,
		reset: func() { out = nil },
		each: func(r row) error {
			c := columns{rest: r}
			e := store.AuditEntry{At: time.UnixMicro(c.int8()).UTC()}
			e.Who, e.Why, e.What = c.text(), c.text(), c.text()
			out = append(out, e)
			return c.err
		},
	})
	return out, err
}

// notices returns what happened to boxes that people should know, as of now, microseconds since 1970.
func (s *Store) notices(ctx context.Context, v *server, now int64) (map[string][]store.Notice, error) {
	entries, err := s.auditLines(ctx, v, "notices", new(parameters).int8(storekit.NoticesAmong).int4(storekit.NoticeEntries))
	return storekit.Notices(entries, time.UnixMicro(now)), err
}
