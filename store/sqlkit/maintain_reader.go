package sqlkit

import (
	"database/sql"
	"encoding/json"
	"fmt"
	"time"

	"github.com/postbag/postbag/store"
	"github.com/postbag/postbag/store/storekit"
)

// Passed is a position, seen as the set of seqs that were passed.
type Passed interface {
	// Has says whether a seq was passed.
	Has(seq int64) bool
	// Floor is the seq up to which all were passed, and High the highest that was.
	LowWatermark() int64
	High() int64
}

// Reader is a subscription, and where its shards are.
type Reader struct {
	store.Ref

	ID      int64
	Started int64      // its ledger begins after this seq
	At      LedgerScan // how far its ledger was compared
	// Shards are in the order of their slots. There is one or more.
	Shards []Standing
}

// LedgerScan is how far the ledger of a subscription was compared with the log. It has
// the sums of the log's rows of one span up to a seq, counted from the beginning of the
// span or of the subscription. It also has the seq up to which ledger and log agreed
// last. Rows are counted before they are deleted, so the sums stay true.
type LedgerScan struct {
	storekit.Sums

	Span, Upto, Agreed int64
}

// Standing is a shard and what it has passed.
type Standing struct {
	Slots store.Slots
	At    Passed
}

// LowWatermark returns the seq up to which all shards have passed everything.
func (r *Reader) LowWatermark() int64 { return r.lowest(Passed.LowWatermark) }

// high returns the seq up to which all shards have passed all but what is open.
func (r *Reader) high() int64 { return r.lowest(Passed.High) }

func (r *Reader) lowest(of func(Passed) int64) int64 {
	seq := of(r.Shards[0].At)
	for _, h := range r.Shards[1:] {
		seq = min(seq, of(h.At))
	}
	return seq
}

// Passed says whether the shard of a slot has passed a seq.
func (r *Reader) Passed(seq int64, slot int) bool {
	for i := range r.Shards {
		if r.Shards[i].Slots.Contains(slot) {
			return r.Shards[i].At.Has(seq)
		}
	}
	return false
}

// Readers returns the subscriptions of a box, without the one that stands for
// maintenance.
func (d *Dialect) Readers(query Querier, box string) ([]Reader, error) {
	var out []Reader
	err := query(sqlReaders, []any{box}, func(rows *sql.Rows) error {
		r := Reader{Ref: store.Ref{Box: box}}
		var h Standing
		var text []byte
		err := rows.Scan(&r.ID, &r.Subscription, &r.Started, &r.At.Span, &r.At.Upto, &r.At.Agreed,
			&r.At.Count, &r.At.Seqs, &r.At.IDs, &h.Slots.Lo, &h.Slots.Hi, &text)
		if err != nil {
			return err
		}
		if h.At, err = d.Position(store.Position(text)); err != nil {
			return fmt.Errorf("shard %s of %s: %w", h.Slots, r.Ref, err)
		}
		if n := len(out); n == 0 || out[n-1].ID != r.ID {
			out = append(out, r)
		}
		last := &out[len(out)-1]
		last.Shards = append(last.Shards, h)
		return nil
	})
	return out, err
}

// MinimumPosition returns the seq that all readers have passed. There is one or more.
func MinimumPosition(readers []Reader) int64 {
	minimum := readers[0].LowWatermark()
	for i := range readers {
		minimum = min(minimum, readers[i].LowWatermark())
	}
	return minimum
}

// Swept returns the seq after which the log of box begins, or ErrMoved while its subscriptions are set back in parts.
func Swept(query Querier, box string) (int64, error) {
	swept, err := sweptTo(query, box)
	if err == nil {
		err = NotSettingBack(box, swept)
	}
	return swept, err
}

// sweptTo returns what the box says of the beginning of its log: negative while its subscriptions are set back.
func sweptTo(query Querier, box string) (swept int64, err error) {
	_, err = Row(query, sqlSwept, []any{box}, &swept)
	return swept, err
}

// Before finds, by binary search, the seq before the first row stored at or after at.
// Where the rows' times do not quite follow their seqs, it finds one of the places that
// fit.
func (d *Dialect) Before(query Querier, box string, at time.Time) (int64, error) {
	want := at.Add(-d.ClockStep).UnixMicro()
	last, err := d.Last(query, box)
	if err != nil {
		return 0, err
	}
	text := d.In(box, SQLAtOrAfter)
	lo, hi := int64(0), last
	for lo < hi {
		middle := lo + (hi-lo)/2
		var seq int64
		var stored Micros
		found, err := Row(query, text, []any{middle + 1}, &seq, &stored)
		if err != nil {
			return 0, err
		}
		if found && int64(stored) < want {
			lo = seq
		} else {
			hi = middle
		}
	}
	return lo, nil
}

// Nth returns the seq of the n-th row after a seq, or to if there are fewer.
func (d *Dialect) Nth(query Querier, box string, after, to int64, n int) (int64, error) {
	var last int64
	var count int
	_, err := Row(query, d.In(box, SQLNth), []any{after, to, n}, &last, &count)
	if count < n {
		last = to
	}
	return last, err
}

// FilterOf reads the stored filter of a subscription: its types, and the rest.
func FilterOf(types, takes []byte) (f store.Filter, err error) {
	if err := json.Unmarshal(types, &f.Types); err != nil {
		return f, err
	}
	f.Where, err = storekit.ParseWhere(string(takes))
	return f, err
}
