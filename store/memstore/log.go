package memstore

import "github.com/postbag/postbag/store"

// row is a message in a log. It never changes; one that is erased is replaced.
type row struct {
	store.Record
	xid uint64
}

// log holds the rows of a box by seq, in chunks, so that a seq is found without
// a search and dropping old rows frees their memory. Seqs of rows that were
// rolled back or dropped hold nothing.
type log struct {
	chunks []*chunk
	gone   int64 // chunks dropped before chunks[0]
	base   int64 // the lowest seq that is not dropped
	last   int64 // the highest seq given out
	rows   int64 // how many there are
}

const chunkRows = 1 << 12

type chunk [chunkRows]*row

// place returns where seq lies: an index into chunks, which may be out of
// bounds, and one into the chunk.
func (l *log) place(seq int64) (int64, int64) {
	return (seq-1)/chunkRows - l.gone, (seq - 1) % chunkRows
}

// at returns the row of seq, or nil.
func (l *log) at(seq int64) *row {
	c, i := l.place(seq)
	if seq < l.base || c >= int64(len(l.chunks)) || l.chunks[c] == nil {
		return nil
	}
	return l.chunks[c][i]
}

// skip returns the first seq from seq on that can have a row: it jumps over
// chunks that were never written.
func (l *log) skip(seq int64) int64 {
	seq = max(seq, l.base)
	for {
		c, i := l.place(seq)
		if c >= int64(len(l.chunks)) || l.chunks[c] != nil {
			return seq
		}
		seq += chunkRows - i
	}
}

// add gives r the next seq.
func (l *log) add(r *row) {
	l.last++
	r.Seq = l.last
	c, i := l.place(r.Seq)
	for int64(len(l.chunks)) <= c {
		l.chunks = append(l.chunks, nil)
	}
	if l.chunks[c] == nil {
		l.chunks[c] = new(chunk)
	}
	l.chunks[c][i] = r
	l.rows++
}

// erase leaves of a row what listings and the ledger need.
func (l *log) erase(r *row) {
	e := &row{Record: r.Record, xid: r.xid}
	e.Key, e.ShardKey, e.Payload, e.Hash = "", "", nil, 0
	e.Headers = map[string]string{store.ErasedHeader: "true"}
	c, i := l.place(r.Seq)
	l.chunks[c][i] = e
}

// remove forgets the row of seq.
func (l *log) remove(seq int64) {
	if l.at(seq) == nil {
		return
	}
	c, i := l.place(seq)
	l.chunks[c][i] = nil
	l.rows--
}

// drop forgets all rows up to seq, and returns how many there were.
func (l *log) drop(seq int64) int64 {
	before := l.rows
	for s := l.skip(l.base); s <= seq; s = l.skip(s + 1) {
		l.remove(s)
	}
	l.base = max(l.base, seq+1)
	c, _ := l.place(l.base)
	c = min(max(c, 0), int64(len(l.chunks)))
	l.chunks = append([]*chunk(nil), l.chunks[c:]...)
	l.gone += c
	return before - l.rows
}
