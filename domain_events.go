package postbag

import (
	"context"
	"fmt"
	"slices"
)

// DomainEvents collects the messages of an aggregate: of an object that is saved as a
// whole, such as an order with its lines. Embed it in your model. Business methods call
// Raise, and what saves the model publishes in the same transaction, with
// [Publisher.PublishEvents]. Module gormpostbag does that for GORM.
//
//	type Order struct {
//		ID string
//		postbag.DomainEvents
//	}
//
//	func (o *Order) Cancel() {
//		o.Raise(OrderCancelled.Message(*o))
//	}
//
// The zero value is ready. Like the model itself, it is not safe for concurrent use. It
// has no exported field, so no ORM and no encoder sees it. A copy of the model has the
// messages too: publish one of the two.
type DomainEvents struct{ raised []Message }

// Raise adds messages, which are published when the aggregate is saved.
func (d *DomainEvents) Raise(msgs ...Message) { d.raised = append(d.raised, msgs...) }

// Raised returns a copy of what was raised and not cleared, in the sequence in which it was raised.
func (d *DomainEvents) Raised() []Message { return slices.Clone(d.raised) }

// ClearRaised forgets what was raised.
func (d *DomainEvents) ClearRaised() { d.raised = nil }

// Aggregate has messages that are published when it is saved. Embed [DomainEvents] to be
// one, or keep the messages in your own way.
type Aggregate interface {
	// Raised returns what was raised and not cleared, in the sequence in which it was raised.
	Raised() []Message
	// ClearRaised forgets it.
	ClearRaised()
}

// PublishEvents publishes in tx what the aggregates have raised, of one after the other,
// and clears it. It is one call of Publish, with one round trip. An error clears nothing.
//
// If tx is rolled back afterwards, nothing is published. The aggregates then hold neither
// what is in the database nor their events: load them again.
func (p *Publisher[Tx]) PublishEvents(ctx context.Context, tx Tx, aggregates ...Aggregate) error {
	var msgs []Message
	for i, a := range aggregates {
		if isNil(a) {
			return fmt.Errorf("postbag: publish events: aggregate %d is nil; leave it out", i)
		}
		msgs = append(msgs, a.Raised()...)
	}
	if err := p.Publish(ctx, tx, msgs...); err != nil {
		return err
	}
	for _, a := range aggregates {
		a.ClearRaised()
	}
	return nil
}
