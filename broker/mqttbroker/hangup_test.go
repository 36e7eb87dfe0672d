package mqttbroker_test

import (
	"testing"
	"time"

	"github.com/postbag/postbag/broker"
	"github.com/postbag/postbag/broker/mqttbroker"
	"github.com/postbag/postbag/internal/publishtest"
	"github.com/postbag/postbag/internal/testserver/servertest"
)

func TestABrokerThatHangsUpIsUnavailable(t *testing.T) {
	t.Parallel()
	s := sharedServer(t)
	p := newPlace(t, s)
	line := servertest.Proxy(t, s.Addr())
	d := dial(t, line.Addr(), mqttbroker.Options{})
	msgs := publishtest.Messages(p.topic, 3)
	wants(t, publishtest.Publish(t, d, 10*time.Second, msgs...), broker.Accepted, "")
	line.Lead(publishtest.Curt(t))
	line.HangUp()
	publishtest.HungUp(t, d, msgs...)
	line.Lead(s.Addr())
	publishtest.Eventually(t, "accepted again", func() bool { return publishtest.Publish(t, d, 10*time.Second, msgs[0])[0].Outcome == broker.Accepted })
}
