package history

import (
	"bufio"
	"bytes"
	"cmp"
	"container/heap"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
)

// sorter sorts records by their bytes in bounded memory. What does not fit is written to a temporary file as a sorted run;
// in the end the runs are merged.
type sorter struct {
	dir   string
	limit int // bytes of the arena

	arena []byte
	index []span
	file  *os.File
	out   *bufio.Writer
	runs  []run
	at    int64 // the end of the last run
}

// span is a record in the arena, with its first bytes as a number, by which most comparisons are decided.
type span struct {
	prefix uint64
	at, n  uint32
}

// run is a sorted part of the file.
type run struct{ at, size int64 }

func newSorter(dir string, limit int) *sorter { return &sorter{dir: dir, limit: limit} }

// next returns where to append the next record; added takes it. What was appended before it stays.
func (s *sorter) next() []byte { return s.arena }

// added takes the arena with a record appended to it.
func (s *sorter) added(arena []byte) error {
	at := len(s.arena)
	record := arena[at:]
	s.arena = arena
	var first [8]byte
	copy(first[:], record)
	s.index = append(s.index, span{prefix: binary.BigEndian.Uint64(first[:]), at: uint32(at), n: uint32(len(record))})
	if len(s.arena) < s.limit {
		return nil
	}
	return s.spill()
}

func (s *sorter) record(one span) []byte { return s.arena[one.at : one.at+one.n] }

func (s *sorter) sort() {
	slices.SortFunc(s.index, func(a, b span) int {
		if a.prefix != b.prefix {
			return cmp.Compare(a.prefix, b.prefix)
		}
		return bytes.Compare(s.record(a), s.record(b))
	})
}

// spill writes the arena as a run.
func (s *sorter) spill() (err error) {
	if s.file == nil {
		if s.file, err = os.CreateTemp(s.dir, "postbag-history-"); err != nil {
			return fmt.Errorf("history: room to sort: %w", err)
		}
		s.out = bufio.NewWriterSize(s.file, ioBufferLen)
	}
	s.sort()
	size := int64(0)
	var head [binary.MaxVarintLen64]byte
	for _, one := range s.index {
		n := binary.PutUvarint(head[:], uint64(one.n))
		size += int64(n) + int64(one.n)
		_, _ = s.out.Write(head[:n]) // the writer keeps its error for Flush
		_, _ = s.out.Write(s.record(one))
	}
	if err := s.out.Flush(); err != nil {
		return fmt.Errorf("history: room to sort: %w", err)
	}
	s.runs = append(s.runs, run{at: s.at, size: size})
	s.at += size
	s.arena, s.index = s.arena[:0], s.index[:0]
	return nil
}

// each calls do with each record in order. The record is good until do returns. It frees the memory, and may be called once.
func (s *sorter) each(do func(record []byte) error) error {
	if s.file == nil {
		s.sort()
		for _, one := range s.index {
			if err := do(s.record(one)); err != nil {
				return err
			}
		}
		s.arena, s.index = nil, nil
		return nil
	}
	if err := s.spill(); err != nil {
		return err
	}
	s.arena, s.index = nil, nil
	var m merge
	for _, r := range s.runs {
		one := &runReader{from: bufio.NewReaderSize(io.NewSectionReader(s.file, r.at, r.size), ioBufferLen/2)}
		if err := m.take(one); err != nil {
			return err
		}
	}
	heap.Init(&m)
	for len(m) > 0 {
		if err := do(m[0].record); err != nil {
			return err
		}
		if err := m.advance(); err != nil {
			return err
		}
	}
	return nil
}

// close removes the file.
func (s *sorter) close() error {
	if s.file == nil {
		return nil
	}
	return errors.Join(s.file.Close(), os.Remove(s.file.Name()))
}

// runReader reads a run.
type runReader struct {
	from   *bufio.Reader
	record []byte
}

// read reads the next record; io.EOF: there is none.
func (r *runReader) read() error {
	size, err := binary.ReadUvarint(r.from)
	if err != nil {
		return err
	}
	r.record = slices.Grow(r.record[:0], int(size))[:size]
	if _, err = io.ReadFull(r.from, r.record); errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF
	}
	return err
}

// merge is a heap of runs by their next record.
type merge []*runReader

func (m merge) Len() int           { return len(m) }
func (m merge) Less(i, j int) bool { return bytes.Compare(m[i].record, m[j].record) < 0 }
func (m merge) Swap(i, j int)      { m[i], m[j] = m[j], m[i] }

// Push is the heap's.
func (m *merge) Push(x any) {
	if r, ok := x.(*runReader); ok {
		*m = append(*m, r)
	}
}

// Pop is the heap's.
func (m *merge) Pop() any {
	last := len(*m) - 1
	x := (*m)[last]
	*m = (*m)[:last]
	return x
}

// take adds a run, if it has a record.
func (m *merge) take(r *runReader) error {
	err := r.read()
	if err == nil {
		*m = append(*m, r)
	}
	return sortError(err)
}

// advance goes to the next record.
func (m *merge) advance() error {
	err := (*m)[0].read()
	switch {
	case err == nil:
		heap.Fix(m, 0)
	case errors.Is(err, io.EOF):
		heap.Pop(m)
	}
	return sortError(err)
}

func sortError(err error) error {
	if err == nil || errors.Is(err, io.EOF) {
		return nil
	}
	return fmt.Errorf("history: read back what was sorted: %w", err)
}
