package mqttbroker_test

import (
	"bufio"
	"context"
	"fmt"
	"maps"
	"net"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/eclipse/paho.golang/packets"

	"github.com/postbag/postbag/broker"
	"github.com/postbag/postbag/broker/mqttbroker"
	"github.com/postbag/postbag/internal/testserver"
	"github.com/postbag/postbag/internal/testserver/servertest"
	"github.com/postbag/postbag/source"
	"github.com/postbag/postbag/source/sourcetest"
)

func TestASourceOfQoS1Conforms(t *testing.T) {
	t.Parallel()
	sourcetest.Run(t, sourceHarness(t, 1, ""))
}

func TestASourceOfQoS2Conforms(t *testing.T) {
	t.Parallel()
	sourcetest.Run(t, sourceHarness(t, 2, ""))
}

func TestASourceThatSharesItsSubscriptionsConforms(t *testing.T) {
	t.Parallel()
	sourcetest.Run(t, sourceHarness(t, 1, "billing"))
}

// suiteUnacked is more than what any case has at work.
const suiteUnacked = 700

// sourceHarness runs the suite on the shared server. An outage is one of the network here.
func sourceHarness(t *testing.T, qos byte, group string) sourcetest.Harness {
	t.Helper()
	server := sharedServer(t)
	features := source.Features{Order: source.OrderStream, Counts: true, Cumulative: true, MaxUnacked: suiteUnacked, Binding: broker.BindingMQTT}
	on := fmt.Sprintf("Mosquitto 2.0, QoS %d", qos)
	lacks := map[sourcetest.Part]string{sourcetest.PartUndecodable: "Mosquitto refuses what cannot be decoded; TestAMessageThatCannotBeDecodedHindersNoOther has a broker that does not"}
	if group == "" {
		lacks[sourcetest.PartTogether] = "a session has one client at a time; TestTwoSourcesWithOneClientIDSayItAndLeaveEachOtherAlone shows what two do"
	} else {
		features.Order, features.Counts = source.OrderNone, false
		on += ", shared"
		lacks[sourcetest.PartGiveBack] = "Mosquitto keeps what it sent for that member, until its session ends"
	}
	return sourcetest.Harness{
		On: on,
		Open: func(t *testing.T) sourcetest.Fixture {
			f, _ := sourceFixture(t, server, qos, group)
			return f
		},
		Outage: func(t *testing.T) (sourcetest.Fixture, sourcetest.Switch) {
			f, m := sourceFixture(t, server, qos, group)
			return f, sourcetest.Switch{
				Off: func() { m.each(func(line *testserver.Proxy) { sever(t, line) }) },
				On: func() {
					m.each(func(line *testserver.Proxy) {
						if err := line.Resume(); err != nil {
							t.Error(err)
						}
					})
				},
			}
		},
		Lacks:    lacks,
		Features: features,
		NoKeys:   true,
		NoTimes:  true,
		Visible:  true, // no control characters
		Secrets:  []string{password},
		Quiet:    500 * time.Millisecond,
		Patience: time.Minute,
	}
}

// sever makes a broker unreachable.
func sever(t *testing.T, line *testserver.Proxy) {
	t.Helper()
	if err := line.Refuse(); err != nil {
		t.Error(err)
	}
	line.Cut()
}

// members are the sources of a fixture. Each has a client id of its own while it is there; who
// comes next takes the first that is free, and what its session holds.
type members struct {
	mu    sync.Mutex
	ids   []string // taken, or empty
	lines map[*member]*testserver.Proxy
}

// member is a source that frees its client id when it is closed.
type member struct {
	*mqttbroker.Source

	of *members
	id string
}

func (m *member) Close(ctx context.Context) error {
	err := m.Source.Close(ctx)
	m.of.free(m)
	return err
}

// take returns a client id that is free.
func (m *members) take(name string) string {
	m.mu.Lock()
	defer m.mu.Unlock()
	i := slices.Index(m.ids, "")
	if i < 0 {
		i, m.ids = len(m.ids), append(m.ids, "")
	}
	m.ids[i] = fmt.Sprintf("%s-%d", name, i)
	return m.ids[i]
}

func (m *members) free(one *member) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if i := slices.Index(m.ids, one.id); i >= 0 && one.id != "" {
		m.ids[i], one.id = "", ""
	}
}

func (m *members) each(do func(line *testserver.Proxy)) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for line := range maps.Values(m.lines) {
		do(line)
	}
}

func sourceFixture(t *testing.T, server *testserver.Mosquitto, qos byte, group string) (sourcetest.Fixture, *members) {
	t.Helper()
	name := fmt.Sprintf("s%d", placeCount.Add(1))
	all := &members{lines: map[*member]*testserver.Proxy{}}
	send := newSender(t, server.Addr(), qos)
	return sourcetest.Fixture{
		Join: func(t *testing.T) source.Source {
			line := servertest.Proxy(t, server.Addr())
			one := &member{of: all, id: name}
			if group != "" {
				one.id = all.take(name)
			}
			o := taking(line.Addr(), one.id, name+"/#")
			o.QoS, o.Group, o.MaxUnacked = int(qos), group, suiteUnacked
			one.Source = opened(t, o)
			all.mu.Lock()
			defer all.mu.Unlock()
			all.lines[one] = line
			subscribed(t, server, o)
			return one
		},
		Send: func(t *testing.T, msgs ...source.Message) {
			packed := make([]*packets.Publish, len(msgs))
			for i, m := range msgs {
				packed[i] = &packets.Publish{Topic: name + "/made", Payload: m.Payload, Properties: &packets.Properties{}}
				for _, h := range m.Headers {
					packed[i].Properties.User = append(packed[i].Properties.User, packets.User{Key: h.Name, Value: h.Value})
				}
			}
			send.send(t, packed...)
		},
		Kill: func(t *testing.T, s source.Source) {
			one, ok := s.(*member)
			if !ok {
				t.Fatalf("the source is a %T, and Join made none", s)
			}
			all.mu.Lock()
			line := all.lines[one]
			all.mu.Unlock()
			sever(t, line)
			all.free(one)
		},
		Rebalance: func(*testing.T) { all.each((*testserver.Proxy).Cut) },
	}, all
}

// sender publishes as the user reader, and waits for the answers.
type sender struct {
	mu   sync.Mutex
	conn net.Conn
	in   *bufio.Reader
	qos  byte
	last uint16
}

func newSender(t testing.TB, addr string, qos byte) *sender {
	t.Helper()
	conn, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	s := &sender{conn: conn, in: bufio.NewReader(conn), qos: qos}
	s.write(t, &packets.Connect{
		ProtocolName: "MQTT", ProtocolVersion: 5, CleanStart: true, Properties: &packets.Properties{},
		Username: "reader", UsernameFlag: true, Password: []byte(password), PasswordFlag: true,
	})
	if answer, ok := s.read(t).(*packets.Connack); !ok || answer.ReasonCode != 0 {
		t.Fatal("the sender was not let in")
	}
	return s
}

func (s *sender) write(t testing.TB, p packets.Packet) {
	t.Helper()
	if _, err := p.WriteTo(s.conn); err != nil {
		t.Fatalf("a message of the test cannot be sent: %v", err)
	}
}

func (s *sender) read(t testing.TB) packets.Packet {
	t.Helper()
	if err := s.conn.SetReadDeadline(time.Now().Add(time.Minute)); err != nil {
		t.Fatal(err)
	}
	p, err := packets.ReadPacket(s.in)
	if err != nil {
		t.Fatalf("no answer to a message of the test: %v", err)
	}
	return p.Content
}

// send returns when the broker has the messages.
func (s *sender) send(t testing.TB, msgs ...*packets.Publish) {
	t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	for some := range slices.Chunk(msgs, 200) {
		for _, p := range some {
			p.QoS = s.qos
			if s.last++; s.last == 0 {
				s.last = 1
			}
			if p.QoS > 0 {
				p.PacketID = s.last
			}
			s.write(t, p)
		}
		if s.qos == 0 {
			s.write(t, &packets.Pingreq{})
		}
		for left := len(some); left > 0; {
			switch a := s.read(t).(type) {
			case *packets.Puback:
				left--
			case *packets.Pubrec:
				s.write(t, &packets.Pubrel{PacketID: a.PacketID})
			case *packets.Pubcomp:
				left--
			case *packets.Pingresp:
				left = 0
			default:
				t.Fatalf("the broker answers a message of the test with %T", a)
			}
		}
	}
}
