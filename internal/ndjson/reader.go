package ndjson

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/postbag/postbag"
)

// Bounds of a batch and of a line, in bytes.
const (
	batchBytes = 8 << 20
	lineBytes  = 96 << 20
)

// Batch is some messages with the numbers of their lines, from 1.
type Batch struct {
	Messages []postbag.Message
	Lines    []int
	// First and Last are the lines it covers.
	First, Last int
	// Faults name the lines that are wrong, the first of them.
	Faults []error
	// Faulty is how many are.
	Faulty int
}

// maxFaults is how many faults of a batch are named.
const maxFaults = 20

// Fault notes that a line is wrong.
func (b *Batch) Fault(line int, err error) {
	if b.Faulty++; b.Faulty <= maxFaults {
		b.Faults = append(b.Faults, fmt.Errorf("line %d %w", line, err))
	}
}

// Reader reads messages, one a line. Empty lines are skipped.
type Reader struct {
	in   *bufio.Reader
	line int
}

// NewReader reads from in, which is not closed.
func NewReader(in io.Reader) *Reader { return &Reader{in: bufio.NewReaderSize(in, 64<<10)} }

// Skip skips so many lines.
func (r *Reader) Skip(lines int) error {
	for r.line < lines {
		if _, err := r.next(); err != nil {
			return err
		}
	}
	return nil
}

// Batch reads up to most messages. After the last one it returns io.EOF together
// with what it has.
func (r *Reader) Batch(most int) (*Batch, error) {
	b := &Batch{First: r.line + 1}
	for size := 0; len(b.Messages)+b.Faulty < most && size < batchBytes; {
		line, err := r.next()
		b.Last = r.line
		if errors.Is(err, errTooLong) {
			b.Fault(r.line, err)
			continue
		}
		if err != nil {
			return b, err
		}
		if len(line) == 0 {
			continue
		}
		size += len(line)
		m, err := Parse(line)
		if err != nil {
			b.Fault(r.line, err)
			continue
		}
		b.Messages = append(b.Messages, m)
		b.Lines = append(b.Lines, r.line)
	}
	return b, nil
}

var errTooLong = fmt.Errorf("holds more than %d bytes; publish a reference to what is that large", lineBytes)

// next returns the next line without white space around it. It is the caller's.
func (r *Reader) next() ([]byte, error) {
	var line []byte
	long := false
	for {
		part, err := r.in.ReadSlice('\n')
		if long = long || len(line)+len(part) > lineBytes; !long {
			line = append(line, part...)
		}
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		case errors.Is(err, io.EOF) && (len(line) > 0 || long):
		case err != nil:
			return nil, err
		}
		break
	}
	r.line++
	if long {
		return nil, errTooLong
	}
	return bytes.TrimSpace(line), nil
}
