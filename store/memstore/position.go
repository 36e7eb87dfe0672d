package memstore

import (
	"encoding/binary"
	"fmt"

	"github.com/postbag/postbag/store"
)

// position is a store.Position, decoded: everything that done sees has been
// read; and in the middle of a window, when to is not nil, also what it sees up
// to the seq after.
type position struct {
	life  uint64 // of the store in which it was read, see Crash
	done  snapshot
	to    *snapshot
	top   int64 // no row that to sees has a higher seq
	after int64
}

// format is the first byte of every position; the second has the flags.
const (
	format = 0xA1

	flagWindow = 1 // the position is in the middle of a window
	flagShared = 2 // all open transactions share one bound
)

// maxPosition is the size, in bytes, that a position must not exceed.
const maxPosition = 8 << 10

// passed says whether p has passed r, whose transaction is committed.
func (p *position) passed(r *row) bool {
	return p.done.sees(r.xid) || (p.to != nil && r.Seq <= p.after && p.to.sees(r.xid))
}

// floor returns a seq up to which p has passed everything that will ever be
// there.
func (p *position) floor() int64 {
	if p.to == nil {
		return p.done.floor()
	}
	return min(p.after, p.to.floor())
}

// encode returns p's bytes. Where they would be too many, bounds are lowered:
// that costs reading some rows again, and loses none.
func (p *position) encode() store.Position {
	b := p.appendTo(nil, 0)
	if len(b) > maxPosition {
		b = p.appendTo(b[:0], flagShared)
	}
	return store.Position(b)
}

func (p *position) appendTo(b []byte, flags byte) []byte {
	if p.to == nil {
		b = binary.AppendUvarint(append(b, format, flags), p.life)
		return p.done.appendTo(b, flags)
	}
	b = binary.AppendUvarint(append(b, format, flags|flagWindow), p.life)
	b = p.to.appendTo(b, flags)
	b = binary.AppendUvarint(b, uint64(p.top))
	b = binary.AppendUvarint(b, uint64(p.after))
	b = binary.AppendUvarint(b, p.done.xmax)
	return appendXIDs(b, p.late())
}

// late returns the transactions that were open in done and had ended in to.
// Those still open in to were open in done too, if they are below its xmax, so
// that they need not be written twice.
func (p *position) late() []openTx {
	var out []openTx
	for _, o := range p.done.open {
		if p.to.sees(o.xid) {
			out = append(out, o)
		}
	}
	return out
}

func (s *snapshot) appendTo(b []byte, flags byte) []byte {
	b = binary.AppendUvarint(b, s.xmax)
	b = binary.AppendUvarint(b, uint64(s.low))
	b = appendXIDs(b, s.open)
	if flags&flagShared != 0 {
		return binary.AppendUvarint(b, uint64(s.floor()))
	}
	last := s.low
	for _, o := range s.open {
		b = binary.AppendVarint(b, o.low-last)
		last = o.low
	}
	return b
}

// appendXIDs writes xids by their distances.
func appendXIDs(b []byte, open []openTx) []byte {
	b = binary.AppendUvarint(b, uint64(len(open)))
	last := uint64(0)
	for _, o := range open {
		b = binary.AppendUvarint(b, o.xid-last)
		last = o.xid
	}
	return b
}

// decode reads a position of this store.
func decode(p store.Position) (position, error) {
	if p == "" {
		return position{}, nil
	}
	d := decoder{rest: []byte(p)}
	out := d.position()
	if d.bad || len(d.rest) > 0 {
		return position{}, fmt.Errorf("memstore: position of %d bytes: %w", len(p), store.ErrPosition)
	}
	return out, nil
}

// decoder reads what appendTo wrote, and remembers whether it could.
type decoder struct {
	rest []byte
	bad  bool
}

func (d *decoder) position() (p position) {
	if len(d.rest) < 2 || d.rest[0] != format || d.rest[1]&^(flagWindow|flagShared) != 0 {
		d.bad = true
		return p
	}
	flags := d.rest[1]
	d.rest = d.rest[2:]
	p.life = d.uint()
	if flags&flagWindow == 0 {
		p.done = d.snapshot(flags)
		return p
	}
	to := d.snapshot(flags)
	p.to = &to
	p.top, p.after = d.seq(), d.seq()
	p.done = snapshot{xmax: d.uint(), open: d.xids()}
	d.bad = d.bad || p.done.xmax > to.xmax || p.after > p.top
	for _, o := range to.open {
		if o.xid < p.done.xmax {
			p.done.open = append(p.done.open, openTx{xid: o.xid})
		}
	}
	sortOpen(p.done.open)
	return p
}

func (d *decoder) snapshot(flags byte) snapshot {
	s := snapshot{xmax: d.uint(), low: d.seq(), open: d.xids()}
	low := s.low
	if flags&flagShared != 0 {
		low = d.seq()
	}
	for i := range s.open {
		if flags&flagShared == 0 {
			low += d.int()
		}
		s.open[i].low = low
		d.bad = d.bad || low < 0 || s.open[i].xid >= s.xmax
	}
	return s
}

func (d *decoder) xids() []openTx {
	n := d.uint()
	if n > uint64(len(d.rest)) { // each takes a byte or more
		d.bad = true
		return nil
	}
	out := make([]openTx, n)
	last := uint64(0)
	for i := range out {
		delta := d.uint()
		last += delta
		out[i].xid = last
		d.bad = d.bad || delta == 0 || last < delta
	}
	return out
}

func (d *decoder) seq() int64 {
	n := int64(d.uint())
	d.bad = d.bad || n < 0
	return n
}

func (d *decoder) uint() uint64 {
	n, size := binary.Uvarint(d.rest)
	return n * d.took(size)
}

func (d *decoder) int() int64 {
	n, size := binary.Varint(d.rest)
	return n * int64(d.took(size))
}

// took passes size bytes, and returns one if there was a number there.
func (d *decoder) took(size int) uint64 {
	if size <= 0 {
		d.bad, d.rest = true, nil
		return 0
	}
	d.rest = d.rest[size:]
	return 1
}
