package storekit

import (
	"database/sql"

	"github.com/postbag/postbag/store"
)

// Candidate is a parked row that may be tried, as an index of such rows has it.
type Candidate struct {
	Seq, Ready int64
	Slot       int
	// Chain is the hash behind which others wait, null if none do.
	Chain sql.NullInt64
}

// DueRows is what a store's Due asks the database. No statement of it is open
// while another runs.
type DueRows interface {
	// Candidates returns rows that are due, in the order of (Ready, Seq), from
	// behind one, at most limit.
	Candidates(after Candidate, limit int) ([]Candidate, error)
	// Followers returns the rows of a chain behind a seq, in order, within slots, at
	// most limit, until each returns false.
	Followers(c Candidate, in store.Slots, limit int, each func(seq int64, state store.ParkState) bool) error
	// Parked returns a parked message with its bytes, false if it is gone.
	Parked(seq int64) (store.Parked, bool, error)
}

// duePage is how many candidates are looked at in one statement.
const duePage = 256

// Due answers d; see [store.Due].
func Due(d store.Due, rows DueRows) ([]store.Parked, error) {
	q := dueQuery{Due: d, rows: rows, slots: SlotsOf(d.Slots), skip: make(map[int64]bool, len(d.Skip))}
	for _, seq := range d.Skip {
		q.skip[seq] = true
	}
	err := q.run()
	return q.out, err
}

// dueQuery gathers the answer of one Due. It goes along the index of what may be
// tried, some rows at a time.
type dueQuery struct {
	store.Due

	rows  DueRows
	slots SlotSet
	skip  map[int64]bool
	bytes int
	out   []store.Parked
}

func (q *dueQuery) run() error {
	after := Candidate{Ready: -1 << 62}
	for !q.full() {
		page, err := q.rows.Candidates(after, duePage)
		if err != nil {
			return err
		}
		for _, c := range page {
			if q.full() {
				return nil
			}
			if !q.skip[c.Seq] && q.slots.Contains(c.Slot) {
				if err := q.try(c); err != nil {
					return err
				}
			}
		}
		if len(page) < duePage {
			return nil
		}
		after = page[len(page)-1]
	}
	return nil
}

func (q *dueQuery) full() bool { return len(q.out) >= q.Limit || q.bytes >= q.Bytes }

// try adds a candidate and those that follow it: the rows right behind the first
// of a chain that are blocked.
func (q *dueQuery) try(c Candidate) error {
	if err := q.add(c.Seq); err != nil || !c.Chain.Valid || q.Due.Followers <= 0 {
		return err
	}
	var followers []int64
	limit := min(q.Due.Followers, q.Limit)
	err := q.rows.Followers(c, q.rangeOf(c.Slot), limit, func(seq int64, state store.ParkState) bool {
		if state != store.Blocked || q.skip[seq] {
			return false
		}
		followers = append(followers, seq)
		return true
	})
	if err != nil {
		return err
	}
	for _, seq := range followers {
		if q.full() {
			return nil
		}
		if err := q.add(seq); err != nil {
			return err
		}
	}
	return nil
}

// rangeOf returns the range of the request in which a slot lies.
func (q *dueQuery) rangeOf(slot int) store.Slots {
	for _, r := range q.Slots {
		if r.Contains(slot) {
			return r
		}
	}
	return store.AllSlots
}

func (q *dueQuery) add(seq int64) error {
	p, found, err := q.rows.Parked(seq)
	if err != nil || !found {
		return err
	}
	q.out = append(q.out, p)
	q.bytes += len(p.Payload)
	return nil
}
