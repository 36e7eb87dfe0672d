package pgstore

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"

	"github.com/postbag/postbag/store"
)

// positionFormat is the first byte of a position, and the highest that this
// version reads and writes.
const positionFormat = 1

// maxPosition is the most bytes that a position may have.
const maxPosition = 8 << 10

// What a position holds, in its second byte.
const (
	hasDone   = 1 << iota // done and high; otherwise a floor
	hasWindow             // to, top and after
	oneLow                // each snapshot's running transactions share one bound
)

// encode writes p. Too many running transactions to fit cost their bounds, never
// themselves: a lower bound has more rows read again, a missing transaction
// would lose its rows.
func (p *position) encode() store.Position {
	b := p.append(nil, 0)
	if len(b) > maxPosition {
		b = p.append(b[:0], oneLow)
	}
	return store.Position(b)
}

func (p *position) append(b []byte, flags byte) []byte {
	if p.done != nil {
		flags |= hasDone
	}
	if p.to != nil {
		flags |= hasWindow
	}
	b = append(b, positionFormat, flags)
	b = binary.BigEndian.AppendUint64(b, uint64(p.life))
	b = binary.AppendUvarint(b, uint64(p.base))
	xid, seq := uint64(0), int64(0)
	if p.done != nil {
		b = appendRunning(b, p.done, xid, seq, flags)
		xid, seq = p.done.xmax, p.done.beyond
		b = binary.AppendVarint(b, p.high-seq)
	} else {
		b = binary.AppendUvarint(b, uint64(p.floor))
		seq = p.floor
	}
	if p.to != nil {
		b = appendRunning(b, p.to, xid, seq, flags)
		b = binary.AppendVarint(b, p.top-seq)
		b = binary.AppendVarint(b, p.after-seq)
	}
	return b
}

// appendRunning writes a snapshot as differences from xid and seq. The running
// transactions come from xmax down, each as its difference from the one before:
// a byte or two. Their bounds follow in the same way, or one for all.
func appendRunning(b []byte, s *snapshot, xid uint64, seq int64, flags byte) []byte {
	b = binary.AppendUvarint(b, s.xmax-xid)
	b = binary.AppendVarint(b, s.beyond-seq)
	b = binary.AppendUvarint(b, uint64(len(s.running)))
	next := s.xmax
	for _, r := range slices.Backward(s.running) {
		b = binary.AppendUvarint(b, next-1-r.xid)
		next = r.xid
	}
	if flags&oneLow != 0 {
		return binary.AppendVarint(b, s.floor()-s.beyond)
	}
	low := s.beyond
	for _, r := range slices.Backward(s.running) {
		b = binary.AppendVarint(b, r.low-low)
		low = r.low
	}
	return b
}

// decodePosition reads a position. The empty one is the floor zero.
func decodePosition(raw store.Position) (position, error) {
	if raw == "" {
		return position{}, nil
	}
	if len(raw) > maxPosition {
		return position{}, fmt.Errorf("it has %d bytes, more than %d: %w", len(raw), maxPosition, store.ErrPosition)
	}
	if raw[0] != positionFormat {
		return position{}, fmt.Errorf("its format is %d, and this version reads %d: %w", raw[0], positionFormat, store.ErrPosition)
	}
	d := decoder{rest: []byte(raw[1:])}
	p := d.position()
	if d.bad || len(d.rest) > 0 {
		return position{}, store.ErrPosition
	}
	return p, nil
}

// decoder reads a position from left to right. Once something is wrong, bad is
// set and everything after is zero.
type decoder struct {
	rest []byte
	bad  bool
}

func (d *decoder) position() position {
	flags := d.byte()
	p := position{life: d.fixed(), base: d.number()}
	xid, seq := uint64(0), int64(0)
	if flags&hasDone != 0 {
		s := d.snapshot(xid, seq, flags)
		xid, seq = s.xmax, s.beyond
		p.done, p.high = &s, d.seq(seq)
	} else {
		p.floor = d.number()
		seq = p.floor
	}
	if flags&hasWindow != 0 {
		s := d.snapshot(xid, seq, flags)
		p.to, p.top, p.after = &s, d.seq(seq), d.seq(seq)
	}
	d.bad = d.bad || flags&^(hasDone|hasWindow|oneLow) != 0
	return p
}

func (d *decoder) byte() byte {
	if len(d.rest) == 0 {
		d.bad = true
		return 0
	}
	b := d.rest[0]
	d.rest = d.rest[1:]
	return b
}

func (d *decoder) fixed() int64 {
	if len(d.rest) < 8 {
		d.bad = true
		return 0
	}
	v := binary.BigEndian.Uint64(d.rest)
	d.rest = d.rest[8:]
	return int64(v)
}

func (d *decoder) uvarint() uint64 {
	v, n := binary.Uvarint(d.rest)
	if n <= 0 || d.bad {
		d.bad = true
		return 0
	}
	d.rest = d.rest[n:]
	return v
}

// number reads a number that is a seq by itself.
func (d *decoder) number() int64 {
	v := d.uvarint()
	d.bad = d.bad || v > math.MaxInt64
	return int64(v)
}

// seq reads a seq as its difference from another.
func (d *decoder) seq(from int64) int64 {
	v, n := binary.Varint(d.rest)
	if n <= 0 || d.bad || v > 0 && from > math.MaxInt64-v || from+v < 0 {
		d.bad = true
		return 0
	}
	d.rest = d.rest[n:]
	return from + v
}

func (d *decoder) snapshot(xid uint64, seq int64, flags byte) snapshot {
	s := snapshot{xmax: xid + d.uvarint(), beyond: d.seq(seq)}
	n := d.uvarint()
	if s.xmax < xid || s.xmax > math.MaxInt64 || n > uint64(len(d.rest)) {
		d.bad = true
	}
	if d.bad {
		return snapshot{}
	}
	s.running = make([]runner, n)
	d.xids(&s)
	d.lows(&s, flags)
	return s
}

// xids reads the ids of the running transactions.
func (d *decoder) xids(s *snapshot) {
	next := s.xmax
	for i := len(s.running) - 1; i >= 0; i-- {
		gap := d.uvarint()
		if gap >= next {
			d.bad = true
			return
		}
		next -= gap + 1
		s.running[i].xid = next
	}
}

// lows reads their bounds.
func (d *decoder) lows(s *snapshot, flags byte) {
	low := s.beyond
	if flags&oneLow != 0 {
		low = d.seq(low)
	}
	for i := len(s.running) - 1; i >= 0; i-- {
		if flags&oneLow == 0 {
			low = d.seq(low)
		}
		s.running[i].low = low
	}
}
