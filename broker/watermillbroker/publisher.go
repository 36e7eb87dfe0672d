package watermillbroker

import (
	"errors"
	"fmt"
	"sync/atomic"

	"github.com/ThreeDotsLabs/watermill/message"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/broker"
)

// PublisherOptions set a Publisher up. The zero PublisherOptions publish to the
// topic that Watermill names, with the key and the type that the metadata
// Postbag-Key and Postbag-Type hold, if there are any.
type PublisherOptions struct {
	// Key gives a message's key, which orders. It goes before KeyMetadata. Defaults to
	// none.
	Key func(topic string, m *message.Message) string
	// KeyMetadata names the metadata entry that is the key. Defaults to "Postbag-Key".
	KeyMetadata string
	// TypeMetadata names the metadata entry that is the type; Watermill's cqrs
	// component uses "name". Defaults to "Postbag-Type".
	TypeMetadata string
	// IDFromUUID makes the message's UUID its ID: a second message of the same UUID in
	// the box is then an error. Defaults to an ID of its own for each message, beside
	// which the UUID travels: Watermill does not ask that UUIDs are unique.
	IDFromUUID bool
}

// Publisher is a Watermill publisher that writes into a box. It is safe for
// concurrent use as far as its sender is; one that is bound to a transaction is
// used by one goroutine at a time, as the transaction is.
type Publisher struct {
	sender  postbag.Sender
	options PublisherOptions
	closed  atomic.Bool
}

var _ message.Publisher = (*Publisher)(nil)

// NewPublisher returns a publisher over s. With Publisher.Bind's sender each
// Publish is part of that transaction: what it wrote is sent if the transaction
// commits. A postbag.SenderFunc may find the transaction in its context, which is
// that of the first message of the call. A nil s is an error; no value of the options is.
func NewPublisher(s postbag.Sender, o PublisherOptions) (*Publisher, error) {
	if s == nil {
		return nil, errors.New("watermillbroker: the sender is nil; give NewPublisher one, such as what Publisher.Bind returns")
	}
	if o.KeyMetadata == "" {
		o.KeyMetadata = broker.HeaderKey
	}
	if o.TypeMetadata == "" {
		o.TypeMetadata = broker.HeaderType
	}
	return &Publisher{sender: s, options: o}, nil
}

// ErrPublisherClosed is the error of a Publish after Close.
var ErrPublisherClosed = errors.New("watermillbroker: the publisher is closed; make a new one")

// Publish writes the messages, all or none. Metadata become headers, but those that
// begin with "Postbag-", which only a relay sets. A UUID travels in the header
// Watermill-Uuid, from which a Destination restores it. The error is the sender's.
func (p *Publisher) Publish(topic string, messages ...*message.Message) error {
	if p.closed.Load() {
		return ErrPublisherClosed
	}
	if len(messages) == 0 {
		return nil
	}
	msgs := make([]postbag.Message, len(messages))
	for i, m := range messages {
		if m == nil {
			return fmt.Errorf("watermillbroker: message %d is nil; leave it out", i)
		}
		var err error
		if msgs[i], err = p.decode(topic, m); err != nil {
			return fmt.Errorf("watermillbroker: message %d: %w", i, err)
		}
	}
	return p.sender.Publish(messages[0].Context(), msgs...)
}

// decode makes Postbag's message of Watermill's.
func (p *Publisher) decode(topic string, m *message.Message) (postbag.Message, error) {
	msg := postbag.Message{
		Topic: topic, Key: m.Metadata.Get(p.options.KeyMetadata), Type: m.Metadata.Get(p.options.TypeMetadata),
		Headers: make(map[string]string, len(m.Metadata)+1), Payload: m.Payload,
	}
	if p.options.Key != nil {
		if key := p.options.Key(topic, m); key != "" {
			msg.Key = key
		}
	}
	for name, value := range m.Metadata {
		if !reserved(name) && name != metadataUUID {
			msg.Headers[name] = value
		}
	}
	if !p.options.IDFromUUID {
		if m.UUID != "" {
			msg.Headers[metadataUUID] = m.UUID
		}
		return msg, nil
	}
	id, err := postbag.ParseID(m.UUID)
	if err != nil {
		return msg, fmt.Errorf("its UUID is none: %w; leave PublisherOptions.IDFromUUID off", err)
	}
	msg.ID = id
	return msg, nil
}

// Close ends the publisher: what it is asked to publish later is an error. The
// sender and its transaction are the caller's.
func (p *Publisher) Close() error {
	p.closed.Store(true)
	return nil
}
