package history

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"sync"
)

// A file begins with this line. Then come frames: the length of a record as a varint, the record, and its CRC-32C.
const fileHeader = "postbag-history 1\n"

const (
	crcSize     = 4
	mostRecord  = 1 << 20
	ioBufferLen = 64 << 10
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

var _ Recorder = (*Writer)(nil)

// Writer writes a history to a file. Each process writes a file of its own. What it has written when it is killed can be read,
// but for the last record if that is torn. Methods may be called concurrently.
type Writer struct {
	mu     sync.Mutex
	to     io.WriteCloser
	buffer []byte
	hold   int
	err    error
}

// Create creates a file for a history; one of that name must not be there. Without hold, a record is with the operating system
// when the call that records it returns, as an Intent must be before the database hears of it. Otherwise up to so many bytes
// wait in memory for Flush or Close.
func Create(name string, hold int) (*Writer, error) {
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return nil, fmt.Errorf("history: create a file: %w", err)
	}
	w := &Writer{to: f, hold: hold, buffer: append([]byte(nil), fileHeader...)}
	return w, w.Flush()
}

// Flush writes what waits in memory.
func (w *Writer) Flush() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.flush()
	return w.err
}

// Close writes what waits in memory, and closes the file. It returns the first error that any record met.
func (w *Writer) Close() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.flush()
	return errors.Join(w.err, w.to.Close())
}

func (w *Writer) flush() {
	if w.err != nil || len(w.buffer) == 0 {
		return
	}
	if _, err := w.to.Write(w.buffer); err != nil {
		w.err = fmt.Errorf("history: write a record: %w", err)
	}
	w.buffer = w.buffer[:0]
}

// write frames a record of which put appends the fields.
func write[T any](w *Writer, k kind, put func([]byte, *T) []byte, r *T) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.err != nil {
		return
	}
	// The length comes first and is known last: room is left for its longest form, and closed again.
	start := len(w.buffer)
	w.buffer = append(w.buffer, make([]byte, binary.MaxVarintLen32)...)
	body := len(w.buffer)
	w.buffer = put(append(w.buffer, byte(k)), r)
	size := len(w.buffer) - body
	w.buffer = binary.LittleEndian.AppendUint32(w.buffer, crc32.Checksum(w.buffer[body:], castagnoli))
	head := len(binary.AppendUvarint(w.buffer[start:start], uint64(size)))
	copy(w.buffer[start+head:], w.buffer[body:])
	w.buffer = w.buffer[:start+head+size+crcSize]
	if size > mostRecord {
		w.buffer = w.buffer[:start]
		w.err = fmt.Errorf("history: a record has %d bytes, more than %d; give its texts shorter names", size, mostRecord)
		return
	}
	if len(w.buffer) > w.hold {
		w.flush()
	}
}

// Intend records an Intent.
func (w *Writer) Intend(r Intent) { write(w, kindIntent, putIntent, &r) }

// End records an Outcome.
func (w *Writer) End(r Outcome) { write(w, kindOutcome, putOutcome, &r) }

// Deliver records a Delivery.
func (w *Writer) Deliver(r Delivery) { write(w, kindDelivery, putDelivery, &r) }

// Apply records an Effect.
func (w *Writer) Apply(r Effect) { write(w, kindEffect, putEffect, &r) }

// Refuse records a Refusal.
func (w *Writer) Refuse(r Refusal) { write(w, kindRefusal, putRefusal, &r) }

// Hold records a Stored.
func (w *Writer) Hold(r Stored) { write(w, kindStored, putStored, &r) }

// Order records a Command.
func (w *Writer) Order(r Command) { write(w, kindCommand, putCommand, &r) }

// Break records a Fault.
func (w *Writer) Break(r Fault) { write(w, kindFault, putFault, &r) }

// Wait records a Gap.
func (w *Writer) Wait(r Gap) { write(w, kindGap, putGap, &r) }

// Look records a Watch.
func (w *Writer) Look(r Watch) { write(w, kindWatch, putWatch, &r) }

// Read hands all records of a file to a Recorder, in their order. It says whether the last one was torn and left out, as it is
// when its writer was killed. Any other damage is an error.
func Read(from io.Reader, into Recorder) (wasTorn bool, err error) {
	f := &frames{from: bufio.NewReaderSize(from, ioBufferLen)}
	if wasTorn, err = f.header(); wasTorn || err != nil {
		return wasTorn, err
	}
	var d decoder
	for {
		record, err := f.next()
		switch {
		case errors.Is(err, io.EOF):
			return false, nil
		case errors.Is(err, io.ErrUnexpectedEOF):
			return true, nil
		case err == nil:
			err = d.hand(record, into)
		}
		if err != nil {
			return false, fmt.Errorf("history: the record that ends at byte %d: %w", f.at, err)
		}
	}
}

// ReadFile is Read of a file by its name.
func ReadFile(name string, into Recorder) (wasTorn bool, err error) {
	f, err := os.Open(name) //nolint:gosec // the caller says which
	if err != nil {
		return false, fmt.Errorf("history: %w", err)
	}
	defer func() { _ = f.Close() }() // nothing was written
	if wasTorn, err = Read(f, into); err != nil {
		err = fmt.Errorf("%s: %w", name, err)
	}
	return wasTorn, err
}

// hand decodes a record and hands it on.
func (d *decoder) hand(record []byte, into Recorder) error {
	d.left, d.bad = record, false
	switch kind(d.byte()) {
	case kindIntent:
		give(d, d.intent, value(into.Intend))
	case kindOutcome:
		give(d, d.outcome, value(into.End))
	case kindDelivery:
		give(d, d.delivery, value(into.Deliver))
	case kindEffect:
		give(d, d.effect, value(into.Apply))
	case kindRefusal:
		give(d, d.refusal, value(into.Refuse))
	case kindStored:
		give(d, d.stored, value(into.Hold))
	case kindCommand:
		give(d, d.command, value(into.Order))
	case kindFault:
		give(d, d.fault, value(into.Break))
	case kindGap:
		give(d, d.gap, value(into.Wait))
	case kindWatch:
		give(d, d.watch, value(into.Look))
	default:
		d.bad = true
	}
	return d.end()
}

// give decodes a record of one type and hands it on, if it was read to its end and no further.
func give[T any](d *decoder, decode, to func(*T)) {
	var r T
	if decode(&r); d.end() == nil {
		to(&r)
	}
}

// value has a function that takes a record take it by its address.
func value[T any](to func(T)) func(*T) { return func(r *T) { to(*r) } }

// frames reads the frames of a file.
type frames struct {
	from *bufio.Reader
	at   int64 // how many bytes were read
	body []byte
}

var errHeader = errors.New("history: the file does not begin as a history of version 1 does; give the files that history.Create made")

func (f *frames) header() (wasTorn bool, err error) {
	head := make([]byte, len(fileHeader))
	n, err := io.ReadFull(f.from, head)
	f.at += int64(n)
	switch {
	case string(head[:n]) != fileHeader[:n]:
		return false, errHeader
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return true, nil
	}
	return false, err
}

// next returns a record, which is good until the next call. The error is io.EOF at the end of the file, and
// io.ErrUnexpectedEOF if the last frame is torn.
func (f *frames) next() ([]byte, error) {
	size, err := f.size()
	if err != nil {
		return nil, err
	}
	if size > mostRecord {
		return nil, fmt.Errorf("it claims to have %d bytes: the file is damaged", size)
	}
	if need := int(size) + crcSize; cap(f.body) < need {
		f.body = make([]byte, need)
	}
	f.body = f.body[:int(size)+crcSize]
	n, err := io.ReadFull(f.from, f.body)
	f.at += int64(n)
	if errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF
	}
	if err != nil {
		return nil, err
	}
	if crc32.Checksum(f.body[:size], castagnoli) != binary.LittleEndian.Uint32(f.body[size:]) {
		return nil, errors.New("its checksum is wrong: the file is damaged")
	}
	return f.body[:size], nil
}

func (f *frames) size() (uint64, error) {
	size, err := binary.ReadUvarint(f)
	return size, err
}

// ReadByte is for the length of a frame.
func (f *frames) ReadByte() (byte, error) {
	b, err := f.from.ReadByte()
	if err == nil {
		f.at++
	}
	return b, err
}
