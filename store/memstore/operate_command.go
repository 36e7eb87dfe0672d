package memstore

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/postbag/postbag/store"
)

// maxCommands is how many commands a turn brings, and maxAudit how many entries
// the audit log keeps.
const (
	maxCommands = 1000
	maxAudit    = 100_000
)

// command is an operator's command that waits for the owner of a shard.
type command struct {
	id     store.CommandID
	kind   store.CommandKind
	row    *row
	closed bool
}

// commandName returns what the audit log calls a command; empty: there is no such.
func commandName(kind store.CommandKind) string {
	switch kind {
	case store.Retry:
		return "retry"
	case store.Discard:
		return "discard"
	}
	return ""
}

// Command implements store.Operator.
func (s *Store) Command(ctx context.Context, a store.Audit, r store.Ref, kind store.CommandKind, seqs []int64) (int, error) {
	return call(ctx, s, OpCommand, func() (int, error) {
		if commandName(kind) == "" {
			return 0, fmt.Errorf("memstore: command of kind %d: unknown; use store.Retry or store.Discard", kind)
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		sub, err := s.ordered(a, r)
		if err != nil {
			return 0, err
		}
		rows, err := s.commanded(sub, kind, seqs)
		if err != nil {
			return 0, err
		}
		for _, r := range rows {
			s.lastCommand++
			sub.queue(&command{id: s.lastCommand, kind: kind, row: r})
		}
		if len(rows) > 0 {
			s.note(a, fmt.Sprintf("%s %s %s", commandName(kind), r, textList(rows, (*row).named)))
		}
		return len(rows), nil
	})
}

// ordered returns the subscription that an operator's command is about.
func (s *Store) ordered(a store.Audit, r store.Ref) (*subscription, error) {
	if a.Who == "" || a.Why == "" {
		return nil, errors.New("memstore: order: who or why is missing; give both, they go to the audit log")
	}
	return s.subscription(r)
}

// commanded returns the messages that a command is to be queued for.
func (s *Store) commanded(sub *subscription, kind store.CommandKind, seqs []int64) ([]*row, error) {
	at, err := sub.positions()
	if err != nil {
		return nil, err
	}
	snap := s.snapshot(sub.box)
	pending := 0
	var out []*row
	for _, seq := range slices.Compact(slices.Sorted(slices.Values(seqs))) {
		if sub.ordered(seq, kind) {
			continue
		}
		if p := sub.lot.bySeq[seq]; p != nil {
			out = append(out, p.row)
			continue
		}
		r := sub.box.log.at(seq)
		if kind != store.Discard || r == nil || !snap.sees(r.xid) || !sub.takes(r) {
			continue
		}
		if p := at[sub.shardOf(r.Slot)]; !p.passed(r) {
			out = append(out, r)
			pending++
		}
	}
	if pending > 0 && pending+sub.waitingForPending() > store.MaxPendingCommands {
		return nil, fmt.Errorf("memstore: discard messages of %s: %w", sub.ref, store.ErrTooManyCommands)
	}
	return out, nil
}

// waitingForPending counts the commands about messages that are not parked.
func (sub *subscription) waitingForPending() (n int) {
	for _, c := range sub.commands {
		if !c.closed && sub.lot.bySeq[c.row.Seq] == nil {
			n++
		}
	}
	return n
}

// queue has a command wait.
func (sub *subscription) queue(c *command) {
	sub.commands = append(sub.commands, c)
	sub.orders[c.row.Seq] = append(sub.orders[c.row.Seq], c)
}

// ordered says whether a command of the kind waits for a message.
func (sub *subscription) ordered(seq int64, kind store.CommandKind) bool {
	return slices.ContainsFunc(sub.orders[seq], func(c *command) bool { return c.kind == kind })
}

// end closes a command.
func (sub *subscription) end(c *command) {
	c.closed = true
	seq := c.row.Seq
	sub.orders[seq] = slices.DeleteFunc(sub.orders[seq], func(o *command) bool { return o == c })
	if len(sub.orders[seq]) == 0 {
		delete(sub.orders, seq)
	}
}

// endAll closes the commands about a message.
func (sub *subscription) endAll(seq int64) {
	for _, c := range slices.Clone(sub.orders[seq]) {
		sub.end(c)
	}
}

// textList returns a list as text, cut short.
func textList[T any](list []T, text func(T) string) string {
	const most = 20
	var b strings.Builder
	for i, x := range list {
		if i == most {
			fmt.Fprintf(&b, " and %d more", len(list)-most)
			break
		}
		if i > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(text(x))
	}
	return b.String()
}

// named is how the audit log calls a message: by seq, topic and id.
func (r *row) named() string { return fmt.Sprintf("%d (%s, %s)", r.Seq, r.Topic, r.ID) }

// done closes commands.
func (sub *subscription) done(list []store.Done) {
	for _, d := range list {
		i, found := slices.BinarySearchFunc(sub.commands, d.ID, func(c *command, id store.CommandID) int { return cmp.Compare(c.id, id) })
		if !found {
			continue
		}
		if c := sub.commands[i]; c.kind == d.Kind && c.row.Seq == d.Seq && !c.closed {
			sub.end(c)
		}
	}
}

// waiting returns the open commands of the scopes: those about messages that are not
// parked, and then the oldest of the others. One about a message that was passed, or is
// gone, is closed.
func waiting(scopes []scope, now time.Time) ([]store.Command, error) {
	var pending, out []store.Command
	seen := map[store.CommandID]bool{}
	for _, sc := range scopes {
		if sc.sub == nil || len(sc.sub.commands) == 0 {
			continue
		}
		if err := sc.sub.closePassed(); err != nil {
			return nil, err
		}
		for _, c := range sc.sub.commands {
			if !inSlots(sc.slots, c.row.Slot) || seen[c.id] {
				continue
			}
			seen[c.id] = true
			if p := sc.sub.lot.bySeq[c.row.Seq]; p != nil {
				out = append(out, c.shown(sc.sub.ref, p.shown(now)))
			} else {
				pending = append(pending, c.shown(sc.sub.ref, store.Park{Seq: c.row.Seq, Slot: c.row.Slot, Hash: c.row.Hash}))
			}
		}
	}
	older := func(a, b store.Command) int { return cmp.Compare(a.ID, b.ID) }
	slices.SortFunc(pending, older)
	slices.SortFunc(out, older)
	return append(pending, out[:min(len(out), maxCommands)]...), nil
}

// closePassed closes the commands about messages that are not parked and that sub has
// passed, and forgets those that are closed.
func (sub *subscription) closePassed() error {
	at, err := sub.positions()
	if err != nil {
		return err
	}
	for _, c := range sub.commands {
		r := sub.box.log.at(c.row.Seq)
		if c.closed || sub.lot.bySeq[c.row.Seq] != nil {
			continue
		}
		if p := at[sub.shardOf(c.row.Slot)]; r == nil || p.passed(r) {
			sub.end(c)
		}
	}
	sub.commands = slices.DeleteFunc(sub.commands, func(c *command) bool { return c.closed })
	return nil
}

func (c *command) shown(r store.Ref, p store.Park) store.Command {
	return store.Command{ID: c.id, Ref: r, Kind: c.kind, Park: p, Message: c.row.ID, Topic: c.row.Topic}
}

// SetShards implements store.Operator.
func (s *Store) SetShards(ctx context.Context, a store.Audit, r store.Ref, n int) error {
	_, err := call(ctx, s, OpCommand, func() (struct{}, error) {
		if n < 1 || n > store.SlotCount {
			return struct{}{}, fmt.Errorf("memstore: %d shards: ask for 1 to %d", n, store.SlotCount)
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		sub, err := s.ordered(a, r)
		if err != nil {
			return struct{}{}, err
		}
		if sub.wanted != n {
			sub.wanted = n
			s.epoch++
		}
		sub.wantedBy = a.Who
		s.note(a, fmt.Sprintf("shards %s %d", r, n))
		return struct{}{}, nil
	})
	return err
}

// note writes to the audit log.
func (s *Store) note(a store.Audit, what string) {
	if a.Filter != "" {
		what += "; selected by " + a.Filter
	}
	s.audit = append(s.audit, store.AuditEntry{At: s.now().UTC(), Audit: store.Audit{Who: a.Who, Why: a.Why}, What: what})
	if len(s.audit) > 2*maxAudit {
		s.audit = slices.Clone(s.audit[len(s.audit)-maxAudit:])
	}
}

// Audited implements store.Operator.
func (s *Store) Audited(ctx context.Context, limit int) ([]store.AuditEntry, error) {
	return call(ctx, s, OpInspect, func() ([]store.AuditEntry, error) {
		s.mu.Lock()
		defer s.mu.Unlock()
		n := min(max(limit, 0), len(s.audit))
		out := slices.Clone(s.audit[len(s.audit)-n:])
		slices.Reverse(out)
		return out, nil
	})
}
