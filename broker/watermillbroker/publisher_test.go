package watermillbroker_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/ThreeDotsLabs/watermill"
	"github.com/ThreeDotsLabs/watermill/message"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/broker"
	"github.com/postbag/postbag/broker/watermillbroker"
)

type contextKey struct{}

func newPublisher(t *testing.T, s postbag.Sender, o watermillbroker.PublisherOptions) *watermillbroker.Publisher {
	t.Helper()
	p, err := watermillbroker.NewPublisher(s, o)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestAPublisherWithoutASenderIsRefused(t *testing.T) {
	t.Parallel()
	if _, err := watermillbroker.NewPublisher(nil, watermillbroker.PublisherOptions{}); err == nil || !strings.Contains(err.Error(), "the sender is nil") {
		t.Errorf("the error is %v", err)
	}
}

func TestAPublisherWritesAllMessagesOfACallAtOnce(t *testing.T) {
	t.Parallel()
	b := &box{}
	p := newPublisher(t, b, watermillbroker.PublisherOptions{
		Key: func(topic string, m *message.Message) string { return topic + string(m.Payload) },
	})
	first, second := message.NewMessage("1", []byte("a")), message.NewMessage("2", []byte("b"))
	first.SetContext(context.WithValue(context.Background(), contextKey{}, "first"))
	if err := p.Publish("t", first, second); err != nil {
		t.Fatal(err)
	}
	if len(b.msgs) != 2 || b.msgs[0].Key != "ta" || b.msgs[1].Key != "tb" || !b.msgs[0].ID.IsZero() {
		t.Errorf("written are %+v", b.msgs)
	}
	if b.ctx.Value(contextKey{}) != "first" {
		t.Error("the context is not that of the first message")
	}
	if err := p.Publish("t"); err != nil || len(b.msgs) != 2 {
		t.Errorf("nothing to publish: %v, %d messages", err, len(b.msgs))
	}
	b.err = errors.New("rolled back")
	if err := p.Publish("t", first); !errors.Is(err, b.err) {
		t.Errorf("the sender's error became %v", err)
	}
}

// A message that a relay sent and a handler publishes again has Postbag's metadata.
func TestAPublisherReadsKeyAndTypeFromMetadataAndDropsPostbagsOwn(t *testing.T) {
	t.Parallel()
	m := message.NewMessage("", nil)
	m.Metadata = message.Metadata{
		broker.HeaderKey: "k", broker.HeaderType: "t", broker.HeaderID: "x", "postbag-time": "y", "Watermill-Uuid": "z", "own": "1", "partition": "p",
	}
	for name, c := range map[string]struct {
		options   watermillbroker.PublisherOptions
		key, kind string
	}{
		"by default": {watermillbroker.PublisherOptions{}, "k", "t"},
		"by name":    {watermillbroker.PublisherOptions{KeyMetadata: "partition", TypeMetadata: "own"}, "p", "1"},
		"by a function without an opinion": {watermillbroker.PublisherOptions{
			Key: func(string, *message.Message) string { return "" },
		}, "k", "t"},
	} {
		b := &box{}
		if err := newPublisher(t, b, c.options).Publish("topic", m); err != nil {
			t.Fatal(err)
		}
		got := b.msgs[0]
		if got.Key != c.key || got.Type != c.kind || len(got.Headers) != 2 || got.Headers["own"] != "1" || got.Headers["partition"] != "p" {
			t.Errorf("%s: written is %+v", name, got)
		}
	}
}

func TestAUUIDBecomesTheIDIfAsked(t *testing.T) {
	t.Parallel()
	b := &box{}
	p := newPublisher(t, b, watermillbroker.PublisherOptions{IDFromUUID: true})
	uuid := watermill.NewUUID()
	if err := p.Publish("t", message.NewMessage(uuid, nil)); err != nil {
		t.Fatal(err)
	}
	if got := b.msgs[0]; got.ID.String() != uuid || len(got.Headers) != 0 {
		t.Errorf("written is %+v, want the id %s", got, uuid)
	}
	err := p.Publish("t", message.NewMessage(uuid, nil), message.NewMessage("no uuid", nil))
	if err == nil || !strings.Contains(err.Error(), "message 1") || !strings.Contains(err.Error(), "IDFromUUID") || len(b.msgs) != 1 {
		t.Errorf("a UUID that is none: %v, %d messages", err, len(b.msgs))
	}
}

func TestAClosedPublisherReturnsAnErrorAndWritesNothing(t *testing.T) {
	t.Parallel()
	b := &box{}
	p := newPublisher(t, b, watermillbroker.PublisherOptions{})
	if err := p.Publish("t", nil); err == nil || len(b.msgs) != 0 {
		t.Errorf("a message that is nil: %v", err)
	}
	for range 2 {
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	}
	if err := p.Publish("t", message.NewMessage("1", nil)); !errors.Is(err, watermillbroker.ErrPublisherClosed) || len(b.msgs) != 0 {
		t.Errorf("after Close: %v, %d messages", err, len(b.msgs))
	}
	var _ postbag.Sender = b
}
