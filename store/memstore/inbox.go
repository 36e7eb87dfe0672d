package memstore

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/postbag/postbag/store"
)

// markName says which mark it is.
type markName struct {
	consumer string
	id       store.MessageID
}

// markRow is a mark that is stored, or will be when its writer commits.
type markRow struct {
	writer *Tx // nil: committed
	sum    store.Sum
	at     time.Time
}

// Mark implements store.Inbox. After an error nothing of the call is marked, and tx can
// go on, although the contract does not ask for it.
func (s *Store) Mark(ctx context.Context, tx *Tx, consumer string, marks []store.Mark) ([]bool, error) {
	return call(ctx, s, OpMark, func() ([]bool, error) {
		if err := checkMarks(consumer, marks); err != nil {
			return nil, fmt.Errorf("memstore: mark: %w", err)
		}
		c := marking{s: s, tx: tx, consumer: consumer, at: s.now()}
		fresh, err := c.all(ctx, marks)
		if err != nil {
			return nil, fmt.Errorf("memstore: mark: %w", err)
		}
		return fresh, nil
	})
}

// checkMarks refuses what no database takes.
func checkMarks(consumer string, marks []store.Mark) error {
	if consumer == "" || len(consumer) > store.MaxConsumer {
		return fmt.Errorf("the consumer's name has %d bytes; give it 1 to %d", len(consumer), store.MaxConsumer)
	}
	if n := len(marks); n == 0 || n > store.MaxMarks {
		return fmt.Errorf("there are %d marks; give 1 to %d in a call", n, store.MaxMarks)
	}
	for i := range marks {
		if n := len(marks[i].ID); n == 0 || n > store.MaxMessageID {
			return fmt.Errorf("the id of mark %d has %d bytes; give it 1 to %d", i, n, store.MaxMessageID)
		}
	}
	return nil
}

// marking is one call of Mark.
type marking struct {
	s        *Store
	tx       *Tx
	consumer string
	at       time.Time
}

// all marks in the order of the ids, so that two calls never wait for each other.
func (c *marking) all(ctx context.Context, marks []store.Mark) ([]bool, error) {
	byID := make([]int, len(marks))
	for i := range byID {
		byID[i] = i
	}
	slices.SortStableFunc(byID, func(a, b int) int { return cmp.Compare(marks[a].ID, marks[b].ID) })
	had, err := c.begin()
	if err != nil {
		return nil, err
	}
	fresh := make([]bool, len(marks))
	for _, i := range byID {
		if fresh[i], err = c.one(ctx, marks[i]); err != nil {
			c.undo(had)
			return nil, err
		}
	}
	return fresh, nil
}

// begin numbers the transaction, and says how many marks it has.
func (c *marking) begin() (had int, err error) {
	if c.tx == nil || c.tx.s != c.s {
		return 0, errForeignTx
	}
	c.s.mu.Lock()
	defer c.s.mu.Unlock()
	return len(c.tx.marks), c.tx.number()
}

// undo takes back what this call marked, if its transaction has not ended meanwhile.
func (c *marking) undo(had int) {
	c.s.mu.Lock()
	defer c.s.mu.Unlock()
	if !c.tx.over {
		c.tx.unmark(had)
	}
}

// one makes a mark, and waits where another transaction has made it and is open.
func (c *marking) one(ctx context.Context, m store.Mark) (bool, error) {
	for {
		fresh, held, err := c.try(m)
		if err != nil || held == nil {
			return fresh, err
		}
		select {
		case <-held:
		case <-ctx.Done():
			c.stopWaiting()
			return false, ctx.Err()
		}
	}
}

func (c *marking) stopWaiting() {
	c.s.mu.Lock()
	defer c.s.mu.Unlock()
	c.tx.waitsFor = nil
}

// try makes a mark, or returns what tells of the end of the transaction that holds it.
func (c *marking) try(m store.Mark) (fresh bool, held <-chan struct{}, err error) {
	s := c.s
	s.mu.Lock()
	defer s.mu.Unlock()
	c.tx.waitsFor = nil
	if c.tx.over || c.tx.life != s.life {
		return false, nil, errTxEnded
	}
	name := markName{c.consumer, m.ID}
	row := s.marks[name]
	switch {
	case row == nil:
		s.marks[name] = &markRow{writer: c.tx, sum: m.Sum, at: c.at}
		c.tx.marks = append(c.tx.marks, name)
		return true, nil, nil
	case row.writer != nil && row.writer != c.tx:
		if row.writer.waitsOn(c.tx) {
			return false, nil, fmt.Errorf("two transactions wait for each other, at id %q of consumer %q: %w", m.ID, c.consumer, store.ErrAgain)
		}
		c.tx.waitsFor = row.writer
		return false, row.writer.wait(), nil
	case row.sum != m.Sum && row.sum != store.Sum{} && m.Sum != store.Sum{}:
		return false, nil, fmt.Errorf("id %q of consumer %q: %w", m.ID, c.consumer, store.ErrOtherBytes)
	default:
		return false, nil, nil
	}
}

// waitsOn says whether tx waits for other, or for one that does. The caller holds s.mu.
func (tx *Tx) waitsOn(other *Tx) bool {
	for ; tx != nil; tx = tx.waitsFor {
		if tx == other {
			return true
		}
	}
	return false
}

// unmark takes back the marks of tx after its first n. The caller holds s.mu.
func (tx *Tx) unmark(n int) {
	for _, name := range tx.marks[n:] {
		delete(tx.s.marks, name)
	}
	tx.marks = tx.marks[:n]
}
