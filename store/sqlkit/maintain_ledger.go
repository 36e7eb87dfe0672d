package sqlkit

import (
	"context"
	"database/sql"

	"github.com/postbag/postbag/store"
	"github.com/postbag/postbag/store/storekit"
)

// Rows that one statement of a scan reads, and the most that shards of one
// subscription may be apart for its ledger to be compared between them.
const (
	scanRows   = 5000
	spreadRows = 20_000
)

// Verify compares the ledger of a subscription with the log, as far as needed to delete
// rows up to to. It returns the seq up to which they agree. It compares a whole span when
// all shards have passed it, and the last span at the shards' own positions. It reports a
// difference as a fault, and stops there.
func (m *Maintenance) Verify(ctx context.Context, r *Reader, to int64) (int64, error) {
	before := r.At
	err := m.scanTo(ctx, r, to)
	if err == nil {
		err = m.noteKept(ctx)
	}
	if err != nil || r.At == before {
		return r.At.Agreed, err
	}
	at := r.At
	return at.Agreed, m.Write(ctx, func(t *Tx) error {
		_, err := t.Exec(sqlSetLedgerScan, at.Span, at.Upto, at.Agreed, at.Count, at.Seqs, at.IDs, r.ID)
		return err
	})
}

func (m *Maintenance) scanTo(ctx context.Context, r *Reader, to int64) error {
	for r.At.Agreed < to && !m.Late() {
		last := (r.At.Span + 1) * store.TallySpan
		whole := r.LowWatermark() >= last
		reached, err := m.count(ctx, r, min(r.LowWatermark(), last))
		if err != nil || !reached {
			return err
		}
		compare := m.compareHere
		if whole {
			compare = m.compareWhole
		}
		if agree, err := compare(ctx, r); err != nil || !agree {
			return err
		}
	}
	return nil
}

// count adds the rows up to end to the scan, and says whether it got there.
func (m *Maintenance) count(ctx context.Context, r *Reader, end int64) (bool, error) {
	for r.At.Upto < end {
		if m.Late() {
			return false, nil
		}
		n, last := 0, end
		next := r.At.Sums
		err := m.base.dialect.Places(m.Query(ctx), m.Box, r.At.Upto, end, scanRows, func(row *Placed) error {
			n++
			last = row.Seq
			next.Add(row.Seq, row.ID)
			return nil
		})
		if err != nil {
			return false, err
		}
		if n < scanRows {
			last = end
		}
		r.At.Sums, r.At.Upto = next, last
	}
	return true, nil
}

// compareWhole compares a span that every shard has passed, and goes on to the
// next one that has rows or is being read.
func (m *Maintenance) compareWhole(ctx context.Context, r *Reader) (bool, error) {
	told, err := m.base.dialect.told(m.Query(ctx), r.ID, r.At.Span)
	if err != nil {
		return false, err
	}
	if told != r.At.Sums {
		now, err := m.base.dialect.Readers(m.Query(ctx), m.Box)
		if err == nil && find(now, r.ID) != nil { // else it was removed meanwhile, with its ledger
			m.differ(r, told, r.At.Sums)
		}
		return false, err
	}
	next, err := m.base.dialect.nextSpan(m.Query(ctx), r, r.At.Upto)
	if err != nil {
		return false, err
	}
	r.At = scanOf(next)
	return true, nil
}

// compareHere compares the span in which the shards are, at their positions, all
// as of one moment. Where they are too far apart it is left for another time.
func (m *Maintenance) compareHere(ctx context.Context, r *Reader) (agree bool, err error) {
	err = m.base.hooks.Snapshot(ctx, func(t *Tx) error {
		readers, err := t.Readers(t.Query, m.Box)
		if err != nil {
			return err
		}
		now := find(readers, r.ID)
		if now == nil || storekit.SpanOf(now.LowWatermark()+1) != r.At.Span {
			return nil
		}
		passed, complete, err := m.passed(t, now, r.At)
		if err != nil || !complete {
			return err
		}
		told, err := t.told(t.Query, r.ID, r.At.Span)
		if err != nil {
			return err
		}
		if told != passed {
			m.differ(r, told, passed)
			return nil
		}
		agree = true
		r.At.Agreed = r.At.Upto
		return nil
	})
	return agree, err
}

// passed returns the sums of the rows of the scan's span that the shards have
// passed, each by its own position; and whether it could.
func (m *Maintenance) passed(t *Tx, r *Reader, at LedgerScan) (storekit.Sums, bool, error) {
	ahead := at.Upto
	for _, h := range r.Shards {
		ahead = max(ahead, h.At.High())
	}
	ahead = min(ahead, (at.Span+1)*store.TallySpan)
	out, n := at.Sums, 0
	err := t.Places(t.Query, m.Box, at.Upto, ahead, spreadRows+1, func(row *Placed) error {
		n++
		if !r.Passed(row.Seq, row.Slot) {
			return nil
		}
		out.Add(row.Seq, row.ID)
		return nil
	})
	return out, n <= spreadRows, err
}

func find(readers []Reader, id int64) *Reader {
	for i := range readers {
		if readers[i].ID == id {
			return &readers[i]
		}
	}
	return nil
}

// nextSpan returns the span behind a seq that was counted in full: of the next row, or
// the one that is being read.
func (d *Dialect) nextSpan(query Querier, r *Reader, after int64) (int64, error) {
	next := r.LowWatermark() + 1
	err := d.Places(query, r.Box, after, r.LowWatermark(), 1, func(row *Placed) error {
		next = row.Seq
		return nil
	})
	return storekit.SpanOf(next), err
}

// scanOf is the scan of a span of which nothing was counted yet.
func scanOf(span int64) LedgerScan {
	return LedgerScan{Span: span, Upto: span * store.TallySpan, Agreed: span * store.TallySpan}
}

// told returns what the ledger has of a span, whatever became of the messages.
func (d *Dialect) told(query Querier, id, span int64) (storekit.Sums, error) {
	return ledgerSums(query, sqlLedger, id, span)
}

// accepted returns what an operator has accepted of a span.
func (d *Dialect) accepted(query Querier, id, span int64) (storekit.Sums, error) {
	return ledgerSums(query, sqlAccepted, id, span)
}

func ledgerSums(query Querier, text string, id, span int64) (storekit.Sums, error) {
	var out storekit.Sums
	err := query(text, []any{id, span}, func(rows *sql.Rows) error {
		var count, seqHi, seqLo, idHi, idLo int64
		err := rows.Scan(&count, &seqHi, &seqLo, &idHi, &idLo)
		out.Count += count
		out.Seqs += seqHi<<32 + seqLo
		out.IDs += idHi<<32 + idLo
		return err
	})
	return out, err
}

func (m *Maintenance) differ(r *Reader, told, passed storekit.Sums) {
	m.Faultf("the ledger of %s does not agree with the log from seq %d on: %d messages passed, %d accounted for "+
		"(or other ones); nothing of that is deleted: look who else changes its tables, and accept the difference if it is meant",
		r.Ref, r.At.Span*store.TallySpan+1, passed.Count, told.Count)
	m.kept = append(m.kept, kept{storekit.Kept(r.Ref, r.At.Span*store.TallySpan+1), storekit.KeptWhy(passed.Count, told.Count)})
}

// kept is what retention keeps since the ledger does not agree, and why.
type kept struct{ what, why string }

// noteKept has people notice what was kept, unless they are told so already.
func (m *Maintenance) noteKept(ctx context.Context) error {
	if len(m.kept) == 0 {
		return nil
	}
	err := m.Write(ctx, func(t *Tx) error {
		notices, err := t.notices()
		for _, k := range m.kept {
			if err == nil && !storekit.Told(notices[m.Box], k.what) {
				_, err = t.Exec(SQLAudit, t.Now, storekit.Itself, k.why, k.what)
			}
		}
		return err
	})
	m.kept = nil
	return err
}
