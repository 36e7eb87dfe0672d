package rabbitbroker_test

import (
	"testing"
	"time"

	"github.com/postbag/postbag/broker"
	"github.com/postbag/postbag/internal/publishtest"
	"github.com/postbag/postbag/internal/testserver/servertest"
)

func TestAServerThatHangsUpIsUnavailable(t *testing.T) {
	t.Parallel()
	p := newPlace(t, shared(t), "classic", false).create(t, nil)
	line := servertest.Proxy(t, address(t, p.url))
	d := publishtest.Closing(t, dial(t, via(t, p.url, line.Addr()), p.options()))
	msgs := publishtest.Messages(p.queue, 3)
	publishtest.Wants(t, publishtest.Publish(t, d, 30*time.Second, msgs...), broker.Accepted, "")
	line.Lead(publishtest.Curt(t))
	line.HangUp()
	publishtest.HungUp(t, d, msgs...)
	line.Lead(address(t, p.url))
	publishtest.Eventually(t, "accepted again", func() bool { return publishtest.Publish(t, d, 10*time.Second, msgs[0])[0].Outcome == broker.Accepted })
}
