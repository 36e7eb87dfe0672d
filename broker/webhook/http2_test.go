package webhook

import (
	"crypto/tls"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"strings"
	"testing"

	"github.com/postbag/postbag/broker"
)

// Frames of HTTP/2 (RFC 9113, section 6), and what is needed of them.
const (
	frameHeaders  = 0x1
	frameReset    = 0x3
	frameSettings = 0x4
	frameGoAway   = 0x7

	flagAck     = 0x1
	flagEndBoth = 0x5 // of the stream and of the headers

	errProtocol = 0x1
	errInternal = 0x2
	errRefused  = 0x7
	errCancel   = 0x8
	errCalm     = 0xb

	settingMaxHeaderList = 0x6
)

// frames is a connection that speaks HTTP/2 frame by frame.
type frames struct {
	io.ReadWriter
}

func (f frames) write(kind, flags byte, stream uint32, body ...byte) {
	frame := make([]byte, 9, 9+len(body))
	frame[1], frame[2], frame[3], frame[4] = byte(len(body)>>8), byte(len(body)), kind, flags
	binary.BigEndian.PutUint32(frame[5:], stream)
	_, _ = f.Write(append(frame, body...))
}

// next reads a frame and drops its body.
func (f frames) next() (kind, flags byte, stream uint32, err error) {
	var head [9]byte
	if _, err = io.ReadFull(f, head[:]); err != nil {
		return 0, 0, 0, err
	}
	size := int64(head[0])<<16 | int64(head[1])<<8 | int64(head[2])
	_, err = io.CopyN(io.Discard, f, size)
	return head[3], head[4], binary.BigEndian.Uint32(head[5:]) & 0x7fffffff, err
}

// number is n as four bytes.
func number(n uint32) []byte { return binary.BigEndian.AppendUint32(nil, n) }

// h2 serves HTTP/2 by frames: the first request is answered 204, and each later
// one as answer likes.
func h2(t *testing.T, settings []byte, answer func(f frames, stream uint32)) (*rawServer, *authority) {
	t.Helper()
	ours := newAuthority(t)
	config := &tls.Config{Certificates: []tls.Certificate{ours.leaf(nil)}, NextProtos: []string{"h2"}}
	s := raw(t, func(s *rawServer, c net.Conn) {
		f := frames{tls.Server(c, config)}
		if _, err := io.ReadFull(f, make([]byte, 24)); err != nil { // the client's preface
			return
		}
		f.write(frameSettings, 0, 0, settings...)
		for {
			kind, flags, stream, err := f.next()
			switch {
			case err != nil:
				return
			case kind == frameSettings && flags&flagAck == 0:
				f.write(frameSettings, flagAck, 0)
			case kind == frameHeaders:
				if s.requests.Add(1) == 1 {
					f.write(frameHeaders, flagEndBoth, stream, 0x89) // :status 204 of HPACK's static table
					continue
				}
				answer(f, stream)
			}
		}
	})
	return s, ours
}

// HTTP/2 lets a client repeat a request after some errors. Ours does not.
func TestNoRequestIsSentAgainOverHTTP2(t *testing.T) {
	t.Parallel()
	kill := func(code uint32) func(frames, uint32) {
		return func(f frames, stream uint32) { f.write(frameReset, 0, stream, number(code)...) }
	}
	goAway := func(last func(uint32) uint32, code uint32) func(frames, uint32) {
		return func(f frames, stream uint32) {
			f.write(frameGoAway, 0, 0, append(number(last(stream)), number(code)...)...)
		}
	}
	before := func(stream uint32) uint32 { return stream - 2 }
	same := func(stream uint32) uint32 { return stream }
	answers := map[string]func(frames, uint32){
		"refused":                     kill(errRefused),
		"a protocol error":            kill(errProtocol),
		"an internal error":           kill(errInternal),
		"canceled":                    kill(errCancel),
		"calm down":                   kill(errCalm),
		"a shutdown before it":        goAway(before, 0),
		"a shutdown in anger":         goAway(before, errCalm),
		"a shutdown after it, cut":    func(f frames, stream uint32) { goAway(same, 0)(f, stream); closeFrames(f) },
		"the connection cut":          func(f frames, _ uint32) { closeFrames(f) },
		"a frame that makes no sense": func(f frames, stream uint32) { f.write(frameSettings, 0, stream) },
	}
	messages := map[string]func(*broker.Delivery){
		"a payload":          func(*broker.Delivery) {},
		"no payload":         func(m *broker.Delivery) { m.Payload = nil },
		"an idempotency key": func(m *broker.Delivery) { m.Payload, m.Headers = nil, map[string]string{"Idempotency-Key": "k"} },
	}
	for answer, act := range answers {
		for kind, change := range messages {
			t.Run(answer+", "+kind, func(t *testing.T) {
				t.Parallel()
				s, ours := h2(t, nil, act)
				o := options("https://" + s.Addr().String())
				o.RootCAs = ours.pool()
				d := open(t, o)
				want(t, publish(t.Context(), d, sample()), broker.Accepted)
				m := sample()
				change(&m)
				want(t, publish(t.Context(), d, m), broker.Unknown)
				if got := s.requests.Load(); got != 2 {
					t.Errorf("%d requests were sent, want 2", got)
				}
			})
		}
	}
}

func closeFrames(f frames) {
	if c, ok := f.ReadWriter.(io.Closer); ok {
		_ = c.Close()
	}
}

// An endpoint may announce how much header it takes. What is larger is not sent,
// and never will be.
func TestHeadersLargerThanAnnouncedAreRejected(t *testing.T) {
	t.Parallel()
	limit := append([]byte{0, settingMaxHeaderList}, number(2000)...)
	s, ours := h2(t, limit, func(f frames, stream uint32) { f.write(frameHeaders, flagEndBoth, stream, 0x89) })
	o := options("https://" + s.Addr().String())
	o.RootCAs = ours.pool()
	d := open(t, o)
	want(t, publish(t.Context(), d, sample()), broker.Accepted)
	m := sample()
	m.Headers = map[string]string{"long": strings.Repeat("x", 3000)}
	r := publish(t.Context(), d, m)
	want(t, r, broker.Rejected)
	if !strings.Contains(r.Err.Error(), "headers are larger") {
		t.Errorf("the error says %q", r.Err)
	}
	want(t, publish(t.Context(), d, sample()), broker.Accepted)
	if got := s.requests.Load(); got != 2 {
		t.Errorf("%d requests were sent, want 2", got)
	}
}

func TestManyRequestsShareAConnection(t *testing.T) {
	t.Parallel()
	s := secure(t, true, nil)
	o := options(s.URL)
	o.RootCAs = s.roots()
	d := open(t, o)
	want(t, publish(t.Context(), d, sample()), broker.Accepted)
	msgs := make([]broker.Delivery, 200)
	for i := range msgs {
		msgs[i] = sample()
		msgs[i].Key = fmt.Sprint("key ", i)
	}
	results := broker.Publish(t.Context(), d, msgs)
	connections := map[string]bool{}
	for i, r := range results {
		want(t, r, broker.Accepted)
		connections[s.request(i).RemoteAddr] = true
	}
	if len(s.got(t)) != 201 || len(connections) != 1 {
		t.Errorf("%d requests over %d connections", len(s.got(t)), len(connections))
	}
}
