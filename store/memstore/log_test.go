package memstore

import (
	"testing"
)

func TestALogFindsItsRowsAfterRandomDrops(t *testing.T) {
	t.Parallel()
	l := log{base: 1}
	there := map[int64]bool{}
	fill := func(n int) {
		for range n {
			l.add(&row{})
			there[l.last] = true
		}
	}
	look := func(what string) {
		t.Helper()
		count := int64(0)
		for seq := l.skip(0); seq <= l.last; seq = l.skip(seq + 1) {
			r := l.at(seq)
			if (r != nil) != there[seq] || (r != nil && r.Seq != seq) {
				t.Fatalf("%s: seq %d has a row: %v, not %v", what, seq, r != nil, there[seq])
			}
			if r != nil {
				count++
			}
		}
		if count != l.rows || int(count) != len(there) {
			t.Fatalf("%s: %d rows are found, %d counted, %d there", what, count, l.rows, len(there))
		}
	}
	fill(3*chunkRows + 7)
	look("filled")
	for seq := int64(5); seq < 2*chunkRows; seq += 3 {
		l.remove(seq)
		delete(there, seq)
	}
	look("thinned")
	l.last += 5*chunkRows + 11
	fill(10)
	look("with a gap")
	for _, to := range []int64{1, 2, chunkRows - 1, chunkRows, chunkRows + 1, 3 * chunkRows, 6 * chunkRows, l.last - 3} {
		dropped := l.drop(to)
		for seq := range there {
			if seq <= to {
				delete(there, seq)
				dropped--
			}
		}
		if dropped != 0 {
			t.Fatalf("dropped to %d: the count is %d off", to, dropped)
		}
		look("dropped")
	}
	l.drop(l.last + 2*chunkRows)
	clear(there)
	look("emptied")
	l.last += 2 * chunkRows
	fill(chunkRows)
	look("filled again")
	if len(l.chunks) > 3 {
		t.Errorf("%d chunks are kept for %d rows", len(l.chunks), l.rows)
	}
}
