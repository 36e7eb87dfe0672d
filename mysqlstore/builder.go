package mysqlstore

import (
	"math/bits"
	"slices"

	"github.com/postbag/postbag/store"
)

// builder makes a batch of rows, late ones first, and remembers what the position
// after each record is.
type builder struct {
	w       *reading
	records []store.Record
	bytes   int
	full    bool
	err     error

	// late are the open seqs that were seen, in order; until the i-th record,
	// lateUpTo[i] of them.
	late     []int64
	lateUpTo []int
	// high is the seq of the last row of the page, holes what is missing up to it;
	// until the i-th record, holesUpTo[i] spans of them. Both begin with the page.
	high      int64
	holes     ranges
	holesUpTo []int
	size      int // of the position in bytes, about
	stuck     bool
}

func newBuilder(w *reading) *builder {
	return &builder{w: w, high: w.floorSeq(), size: len(w.request.From)}
}

// takeLate adds the row of an open seq, and says whether to go on.
func (b *builder) takeLate(row *logRow) bool {
	b.late = append(b.late, row.seq)
	b.size += 4 // a span may have fallen apart
	b.add(row)
	if b.size > maxPosition-64 && len(b.w.request.From) < maxPosition-64 {
		b.full = true
	}
	return !b.full && b.err == nil
}

// takePage adds a row of the page.
func (b *builder) takePage(row *logRow) {
	if missing := b.missing(row.seq); len(missing) > 0 {
		size := b.size
		for _, s := range missing {
			size += uvarintLen(s.lo-b.high) + uvarintLen(s.hi-s.lo)
		}
		if size > fullPosition {
			b.full, b.stuck = true, true
			return
		}
		b.size, b.holes = size, append(b.holes, missing...)
	}
	b.high = row.seq
	b.add(row)
}

// missing returns the seqs between the last row and the next that may still
// appear. Where the server counts in steps, those between two of its own are
// nobody's.
func (b *builder) missing(next int64) ranges {
	gap := next - b.high
	if gap <= 1 {
		return nil
	}
	step := b.w.seen.step
	if step <= 1 || b.high == 0 || gap%step != 0 {
		return ranges{{b.high + 1, next - 1}}
	}
	var out ranges
	for seq := b.high + step; seq < next; seq += step {
		out = append(out, span{seq, seq})
	}
	return out
}

// uvarintLen is how many bytes a number takes in a position.
func uvarintLen(n int64) int { return max(1, (bits.Len64(uint64(n))+6)/7) }

// add adds a row to the records if it is wanted.
func (b *builder) add(row *logRow) {
	if !row.wanted() {
		return
	}
	record, err := row.record()
	if err != nil {
		b.err = err
		return
	}
	if b.records == nil {
		b.records = make([]store.Record, 0, min(b.w.request.Limit, len(b.w.page)+len(b.w.late)))
	}
	b.records = append(b.records, record)
	b.lateUpTo = append(b.lateUpTo, len(b.late))
	b.holesUpTo = append(b.holesUpTo, len(b.holes))
	b.bytes += len(record.Payload)
	b.full = b.full || len(b.records) >= b.w.request.Limit || b.bytes >= b.w.request.Bytes
}

// at returns a position: some late seqs and holes are behind it.
func (b *builder) at(high int64, late, holes int) store.Position {
	p := position{life: b.w.seen.tag(), high: high}
	open := b.w.from.open.from(b.w.swept + 1)
	p.open = open.minus(rangesOf(slices.Clone(b.late[:late]))).plus(b.holes[:holes])
	return p.encode()
}

// batch makes the answer.
func (b *builder) batch() store.Batch {
	w := b.w
	out := store.Batch{Records: b.records, Next: w.request.From, Whole: true}
	ended := !b.full && !w.pageCut && !w.lateCut
	out.More = !ended && !b.stuck
	switch {
	case w.towards && ended:
		out.Next, out.More = w.request.Until, false
	case b.high != w.from.high || len(b.late) > 0:
		out.Next = b.at(b.high, len(b.late), len(b.holes))
		if w.towards && sameBut(out.Next, w.until) {
			out.Next, out.More = w.request.Until, false
		}
	}
	if len(b.records) > 0 {
		// What At needs, and not the reading with all its rows.
		small := &builder{w: &reading{from: w.from, swept: w.swept, seen: w.seen}, late: b.late, holes: b.holes}
		lateUpTo, holesUpTo, high := b.lateUpTo, b.holesUpTo, w.floorSeq()
		seqs := make([]int64, len(b.records))
		for i := range b.records {
			seqs[i] = b.records[i].Seq
		}
		out.At = func(i int) store.Position {
			return small.at(max(high, seqs[i]), lateUpTo[i], holesUpTo[i])
		}
	}
	return out
}

// sameBut says whether two positions differ in nothing but their lives.
func sameBut(a store.Position, b position) bool {
	p, err := decodePosition(a)
	return err == nil && p.high == b.high && slices.Equal(p.open, b.open)
}
