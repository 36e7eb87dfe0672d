package webhook

import (
	"context"
	"encoding/binary"
	"net"
	"net/netip"
	"strings"
	"sync"
	"testing"
)

// nameServer is a DNS server (RFC 1035) for addresses only. A name answers each
// question with the next of its turns, and stays at the last.
type nameServer struct {
	net.PacketConn

	mu    sync.Mutex
	names map[string][][]netip.Addr
	asked map[string]int
}

// resolver starts a name server and returns what asks it.
func resolver(t *testing.T, names map[string][][]netip.Addr) (*nameServer, *net.Resolver) {
	t.Helper()
	c, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &nameServer{PacketConn: c, names: names, asked: map[string]int{}}
	var running sync.WaitGroup
	running.Go(s.serve)
	t.Cleanup(func() {
		_ = c.Close()
		running.Wait()
	})
	return s, &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "udp", c.LocalAddr().String())
	}}
}

func (s *nameServer) serve() {
	question := make([]byte, 1500)
	for {
		n, from, err := s.ReadFrom(question)
		if err != nil {
			return
		}
		if reply := s.reply(question[:n]); reply != nil {
			_, _ = s.WriteTo(reply, from)
		}
	}
}

func (s *nameServer) reply(question []byte) []byte {
	if len(question) < 17 {
		return nil
	}
	var labels []string
	at := 12
	for question[at] != 0 {
		end := at + 1 + int(question[at])
		labels = append(labels, string(question[at+1:end]))
		at = end
	}
	at += 5
	name, kind := strings.ToLower(strings.Join(labels, ".")), binary.BigEndian.Uint16(question[at-4:])
	addrs, known := s.answers(name, kind)
	reply := append([]byte(nil), question[:at]...)
	reply[2], reply[3] = 0x85, 0x80 // an authoritative response, recursion asked for and given
	if !known {
		reply[3] |= 3 // no such name
	}
	binary.BigEndian.PutUint16(reply[6:], uint16(len(addrs)))
	binary.BigEndian.PutUint16(reply[8:], 0)
	binary.BigEndian.PutUint16(reply[10:], 0)
	for _, a := range addrs {
		reply = append(reply, 0xc0, 12, byte(kind>>8), byte(kind), 0, 1, 0, 0, 0, 0, 0, byte(len(a.AsSlice())))
		reply = append(reply, a.AsSlice()...)
	}
	return reply
}

func (s *nameServer) answers(name string, kind uint16) (addrs []netip.Addr, known bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	turns, known := s.names[name]
	if !known {
		return nil, false
	}
	turn := turns[min(s.asked[name], len(turns)-1)]
	const a, aaaa = 1, 28
	for _, addr := range turn {
		if kind == a && addr.Is4() || kind == aaaa && addr.Is6() {
			addrs = append(addrs, addr)
		}
	}
	if kind == a {
		s.asked[name]++
	}
	return addrs, true
}

func (s *nameServer) questions(name string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.asked[name]
}
