package memstore

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/postbag/postbag/store"
)

// What one Maintain does at most.
const (
	promoteMost = 10_000
	dropMost    = 500_000
	floorMarks  = 256 // about as many marks are kept
)

// Maintain implements store.Store. The log has no partitions. Maintain deletes from its
// beginning what all subscriptions have passed.
func (s *Store) Maintain(ctx context.Context, r store.Retention) (store.Report, error) {
	return call(ctx, s, OpMaintain, func() (store.Report, error) {
		rep, err := s.maintain(r)
		if err == nil {
			err = s.forgetErrorNotes(ctx, r.Box)
		}
		if err != nil {
			return rep, fmt.Errorf("memstore: maintain %q: %w", r.Box, err)
		}
		if rep.Promoted > 0 {
			s.wake()
		}
		return rep, nil
	})
}

func (s *Store) maintain(r store.Retention) (store.Report, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	b, err := s.box(r.Box)
	if err != nil {
		return store.Report{}, err
	}
	sh := b.subs[store.Maintenance].shards[0]
	if r.Subscription != store.Maintenance || sh.token != r.Token || r.Token == 0 {
		return store.Report{}, store.ErrLeaseLost
	}
	now := s.now()
	var rep store.Report
	rep.Promoted = int64(s.promote(b, promoteMost))
	rep.NextDue = b.schedule.next(now)
	l := b.retention.Lifetimes(r.Keep)
	if err := b.retain(l, now, &rep); err != nil {
		return store.Report{}, err
	}
	s.expire(b, l.Dead, now, &rep)
	s.forgetOperations(b, now)
	rep.More = rep.More || rep.Promoted == promoteMost
	return rep, nil
}

// retain drops the beginning of the log: what all subscriptions had passed long enough
// ago, and agree on.
func (b *box) retain(l store.Lifetimes, now time.Time, rep *store.Report) error {
	floor, err := b.floor()
	if err != nil {
		return err
	}
	b.mark(floor, now, max(l.Delivered, l.Discarded/64))
	to := b.passedBy(now.Add(-l.Delivered))
	old := b.forgetMarks(now.Add(-l.Discarded))
	if l.Discarded > l.Delivered {
		to = b.beforeDiscarded(max(old, b.log.base-1), to)
	}
	to = min(to, floor) // a subscription, or a replay, that is newer than the mark has passed less
	if to < b.log.base {
		return nil
	}
	if most := b.log.base + dropMost - 1; to > most {
		to, rep.More = most, true
	}
	for span := spanOf(b.log.base); span <= spanOf(to); span++ {
		fault, err := b.compare(span)
		if err != nil {
			return err
		}
		if fault != "" {
			rep.Faults = append(rep.Faults, fault)
			rep.More = false
			to = span * store.TallySpan
		}
	}
	b.drop(to, rep)
	return nil
}

// floor returns the seq up to which every subscription has passed everything
// that will ever be there. Without a subscription it is zero.
func (b *box) floor() (int64, error) {
	readers := b.readers()
	if len(readers) == 0 {
		return 0, nil
	}
	floor := b.log.last
	for _, sub := range readers {
		for _, sh := range sub.shards {
			p, err := decode(sh.position)
			if err != nil {
				return 0, err
			}
			floor = min(floor, p.floor())
		}
	}
	return floor, nil
}

// mark remembers that all had passed floor by now, often enough to tell what had
// been passed keep ago: rows between two marks wait for the later.
func (b *box) mark(floor int64, now time.Time, keep time.Duration) {
	n := len(b.floors)
	if n > 0 && (b.floors[n-1].seq >= floor || now.Sub(b.floors[n-1].at) < keep/floorMarks) {
		return
	}
	b.floors = append(b.floors, floorMark{now, floor})
}

// passedBy returns the floor that had been passed by a time.
func (b *box) passedBy(by time.Time) int64 {
	for _, m := range slices.Backward(b.floors) {
		if !m.at.After(by) {
			return m.seq
		}
	}
	return 0
}

// forgetMarks is passedBy, and forgets older marks.
func (b *box) forgetMarks(by time.Time) int64 {
	for i, m := range slices.Backward(b.floors) {
		if !m.at.After(by) {
			b.floors = b.floors[i:]
			return m.seq
		}
	}
	return 0
}

// beforeDiscarded returns to, or the seq before the first discarded message behind old.
func (b *box) beforeDiscarded(old, to int64) int64 {
	for _, sub := range b.readers() {
		for seq := range sub.discarded {
			if seq > old {
				to = min(to, seq-1)
			}
		}
	}
	return to
}

// compare says what is wrong with the ledger of a span, if anything.
func (b *box) compare(span int64) (string, error) {
	for _, sub := range b.readers() {
		passed, err := sub.passed(span)
		if err != nil {
			return "", err
		}
		if told := sub.tallied(span); told != passed {
			return fmt.Sprintf("the ledger of %s does not agree with the log from seq %d on: %d messages passed, %d accounted for "+
				"(or other ones); nothing of that is dropped: look who else changes its tables",
				sub.ref, span*store.TallySpan+1, passed.count, told.count), nil
		}
	}
	return "", nil
}

// drop forgets the rows up to seq, but for those that are parked.
func (b *box) drop(to int64, rep *store.Report) {
	if to < b.log.base {
		return
	}
	for _, sub := range b.readers() {
		for seq, p := range sub.lot.bySeq {
			if seq <= to && !p.copied {
				p.copied = true
				rep.Copied++
			}
		}
		for seq := range sub.discarded {
			if seq <= to {
				delete(sub.discarded, seq)
			}
		}
		for seq := range sub.past {
			if seq <= to {
				delete(sub.past, seq)
			}
		}
	}
	for seq := b.log.skip(b.log.base); seq <= to; seq = b.log.skip(seq + 1) {
		if r := b.log.at(seq); r != nil {
			b.dropped[spanOf(seq)] = b.dropped[spanOf(seq)].add(sumOf(r))
		}
	}
	rep.Deleted += b.log.drop(to)
}
