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

	// late are the open seqs that were seen, in order; until the i-th record,
	// lateUpTo[i] of them.
	late     []int64
	lateUpTo []int
	// high is the seq of the last row of the page, holes what is missing up to it;
	// until the i-th record, holesUpTo[i] spans of them. Both begin with the page.
	high      int64
	mark      uint32 // of that row; of the i-th record, marks[i]
	marks     []uint32
	holes     ranges
	holesUpTo []int
	size      int // of the position in bytes, about
	stuck     bool
}

func newBuilder(w *reading) *builder {
	rows := len(w.page.records) + len(w.late.records)
	b := &builder{
		w: w, high: w.floorSeq(), size: len(w.request.From),
		lateUpTo: make([]int, 0, rows), holesUpTo: make([]int, 0, rows), marks: make([]uint32, 0, rows),
	}
	if b.high == w.from.high {
		b.mark = w.from.mark
	}
	return b
}

// takeLate adds the rows of open seqs.
func (b *builder) takeLate(rows taken) {
	for _, row := range rows.rows {
		var record *store.Record
		if row.wanted {
			record, rows.records = &rows.records[0], rows.records[1:]
		}
		if b.full || row.seq <= b.w.swept {
			continue
		}
		b.late = append(b.late, row.seq)
		b.size += 4 // a span may have fallen apart
		b.add(record, row.size)
		if b.size > maxPosition-64 && len(b.w.request.From) < maxPosition-64 {
			b.full = true
		}
	}
}

// takePage adds the rows of the page. What retention has kept below the beginning
// of the log is not read again; where it lies is known only with the page.
func (b *builder) takePage(rows taken) {
	if len(b.records) == 0 && len(rows.records) > 0 { // the usual page: nothing is copied
		b.records = rows.records[:0]
	}
	next := 0
	for _, row := range rows.rows {
		var record *store.Record
		if row.wanted {
			record = &rows.records[next]
			next++
		}
		if row.seq <= b.w.swept {
			continue
		}
		if b.full || !b.advance(row.seq) {
			return
		}
		b.mark = row.mark
		b.add(record, row.size)
	}
}

// advance passes to the next row of the page, unless the position would hold too
// much then.
func (b *builder) advance(seq int64) bool {
	if missing := b.missing(seq); len(missing) > 0 {
		size := b.size
		for _, s := range missing {
			size += uvarintLen(s.lo-b.high) + uvarintLen(s.hi-s.lo)
		}
		if size > fullPosition {
			b.full, b.stuck = true, true
			return false
		}
		b.size, b.holes = size, append(b.holes, missing...)
	}
	b.high = seq
	return true
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

// add adds a record of so many bytes, if there is one.
func (b *builder) add(record *store.Record, size int) {
	if record == nil {
		return
	}
	b.records = append(b.records, *record) // mostly onto itself
	b.lateUpTo = append(b.lateUpTo, len(b.late))
	b.holesUpTo = append(b.holesUpTo, len(b.holes))
	b.marks = append(b.marks, b.mark)
	b.bytes += size
	b.full = b.full || len(b.records) >= b.w.request.Limit || b.bytes >= b.w.request.Bytes
}

// at returns a position: some late seqs and holes are behind it.
func (b *builder) at(high int64, mark uint32, late, holes int) store.Position {
	p := position{life: b.w.seen.tag(), high: high, mark: mark}
	open := b.w.from.open.from(b.w.swept + 1)
	p.open = open.minus(rangesOf(slices.Clone(b.late[:late]))).plus(b.holes[:holes])
	return p.encode()
}

// batch makes the answer.
func (b *builder) batch() store.Batch {
	w := b.w
	out := store.Batch{Records: slices.Clip(b.records), Next: w.request.From, Whole: true}
	ended := !b.full && !w.pageCut && !w.lateCut
	out.More = !ended && !b.stuck
	switch {
	case w.towards && ended:
		out.Next, out.More = w.request.Until, false
	case b.high != w.from.high || len(b.late) > 0:
		out.Next = b.at(b.high, b.mark, len(b.late), len(b.holes))
		if w.towards && sameBut(out.Next, w.until) {
			out.Next, out.More = w.request.Until, false
		}
	}
	if len(b.records) > 0 {
		// What At needs, and not the reading with all its rows.
		small := &builder{w: &reading{from: w.from, swept: w.swept, seen: w.seen}, late: b.late, holes: b.holes}
		lateUpTo, holesUpTo, marks, high := b.lateUpTo, b.holesUpTo, b.marks, w.floorSeq()
		seqs := make([]int64, len(b.records))
		for i := range b.records {
			seqs[i] = b.records[i].Seq
		}
		out.At = func(i int) store.Position {
			return small.at(max(high, seqs[i]), marks[i], lateUpTo[i], holesUpTo[i])
		}
	}
	return out
}

// sameBut says whether two positions differ in nothing but their lives.
func sameBut(a store.Position, b position) bool {
	p, err := decodePosition(a)
	return err == nil && p.high == b.high && slices.Equal(p.open, b.open)
}
