package watermillbroker_test

import (
	"bytes"
	"context"
	"errors"
	"maps"
	"testing"

	"github.com/ThreeDotsLabs/watermill"
	"github.com/ThreeDotsLabs/watermill/message"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/broker"
	"github.com/postbag/postbag/broker/watermillbroker"
)

// through sends a delivery through Watermill and returns what came.
func through(t *testing.T, o watermillbroker.Options, m broker.Delivery) *message.Message {
	t.Helper()
	c := newChannel(t)
	outcomes(t, publish(t, over(t, c, o), m), broker.Accepted)
	return c.messages()[0]
}

func TestAConsumerGetsTheMessageThatWasSent(t *testing.T) {
	t.Parallel()
	sent := delivery("schlüssel\n")
	sent.Type, sent.Payload = "art 1", []byte("\x00\xff")
	sent.Headers = map[string]string{"empty": "", "ü": "🙂\r\n"}
	got, err := watermillbroker.Message("conformance", through(t, watermillbroker.Options{}, sent))
	if err != nil {
		t.Fatal(err)
	}
	if got.ID != sent.ID || got.Topic != sent.Topic || got.Key != sent.Key || got.Type != sent.Type || !got.At.Equal(sent.At) ||
		!maps.Equal(got.Headers, sent.Headers) || !bytes.Equal(got.Payload, sent.Payload) {
		t.Errorf("got %+v, want %+v", got, sent)
	}
}

func TestAMessageOfAnotherPublisherIsErrForeign(t *testing.T) {
	t.Parallel()
	if _, err := watermillbroker.Message("t", message.NewMessage("x", nil)); !errors.Is(err, watermillbroker.ErrForeign) {
		t.Errorf("without metadata: %v, want ErrForeign", err)
	}
	for name, metadata := range map[string]message.Metadata{
		"an invalid id":   {broker.HeaderID: "x"},
		"an invalid time": {broker.HeaderID: postbag.NewID().String(), broker.HeaderTime: "today"},
	} {
		m := message.NewMessage("x", nil)
		m.Metadata = metadata
		if _, err := watermillbroker.Message("t", m); err == nil || errors.Is(err, watermillbroker.ErrForeign) {
			t.Errorf("%s: %v, want an error that says so", name, err)
		}
	}
}

func TestTheKeyIsInTheMetadataThatKeyMetadataNames(t *testing.T) {
	t.Parallel()
	o := watermillbroker.Options{KeyMetadata: "partition_key"}
	if got := through(t, o, delivery("k")).Metadata.Get("partition_key"); got != "k" {
		t.Errorf("it is %q", got)
	}
	if _, there := through(t, o, delivery("")).Metadata["partition_key"]; there {
		t.Error("a message without a key has one there")
	}
	encoded := delivery("k")
	encoded.Wire = &broker.Wire{Headers: map[string]string{"id": "1"}}
	if got := through(t, o, encoded).Metadata; !maps.Equal(got, map[string]string{"id": "1", "partition_key": "k"}) {
		t.Errorf("an encoded message has %q", got)
	}
}

func TestAnEncoderKnowsTheProtocolBehindThePublisher(t *testing.T) {
	t.Parallel()
	for binding, want := range map[string]string{broker.BindingKafka: "content-type", broker.BindingRedis: "content-type", broker.BindingAMQP: "Content-Type", "": "Content-Type"} {
		o := watermillbroker.Options{Binding: binding}
		m := delivery("k")
		m.Wire = &broker.Wire{ContentType: "a/b"}
		if got := through(t, o, m).Metadata; !maps.Equal(got, map[string]string{want: "a/b"}) {
			t.Errorf("%q: the metadata are %q", binding, got)
		}
		if f := over(t, newChannel(t), o).Features(); f.Binding != binding {
			t.Errorf("%q: declared is %q", binding, f.Binding)
		}
	}
}

// What Watermill's user publishes comes out as it went in, whatever its UUID.
func TestAMessageGoesThroughABoxAndBack(t *testing.T) {
	t.Parallel()
	for name, uuid := range map[string]string{
		"a UUID": watermill.NewUUID(), "a ULID": watermill.NewULID(), "a short one": watermill.NewShortUUID(), "any text": "order 7", "none": "",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			in := message.NewMessage(uuid, []byte("payload"))
			in.Metadata = message.Metadata{"name": "OrderPlaced", "ü": "1"}
			box := &box{}
			if err := newPublisher(t, box, watermillbroker.PublisherOptions{TypeMetadata: "name"}).Publish("conformance", in); err != nil {
				t.Fatal(err)
			}
			stored := box.msgs[0]
			if stored.Type != "OrderPlaced" || stored.Topic != "conformance" {
				t.Errorf("stored is %+v", stored)
			}
			stored.ID = postbag.NewID()
			out := through(t, watermillbroker.Options{}, broker.Delivery{Message: stored})
			want := uuid
			if uuid == "" {
				want = stored.ID.String()
			}
			if out.UUID != want || !bytes.Equal(out.Payload, in.Payload) {
				t.Errorf("UUID %q, payload %q; want %q", out.UUID, out.Payload, want)
			}
			maps.DeleteFunc(out.Metadata, func(name, _ string) bool { return name == broker.HeaderID || name == broker.HeaderType })
			if !maps.Equal(out.Metadata, in.Metadata) {
				t.Errorf("metadata are %q, want %q", out.Metadata, in.Metadata)
			}
		})
	}
}

// box is a sender that keeps what it is given.
type box struct {
	msgs []postbag.Message
	ctx  context.Context
	err  error
}

func (b *box) Publish(ctx context.Context, msgs ...postbag.Message) error {
	b.ctx, b.msgs = ctx, append(b.msgs, msgs...)
	return b.err
}
