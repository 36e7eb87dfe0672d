package rabbitbroker_test

import (
	"testing"
	"time"

	"github.com/postbag/postbag/broker"
	"github.com/postbag/postbag/internal/sendtest"
	"github.com/postbag/postbag/internal/testserver/servertest"
)

func TestAServerThatHangsUpIsUnavailable(t *testing.T) {
	t.Parallel()
	p := newPlace(t, shared(t), "classic", false).create(t, nil)
	line := servertest.Proxy(t, address(t, p.url))
	d := sendtest.Closing(t, dial(t, via(t, p.url, line.Addr()), p.options()))
	msgs := sendtest.Messages(p.queue, 3)
	sendtest.Wants(t, sendtest.Publish(t, d, 30*time.Second, msgs...), broker.Accepted, "")
	line.Lead(sendtest.Curt(t))
	line.HangUp()
	sendtest.HungUp(t, d, msgs...)
	line.Lead(address(t, p.url))
	sendtest.Eventually(t, "accepted again", func() bool { return sendtest.Publish(t, d, 10*time.Second, msgs[0])[0].Outcome == broker.Accepted })
}
