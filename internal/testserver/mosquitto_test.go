package testserver_test

import (
	"io"
	"net"
	"testing"
	"time"

	"github.com/postbag/postbag/internal/testserver"
	"github.com/postbag/postbag/internal/testserver/servertest"
)

// mqttAsk sends a packet of MQTT 5 over a new connection after a CONNECT as client c, and returns the first bytes of the last
// answer.
func mqttAsk(t *testing.T, m *testserver.Mosquitto, connect, packet string, answer int) string {
	t.Helper()
	conn, err := net.Dial("tcp", m.Addr())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	if err := conn.SetDeadline(time.Now().Add(30 * time.Second)); err != nil {
		t.Fatal(err)
	}
	_, _ = io.WriteString(conn, connect)
	head := make([]byte, 2)
	if _, err := io.ReadFull(conn, head); err != nil {
		t.Fatal(err)
	}
	rest := make([]byte, head[1])
	if _, err := io.ReadFull(conn, rest); err != nil {
		t.Fatal(err)
	}
	if packet == "" {
		return string(rest[1:2])
	}
	_, _ = io.WriteString(conn, packet)
	got := make([]byte, answer)
	if _, err := io.ReadFull(conn, got); err != nil {
		t.Fatalf("no answer: %v", err)
	}
	return string(got)
}

const (
	mqttConnect  = "\x10\x0e\x00\x04MQTT\x05\x02\x00\x05\x00\x00\x01c"
	mqttPublish  = "\x32\x08\x00\x03a/b\x00\x01\x00"                                      // QoS 1, topic a/b, packet 1
	mqttPuback   = "\x40\x03\x00\x01\x10"                                                 // nobody subscribes
	mqttDenied   = "\x40\x03\x00\x01\x87"                                                 // not authorised
	mqttConnectA = "\x10\x15\x00\x04MQTT\x05\xc2\x00\x05\x00\x00\x01c\x00\x01u\x00\x02pw" // user u, password pw
)

func TestMosquittoTakesMessagesAfterStopKillAndPause(t *testing.T) {
	t.Parallel()
	m := servertest.Mosquitto(t, testserver.MosquittoOptions{})
	publish := func() {
		t.Helper()
		if got := mqttAsk(t, m, mqttConnect, mqttPublish, 5); got != mqttPuback {
			t.Errorf("the broker answered % x", got)
		}
	}
	publish()
	for _, down := range []func() error{func() error { return m.Stop(t.Context()) }, func() error { return m.Kill(t.Context()) }} {
		if err := down(); err != nil {
			t.Fatal(err)
		}
		if conn, err := net.Dial("tcp", m.Addr()); err == nil {
			_ = conn.Close()
			t.Error("a broker that is down accepts connections")
		}
		if err := m.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		publish()
	}
	if err := m.Start(t.Context()); err == nil {
		t.Error("a running broker was started a second time")
	}
}

func TestMosquittoKnowsItsUsersAndTheirRights(t *testing.T) {
	t.Parallel()
	m := servertest.Mosquitto(t, testserver.MosquittoOptions{Users: map[string]string{"u": "pw"}, ACL: []string{"user u", "topic write other/#"}})
	if got := mqttAsk(t, m, mqttConnect, "", 0); got != "\x87" {
		t.Errorf("a stranger is answered % x", got)
	}
	if got := mqttAsk(t, m, mqttConnectA, mqttPublish, 5); got != mqttDenied {
		t.Errorf("without the right: % x", got)
	}
	if err := m.SetACL(); err != nil {
		t.Fatal(err)
	}
	deadline := time.NewTimer(30 * time.Second)
	for mqttAsk(t, m, mqttConnectA, mqttPublish, 5) != mqttPuback {
		select {
		case <-deadline.C:
			t.Fatal("the right was never granted")
		case <-time.After(10 * time.Millisecond):
		}
	}
}
