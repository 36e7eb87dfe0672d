package memstore

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/store"
)

// scheduled is a message that waits for its time.
type scheduled struct {
	box       *box
	row       *row
	writer    *Tx // that put it here and is still open
	canceller *Tx // that wants it gone and is still open
	number    int64
	place     int // in the queue; -1: not there
}

// schedule holds the scheduled messages of a box.
type schedule struct {
	byID map[postbag.ID][]*scheduled
	due  heap[*scheduled] // the committed ones
	last int64            // the number of the last one
}

// add puts r into the schedule as tx's.
func (c *schedule) add(b *box, r *row, tx *Tx) *scheduled {
	c.last++
	m := &scheduled{box: b, row: r, writer: tx, number: c.last, place: -1}
	c.byID[r.ID] = append(c.byID[r.ID], m)
	return m
}

// offer makes a committed message one that can be promoted.
func (c *schedule) offer(m *scheduled) { c.due.push(m) }

// remove forgets m: it was cancelled, rolled back or promoted.
func (c *schedule) remove(m *scheduled) {
	if m.place >= 0 {
		c.due.remove(m.place)
	}
	rest := slices.DeleteFunc(c.byID[m.row.ID], func(o *scheduled) bool { return o == m })
	if len(rest) == 0 {
		delete(c.byID, m.row.ID)
		return
	}
	c.byID[m.row.ID] = rest
}

// change has m be due now, or removes it.
func (c *schedule) change(m *scheduled, kind store.CommandKind, now time.Time) {
	if kind == store.Discard {
		c.remove(m)
		return
	}
	c.due.remove(m.place)
	r := *m.row
	if r.NotBefore.After(now) {
		r.NotBefore = now
	}
	m.row = &r
	c.due.push(m)
}

// take removes and returns up to most messages that are due and that no open
// transaction is about to cancel.
func (c *schedule) take(now time.Time, most int) []*scheduled {
	var out, held []*scheduled
	for len(c.due) > 0 && len(out) < most && !c.due[0].row.NotBefore.After(now) {
		m := c.due.pop()
		if m.canceller != nil {
			held = append(held, m)
			continue
		}
		c.remove(m)
		out = append(out, m)
	}
	for _, m := range held {
		c.due.push(m)
	}
	return out
}

// next returns how long until the next message is due; negative: there is none.
func (c *schedule) next(now time.Time) time.Duration {
	if len(c.due) == 0 {
		return -1
	}
	return max(c.due[0].row.NotBefore.Sub(now), 0)
}

// promote moves due messages into the log, in a transaction that begins and ends
// here. The caller holds s.mu.
func (s *Store) promote(b *box, most int) int {
	now := s.now().UTC()
	due := b.schedule.take(now, most)
	if len(due) == 0 {
		return 0
	}
	xid := s.nextXID
	s.nextXID++
	for _, m := range due {
		r := *m.row
		r.xid, r.At = xid, now
		b.log.add(&r)
	}
	s.lastDone = max(s.lastDone, xid)
	s.flush()
	return len(due)
}

// Cancel implements postbag.Appender.
func (s *Store) Cancel(ctx context.Context, tx *Tx, boxName string, id postbag.ID) (bool, error) {
	return call(ctx, s, OpCancel, func() (bool, error) {
		for {
			found, other, err := s.tryCancel(tx, boxName, id)
			if err != nil {
				return false, fmt.Errorf("memstore: cancel: %w", err)
			}
			if other == nil {
				return found, nil
			}
			select {
			case <-other:
			case <-ctx.Done():
				return false, fmt.Errorf("memstore: cancel: %w", ctx.Err())
			}
		}
	})
}

// tryCancel cancels a message in tx, or returns what tells of the end of another
// transaction that is about to.
func (s *Store) tryCancel(tx *Tx, boxName string, id postbag.ID) (found bool, other <-chan struct{}, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	b, err := s.writable(tx, boxName)
	if err != nil {
		return false, nil, err
	}
	for _, m := range b.schedule.byID[id] {
		switch {
		case m.canceller == tx || (m.writer != nil && m.writer != tx) || !m.row.NotBefore.After(s.now()):
		case m.canceller != nil:
			return false, m.canceller.wait(), nil
		default:
			if err := tx.number(); err != nil {
				return false, nil, err
			}
			m.canceller = tx
			tx.cancelled = append(tx.cancelled, m)
			found = true
		}
	}
	return found, nil, nil
}

// before orders messages by their time, and those of one time as they came.
func (m *scheduled) before(o *scheduled) bool {
	if c := m.row.NotBefore.Compare(o.row.NotBefore); c != 0 {
		return c < 0
	}
	return m.number < o.number
}

func (m *scheduled) placed(at int) { m.place = at }
