package natsbroker_test

import (
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/postbag/postbag/broker"
	"github.com/postbag/postbag/broker/natsbroker"
	"github.com/postbag/postbag/internal/publishtest"
)

func TestAMessageIsKeptAsLongAsItsHeaderSays(t *testing.T) {
	t.Parallel()
	nc := startServer(t, nil).connect(t)
	p := newPlace(t, nc).create(t, func(c *jetstream.StreamConfig) { c.AllowMsgTTL = true })
	d := publishtest.Made[*natsbroker.Destination](t)(natsbroker.New(jetStream(t, nc), natsbroker.Options{}))
	msgs := publishtest.Messages(p.topic(), 4)
	for i, ttl := range []string{"1h30m", "never", "1h"} {
		msgs[i].Headers = map[string]string{"nats.ttl": ttl, "mqtt.expiry": "of another", "own": "x"}
	}
	msgs[2].Wire = &broker.Wire{Headers: map[string]string{"own": "x"}}
	for range 2 { // the repeat of each is known for one
		publishtest.Wants(t, publishtest.Publish(t, d, 10*time.Second, msgs...), broker.Accepted, "")
	}
	held := p.read(t)
	if len(held) != len(msgs) {
		t.Fatalf("the stream holds %d messages", len(held))
	}
	for i, want := range []string{"5400", "never", "3600", ""} {
		h := held[i].Headers()
		if h.Get("Nats-TTL") != want {
			t.Errorf("message %d has the TTL %q, want %q", i, h.Get("Nats-TTL"), want)
		}
		for name := range h {
			if broker.IsProperty(name) || strings.Contains(name, "expiry") {
				t.Errorf("message %d has the header %s", i, name)
			}
		}
	}
	brief := publishtest.Messages(p.topic(), 1)
	brief[0].Headers = map[string]string{"nats.ttl": "1s"}
	publishtest.Wants(t, publishtest.Publish(t, d, 10*time.Second, brief...), broker.Accepted, "")
	publishtest.Eventually(t, "the message with a TTL of a second is gone", func() bool { return p.held(t) == len(msgs) })
}

func TestATTLThatIsNoneIsRejectedAlone(t *testing.T) {
	t.Parallel()
	nc := startServer(t, nil).connect(t)
	p := newPlace(t, nc).create(t, func(c *jetstream.StreamConfig) { c.AllowMsgTTL = true })
	d := publishtest.Made[*natsbroker.Destination](t)(natsbroker.New(jetStream(t, nc), natsbroker.Options{PassHeaders: []string{"Nats-TTL"}}))
	for _, headers := range []map[string]string{
		{"nats.ttl": "CANARY"},
		{"nats.ttl": "0s"},
		{"nats.ttl": "1500ms"},
		{"nats.ttl": "60"},
		{"nats.ttl": "876001h"},
		{"nats.ttl": "2562047h"},
		{"nats.ttl": ""},
		{"nats.tll": "1h", "nats.ttl": "1h"},
		{"nats.ttl": "1h", "Nats-TTL": "2h"},
	} {
		msgs := publishtest.Messages(p.topic(), 2)
		msgs[0].Headers = headers
		results := publishtest.Publish(t, d, 10*time.Second, msgs...)
		if err := results[0].Err; results[0].Outcome != broker.Rejected || !strings.Contains(err.Error(), "nats.t") || strings.Contains(err.Error(), "CANARY") {
			t.Errorf("%v: %v", headers, results[0])
		}
		if results[1].Outcome != broker.Accepted {
			t.Errorf("%v: the message beside it is %v", headers, results[1])
		}
		if _, two := headers["Nats-TTL"]; natsbroker.CheckHeaders(headers) == nil != two {
			t.Errorf("%v: when it is published: %v", headers, natsbroker.CheckHeaders(headers))
		}
	}
}

// Others of its topic do not wait for it.
func TestAMessageWithATTLIsRejectedByAStreamThatKnowsNone(t *testing.T) {
	t.Parallel()
	nc := startServer(t, nil).connect(t)
	p := newPlace(t, nc).create(t, nil)
	d := publishtest.Made[*natsbroker.Destination](t)(natsbroker.New(jetStream(t, nc), natsbroker.Options{}))
	msgs := publishtest.Messages(p.topic(), 1)
	msgs[0].Headers = map[string]string{"nats.ttl": "1h"}
	r := publishtest.Publish(t, d, 10*time.Second, msgs...)[0]
	if r.Outcome != broker.Rejected || !strings.Contains(r.Err.Error(), "10166") {
		t.Errorf("it is %v, of scope %v", r, r.Scope)
	}
}
