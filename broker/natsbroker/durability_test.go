package natsbroker_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/postbag/postbag/broker"
	"github.com/postbag/postbag/broker/natsbroker"
	"github.com/postbag/postbag/internal/publishtest"
)

// What the reference page says of streams that acknowledge and do not keep, and
// of repeats, is so.
func TestDurabilityOfAStreamFollowsItsSettings(t *testing.T) {
	t.Parallel()
	nc := startServer(t, nil).connect(t)
	for name, c := range map[string]struct {
		config func(c *jetstream.StreamConfig)
		held   int
	}{
		"everything, without limits":        {nil, 10},
		"the last, with discard old":        {func(c *jetstream.StreamConfig) { c.MaxMsgs = 3 }, 3},
		"nothing, of interest to no one":    {func(c *jetstream.StreamConfig) { c.Retention = jetstream.InterestPolicy }, 0},
		"everything, of a queue for no one": {func(c *jetstream.StreamConfig) { c.Retention = jetstream.WorkQueuePolicy }, 10},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPlace(t, nc).create(t, c.config)
			d := publishtest.Made[*natsbroker.Destination](t)(natsbroker.New(jetStream(t, nc), natsbroker.Options{}))
			publishtest.Wants(t, publishtest.Publish(t, d, 10*time.Second, publishtest.Messages(p.topic(), 10)...), broker.Accepted, "")
			if held := p.held(t); held != c.held {
				t.Errorf("the stream holds %d messages of 10, want %d", held, c.held)
			}
		})
	}
}

func TestARepeatAfterTheWindowIsStoredAgain(t *testing.T) {
	t.Parallel()
	nc := startServer(t, nil).connect(t)
	p := newPlace(t, nc).create(t, func(c *jetstream.StreamConfig) { c.Duplicates = 200 * time.Millisecond })
	d := publishtest.Made[*natsbroker.Destination](t)(natsbroker.New(jetStream(t, nc), natsbroker.Options{}))
	m := publishtest.Messages(p.topic(), 1)
	publishtest.Wants(t, publishtest.Publish(t, d, 10*time.Second, m...), broker.Accepted, "")
	publishtest.Eventually(t, "a repeat is stored a second time", func() bool {
		publishtest.Wants(t, publishtest.Publish(t, d, 10*time.Second, m...), broker.Accepted, "")
		return p.held(t) == 2
	})
}

func TestAStreamMadeAnewTakesMessagesWithoutHelp(t *testing.T) {
	t.Parallel()
	nc := startServer(t, nil).connect(t)
	p := newPlace(t, nc).create(t, nil)
	d := publishtest.Made[*natsbroker.Destination](t)(natsbroker.New(jetStream(t, nc), natsbroker.Options{Stream: p.name}))
	publishtest.Wants(t, publishtest.Publish(t, d, 10*time.Second, publishtest.Messages(p.topic(), 10)...), broker.Accepted, "")
	if err := p.js.DeleteStream(t.Context(), p.name); err != nil {
		t.Fatal(err)
	}
	p.create(t, nil)
	publishtest.Wants(t, publishtest.Publish(t, d, 10*time.Second, publishtest.Messages(p.topic(), 3)...), broker.Accepted, "")
}

// The helper that makes streams waits for the server to remove what is left of a deleted one.
func TestAStreamIsMadeOnceNothingIsInItsWay(t *testing.T) {
	t.Parallel()
	s := startServer(t, nil)
	nc := s.connect(t)
	p := newPlace(t, nc)
	streams := filepath.Join(s.options.StoreDir, server.JetStreamStoreDir, server.DEFAULT_GLOBAL_ACCOUNT, "streams")
	rest := filepath.Join(streams, p.name)
	if err := errors.Join(os.MkdirAll(streams, 0o700), os.WriteFile(rest, nil, 0o600)); err != nil {
		t.Fatal(err)
	}
	asked := 0
	if _, err := nc.Subscribe("$JS.API.STREAM.CREATE."+p.name, func(*nats.Msg) {
		if asked++; asked == 3 {
			_ = os.Remove(rest)
		}
	}); err != nil {
		t.Fatal(err)
	}
	p.create(t, nil)
	d := publishtest.Made[*natsbroker.Destination](t)(natsbroker.New(jetStream(t, nc), natsbroker.Options{}))
	publishtest.Wants(t, publishtest.Publish(t, d, 10*time.Second, publishtest.Messages(p.topic(), 3)...), broker.Accepted, "")
}
