package rabbitbroker

import (
	"bytes"
	"encoding/binary"
	"io"
	"net"
	"testing"
	"testing/iotest"
)

// headerFrame is a content header frame with these entries, and the delivery mode behind them.
func headerFrame(entries ...string) []byte {
	var table []byte
	for _, e := range entries {
		table = append(table, e...)
	}
	payload := append(make([]byte, contentFixed-2), 0x30, 0) // headers and delivery mode
	payload = append(binary.BigEndian.AppendUint32(payload, uint32(len(table))), table...)
	payload = append(payload, 2)
	frame := binary.BigEndian.AppendUint32([]byte{frameHeader, 0, 1}, uint32(len(payload)))
	return append(append(frame, payload...), 0xCE)
}

// read is a connection that only reads.
type read struct {
	net.Conn
	io.Reader
}

func (r read) Read(p []byte) (int, error) { return r.Reader.Read(p) }

func TestEntriesThatTheClientCannotReadAreTakenOutOfTheFrame(t *testing.T) {
	t.Parallel()
	const (
		plain   = "\x01aS\x00\x00\x00\x01x"
		flag    = "\x01bt\x01"
		big     = "\x03bigL\x00\x00\x00\x00\x00\x00\x00\x07"
		inside  = "\x01tF\x00\x00\x00\x03\x01xZ"
		unknown = "\x01zZ"
		short   = "\x01sS\x00\x00\x00\x09x"
	)
	mark := string(rune(len(incompleteName))) + incompleteName + "t\x01"
	body := []byte{3, 0, 1, 0, 0, 0, 2, 'h', 'i', 0xCE} // frames that have no headers go on as they are
	for name, c := range map[string]struct{ sent, want []byte }{
		"all can be read":          {headerFrame(plain, flag), headerFrame(plain, flag)},
		"no headers":               {headerFrame(), headerFrame()},
		"a number of another kind": {headerFrame(plain, big, flag), headerFrame(plain, flag, mark)},
		"a table inside":           {headerFrame(inside, plain, flag), headerFrame(plain, flag, mark)},
		"an unknown kind":          {headerFrame(plain, unknown, flag), headerFrame(plain, mark)},
		"too short":                {headerFrame(plain, short), headerFrame(plain, mark)},
		"no frames at all":         {[]byte("AMQP\x00\x00\x09\x01"), []byte("AMQP\x00\x00\x09\x01")},
	} {
		sent := append(append(append([]byte{}, body...), c.sent...), body...)
		want := append(append(append([]byte{}, body...), c.want...), body...)
		for _, from := range []io.Reader{bytes.NewReader(sent), iotest.OneByteReader(bytes.NewReader(sent))} {
			got, err := io.ReadAll(newTolerant(read{Reader: from}))
			if err != nil || !bytes.Equal(got, want) {
				t.Errorf("%s: %q arrived (%v), want %q", name, got, err, want)
			}
		}
	}
}

// Whatever a server sends, what arrives is bounded by it, and nothing panics.
func FuzzFramesGoOnWhateverTheyHold(f *testing.F) {
	f.Add(headerFrame("\x01aS\x00\x00\x00\x01x"))
	f.Add([]byte{frameHeader, 0, 1, 0, 0, 0, 200, 1})
	f.Fuzz(func(t *testing.T, sent []byte) {
		got, _ := io.ReadAll(newTolerant(read{Reader: bytes.NewReader(sent)}))
		frames := len(sent)/(framePrefix+contentFixed) + 1
		if most := len(sent) + frames*(len(incompleteName)+3); len(got) > most {
			t.Errorf("%d bytes became %d", len(sent), len(got))
		}
	})
}
