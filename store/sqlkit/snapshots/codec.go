package snapshots

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"

	"github.com/postbag/postbag/store"
)

// Format is the first byte of a position, and the highest that this
// version reads and writes.
const Format = 1

// maxPosition is the most bytes that a position may have.
const maxPosition = 8 << 10

// What a position holds, in its second byte.
const (
	hasDone   = 1 << iota // done and high; otherwise a floor
	hasWindow             // to, top and after
	oneLow                // each snapshot's running transactions share one bound
)

// Encode writes p. If too many transactions run to fit, it leaves out their bounds, and
// never the transactions: with a lower bound more rows are read again, without the
// transaction its rows would be lost.
func (p *Position) Encode() store.Position {
	var room [128]byte // most are far shorter
	b := p.append(room[:0], 0)
	if len(b) > maxPosition {
		b = p.append(room[:0], oneLow)
	}
	return store.Position(b)
}

func (p *Position) append(b []byte, flags byte) []byte {
	if p.Done != nil {
		flags |= hasDone
	}
	if p.To != nil {
		flags |= hasWindow
	}
	b = append(b, Format, flags)
	b = binary.BigEndian.AppendUint64(b, uint64(p.Life))
	b = binary.AppendUvarint(b, uint64(p.Base))
	xid, seq := uint64(0), int64(0)
	if p.Done != nil {
		b = appendRunning(b, p.Done, xid, seq, flags)
		xid, seq = p.Done.XMax, p.Done.Beyond
		b = binary.AppendVarint(b, p.High-seq)
	} else {
		b = binary.AppendUvarint(b, uint64(p.Floor))
		seq = p.Floor
	}
	if p.To != nil {
		b = appendRunning(b, p.To, xid, seq, flags)
		b = binary.AppendVarint(b, p.Top-seq)
		b = binary.AppendVarint(b, p.After-seq)
	}
	return b
}

// appendRunning writes a snapshot as differences from xid and seq. The running
// transactions come from xmax down, each as its difference from the one before:
// a byte or two. Their bounds follow in the same way, or one for all.
func appendRunning(b []byte, s *Snapshot, xid uint64, seq int64, flags byte) []byte {
	b = binary.AppendUvarint(b, s.XMax-xid)
	b = binary.AppendVarint(b, s.Beyond-seq)
	b = binary.AppendUvarint(b, uint64(len(s.Running)))
	next := s.XMax
	for _, r := range slices.Backward(s.Running) {
		b = binary.AppendUvarint(b, next-1-r.XID)
		next = r.XID
	}
	if flags&oneLow != 0 {
		return binary.AppendVarint(b, s.Lowest()-s.Beyond)
	}
	low := s.Beyond
	for _, r := range slices.Backward(s.Running) {
		b = binary.AppendVarint(b, r.Low-low)
		low = r.Low
	}
	return b
}

// Decode reads a position. The empty one is the floor zero.
func Decode(raw store.Position) (Position, error) {
	if raw == "" {
		return Position{}, nil
	}
	if len(raw) > maxPosition {
		return Position{}, fmt.Errorf("it has %d bytes, more than %d: %w", len(raw), maxPosition, store.ErrPosition)
	}
	if raw[0] != Format {
		return Position{}, fmt.Errorf("its format is %d, and this version reads %d: %w", raw[0], Format, store.ErrPosition)
	}
	d := decoder{rest: []byte(raw[1:])}
	p := d.position()
	if d.bad || len(d.rest) > 0 {
		return Position{}, store.ErrPosition
	}
	return p, nil
}

// decoder reads a position from left to right. Once something is wrong, bad is
// set and everything after is zero.
type decoder struct {
	rest []byte
	bad  bool
}

func (d *decoder) position() Position {
	flags := d.byte()
	p := Position{Life: d.fixed(), Base: d.number()}
	xid, seq := uint64(0), int64(0)
	if flags&hasDone != 0 {
		s := d.snapshot(xid, seq, flags)
		xid, seq = s.XMax, s.Beyond
		p.Done, p.High = &s, d.seq(seq)
	} else {
		p.Floor = d.number()
		seq = p.Floor
	}
	if flags&hasWindow != 0 {
		s := d.snapshot(xid, seq, flags)
		p.To, p.Top, p.After = &s, d.seq(seq), d.seq(seq)
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

func (d *decoder) snapshot(xid uint64, seq int64, flags byte) Snapshot {
	s := Snapshot{XMax: xid + d.uvarint(), Beyond: d.seq(seq)}
	n := d.uvarint()
	if s.XMax < xid || s.XMax > math.MaxInt64 || n > uint64(len(d.rest)) {
		d.bad = true
	}
	if d.bad {
		return Snapshot{}
	}
	s.Running = make([]Runner, n)
	d.xids(&s)
	d.lows(&s, flags)
	return s
}

// xids reads the ids of the running transactions.
func (d *decoder) xids(s *Snapshot) {
	next := s.XMax
	for i := len(s.Running) - 1; i >= 0; i-- {
		gap := d.uvarint()
		if gap >= next {
			d.bad = true
			return
		}
		next -= gap + 1
		s.Running[i].XID = next
	}
}

// lows reads their bounds.
func (d *decoder) lows(s *Snapshot, flags byte) {
	low := s.Beyond
	if flags&oneLow != 0 {
		low = d.seq(low)
	}
	for i := len(s.Running) - 1; i >= 0; i-- {
		if flags&oneLow == 0 {
			low = d.seq(low)
		}
		s.Running[i].Low = low
	}
}
