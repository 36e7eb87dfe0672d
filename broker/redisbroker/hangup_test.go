package redisbroker_test

import (
	"testing"
	"time"

	"github.com/postbag/postbag/broker"
	"github.com/postbag/postbag/broker/redisbroker"
	"github.com/postbag/postbag/internal/sendtest"
	"github.com/postbag/postbag/internal/testserver/servertest"
)

func TestAServerThatHangsUpIsUnavailable(t *testing.T) {
	t.Parallel()
	s := sharedServer(t)
	p := newPlace(admin(t, s))
	line := servertest.Proxy(t, s.Addr())
	d := sendtest.Closing(t, dial(t, "redis://"+line.Addr(), redisbroker.Options{}))
	msgs := sendtest.Messages(p.topic, 3)
	sendtest.Wants(t, sendtest.Publish(t, d, 10*time.Second, msgs...), broker.Accepted, "")
	line.Lead(sendtest.Curt(t))
	line.HangUp()
	sendtest.HungUp(t, d, msgs...)
	line.Lead(s.Addr())
	sendtest.Eventually(t, "accepted again", func() bool { return sendtest.Publish(t, d, 10*time.Second, msgs[0])[0].Outcome == broker.Accepted })
}
