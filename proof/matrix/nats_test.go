package matrix

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/postbag/postbag/broker"
	"github.com/postbag/postbag/broker/natsbroker"
	"github.com/postbag/postbag/internal/testserver"
	"github.com/postbag/postbag/internal/testserver/servertest"
)

func startNATS(t *testing.T) *server {
	t.Helper()
	s := servertest.NATS(t, testserver.NATSOptions{})
	return &server{
		place:   func(t *testing.T) *place { return natsPlace(t, s) },
		restart: s.Restart,
	}
}

func natsPlace(t *testing.T, s *testserver.NATS) *place {
	t.Helper()
	nc, err := nats.Connect(s.URL(), nats.MaxReconnects(-1))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(nc.Close)
	js, err := jetstream.New(nc)
	if err != nil {
		t.Fatal(err)
	}
	name := newName()
	// Its own deduplication is as short as the server allows, so that a duplicate shows.
	if _, err := js.CreateStream(t.Context(), jetstream.StreamConfig{
		Name: name, Subjects: []string{name + ".>"}, Storage: jetstream.FileStorage, Duplicates: 100 * time.Millisecond,
	}); err != nil {
		t.Fatal(err)
	}
	return &place{
		topic: name + ".events",
		yaml:  fmt.Sprintf("{nats: {url: %q, stream: %s}}", s.URL(), name),
		open: func(t *testing.T) broker.Destination {
			t.Helper()
			d, err := natsbroker.Dial(t.Context(), s.URL(), natsbroker.Options{Stream: name})
			if err != nil {
				t.Fatal(err)
			}
			return d
		},
		stored: func(t *testing.T) [][]byte {
			t.Helper()
			return natsPayloads(t, js, name)
		},
	}
}

func natsPayloads(t *testing.T, js jetstream.JetStream, stream string) (out [][]byte) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	s, err := js.Stream(ctx, stream)
	if err != nil {
		t.Fatal(err)
	}
	count := int(s.CachedInfo().State.Msgs)
	c, err := s.OrderedConsumer(ctx, jetstream.OrderedConsumerConfig{})
	if err != nil {
		t.Fatal(err)
	}
	for len(out) < count && ctx.Err() == nil {
		batch, err := c.Fetch(min(5000, count-len(out)), jetstream.FetchMaxWait(time.Second))
		if err != nil {
			continue
		}
		for m := range batch.Messages() {
			out = append(out, m.Data())
		}
	}
	return out
}
