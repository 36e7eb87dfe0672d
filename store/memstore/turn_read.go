package memstore

import (
	"fmt"
	"maps"
	"slices"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/store"
	"github.com/postbag/postbag/store/storekit"
)

// page is one read, at work: rows that the position at has not passed and its
// window's snapshot sees, in seq order.
type page struct {
	at   position
	rows []*row
	// goal is where the page leads when it has looked at everything.
	goal store.Position
	// more: there is another window behind goal.
	more bool
}

// read begins to answer q: it collects the rows, which never change, so that the
// rest can be done without the lock. The caller holds s.mu.
func (s *Store) read(sub *subscription, q store.Request) (*page, store.Batch, error) {
	from, err := s.position(sub, q.From)
	if err != nil {
		return nil, store.Batch{}, err
	}
	until, err := s.position(sub, q.Until)
	switch {
	case err != nil:
		return nil, store.Batch{}, err
	case until.to != nil:
		return nil, store.Batch{}, fmt.Errorf("until is in the middle of a window; use the Next of a Whole batch: %w", store.ErrPosition)
	case q.Limit < 0 || q.Limit > 0 && q.Bytes <= 0:
		return nil, store.Batch{}, fmt.Errorf("limit %d and bytes %d; use positive ones, or limit zero", q.Limit, q.Bytes)
	case q.Limit == 0 || q.Until != "" && q.Until == q.From:
		return &page{}, store.Batch{Next: q.From, Whole: from.to == nil}, nil
	}
	pg := &page{at: from}
	pg.at.life = s.life
	if q.Until == "" {
		pg.more = from.to != nil && sub.box.log.last > from.top // another window, at once
		pg.open(s.snapshot(sub.box), sub.box.log.last)
	} else if !pg.openUntil(until, q.Until, sub.box.log.last) {
		return &page{}, store.Batch{Next: q.From, Ahead: true}, nil
	}
	full := pg.collect(sub, q)
	return pg, pg.batch(full), nil
}

// open begins a window that ends at the snapshot to, unless one is open.
func (pg *page) open(to snapshot, last int64) {
	p := &pg.at
	if p.to == nil {
		p.to, p.top = &to, last
		p.after = min(p.done.news(&to), last)
	}
	pg.goal = (&position{life: p.life, done: *p.to}).encode()
}

// openUntil is open for a straggler, and says whether it can go towards until.
// It cannot where it has passed something that until has not, or is in a window
// that leads beyond until.
func (pg *page) openUntil(until position, raw store.Position, last int64) bool {
	p := &pg.at
	if !p.done.within(&until.done) || (p.to != nil && !p.to.within(&until.done)) {
		return false
	}
	pg.open(until.done, last)
	if p.to.same(&until.done) {
		pg.goal = raw
	} else {
		pg.more = true
	}
	return true
}

// collect fills pg.rows, and says whether a limit ended it.
func (pg *page) collect(sub *subscription, q store.Request) (full bool) {
	p, l := &pg.at, &sub.box.log
	work, bytes := 8*q.Limit+1024, q.Bytes
	seq := l.skip(p.after + 1)
	for ; seq <= p.top; seq = l.skip(seq + 1) {
		if work == 0 || len(pg.rows) == q.Limit || bytes <= 0 {
			return true
		}
		work--
		p.after = seq
		r := l.at(seq)
		if r == nil || !inSlots(q.Slots, r.Slot) || !p.to.sees(r.xid) || p.done.sees(r.xid) {
			continue
		}
		pg.rows = append(pg.rows, r)
		if sub.takes(r) {
			bytes -= len(r.Payload)
		}
	}
	return false
}

// batch turns the page into its answer, but for the records.
func (pg *page) batch(full bool) store.Batch {
	b := store.Batch{Next: pg.goal, More: pg.more, Whole: true}
	if full {
		b.Next, b.More, b.Whole = pg.at.encode(), true, false
	}
	if len(pg.rows) > 0 {
		b.At = pg.after
	}
	return b
}

// after returns the position just after the i-th row.
func (pg *page) after(i int) store.Position {
	p := pg.at
	p.after = pg.rows[i].Seq
	return p.encode()
}

// records copies what the page found, as sub's filter lets it.
func (pg *page) records(f *storekit.Filter) []store.Record {
	out := make([]store.Record, len(pg.rows))
	for i, r := range pg.rows {
		out[i] = r.record(f)
	}
	return out
}

// record returns r as its readers get it, if f lets it; nil lets all.
func (r *row) record(f *storekit.Filter) store.Record {
	out := r.Record
	out.Err = store.HeaderFault(r.Headers)
	if f != nil && (storekit.Erased(&out) || !f.Take(&out)) {
		out.Filtered, out.Err = true, nil
		out.Message = postbag.Message{ID: r.ID}
		return out
	}
	out.Payload = slices.Clip(r.Payload)
	out.Headers = maps.Clone(r.Headers)
	return out
}

// takes says whether sub's filter takes r.
func (sub *subscription) takes(r *row) bool {
	judged := r.Record
	judged.Err = store.HeaderFault(r.Headers)
	return sub.filter.Take(&judged)
}

func inSlots(ranges []store.Slots, slot int) bool {
	for _, s := range ranges {
		if s.Contains(slot) {
			return true
		}
	}
	return false
}
