package rabbitbroker

import (
	"bufio"
	"crypto/rand"
	"encoding/binary"
	"io"
	"net"
)

// tolerant is a connection whose messages the client library can read. The library gives a
// connection up at headers that are nested too deep, are too many, or hold a kind of value
// that it does not know. The server takes such a message, and gives it again to each new
// connection, so that no other message comes any more. tolerant leaves such headers out,
// and adds one that says so.
type tolerant struct {
	net.Conn

	r    *bufio.Reader
	out  []byte // of a frame that was read whole
	pass uint64 // how many bytes go on as they are
}

// newTolerant makes a connection tolerant.
func newTolerant(conn net.Conn) net.Conn { return &tolerant{Conn: conn, r: bufio.NewReader(conn)} }

// incompleteName is that of a header that no sender knows. It says that others are left out.
var incompleteName = rand.Text()[:12]

// Of the protocol: the kinds of frames, and what a frame has beside its payload.
const (
	frameHeader  = 2
	framePrefix  = 7 // kind, channel, size of the payload
	frameSuffix  = 1
	frameKinds   = 8
	contentFixed = 14 // class, weight, size of the body, flags

	// largestHeader is far above what servers allow for a frame.
	largestHeader = 16 << 20
	// smallestFrameMax is what every server allows for a frame.
	smallestFrameMax = 4096
)

// Read implements io.Reader.
func (t *tolerant) Read(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	for len(t.out) == 0 && t.pass == 0 {
		if err := t.next(); err != nil {
			return 0, err
		}
	}
	if len(t.out) > 0 {
		n := copy(p, t.out)
		t.out = t.out[n:]
		return n, nil
	}
	n, err := t.r.Read(p[:min(uint64(len(p)), t.pass)])
	t.pass -= uint64(n)
	return n, err
}

// next looks at the frame that comes.
func (t *tolerant) next() error {
	prefix, err := t.r.Peek(framePrefix)
	if err != nil {
		return err
	}
	size := binary.BigEndian.Uint32(prefix[3:])
	switch {
	case prefix[0] == 0 || prefix[0] > frameKinds: // no frame at all: the library says what is wrong
		t.pass = 1 << 62
		return nil
	case prefix[0] != frameHeader || size < contentFixed || size > largestHeader:
		t.pass = framePrefix + uint64(size) + frameSuffix
		return nil
	}
	frame := make([]byte, framePrefix+int(size)+frameSuffix)
	if _, err := io.ReadFull(t.r, frame); err != nil {
		return err
	}
	t.out = readable(frame)
	return nil
}

// readable returns a content header frame that the library can read: the same one if it can
// already.
func readable(frame []byte) []byte {
	const hasContentType, hasEncoding, hasHeaders = 1 << 15, 1 << 14, 1 << 13
	payload := frame[framePrefix : len(frame)-frameSuffix]
	flags := binary.BigEndian.Uint16(payload[contentFixed-2:])
	if flags&hasHeaders == 0 {
		return frame
	}
	f := fieldReader{b: payload[contentFixed:]}
	for _, text := range []uint16{hasContentType, hasEncoding} {
		if flags&text != 0 {
			f.skip(f.number(1))
		}
	}
	begin := len(payload) - len(f.b)
	table := f.take(f.number(4))
	if f.bad {
		return frame // the server sends none
	}
	kept, whole := keepReadable(table)
	if whole {
		return frame
	}
	mark := append(append([]byte{byte(len(incompleteName))}, incompleteName...), 't', 1)
	if grown := len(frame) - len(table) + len(kept) + len(mark); grown > len(frame) && grown > smallestFrameMax {
		kept = nil // or the frame might be too large for the library
	}
	kept = append(kept, mark...)
	made := make([]byte, 0, len(frame)+len(incompleteName))
	made = append(made, frame[:framePrefix+begin]...)
	made = binary.BigEndian.AppendUint32(made, uint32(len(kept)))
	made = append(append(made, kept...), f.b...)
	binary.BigEndian.PutUint32(made[3:], uint32(len(made)-framePrefix))
	return append(made, frame[len(frame)-frameSuffix])
}

// What the library reads at most.
const (
	deepest      = 32
	mostElements = 8192
)

// keepReadable returns the entries of a table that the library can read, and says whether
// these are all. Where a message is in a stream, is always among them.
func keepReadable(table []byte) (kept []byte, whole bool) {
	whole = true
	f := fieldReader{b: table}
	for n := 0; len(f.b) > 0; {
		entry := f.b
		name := f.take(f.number(1))
		good := f.value(0)
		if f.bad {
			return kept, false // nobody knows where the next one begins
		}
		if !good || n >= mostElements-2 && string(name) != streamOffset { // with one for what is added
			whole = false
			continue
		}
		n++
		kept = append(kept, entry[:len(entry)-len(f.b)]...)
	}
	return kept, whole
}

// fieldReader reads the protocol's fields.
type fieldReader struct {
	b   []byte
	bad bool // what is left makes no sense
}

// number reads an unsigned number of some bytes.
func (f *fieldReader) number(bytes int) (n uint64) {
	for _, b := range f.take(uint64(bytes)) {
		n = n<<8 | uint64(b)
	}
	return n
}

func (f *fieldReader) skip(n uint64) { f.take(n) }

func (f *fieldReader) take(n uint64) []byte {
	if n > uint64(len(f.b)) {
		f.bad, f.b = true, nil
		return nil
	}
	taken := f.b[:n]
	f.b = f.b[n:]
	return taken
}

// value reads a value with its kind, and says whether the library can.
func (f *fieldReader) value(depth int) (good bool) {
	switch kind := f.number(1); kind {
	case 'V':
	case 't', 'b', 'B':
		f.skip(1)
	case 's', 'u':
		f.skip(2)
	case 'I', 'i', 'f':
		f.skip(4)
	case 'D':
		f.skip(5)
	case 'l', 'd', 'T':
		f.skip(8)
	case 'S', 'x':
		f.skip(f.number(4))
	case 'A', 'F':
		inner := fieldReader{b: f.take(f.number(4))}
		return !f.bad && inner.all(depth+1, kind == 'F')
	case 'L': // the library knows no such number
		f.skip(8)
		return false
	default:
		f.bad = true
	}
	return !f.bad
}

// all reads a table, or the values of a list.
func (f *fieldReader) all(depth int, named bool) (good bool) {
	if depth > deepest {
		return false
	}
	for n := 0; len(f.b) > 0; n++ {
		if named {
			f.skip(f.number(1))
		}
		if n >= mostElements || !f.value(depth) || f.bad {
			return false
		}
	}
	return true
}
