package storekit

import (
	"database/sql"
	"slices"

	"github.com/postbag/postbag/store"
)

// Candidate is a parked row that may be tried, as read from an index.
type Candidate struct {
	Seq, Ready int64
	Slot       int
	// Chain is the hash behind which others wait, null if none do.
	Chain sql.NullInt64
}

// DueRows is what a store's Due asks the database. No statement of it is open
// while another runs.
type DueRows interface {
	// Candidates returns rows that are due, sorted by (Ready, Seq), that come after
	// one row, at most limit.
	Candidates(after Candidate, limit int) ([]Candidate, error)
	// Followers calls each with the rows of a chain behind a seq, by seq, within slots,
	// at most limit, until each returns false.
	Followers(c Candidate, in store.Slots, limit int, each func(seq int64, state store.ParkState) bool) error
	// Held returns the rows that are held for a topic, by seq, that come after one, at
	// most limit. Their Ready has no meaning.
	Held(topic string, after int64, limit int) ([]Candidate, error)
	// Leads says whether a row is the first of its chain within slots.
	Leads(c Candidate, in store.Slots) (bool, error)
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
	run := q.run
	if len(d.Topics) > 0 {
		run = q.held
	}
	err := run()
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

// heldTopic goes along the rows that are held for one topic.
type heldTopic struct {
	name string
	page []Candidate
	end  bool
}

// next returns the next row, false if there is none.
func (h *heldTopic) next(rows DueRows, after int64, limit int) (Candidate, bool, error) {
	var err error
	if len(h.page) == 0 && !h.end {
		h.page, err = rows.Held(h.name, after, limit)
		h.end = len(h.page) < limit
	}
	if err != nil || len(h.page) == 0 {
		return Candidate{}, false, err
	}
	return h.page[0], true, nil
}

// held gathers what is held for topics: along all of them at once, by seq.
func (q *dueQuery) held() error {
	topics := make([]heldTopic, 0, len(q.Topics))
	for _, name := range slices.Compact(slices.Sorted(slices.Values(q.Topics))) {
		topics = append(topics, heldTopic{name: name})
	}
	limit := min(q.Limit+len(q.Skip)+1, duePage)
	for after := int64(0); !q.full(); {
		var first Candidate
		var of *heldTopic
		for i := range topics {
			c, there, err := topics[i].next(q.rows, after, limit)
			if err != nil {
				return err
			}
			if there && (of == nil || c.Seq < first.Seq) {
				first, of = c, &topics[i]
			}
		}
		if of == nil {
			return nil
		}
		of.page, after = of.page[1:], first.Seq
		if err := q.tryHeld(first); err != nil {
			return err
		}
	}
	return nil
}

// tryHeld adds a row that is held, unless others of its chain come before it.
func (q *dueQuery) tryHeld(c Candidate) error {
	if q.skip[c.Seq] || !q.slots.Contains(c.Slot) {
		return nil
	}
	if c.Chain.Valid {
		if leads, err := q.rows.Leads(c, q.rangeOf(c.Slot)); err != nil || !leads {
			return err
		}
	}
	return q.add(c.Seq)
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
		if state != store.ParkBlocked || q.skip[seq] {
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
