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

// command is an operator's order that waits for the owner of a shard.
type command struct {
	id     store.CommandID
	kind   store.CommandKind
	p      *parked
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
		var queued []int64
		for _, seq := range seqs {
			if p := sub.lot.bySeq[seq]; p != nil && !p.ordered(kind) {
				s.lastCommand++
				c := &command{id: s.lastCommand, kind: kind, p: p}
				p.commands = append(p.commands, c)
				sub.commands = append(sub.commands, c)
				queued = append(queued, seq)
			}
		}
		if len(queued) > 0 {
			s.note(a, fmt.Sprintf("%s %s %s", commandName(kind), r, seqList(queued)))
		}
		return len(queued), nil
	})
}

// ordered returns the subscription that an operator's order is about.
func (s *Store) ordered(a store.Audit, r store.Ref) (*subscription, error) {
	if a.Who == "" || a.Why == "" {
		return nil, errors.New("memstore: order: who or why is missing; give both, they go to the audit log")
	}
	return s.subscription(r)
}

// ordered says whether a command of the kind waits for p.
func (p *parked) ordered(kind store.CommandKind) bool {
	return slices.ContainsFunc(p.commands, func(c *command) bool { return c.kind == kind && !c.closed })
}

// seqList returns seqs as text, cut short.
func seqList(seqs []int64) string {
	const most = 20
	var b strings.Builder
	for i, seq := range seqs {
		if i == most {
			fmt.Fprintf(&b, " and %d more", len(seqs)-most)
			break
		}
		if i > 0 {
			b.WriteByte(' ')
		}
		fmt.Fprint(&b, seq)
	}
	return b.String()
}

// done closes commands.
func (sub *subscription) done(list []store.Done) {
	for _, d := range list {
		i, found := slices.BinarySearchFunc(sub.commands, d.ID, func(c *command, id store.CommandID) int { return cmp.Compare(c.id, id) })
		if !found {
			continue
		}
		if c := sub.commands[i]; c.kind == d.Kind && c.p.park.Seq == d.Seq {
			c.closed = true
		}
	}
}

// waiting returns the open commands of the scopes, oldest first.
func waiting(scopes []scope, now time.Time) []store.Command {
	var out []store.Command
	seen := map[store.CommandID]bool{}
	for _, sc := range scopes {
		if sc.sub == nil || len(sc.sub.commands) == 0 {
			continue
		}
		sc.sub.commands = slices.DeleteFunc(sc.sub.commands, func(c *command) bool { return c.closed })
		found := 0
		for _, c := range sc.sub.commands {
			if found == maxCommands {
				break
			}
			if inSlots(sc.slots, c.p.park.Slot) && !seen[c.id] {
				seen[c.id] = true
				found++
				out = append(out, c.shown(sc.sub.ref, now))
			}
		}
	}
	slices.SortFunc(out, func(a, b store.Command) int { return cmp.Compare(a.ID, b.ID) })
	return out[:min(len(out), maxCommands)]
}

func (c *command) shown(r store.Ref, now time.Time) store.Command {
	return store.Command{ID: c.id, Ref: r, Kind: c.kind, Park: c.p.shown(now), Message: c.p.row.ID}
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
		s.note(a, fmt.Sprintf("shards %s %d", r, n))
		return struct{}{}, nil
	})
	return err
}

// note writes to the audit log.
func (s *Store) note(a store.Audit, what string) {
	s.audit = append(s.audit, store.AuditEntry{At: s.now().UTC(), Audit: a, What: what})
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
