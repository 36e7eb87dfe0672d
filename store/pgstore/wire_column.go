package pgstore

import (
	"encoding/binary"
	"errors"
	"math"
	"time"

	"github.com/postbag/postbag/store/sqlkit"
)

// row is one row of a result: a value a column in PostgreSQL's binary formats,
// good until the next row. A nil value is null.
type row [][]byte

var errShortColumn = errors.New("a column has another type than expected")

// columns reads a row from left to right. The first fault is kept, and all
// values after it are zero.
type columns struct {
	rest row
	err  error
}

// next returns the next value, and whether it is one of size bytes; any size will
// do for a negative one.
func (c *columns) next(size int) ([]byte, bool) {
	if c.err != nil || len(c.rest) == 0 {
		c.fail()
		return nil, false
	}
	v := c.rest[0]
	c.rest = c.rest[1:]
	if v == nil {
		return nil, false
	}
	if size >= 0 && len(v) != size {
		c.fail()
		return nil, false
	}
	return v, true
}

func (c *columns) fail() {
	if c.err == nil {
		c.err = errShortColumn
	}
}

func (c *columns) int8() int64 {
	if v, ok := c.next(8); ok {
		return int64(binary.BigEndian.Uint64(v))
	}
	return 0
}

func (c *columns) int4() int32 {
	if v, ok := c.next(4); ok {
		return int32(binary.BigEndian.Uint32(v))
	}
	return 0
}

func (c *columns) int2() int {
	if v, ok := c.next(2); ok {
		return int(int16(binary.BigEndian.Uint16(v)))
	}
	return 0
}

func (c *columns) bool() bool {
	v, ok := c.next(1)
	return ok && v[0] != 0
}

func (c *columns) text() string {
	v, _ := c.next(-1)
	return string(v)
}

func (c *columns) id() (id [16]byte) {
	if v, ok := c.next(16); ok {
		copy(id[:], v)
	}
	return id
}

// duration reads a number of microseconds.
func (c *columns) duration() time.Duration { return time.Duration(c.int8()) * time.Microsecond }

// texts reads an array of texts.
func (c *columns) texts() []string {
	v, ok := c.next(-1)
	if !ok {
		return nil
	}
	out, err := parseTexts(v)
	if err != nil && c.err == nil {
		c.err = err
	}
	return out
}

// parseTexts reads a one-dimensional array of texts without nulls.
func parseTexts(v []byte) ([]string, error) {
	word := func() (int, bool) {
		if len(v) < 4 {
			return 0, false
		}
		w := int(int32(binary.BigEndian.Uint32(v)))
		v = v[4:]
		return w, true
	}
	dimensions, ok := word()
	if !ok || dimensions > 1 || len(v) < 8 {
		return nil, errShortColumn
	}
	if dimensions == 0 {
		return nil, nil
	}
	v = v[8:] // nulls, element type
	n, ok := word()
	if !ok || n < 0 || n > len(v) || len(v) < 4 {
		return nil, errShortColumn
	}
	v = v[4:] // the first index
	out := make([]string, 0, n)
	for range n {
		size, ok := word()
		if !ok || size < 0 || size > len(v) {
			return nil, errShortColumn
		}
		out = append(out, string(v[:size]))
		v = v[size:]
	}
	return out, nil
}

// epoch is where PostgreSQL's timestamps begin.
const epochMicros = 946_684_800_000_000

// instant turns microseconds since 2000, or infinity, into a time that can be written.
func instant(micros int64) time.Time {
	return sqlkit.TimeOf(min(micros, math.MaxInt64-epochMicros) + epochMicros)
}
