package mysqlstore

import (
	"context"
	"database/sql"
	"fmt"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/store"
	"github.com/postbag/postbag/store/storekit"
)

// survey is how far the ledger of a subscription was compared with the log: the
// sums of the log's rows of one span up to a seq, counted from the beginning of
// the span or of the subscription, and the seq up to which ledger and log agreed
// last. Rows are counted before they are deleted, so that the sums stay true.
type survey struct {
	storekit.Sums

	span, upto, agreed int64
}

// Rows that one statement of a survey reads, and the most that shards of one
// subscription may be apart for its ledger to be compared between them.
const (
	surveyRows = 5000
	spreadRows = 20_000
)

// verify compares the ledger of a subscription with the log as far as needed to
// delete rows up to to, and returns up to where they agree. A whole span is
// compared when all shards have passed it, the last one at the shards' own
// positions. A difference is a fault of the report, and ends it.
func (m *maintenance) verify(ctx context.Context, r *reader, to int64) (int64, error) {
	before := r.at
	err := m.surveyTo(ctx, r, to)
	if err != nil || r.at == before {
		return r.at.agreed, err
	}
	at := r.at
	return at.agreed, m.write(ctx, func(t *transaction) error {
		_, err := t.exec(sqlSetSurvey, at.span, at.upto, at.agreed, at.Count, at.Seqs, at.IDs, r.id)
		return err
	})
}

func (m *maintenance) surveyTo(ctx context.Context, r *reader, to int64) error {
	for r.at.agreed < to && !m.late() {
		last := (r.at.span + 1) * store.TallySpan
		whole := r.floor() >= last
		reached, err := m.count(ctx, r, min(r.floor(), last))
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

// count adds the rows up to end to the survey, and says whether it got there.
func (m *maintenance) count(ctx context.Context, r *reader, end int64) (bool, error) {
	for r.at.upto < end {
		if m.late() {
			return false, nil
		}
		n, last := 0, end
		next := r.at.Sums
		err := placesIn(m.s.query(ctx), m.Box, r.at.upto, end, surveyRows, func(row *placed) error {
			n++
			last = row.seq
			next.Add(row.seq, row.id)
			return nil
		})
		if err != nil {
			return false, err
		}
		if n < surveyRows {
			last = end
		}
		r.at.Sums, r.at.upto = next, last
	}
	return true, nil
}

// compareWhole compares a span that every shard has passed, and goes on to the
// next one that has rows or is being read.
func (m *maintenance) compareWhole(ctx context.Context, r *reader) (bool, error) {
	told, err := m.told(m.s.query(ctx), r, r.at.span)
	if err != nil {
		return false, err
	}
	if told != r.at.Sums {
		m.differ(r, told, r.at.Sums)
		return false, nil
	}
	next := r.floor() + 1
	err = placesIn(m.s.query(ctx), m.Box, r.at.upto, r.floor(), 1, func(row *placed) error {
		next = row.seq
		return nil
	})
	if err != nil {
		return false, err
	}
	span := storekit.SpanOf(next)
	r.at = survey{span: span, upto: span * store.TallySpan, agreed: span * store.TallySpan}
	return true, nil
}

// compareHere compares the span in which the shards are, at their positions, all
// as of one moment. Where they are too far apart it is left for another time.
func (m *maintenance) compareHere(ctx context.Context, r *reader) (agree bool, err error) {
	err = m.s.snapshot(ctx, func(t *transaction) error {
		readers, err := readersOf(t.query, m.Box)
		if err != nil {
			return err
		}
		now := find(readers, r.id)
		if now == nil || storekit.SpanOf(now.floor()+1) != r.at.span {
			return nil
		}
		passed, complete, err := m.passed(t, now, r.at)
		if err != nil || !complete {
			return err
		}
		told, err := m.told(t.query, r, r.at.span)
		if err != nil {
			return err
		}
		if told != passed {
			m.differ(r, told, passed)
			return nil
		}
		agree = true
		r.at.agreed = r.at.upto
		return nil
	})
	return agree, err
}

// passed returns the sums of the rows of the survey's span that the shards have
// passed, each by its own position; and whether it could.
func (m *maintenance) passed(t *transaction, r *reader, at survey) (storekit.Sums, bool, error) {
	ahead := at.upto
	for _, h := range r.shards {
		ahead = max(ahead, h.at.high)
	}
	ahead = min(ahead, (at.span+1)*store.TallySpan)
	out, n := at.Sums, 0
	err := placesIn(t.query, m.Box, at.upto, ahead, spreadRows+1, func(row *placed) error {
		n++
		if !r.passed(row.seq, row.slot) {
			return nil
		}
		out.Add(row.seq, row.id)
		return nil
	})
	return out, n <= spreadRows, err
}

func find(readers []reader, id int64) *reader {
	for i := range readers {
		if readers[i].id == id {
			return &readers[i]
		}
	}
	return nil
}

// placed is a row of the log without its bytes.
type placed struct {
	seq, at int64
	id      []byte
	slot    int
}

// placesIn calls each with some rows of a range of a box's log, in order.
func placesIn(query querier, box string, after, to int64, limit int, each func(*placed) error) error {
	return query(fmt.Sprintf(sqlPlaces, tableOf(box)), []any{after, to, limit}, func(rows *sql.Rows) error {
		var row placed
		if err := rows.Scan(&row.seq, &row.id, &row.at, &row.slot); err != nil {
			return err
		}
		if len(row.id) != len(postbag.ID{}) {
			return fmt.Errorf("seq %d: the id has %d bytes: %w", row.seq, len(row.id), errDamaged)
		}
		return each(&row)
	})
}

// told returns what the ledger has of a span, whatever became of the messages.
func (m *maintenance) told(query querier, r *reader, span int64) (storekit.Sums, error) {
	var out storekit.Sums
	err := query(sqlLedger, []any{r.id, span}, func(rows *sql.Rows) error {
		var count, seqHi, seqLo, idHi, idLo int64
		err := rows.Scan(&count, &seqHi, &seqLo, &idHi, &idLo)
		out.Count += count
		out.Seqs += seqHi<<32 + seqLo
		out.IDs += idHi<<32 + idLo
		return err
	})
	return out, err
}

func (m *maintenance) differ(r *reader, told, passed storekit.Sums) {
	m.faultf("the ledger of %s does not agree with the log from seq %d on: %d messages passed, %d accounted for "+
		"(or other ones); nothing of that is deleted: look who else changes its tables",
		r.Ref, r.at.span*store.TallySpan+1, passed.Count, told.Count)
}
