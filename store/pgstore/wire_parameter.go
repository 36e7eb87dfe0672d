package pgstore

import (
	"encoding/binary"
	"math"
)

// Object identifiers of the element types of arrays (pg_type.dat).
const (
	oidBool  = 16
	oidBytea = 17
	oidInt8  = 20
	oidInt2  = 21
	oidInt4  = 23
	oidText  = 25
	oidXid8  = 5069
)

// parameters are the values of one statement's $1, $2 and so on, in PostgreSQL's
// binary formats. Texts are bytes there as well.
type parameters struct {
	values [][]byte
	buf    []byte
}

// begin returns where the next value starts.
func (p *parameters) begin() int { return len(p.buf) }

// end takes what was appended since from as the next value.
func (p *parameters) end(from int) *parameters {
	p.values = append(p.values, p.buf[from:len(p.buf):len(p.buf)])
	return p
}

func (p *parameters) int8(v int64) *parameters {
	from := p.begin()
	p.buf = binary.BigEndian.AppendUint64(p.buf, uint64(v))
	return p.end(from)
}

func (p *parameters) int4(v int32) *parameters {
	from := p.begin()
	p.buf = binary.BigEndian.AppendUint32(p.buf, uint32(v))
	return p.end(from)
}

func (p *parameters) bool(v bool) *parameters {
	from := p.begin()
	p.buf = appendBool(p.buf, v)
	return p.end(from)
}

// text takes a text, or a bytea, without copying it.
func (p *parameters) text(v string) *parameters {
	from := p.begin()
	p.buf = append(p.buf, v...)
	return p.end(from)
}

func (p *parameters) bytes(v []byte) *parameters {
	if v == nil {
		v = []byte{}
	}
	p.values = append(p.values, v)
	return p
}

func appendBool(b []byte, v bool) []byte {
	if v {
		return append(b, 1)
	}
	return append(b, 0)
}

// arrayHead appends what comes before the elements of an array of n.
func arrayHead(b []byte, oid uint32, n int) []byte {
	dimensions := uint32(1)
	if n == 0 {
		dimensions = 0
	}
	b = binary.BigEndian.AppendUint32(b, dimensions)
	b = binary.BigEndian.AppendUint32(b, 0) // no nulls
	b = binary.BigEndian.AppendUint32(b, oid)
	if n > 0 {
		b = binary.BigEndian.AppendUint32(b, uint32(n))
		b = binary.BigEndian.AppendUint32(b, 1) // the first index
	}
	return b
}

func (p *parameters) eights(oid uint32, n int, at func(int) int64) *parameters {
	from := p.begin()
	p.buf = arrayHead(p.buf, oid, n)
	for i := range n {
		p.buf = binary.BigEndian.AppendUint32(p.buf, 8)
		p.buf = binary.BigEndian.AppendUint64(p.buf, uint64(at(i)))
	}
	return p.end(from)
}

func (p *parameters) int8s(n int, at func(int) int64) *parameters { return p.eights(oidInt8, n, at) }

func (p *parameters) xid8s(n int, at func(int) int64) { p.eights(oidXid8, n, at) }

func (p *parameters) int4s(n int, at func(int) int32) *parameters {
	from := p.begin()
	p.buf = arrayHead(p.buf, oidInt4, n)
	for i := range n {
		p.buf = binary.BigEndian.AppendUint32(p.buf, 4)
		p.buf = binary.BigEndian.AppendUint32(p.buf, uint32(at(i)))
	}
	return p.end(from)
}

func (p *parameters) int2s(n int, at func(int) int) *parameters {
	from := p.begin()
	p.buf = arrayHead(p.buf, oidInt2, n)
	for i := range n {
		v := at(i)
		if v < math.MinInt16 || v > math.MaxInt16 {
			v = -1 // no slot or state is negative: it finds nothing
		}
		p.buf = binary.BigEndian.AppendUint32(p.buf, 2)
		p.buf = binary.BigEndian.AppendUint16(p.buf, uint16(v))
	}
	return p.end(from)
}

func (p *parameters) bools(n int, at func(int) bool) *parameters {
	from := p.begin()
	p.buf = arrayHead(p.buf, oidBool, n)
	for i := range n {
		p.buf = binary.BigEndian.AppendUint32(p.buf, 1)
		p.buf = appendBool(p.buf, at(i))
	}
	return p.end(from)
}

func (p *parameters) strings(oid uint32, n int, at func(int) string) *parameters {
	from := p.begin()
	p.buf = arrayHead(p.buf, oid, n)
	for i := range n {
		v := at(i)
		p.buf = binary.BigEndian.AppendUint32(p.buf, uint32(len(v)))
		p.buf = append(p.buf, v...)
	}
	return p.end(from)
}

func (p *parameters) texts(n int, at func(int) string) *parameters {
	return p.strings(oidText, n, at)
}

func (p *parameters) byteas(n int, at func(int) string) *parameters {
	return p.strings(oidBytea, n, at)
}
