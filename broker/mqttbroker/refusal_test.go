package mqttbroker_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/postbag/postbag/broker"
	"github.com/postbag/postbag/broker/mqttbroker"
	"github.com/postbag/postbag/internal/publishtest"
	"github.com/postbag/postbag/internal/testserver"
	"github.com/postbag/postbag/internal/testserver/servertest"
)

func TestATopicThatIsDeniedIsMisconfiguredUntilItIsGranted(t *testing.T) {
	t.Parallel()
	for qos := 1; qos <= 2; qos++ {
		s := own(t, func(o *testserver.MosquittoOptions) {
			o.ACL = []string{"user reader", "topic readwrite #", "user relay", "topic write elsewhere"}
		})
		p := newPlace(t, s)
		d := dial(t, s.Addr(), mqttbroker.Options{QoS: qos})
		m := publishtest.Messages(p.topic, 1)
		wants(t, publishtest.Publish(t, d, 10*time.Second, m...), broker.Misconfigured, "0x87: not authorized")
		if err := s.SetACL(); err != nil {
			t.Fatal(err)
		}
		publishtest.Eventually(t, "granted", func() bool { return publishtest.Publish(t, d, 10*time.Second, m...)[0].Outcome == broker.Accepted })
	}
}

func TestAMessageWithoutSubscribersIsMisconfiguredUnlessAllowed(t *testing.T) {
	t.Parallel()
	s := sharedServer(t)
	m := publishtest.Messages(fmt.Sprintf("nobody/%d", placeCount.Add(1)), 3)
	wants(t, publishtest.Publish(t, dial(t, s.Addr(), mqttbroker.Options{}), 10*time.Second, m...), broker.Misconfigured, "nobody subscribes")
	wants(t, publishtest.Publish(t, dial(t, s.Addr(), mqttbroker.Options{Unheard: true}), 10*time.Second, m...), broker.Accepted, "no subscribers")
	wants(t, publishtest.Publish(t, dial(t, s.Addr(), mqttbroker.Options{QoS: 2}), 10*time.Second, m...), broker.Accepted, "") // Mosquitto does not say
}

func TestALaterSubscriberGetsTheRetainedMessage(t *testing.T) {
	t.Parallel()
	s := own(t, nil)
	m := publishtest.Messages(fmt.Sprintf("p%d/made", placeCount.Load()+1), 1)
	wants(t, publishtest.Publish(t, dial(t, s.Addr(), mqttbroker.Options{Retain: true}), 10*time.Second, m...), broker.Accepted, "")
	p := &place{}
	for p.topic != m[0].Topic { // other tests take numbers too
		m[0].Topic = fmt.Sprintf("p%d/made", placeCount.Load()+1)
		wants(t, publishtest.Publish(t, dial(t, s.Addr(), mqttbroker.Options{Retain: true}), 10*time.Second, m...), broker.Accepted, "")
		p = newPlace(t, s)
	}
	publishtest.Eventually(t, "the retained message has come", func() bool { return len(p.all(t)) == 1 })
}

func TestABrokerWithoutRetainingOrQoS2IsMisconfigured(t *testing.T) {
	t.Parallel()
	s := own(t, func(o *testserver.MosquittoOptions) {
		o.Settings["retain_available"] = "false"
		o.Listener = map[string]string{"max_qos": "1"}
	})
	p := newPlace(t, s)
	m := publishtest.Messages(p.topic, 2)
	wants(t, publishtest.Publish(t, dial(t, s.Addr(), mqttbroker.Options{Retain: true}), 10*time.Second, m...), broker.Misconfigured, "retains no messages")
	wants(t, publishtest.Publish(t, dial(t, s.Addr(), mqttbroker.Options{QoS: 2}), 10*time.Second, m...), broker.Misconfigured, "QoS 1 at most")
	wants(t, publishtest.Publish(t, dial(t, s.Addr(), mqttbroker.Options{}), 10*time.Second, m...), broker.Accepted, "")
}

func TestALoginThatIsRefusedIsMisconfigured(t *testing.T) {
	t.Parallel()
	m := publishtest.Messages("orders", 2)
	for name, login := range map[string]mqttbroker.Login{
		"a wrong password": {User: "relay", Password: "another-" + password}, "a stranger": {User: "stranger", Password: password},
	} {
		d := dial(t, sharedServer(t).Addr(), mqttbroker.Options{Login: login})
		wants(t, publishtest.Publish(t, d, 10*time.Second, m...), broker.Misconfigured, "refuses the connection")
		if got := broker.OutcomeOf(d.Probe(publishtest.Timeout(t, 10*time.Second))); got != broker.Misconfigured {
			t.Errorf("%s: the probe says %v", name, got)
		}
	}
}

func TestAMessageToAnInvalidTopicIsRejected(t *testing.T) {
	t.Parallel()
	p := newPlace(t, sharedServer(t))
	d := dial(t, sharedServer(t).Addr(), mqttbroker.Options{})
	m := publishtest.Messages(p.topic, 9)
	bad := []string{"", "a/+/b", "a/#", "$SYS/x", "a\x00b", "a\xffb", strings.Repeat("t", 1<<16), "a\u0007b"}
	for i, topic := range bad {
		m[i].Topic = topic
	}
	results := publishtest.Publish(t, d, 10*time.Second, m...)
	wants(t, results[:len(bad)], broker.Rejected, "the topic ")
	wants(t, results[len(bad):], broker.Accepted, "")
}

// Mosquitto tells nobody of its message_size_limit before, and refuses with a reason that the standard does not name for a
// PUBACK.
func TestAMessageBeyondTheSizeLimitOfTheBrokerIsRejectedAlone(t *testing.T) {
	t.Parallel()
	s := own(t, func(o *testserver.MosquittoOptions) { o.Settings["message_size_limit"] = "1000" })
	p := newPlace(t, s)
	for qos := 1; qos <= 2; qos++ {
		m := publishtest.Messages(p.topic, 5)
		m[2].Payload = []byte(strings.Repeat("x", 3000))
		results := publishtest.Publish(t, dial(t, s.Addr(), mqttbroker.Options{QoS: qos}), 10*time.Second, m...)
		wants(t, results[2:3], broker.Rejected, "0x95: packet too large")
		wants(t, slices.Delete(results, 2, 3), broker.Accepted, "")
	}
}

// Mosquitto takes 200 levels at most, and closes the connection on more.
func TestAMessageThatEndsTheConnectionIsFoundAndRejected(t *testing.T) {
	t.Parallel()
	p := newPlace(t, sharedServer(t))
	d := dial(t, sharedServer(t).Addr(), mqttbroker.Options{})
	m := publishtest.Messages(p.topic, 12)
	m[5].Topic = p.topic + strings.Repeat("/x", 300)
	fate := map[int]broker.Outcome{}
	publishtest.Eventually(t, "each message has its fate", func() bool {
		var rest []broker.Delivery
		var which []int
		for i := range m {
			if fate[i] == broker.Unknown {
				rest, which = append(rest, m[i]), append(which, i)
			}
		}
		for k, r := range publishtest.Publish(t, d, 10*time.Second, rest...) {
			if r.Outcome == broker.Accepted || r.Outcome == broker.Rejected {
				fate[which[k]] = r.Outcome
			}
		}
		return len(fate) == len(m)
	})
	for i := range m {
		if want := (map[bool]broker.Outcome{true: broker.Rejected, false: broker.Accepted})[i == 5]; fate[i] != want {
			t.Errorf("message %d is %v, want %v", i, fate[i], want)
		}
	}
	wants(t, publishtest.Publish(t, d, 10*time.Second, publishtest.Messages(p.topic, 20)...), broker.Accepted, "")
}

func TestABrokerThatIsNotThereIsUnavailable(t *testing.T) {
	t.Parallel()
	s := own(t, nil)
	if err := s.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	d := dial(t, s.Addr(), mqttbroker.Options{})
	wants(t, publishtest.Publish(t, d, 10*time.Second, publishtest.Messages("orders", 2)...), broker.Unavailable, "cannot be reached")
	line := dial(t, s.Addr()+",mqtt://"+sharedServer(t).Addr(), mqttbroker.Options{Unheard: true})
	wants(t, publishtest.Publish(t, line, 10*time.Second, publishtest.Messages("orders", 2)...), broker.Accepted, "")
}

func TestTheConnectionToAFrozenBrokerEndsAfterTheKeepAlive(t *testing.T) {
	t.Parallel()
	s := own(t, nil)
	p := newPlace(t, s)
	d := dial(t, s.Addr(), mqttbroker.Options{KeepAlive: time.Second})
	m := publishtest.Messages(p.topic, 2)
	wants(t, publishtest.Publish(t, d, 10*time.Second, m[0]), broker.Accepted, "")
	if err := s.Pause(); err != nil {
		t.Fatal(err)
	}
	wants(t, publishtest.Publish(t, d, 200*time.Millisecond, m[1]), broker.Unknown, "no answer came")
	wants(t, publishtest.Publish(t, d, 30*time.Second, m[1]), broker.Unknown, "the broker was silent")
	if err := s.Resume(); err != nil {
		t.Fatal(err)
	}
	publishtest.Eventually(t, "accepted", func() bool { return publishtest.Publish(t, d, 10*time.Second, m[1])[0].Outcome == broker.Accepted })
}

func TestTwoRelaysWithOneClientIDDisconnectEachOther(t *testing.T) {
	t.Parallel()
	p := newPlace(t, sharedServer(t))
	login := mqttbroker.Login{User: "relay", Password: password, ClientID: p.name + "-relay"}
	one, two := dial(t, sharedServer(t).Addr(), mqttbroker.Options{Login: login}), dial(t, sharedServer(t).Addr(), mqttbroker.Options{Login: login})
	m := publishtest.Messages(p.topic, 1)
	for range 5 { // each takes the name over, and makes a new connection when it has lost it
		for _, d := range []broker.Destination{one, two} {
			publishtest.Eventually(t, "accepted", func() bool { return publishtest.Publish(t, d, 10*time.Second, m...)[0].Outcome == broker.Accepted })
		}
	}
}

func TestABrokerWhoseCertificateIsNotTrustedIsMisconfigured(t *testing.T) {
	t.Parallel()
	s := servertest.Mosquitto(t, testserver.MosquittoOptions{TLS: true})
	m := publishtest.Messages("orders", 2)
	secure := func(login mqttbroker.Login) *mqttbroker.Destination {
		d, err := mqttbroker.Dial(t.Context(), "mqtts://"+s.Addr(), mqttbroker.Options{Login: login, Unheard: true})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = d.Close(publishtest.Timeout(t, 10*time.Second)) })
		return d
	}
	wants(t, publishtest.Publish(t, secure(mqttbroker.Login{}), 20*time.Second, m...), broker.Misconfigured, "not trusted")
	config, err := s.ClientTLS("")
	if err != nil {
		t.Fatal(err)
	}
	wants(t, publishtest.Publish(t, secure(mqttbroker.Login{TLS: config}), 20*time.Second, m...), broker.Accepted, "")
}

func TestNoMoreThanTheReceiveMaximumIsInFlight(t *testing.T) {
	t.Parallel()
	s := own(t, func(o *testserver.MosquittoOptions) { o.Settings["max_inflight_messages"] = "3" })
	for qos := 1; qos <= 2; qos++ {
		p := newPlace(t, s)
		d := dial(t, s.Addr(), mqttbroker.Options{QoS: qos})
		m := publishtest.Messages(p.topic, 500)
		wants(t, publishtest.Publish(t, d, 60*time.Second, m...), broker.Accepted, "") // beyond it the broker ends the connection
		if got := len(p.all(t)); got != len(m) {
			t.Errorf("QoS %d: %d messages came, want %d", qos, got, len(m))
		}
	}
}

func TestATopicFunctionThatPanicsRejectsItsMessage(t *testing.T) {
	t.Parallel()
	p := newPlace(t, sharedServer(t))
	d := dial(t, sharedServer(t).Addr(), mqttbroker.Options{TopicOf: func(m broker.Delivery) string {
		if m.Seq == 2 {
			panic(errors.New("no topic"))
		}
		return m.Topic
	}})
	results := publishtest.Publish(t, d, 10*time.Second, publishtest.Messages(p.topic, 3)...)
	wants(t, results[1:2], broker.Rejected, "panicked")
	wants(t, []broker.Result{results[0], results[2]}, broker.Accepted, "")
}
