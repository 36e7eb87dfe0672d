package natsbroker_test

import (
	"bytes"
	"errors"
	"maps"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/broker"
	"github.com/postbag/postbag/broker/natsbroker"
	"github.com/postbag/postbag/internal/publishtest"
)

func TestAConsumerGetsTheMessageThatWasPublished(t *testing.T) {
	t.Parallel()
	nc := startServer(t, nil).connect(t)
	p := newPlace(t, nc).create(t, func(c *jetstream.StreamConfig) { c.RePublish = &jetstream.RePublish{Destination: "again.>"} })
	again, err := nc.SubscribeSync("again.>")
	if err != nil {
		t.Fatal(err)
	}
	sent := broker.Delivery{
		Message: postbag.Message{
			ID: postbag.NewID(), Topic: p.topic(), Key: "schlüssel\r\n%41", Type: "art 1",
			Headers: map[string]string{"trace id": " \x01\n漢字", "Nats-Rollup": "all", "Postbag-Key": "mine", "empty": ""},
			Payload: []byte("\x00\xff\r\n"),
		},
		At: time.Date(2026, 1, 2, 3, 4, 5, 678_901_000, time.UTC),
	}
	d := publishtest.Made[*natsbroker.Destination](t)(natsbroker.New(jetStream(t, nc), natsbroker.Options{}))
	publishtest.Wants(t, publishtest.Publish(t, d, 10*time.Second, sent), broker.Accepted, "")

	got, err := natsbroker.Message(p.read(t)[0])
	if err != nil {
		t.Fatal(err)
	}
	same(t, got, sent)
	republished, err := again.NextMsgWithContext(publishtest.Timeout(t, 10*time.Second))
	if err != nil {
		t.Fatal(err)
	}
	if got, err = natsbroker.CoreMessage(republished); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"Nats-Stream", "Nats-Subject", "Nats-Sequence", "Nats-Time-Stamp", "Nats-Last-Sequence"} {
		delete(got.Headers, name) // of the republishing
	}
	got.Topic = sent.Topic
	same(t, got, sent)
}

func same(t *testing.T, got, want broker.Delivery) {
	t.Helper()
	if got.ID != want.ID || got.Topic != want.Topic || got.Key != want.Key || got.Type != want.Type || !got.At.Equal(want.At) ||
		!maps.Equal(got.Headers, want.Headers) || !bytes.Equal(got.Payload, want.Payload) {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

func TestAMessageOfAnotherPublisherIsErrForeign(t *testing.T) {
	t.Parallel()
	if _, err := natsbroker.CoreMessage(&nats.Msg{Subject: "s", Data: []byte("x")}); !errors.Is(err, natsbroker.ErrForeign) {
		t.Errorf("without headers: %v, want ErrForeign", err)
	}
	for name, header := range map[string]nats.Header{
		"an invalid id":   {broker.HeaderID: {"x"}},
		"an invalid time": {broker.HeaderID: {postbag.NewID().String()}, broker.HeaderTime: {"today"}},
	} {
		if _, err := natsbroker.CoreMessage(&nats.Msg{Subject: "s", Header: header}); err == nil || errors.Is(err, natsbroker.ErrForeign) {
			t.Errorf("%s: %v, want an error that says so", name, err)
		}
	}
}
