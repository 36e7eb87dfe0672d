package memstore

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/store"
)

// edit carries out an operator's change of a box, under the lock.
func edit[T any](ctx context.Context, s *Store, a store.Audit, boxName string, do func(*box) (T, error)) (T, error) {
	return call(ctx, s, OpCommand, func() (none T, err error) {
		if a.Who == "" || a.Why == "" {
			return none, errors.New("memstore: order: who or why is missing; give both, they go to the audit log")
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		b, err := s.box(boxName)
		if err != nil {
			return none, err
		}
		return do(b)
	})
}

// Scheduled implements store.Editor. It leaves out messages that an open transaction is
// about to cancel.
func (s *Store) Scheduled(ctx context.Context, a store.Audit, boxName string, kind store.CommandKind, ids []postbag.ID) (int, error) {
	name := commandName(kind)
	if name == "" {
		return 0, fmt.Errorf("memstore: command of kind %d: unknown; use store.Retry or store.Discard", kind)
	}
	return edit(ctx, s, a, boxName, func(b *box) (int, error) {
		done, n := b.reschedule(kind, ids, s.now().UTC())
		if n > 0 {
			s.note(a, fmt.Sprintf("%s %s scheduled %s", name, boxName, idList(done)))
			s.epoch++ // so that the box's maintainer looks
			s.wake()
		}
		return n, nil
	})
}

// reschedule changes scheduled messages, and returns the ids of those that it found, and how many they are.
func (b *box) reschedule(kind store.CommandKind, ids []postbag.ID, now time.Time) (done []postbag.ID, n int) {
	for _, id := range distinct(ids) {
		found := slices.DeleteFunc(slices.Clone(b.schedule.byID[id]), func(m *scheduled) bool {
			return m.writer != nil || m.canceller != nil
		})
		for _, m := range found {
			b.schedule.change(m, kind, now)
		}
		if n += len(found); len(found) > 0 {
			done = append(done, id)
		}
	}
	return done, n
}

// Erase implements store.Editor.
func (s *Store) Erase(ctx context.Context, a store.Audit, boxName string, ids []postbag.ID) (store.Erased, error) {
	return edit(ctx, s, a, boxName, func(b *box) (store.Erased, error) {
		var out store.Erased
		var done []postbag.ID
		for _, id := range distinct(ids) {
			l, err := s.lister(store.Query{Ref: store.Ref{Box: boxName}, ID: id})
			if err != nil {
				return store.Erased{}, err
			}
			rows := l.rowsOf(b)
			switch {
			case len(b.schedule.byID[id]) > 0 || l.undelivered(rows):
				out.Refused = append(out.Refused, id)
			case len(rows) > 0:
				for _, r := range rows {
					b.log.erase(r)
				}
				done = append(done, id)
				out.Messages++
			}
		}
		if len(done) > 0 {
			s.note(a, fmt.Sprintf("erase %s %s", boxName, idList(done)))
		}
		return out, nil
	})
}

// rowsOf returns the rows of the query's message in the log.
func (l *lister) rowsOf(b *box) []*row {
	var out []*row
	for seq := b.log.skip(b.log.base); seq <= b.log.last; seq = b.log.skip(seq + 1) {
		if r := b.log.at(seq); r != nil && r.ID == l.ID && l.snap.sees(r.xid) {
			out = append(out, r)
		}
	}
	return out
}

// undelivered says that some subscription has not passed one of the rows, or has the message
// parked. What its filter says now does not count: it is asked again of what is left of an
// erased message.
func (l *lister) undelivered(rows []*row) bool {
	for _, sub := range l.subs {
		for _, p := range sub.lot.bySeq {
			if p.row.ID == l.ID {
				return true
			}
		}
		for _, r := range rows {
			if at := l.at[sub][sub.shardOf(r.Slot)]; !at.passed(r) {
				return true
			}
		}
	}
	return false
}

// AcceptLedger implements store.Editor.
func (s *Store) AcceptLedger(ctx context.Context, a store.Audit, boxName string) ([]string, error) {
	return edit(ctx, s, a, boxName, func(b *box) ([]string, error) {
		out := []string{}
		if b.log.rows == 0 && len(b.dropped) == 0 {
			return out, nil
		}
		for _, sub := range b.readers() {
			lines, err := sub.accept()
			if err != nil {
				return nil, err
			}
			out = append(out, lines...)
		}
		for _, line := range out {
			s.note(a, fmt.Sprintf("accept ledger %s: %s", boxName, line))
		}
		return out, nil
	})
}

// accept has the ledger say of each span what the log says, and returns where it
// differed.
func (sub *subscription) accept() ([]string, error) {
	var out []string
	spans := map[int64]bool{}
	for k := range sub.tallies {
		spans[k.span] = true
	}
	for span := spanOf(sub.box.log.base); span <= spanOf(sub.box.log.last); span++ {
		spans[span] = true
	}
	var list []int64
	for span := range spans {
		list = append(list, span)
	}
	slices.Sort(list)
	for _, span := range list {
		passed, err := sub.passed(span)
		if err != nil {
			return nil, err
		}
		told := sub.tallied(span)
		if told == passed {
			continue
		}
		out = append(out, fmt.Sprintf("%s, seqs %d to %d: %d messages passed, %d accounted for",
			sub.ref, span*store.TallySpan+1, (span+1)*store.TallySpan, passed.count, told.count))
		sub.accepted[span] = sub.accepted[span].add(passed.sub(told))
	}
	return out, nil
}

func distinct(ids []postbag.ID) []postbag.ID {
	var out []postbag.ID
	for _, id := range ids {
		if !slices.Contains(out, id) {
			out = append(out, id)
		}
	}
	return out
}

// idList returns ids as text, cut short.
func idList(ids []postbag.ID) string {
	return textList(ids, func(id postbag.ID) string { return id.String() })
}
