package natsbroker_test

import (
	"testing"
	"time"

	"github.com/postbag/postbag/broker"
	"github.com/postbag/postbag/broker/natsbroker"
	"github.com/postbag/postbag/internal/publishtest"
	"github.com/postbag/postbag/internal/testserver/servertest"
)

func TestAServerThatHangsUpIsUnavailable(t *testing.T) {
	t.Parallel()
	s := startServer(t, nil)
	p := newPlace(t, s.connect(t)).create(t, nil)
	line := servertest.Proxy(t, s.address())
	d, err := natsbroker.Dial(t.Context(), "nats://"+line.Addr(), natsbroker.Options{Login: natsbroker.Login{User: user, Password: password}})
	if err != nil {
		t.Fatal(err)
	}
	publishtest.Closing(t, d)
	msgs := publishtest.Messages(p.topic(), 3)
	publishtest.Wants(t, publishtest.Publish(t, d, 10*time.Second, msgs...), broker.Accepted, "")
	line.Lead(publishtest.Curt(t))
	line.HangUp()
	publishtest.HungUp(t, d, msgs...)
	line.Lead(s.address())
	publishtest.Eventually(t, "accepted again", func() bool { return publishtest.Publish(t, d, 10*time.Second, msgs[0])[0].Outcome == broker.Accepted })
}
