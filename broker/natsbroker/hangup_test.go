package natsbroker_test

import (
	"testing"
	"time"

	"github.com/postbag/postbag/broker"
	"github.com/postbag/postbag/broker/natsbroker"
	"github.com/postbag/postbag/internal/sendtest"
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
	sendtest.Closing(t, d)
	msgs := sendtest.Messages(p.topic(), 3)
	sendtest.Wants(t, sendtest.Publish(t, d, 10*time.Second, msgs...), broker.Accepted, "")
	line.Lead(sendtest.Curt(t))
	line.HangUp()
	sendtest.HungUp(t, d, msgs...)
	line.Lead(s.address())
	sendtest.Eventually(t, "accepted again", func() bool { return sendtest.Publish(t, d, 10*time.Second, msgs[0])[0].Outcome == broker.Accepted })
}
