package postbag

import "context"

// Sender is all that business code needs to know of Postbag. It publishes in a
// transaction that the caller has begun and will end. [Publisher.Bind] makes one.
type Sender interface {
	// Publish writes msgs in the transaction. After an error the transaction's owner
	// decides what to do, and usually rolls back.
	Publish(ctx context.Context, msgs ...Message) error
}

// SenderFunc is a function that is a Sender.
type SenderFunc func(ctx context.Context, msgs ...Message) error

// Publish calls f.
func (f SenderFunc) Publish(ctx context.Context, msgs ...Message) error { return f(ctx, msgs...) }

// PublishFunc publishes the messages of one call. It is what a wrapper
// (PublisherOptions.Wrap) gets and returns.
type PublishFunc func(ctx context.Context, msgs []Message) error

// bound is a publisher with one transaction.
type bound[Tx any] struct {
	publisher *Publisher[Tx]
	tx        Tx
}

func (b bound[Tx]) Publish(ctx context.Context, msgs ...Message) error {
	return b.publisher.publish(ctx, b.tx, msgs, false)
}
