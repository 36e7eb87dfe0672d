package mqttbroker_test

import (
	"bufio"
	"fmt"
	"net"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/eclipse/paho.golang/packets"

	"github.com/postbag/postbag/broker"
	"github.com/postbag/postbag/broker/mqttbroker"
	"github.com/postbag/postbag/internal/publishtest"
	"github.com/postbag/postbag/internal/testserver"
	"github.com/postbag/postbag/internal/testserver/servertest"
)

// visitor is a subscriber with a session that lasts, who comes and goes.
type visitor struct {
	*bufio.Reader

	conn net.Conn
}

func visit(t *testing.T, s *testserver.Mosquitto, user string) *visitor {
	t.Helper()
	conn, err := net.Dial("tcp", s.Addr())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	if err := conn.SetDeadline(time.Now().Add(time.Minute)); err != nil {
		t.Fatal(err)
	}
	v := &visitor{bufio.NewReader(conn), conn}
	expiry := uint32(600)
	v.write(t, &packets.Connect{
		ProtocolName: "MQTT", ProtocolVersion: 5, ClientID: "visitor", KeepAlive: 60, Properties: &packets.Properties{SessionExpiryInterval: &expiry},
		Username: user, UsernameFlag: user != "", Password: []byte(password), PasswordFlag: user != "",
	})
	if answer, ok := v.read(t).(*packets.Connack); !ok || answer.ReasonCode != 0 {
		t.Fatal("the visitor was not let in")
	}
	return v
}

func (v *visitor) write(t *testing.T, p packets.Packet) {
	t.Helper()
	if _, err := p.WriteTo(v.conn); err != nil {
		t.Fatal(err)
	}
}

func (v *visitor) read(t *testing.T) packets.Packet {
	t.Helper()
	p, err := packets.ReadPacket(v)
	if err != nil {
		t.Fatal(err)
	}
	return p.Content
}

func (v *visitor) subscribe(t *testing.T, topic string) {
	t.Helper()
	v.write(t, &packets.Subscribe{PacketID: 1, Properties: &packets.Properties{}, Subscriptions: []packets.SubOptions{{Topic: topic, QoS: 1}}})
	for { // what the session kept may come first
		if _, ok := v.read(t).(*packets.Suback); ok {
			return
		}
	}
}

// payloads takes what comes, in its order, up to a payload.
func (v *visitor) payloads(t *testing.T, last string) []string {
	t.Helper()
	var got []string
	for !slices.Contains(got, last) {
		if p, ok := v.read(t).(*packets.Publish); ok {
			got = append(got, string(p.Payload))
			v.write(t, &packets.Puback{PacketID: p.PacketID, Properties: &packets.Properties{}})
		}
	}
	return got
}

// reloaded is what the log of Mosquitto says of it.
const reloaded = "Reloading config."

// A session that Mosquitto has read from its file belongs to nobody until its client
// comes. Mosquitto 2.0.11 gives it no rights by lines of "topic" until then, where the
// client has no user name or the ACL file is read again, and drops what it
// acknowledges meanwhile.
func TestMessagesAcceptedBeforeASubscriberReconnectsAfterARestartAreKept(t *testing.T) {
	t.Parallel()
	users := map[string]string{"relay": password, "visitor": password}
	for name, c := range map[string]struct {
		options testserver.MosquittoOptions
		user    string
		reload  bool // the ACL file is read again after the restart
	}{
		"without users":           {testserver.MosquittoOptions{}, "", false},
		"without users, reloaded": {testserver.MosquittoOptions{ACL: []string{"pattern readwrite #"}}, "", true},
		"with users":              {testserver.MosquittoOptions{Users: users, ACL: []string{"user relay", "topic write kept", "user visitor", "topic read kept"}}, "visitor", false},
		"with users, reloaded":    {testserver.MosquittoOptions{Users: users, ACL: []string{"user relay", "topic write kept", "pattern read kept"}}, "visitor", true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := servertest.Mosquitto(t, c.options)
			restart := func() {
				t.Helper()
				if err := s.Restart(t.Context()); err != nil {
					t.Fatal(err)
				}
				if !c.reload {
					return
				}
				before := strings.Count(s.Log(), reloaded)
				if err := s.SetACL(c.options.ACL...); err != nil {
					t.Fatal(err)
				}
				publishtest.Eventually(t, "read again", func() bool { return strings.Count(s.Log(), reloaded) > before })
			}
			v := visit(t, s, c.user)
			v.subscribe(t, "kept")
			o := mqttbroker.Options{}
			if c.user != "" {
				o.Login = mqttbroker.Login{User: "relay", Password: password}
			}
			d, err := mqttbroker.Dial(t.Context(), "mqtt://"+s.Addr(), o)
			if err != nil {
				t.Fatal(err)
			}
			publishtest.Closing(t, d)
			var sent []string
			send := func() {
				t.Helper()
				msgs := publishtest.Messages("kept", 20)
				for i := range msgs {
					text := fmt.Sprintf("%03d", len(sent))
					msgs[i].Payload, sent = []byte(text), append(sent, text)
					publishtest.Eventually(t, "accepted", func() bool {
						return publishtest.Publish(t, d, 10*time.Second, msgs[i])[0].Outcome == broker.Accepted
					})
				}
			}
			restart() // the visitor is not back
			send()
			restart()
			send()
			v = visit(t, s, c.user)
			send()
			if got := v.payloads(t, sent[len(sent)-1]); !slices.Equal(got, sent) {
				t.Errorf("of %d messages that were accepted, %d came: %v", len(sent), len(got), got)
			}
		})
	}
}

// Mosquitto 2.0.11 closes the connection of the first without a word.
func TestTwoProgramsWithOneClientIDSayItAndLeaveEachOtherAlone(t *testing.T) {
	t.Parallel()
	s := own(t, nil)
	p := newPlace(t, s)
	o := mqttbroker.Options{Login: mqttbroker.Login{User: "relay", Password: password, ClientID: "the-shop"}}
	first, second := dial(t, s.Addr(), o), dial(t, s.Addr(), o)
	accepted, told := map[*mqttbroker.Destination]int{}, map[*mqttbroker.Destination]int{}
	send := func(d *mqttbroker.Destination) {
		t.Helper()
		results := publishtest.Publish(t, d, 10*time.Second, publishtest.Messages(p.topic, 1)...)
		switch r := results[0]; r.Outcome {
		case broker.Accepted:
			accepted[d]++
		case broker.Misconfigured:
			wants(t, results, broker.Misconfigured, `client id "the-shop"`)
			wants(t, results, broker.Misconfigured, "give each program an Options.Login.ClientID of its own")
			if told[d]++; r.Scope != broker.ScopeDestination {
				t.Errorf("the scope is %v, want the destination's", r.Scope)
			}
		case broker.Unknown, broker.Unavailable, broker.Rejected, broker.NotSent: // as it ends
		}
	}
	tries := 0
	publishtest.Eventually(t, "each told of the other, twice", func() bool {
		tries++
		send(first)
		send(second)
		return told[first] > 1 && told[second] > 1 && accepted[first] > 1 && accepted[second] > 1 && tries >= 150
	})
	if n := strings.Count(s.Log(), " as the-shop "); n > 30 {
		t.Errorf("in %d tries there were %d connections", tries, n)
	}
	if n := accepted[first] + accepted[second]; n < tries*9/10 {
		t.Errorf("of %d tries each, %d messages were accepted: nobody works while the other waits", tries, n)
	}
	if err := first.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	before := accepted[second]
	publishtest.Eventually(t, "alone again", func() bool {
		send(second)
		return accepted[second] > before
	})
}

func TestABrokerThatWasRestartedIsNoRival(t *testing.T) {
	t.Parallel()
	s := own(t, nil)
	p := newPlace(t, s)
	d := dial(t, s.Addr(), mqttbroker.Options{Login: mqttbroker.Login{User: "relay", Password: password, ClientID: "the-shop"}})
	for range 5 {
		publishtest.Eventually(t, "accepted", func() bool {
			r := publishtest.Publish(t, d, 10*time.Second, publishtest.Messages(p.topic, 1)...)[0]
			if r.Outcome == broker.Misconfigured {
				t.Fatalf("a message is misconfigured: %v", r.Err)
			}
			return r.Outcome == broker.Accepted
		})
		if err := s.Restart(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
}
