package mqttbroker_test

import (
	"bufio"
	"errors"
	"fmt"
	"net"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/eclipse/paho.golang/packets"

	"github.com/postbag/postbag/broker/mqttbroker"
	"github.com/postbag/postbag/internal/publishtest"
	"github.com/postbag/postbag/source"
)

// script is a broker that does what a test tells it, for what Mosquitto never does. It takes one
// connection.
type script struct {
	listener *net.TCPListener
	conn     net.Conn
	in       *bufio.Reader
	hello    *packets.Connect
}

// scripted is a broker and a source of it, whose subscription was answered with these codes.
func scripted(t *testing.T, connack *packets.Connack, change func(o *mqttbroker.SourceOptions), codes ...byte) (*script, *mqttbroker.Source) {
	t.Helper()
	listener, err := net.ListenTCP("tcp", &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	o := taking(listener.Addr().String(), "scripted", "a/#")
	if change != nil {
		change(&o)
	}
	s := opened(t, o)
	b := &script{listener: listener}
	b.accept(t, connack, codes...)
	return b, s
}

// accept takes the next connection, up to the answer to its subscriptions.
func (b *script) accept(t *testing.T, connack *packets.Connack, codes ...byte) {
	t.Helper()
	if err := b.listener.SetDeadline(time.Now().Add(20 * time.Second)); err != nil {
		t.Fatal(err)
	}
	conn, err := b.listener.Accept()
	if err != nil {
		t.Fatalf("the source does not connect: %v", err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	b.conn, b.in = conn, bufio.NewReader(conn)
	hello, ok := b.read(t).(*packets.Connect)
	if !ok || hello.CleanStart {
		t.Fatal("the source begins with something else than CONNECT, or with a clean start")
	}
	b.hello = hello
	if connack.Properties == nil {
		connack.Properties = &packets.Properties{}
	}
	b.write(t, connack)
	if p, ok := b.read(t).(*packets.Subscribe); ok {
		b.write(t, &packets.Suback{PacketID: p.PacketID, Properties: &packets.Properties{}, Reasons: codes})
	}
}

func (b *script) write(t *testing.T, p packets.Packet) {
	t.Helper()
	if _, err := p.WriteTo(b.conn); err != nil {
		t.Fatal(err)
	}
}

// read returns the next packet.
func (b *script) read(t *testing.T) packets.Packet {
	t.Helper()
	if err := b.conn.SetReadDeadline(time.Now().Add(20 * time.Second)); err != nil {
		t.Fatal(err)
	}
	p, err := packets.ReadPacket(b.in)
	if err != nil {
		t.Fatalf("the source sends nothing: %v", err)
	}
	return p.Content
}

// answers are the next n packets that are no sign of life, as text. Those it answers.
func (b *script) answers(t *testing.T, n int) (all []string) {
	t.Helper()
	for len(all) < n {
		switch p := b.read(t).(type) {
		case *packets.Pingreq:
			b.write(t, &packets.Pingresp{})
		case *packets.Puback:
			all = append(all, fmt.Sprint("puback ", p.PacketID))
		case *packets.Pubrec:
			all = append(all, fmt.Sprint("pubrec ", p.PacketID))
		case *packets.Pubcomp:
			all = append(all, fmt.Sprint("pubcomp ", p.PacketID))
		default:
			t.Fatalf("the source sends %T", p)
		}
	}
	return all
}

func publish(id uint16, qos byte) *packets.Publish {
	return &packets.Publish{Topic: "a/b", PacketID: id, QoS: qos, Payload: fmt.Append(nil, id), Properties: &packets.Properties{}}
}

// comes waits until a message comes, beyond the errors of an outage.
func comes(t *testing.T, s *mqttbroker.Source) {
	t.Helper()
	publishtest.Eventually(t, "a message comes", func() bool {
		batch, err := s.Fetch(publishtest.Timeout(t, time.Second), source.Limits{})
		return err == nil && len(batch.Messages) > 0
	})
}

func wantAnswers(t *testing.T, got []string, want ...string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Fatalf("the source answers %q, want %q", got, want)
	}
}

func TestTheBrokerHearsHowMuchMayBeUnackedAndHowLongTheSessionLasts(t *testing.T) {
	t.Parallel()
	b, _ := scripted(t, &packets.Connack{}, func(o *mqttbroker.SourceOptions) { o.MaxUnacked, o.SessionExpiry = 7, time.Hour }, 1)
	most, expiry := b.hello.Properties.ReceiveMaximum, b.hello.Properties.SessionExpiryInterval
	if most == nil || *most != 7 || expiry == nil || *expiry != 3600 {
		t.Errorf("the source says %v", b.hello)
	}
	b, _ = scripted(t, &packets.Connack{}, nil, 1)
	if most, expiry := b.hello.Properties.ReceiveMaximum, b.hello.Properties.SessionExpiryInterval; *most != 1000 || *expiry != 7*24*3600 {
		t.Errorf("by default the source says %d and %d", *most, *expiry)
	}
}

// MQTT 5, section 4.6. What Mosquitto sends with QoS 1 is numbered in sequence; another broker may number as it likes.
func TestAcksGoOutInTheSequenceOfArrival(t *testing.T) {
	t.Parallel()
	for qos, kind := range map[byte]string{1: "puback", 2: "pubrec"} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			b, s := scripted(t, &packets.Connack{}, func(o *mqttbroker.SourceOptions) { o.QoS = int(qos) }, qos)
			for _, id := range []uint16{5, 3, 9, 7} {
				b.write(t, publish(id, qos))
			}
			msgs, _ := fetched(t, s, 4)
			acked(t, s, 0, msgs[3], msgs[1], msgs[2])
			b.write(t, &packets.Pubrel{PacketID: 100}) // a handshake of an earlier connection: its end is the first thing said
			wantAnswers(t, b.answers(t, 1), "pubcomp 100")
			acked(t, s, 0, msgs[0])
			wantAnswers(t, b.answers(t, 4), kind+" 5", kind+" 3", kind+" 9", kind+" 7")
		})
	}
}

func TestAMessageOfQoS2IsReceivedWhenItIsAckedAndCompletedWhenItIsReleased(t *testing.T) {
	t.Parallel()
	b, s := scripted(t, &packets.Connack{}, func(o *mqttbroker.SourceOptions) { o.QoS = 2 }, 2)
	b.write(t, publish(1, 2))
	msgs, _ := fetched(t, s, 1)
	acked(t, s, 0, msgs...)
	wantAnswers(t, b.answers(t, 1), "pubrec 1")
	b.write(t, &packets.Pubrel{PacketID: 1})
	wantAnswers(t, b.answers(t, 1), "pubcomp 1")
}

func TestAMessageThatCannotBeDecodedHindersNoOther(t *testing.T) {
	t.Parallel()
	b, s := scripted(t, &packets.Connack{}, nil, 1)
	b.write(t, publish(1, 1))
	unknown := []byte{0x32, 12, 0, 3, 'a', '/', 'b', 0, 2, 2, 0x7e, 1, 'h', 'i'} // a property that MQTT 5 does not know
	noTopic := []byte{0x32, 6, 0, 0, 0, 3, 0, 'x'}
	cut := []byte{0x32, 12, 0, 3, 'a', '/', 'b', 0, 4, 9, 0x26, 0, 9, 'x'} // a name that ends too early
	for _, raw := range [][]byte{unknown, noTopic, cut} {
		if _, err := b.conn.Write(raw); err != nil {
			t.Fatal(err)
		}
	}
	b.write(t, publish(5, 1))
	msgs, _ := fetched(t, s, 5)
	for i, m := range msgs {
		if bad := i > 0 && i < 4; bad != (m.Err != nil) || bad && !strings.Contains(m.Err.Error(), source.ErrUndecodable.Error()) {
			t.Errorf("message %d has the error %v", i+1, m.Err)
		}
	}
	if msgs[1].Topic != "a/b" {
		t.Errorf("the topic that could be read is %q", msgs[1].Topic)
	}
	acked(t, s, 0, msgs...)
	wantAnswers(t, b.answers(t, 5), "puback 1", "puback 2", "puback 3", "puback 4", "puback 5")
}

func TestWhatIsNoPacketEndsTheConnectionAndTheSourceGoesOn(t *testing.T) {
	t.Parallel()
	for name, raw := range map[string][]byte{
		"a length of five bytes":          {0x30, 0xff, 0xff, 0xff, 0xff, 1},
		"a message without an identifier": {0x32, 2, 0, 0},
		"a message of QoS 3":              {0x36, 6, 0, 1, 'a', 0, 1, 0},
		"an identifier of zero":           {0x32, 6, 0, 1, 'a', 0, 0, 0},
		"a release without an identifier": {0x62, 1, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b, s := scripted(t, &packets.Connack{}, nil, 1)
			if _, err := b.conn.Write(raw); err != nil {
				t.Fatal(err)
			}
			says(t, s, source.ErrUnavailable, "something that is no packet of MQTT 5")
			b.accept(t, &packets.Connack{SessionPresent: true}, 1)
			b.write(t, publish(1, 1))
			comes(t, s)
		})
	}
}

func TestEveryAnswerToASubscriptionHasItsClass(t *testing.T) {
	t.Parallel()
	for code, want := range map[byte]struct {
		class error
		words string
	}{
		0x00: {source.ErrMisconfigured, "with QoS 0 only"},
		0x80: {source.ErrUnavailable, "reason 0x80"},
		0x83: {source.ErrUnavailable, "reason 0x83"},
		0x87: {source.ErrMisconfigured, `refuses the filter "a/#" (reason 0x87: not authorized); grant`},
		0x8f: {source.ErrMisconfigured, "reason 0x8f"},
		0x91: {source.ErrUnavailable, "reason 0x91"},
		0x97: {source.ErrUnavailable, "quota exceeded"},
		0x9e: {source.ErrMisconfigured, "unset SourceOptions.Group"},
		0xa1: {source.ErrMisconfigured, "reason 0xa1"},
		0xa2: {source.ErrMisconfigured, "without + and #"},
		0xf0: {source.ErrMisconfigured, "unknown to MQTT 5"},
	} {
		t.Run(fmt.Sprintf("0x%02x", code), func(t *testing.T) {
			t.Parallel()
			b, s := scripted(t, &packets.Connack{}, nil, code)
			says(t, s, want.class, want.words)
			b.accept(t, &packets.Connack{SessionPresent: true}, 1) // it goes on when that is over
			b.write(t, publish(1, 1))
			comes(t, s)
		})
	}
}

func TestABrokerThatEndsTheConnectionWithAReasonIsQuoted(t *testing.T) {
	t.Parallel()
	b, s := scripted(t, &packets.Connack{}, nil, 1)
	b.write(t, &packets.Disconnect{ReasonCode: 0x98, Properties: &packets.Properties{}})
	says(t, s, source.ErrUnavailable, "the broker ended the connection (reason 0x98)")
	b.accept(t, &packets.Connack{SessionPresent: true}, 1)
	b.write(t, &packets.Disconnect{ReasonCode: 0x8e, Properties: &packets.Properties{}})
	says(t, s, source.ErrMisconfigured, `another client connects with the client id "scripted", and the broker ends this connection for it; give each program a SourceOptions.Login.ClientID of its own`)
	b.accept(t, &packets.Connack{SessionPresent: true}, 1) // after a second
	b.write(t, publish(1, 1))
	comes(t, s)
}

func TestASessionThatIsKeptForLessThanWasAskedIsToldOnce(t *testing.T) {
	t.Parallel()
	told := make(chan error, 10)
	kept := uint32(60)
	short := func(present bool) *packets.Connack {
		return &packets.Connack{SessionPresent: present, Properties: &packets.Properties{SessionExpiryInterval: &kept}}
	}
	b, s := scripted(t, short(false), func(o *mqttbroker.SourceOptions) { o.OnFault = func(err error) { told <- err } }, 1)
	if err := <-told; !strings.Contains(err.Error(), "the broker keeps the session for 1m0s after the connection ends, and SourceOptions.SessionExpiry is 168h0m0s") {
		t.Errorf("OnFault hears %v", err)
	}
	b.write(t, publish(1, 1))
	fetched(t, s, 1)
	_ = b.conn.Close()
	b.accept(t, short(true), 1)
	b.write(t, publish(1, 1))
	fetched(t, s, 1)
	if len(told) > 0 {
		t.Errorf("OnFault hears again: %v", <-told)
	}
}

func TestCloseLeavesWhenItIsSureThatTheBrokerHasTheAcks(t *testing.T) {
	t.Parallel()
	b, s := scripted(t, &packets.Connack{}, nil, 1)
	b.write(t, publish(1, 1))
	msgs, _ := fetched(t, s, 1)
	acked(t, s, 0, msgs...)
	ended := make(chan error, 1)
	go func() { ended <- s.Close(publishtest.Timeout(t, 20*time.Second)) }()
	if ack, ok := b.read(t).(*packets.Puback); !ok || ack.PacketID != 1 {
		t.Fatal("the source does not ack")
	}
	if _, ok := b.read(t).(*packets.Pingreq); !ok {
		t.Fatal("the source does not ask for a sign of life behind the ack")
	}
	if err := b.conn.SetReadDeadline(time.Now().Add(500 * time.Millisecond)); err != nil {
		t.Fatal(err)
	}
	if _, err := b.in.Peek(1); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Fatalf("before the answer the source goes on, or leaves: %v", err)
	}
	b.write(t, &packets.Pingresp{})
	if leave, ok := b.read(t).(*packets.Disconnect); !ok || leave.ReasonCode != 0 || leave.Properties.SessionExpiryInterval != nil {
		t.Fatalf("the source leaves with %+v", leave)
	}
	_ = b.conn.Close()
	if err := <-ended; err != nil {
		t.Errorf("Close says %v", err)
	}
}

// No Receive Maximum bounds them.
func TestMessagesOfQoS0AreBoundedByMaxUnackedToo(t *testing.T) {
	t.Parallel()
	b, s := scripted(t, &packets.Connack{}, func(o *mqttbroker.SourceOptions) { o.MaxUnacked, o.KeepAlive = 4, time.Second }, 1)
	const total = 64
	written := make(chan int, total)
	go func() {
		defer close(written)
		for i := range total {
			p := publish(0, 0)
			p.Payload = []byte(strings.Repeat("x", 1<<20))
			if _, err := p.WriteTo(b.conn); err != nil {
				return
			}
			written <- i
		}
	}()
	msgs, _ := fetched(t, s, 4)
	nothing(t, s, 3*time.Second) // for longer than the keep-alive: the source reads nothing, and bears that it hears nothing
	if n := len(written); n > total/2 {
		t.Fatalf("the source read %d messages, and 4 may be there", n)
	}
	came := len(msgs)
	for came < total {
		acked(t, s, 0, msgs...)
		msgs, _ = fetched(t, s, 1)
		if came += len(msgs); len(msgs) > 4 {
			t.Fatalf("%d messages are at work, want 4 at most", len(msgs))
		}
	}
}
