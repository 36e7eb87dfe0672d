package mysqlstore

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"

	"github.com/postbag/postbag/store"
)

// position says which seqs were passed: all up to high but those of open, which
// nobody has seen written nor proved dead.
//
// Seqs are given out before their transactions commit. One that is not there when
// a row above it is read may belong to a transaction that is still open, to one
// that was rolled back, or to a statement that has been given it and has not
// written it yet: nothing a reader could look at tells these apart. So it is open
// until a row appears under it, be it a message or a tombstone.
type position struct {
	// life is that of the server when the position was read; zero: it was made in
	// a transaction, and is as good as stored.
	life uint32
	high int64
	open ranges
	// mark is that of the row at high, see markOf: a log that was emptied and
	// numbered again has another row there, or none. Zero: not known.
	mark uint32
}

// The first byte of a position. After it come, as varints without padding: life,
// high, in marked positions the mark, and the spans of open from the highest down,
// each as its distance from what was above it and its length less one. The beginning
// is the empty position and no other.
const (
	plainFormat  = 1
	markedFormat = 2
)

// markOf returns the mark of a row, never zero: of its id, whose bits are random, and
// of its time, since tombstones have no id.
func markOf(id []byte, at int64) uint32 {
	x := binary.BigEndian.Uint64(id)*0x9e3779b97f4a7c15 ^ binary.BigEndian.Uint64(id[8:]) ^ uint64(at)*0xd6e8feb86659fd93
	return max(uint32(x>>32)^uint32(x), 1)
}

// Sizes of a position in bytes: the most there may be, and the most that new open
// seqs may make it. What lies between is for spans that fall apart as some of
// their seqs appear.
const (
	maxPosition  = 8 << 10
	fullPosition = 6 << 10
)

func (p *position) encode() store.Position {
	if p.high <= 0 {
		return ""
	}
	b := make([]byte, 0, 32+4*len(p.open))
	b = append(b, plainFormat)
	b = binary.AppendUvarint(b, uint64(p.life))
	b = binary.AppendUvarint(b, uint64(p.high))
	if p.mark != 0 {
		b[0] = markedFormat
		b = binary.AppendUvarint(b, uint64(p.mark))
	}
	above := p.high
	for _, s := range slices.Backward(p.open) {
		b = binary.AppendUvarint(b, uint64(above-s.hi))
		b = binary.AppendUvarint(b, uint64(s.hi-s.lo))
		above = s.lo
	}
	return store.Position(b)
}

func decodePosition(text store.Position) (position, error) {
	var p position
	if text == "" {
		return p, nil
	}
	if text[0] != plainFormat && text[0] != markedFormat {
		return p, fmt.Errorf("mysqlstore: read a position of format %d: %w", text[0], store.ErrPosition)
	}
	malformed := fmt.Errorf("mysqlstore: read a position of %d bytes: %w", len(text), store.ErrPosition)
	rest, ok := []byte(text[1:]), true
	number := func() int64 {
		n, size := binary.Uvarint(rest)
		if size <= 0 || n > math.MaxInt64 {
			ok = false
			return 0
		}
		rest = rest[size:]
		return int64(n)
	}
	life := number()
	p.life, p.high = uint32(life), number()
	if text[0] == markedFormat {
		p.mark = uint32(number())
	}
	above := p.high
	for ok && len(rest) > 0 {
		hi := above - number()
		lo := hi - number()
		if above = lo; hi < 1 || lo < 1 {
			return p, malformed
		}
		p.open = append(p.open, span{lo, hi})
	}
	slices.Reverse(p.open)
	if !ok || p.encode() != text {
		return p, malformed
	}
	return p, nil
}

// passed says whether the position has passed a seq.
func (p *position) passed(seq int64) bool { return seq <= p.high && !p.open.contains(seq) }

// floor returns the seq up to which everything was passed.
func (p *position) floor() int64 {
	if len(p.open) > 0 {
		return p.open[0].lo - 1
	}
	return p.high
}

// before says whether q has passed all that p has.
func (p *position) before(q *position) bool {
	return p.high <= q.high && q.open.upTo(p.high).within(p.open)
}

// Has implements [sqlkit.Passed].
func (p *position) Has(seq int64) bool { return p.passed(seq) }

// LowWatermark implements [sqlkit.Passed].
func (p *position) LowWatermark() int64 { return p.floor() }

// High implements [sqlkit.Passed].
func (p *position) High() int64 { return p.high }
