package redisbroker_test

import (
	"testing"
	"time"

	"github.com/postbag/postbag/broker"
	"github.com/postbag/postbag/broker/redisbroker"
	"github.com/postbag/postbag/internal/publishtest"
	"github.com/postbag/postbag/internal/testserver/servertest"
)

func TestAServerThatHangsUpIsUnavailable(t *testing.T) {
	t.Parallel()
	s := sharedServer(t)
	p := newPlace(admin(t, s))
	line := servertest.Proxy(t, s.Addr())
	d := publishtest.Closing(t, dial(t, "redis://"+line.Addr(), redisbroker.Options{}))
	msgs := publishtest.Messages(p.topic, 3)
	publishtest.Wants(t, publishtest.Publish(t, d, 10*time.Second, msgs...), broker.Accepted, "")
	line.Lead(publishtest.Curt(t))
	line.HangUp()
	publishtest.HungUp(t, d, msgs...)
	line.Lead(s.Addr())
	publishtest.Eventually(t, "accepted again", func() bool { return publishtest.Publish(t, d, 10*time.Second, msgs[0])[0].Outcome == broker.Accepted })
}
