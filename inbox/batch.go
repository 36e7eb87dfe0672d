package inbox

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/postbag/postbag/broker"
	"github.com/postbag/postbag/store"
)

// BatchDestination applies a page of messages in one transaction of the user's database. It
// is what a subscription with relay.Subscription.ExactlyOnce delivers to. The transaction
// also has a record of the page, in a row for the subscription, so no message needs a mark.
// A relay that dies, or wakes up late, applies no message twice. It is the fast way to apply
// messages once: a [Destination] needs a transaction for each. The box may be in another
// database.
//
// Messages of a page are applied in its sequence, which is the box's sequence for each key.
// If one fails, the page is rolled back, and the message is parked by the subscription's
// options. The others are applied in the next transaction.
//
// Make it with [NewBatchDestination]. It is safe for concurrent use. A subscription without
// ExactlyOnce works too: each message is then applied alone, with a mark, as by a
// Destination. Do not change from one to the other while messages are at work.
type BatchDestination[Tx any] struct {
	one    *Destination[Tx] // for messages that come one by one
	lanes  store.Lanes[Tx]
	handle BatchHandler[Tx] // nil: one has the handler
}

var (
	_ broker.Destination   = (*BatchDestination[int])(nil)
	_ broker.Prober        = (*BatchDestination[int])(nil)
	_ broker.Transactional = (*BatchDestination[int])(nil)
)

// BatchHandler applies messages, one or more, in tx. Messages of one key are in sequence.
// If it returns nil, all of them are applied. After an error it is called again, each time
// with fewer of them, until it is known which one fails: what it had done in tx is taken
// back before. It returns when ctx ends. It neither commits nor rolls back.
type BatchHandler[Tx any] func(ctx context.Context, tx Tx, all []*Message) error

// BatchDestinationOptions say who applies the messages of a box. Store, Consumer, and Handle
// or HandleBatch are needed.
type BatchDestinationOptions[Tx any] struct {
	// Store has the records of lanes. Its InTx makes the transactions. It must be a
	// store.Lanes[Tx] too, as pgstore's is.
	Store Store[Tx]
	// Consumer names the records, with box and subscription. All processes that work one
	// subscription have one name. Boxes of two databases that have one name, and have
	// their messages applied in one database, need two consumers.
	Consumer string
	// Handle applies a message. Its errors are those of DestinationOptions.Handle. It may
	// be called again for a message that was rolled back with its page.
	Handle Handler[Tx]
	// HandleBatch applies many messages with fewer statements. Set it or Handle.
	HandleBatch BatchHandler[Tx]
	// Use is middleware before Handle. It cannot be set with HandleBatch.
	Use []Middleware[Tx]
	// UseBatch is middleware before HandleBatch. The first sees the messages first, and the
	// error last. Nil ones are left out. It cannot be set with Handle.
	UseBatch []BatchMiddleware[Tx]
	// Timeout bounds a page. Nine tenths of what the relay gives the call
	// (relay.Subscription.Timeout) bound it too. A page that takes longer is rolled back.
	// Defaults to 30 s.
	Timeout time.Duration
	// Logger gets the stack of a handler that panics. Defaults to slog.Default().
	Logger *slog.Logger
}

// NewBatchDestination returns a destination. It does no I/O. The error names all bad options
// at once.
func NewBatchDestination[Tx any](o BatchDestinationOptions[Tx]) (*BatchDestination[Tx], error) {
	lanes, can := any(o.Store).(store.Lanes[Tx])
	var errs []error
	if !isNil(o.Store) && !can {
		errs = append(errs, fmt.Errorf("inbox: BatchDestinationOptions.Store, a %T, keeps no lanes (store.Lanes); use another store, or a Destination", o.Store))
	}
	one, batch := o.Handle, o.HandleBatch
	switch {
	case o.Handle != nil && o.HandleBatch != nil:
		errs = append(errs, errors.New("inbox: BatchDestinationOptions has both Handle and HandleBatch; set one"))
	case o.HandleBatch != nil && len(o.Use) > 0:
		errs = append(errs, errors.New("inbox: BatchDestinationOptions.Use is for Handle; give UseBatch, which is for HandleBatch"))
	case o.Handle != nil && len(o.UseBatch) > 0:
		errs = append(errs, errors.New("inbox: BatchDestinationOptions.UseBatch is for HandleBatch; give Use, which is for Handle"))
	case o.HandleBatch != nil:
		var err error
		if batch, err = wrapBatch(o.HandleBatch, o.UseBatch); err != nil {
			errs = append(errs, err)
		}
		one = func(ctx context.Context, tx Tx, m *Message) error { return batch(ctx, tx, []*Message{m}) }
	}
	d, err := NewDestination(DestinationOptions[Tx]{
		Store: o.Store, Handle: one, Use: o.Use, Consumer: o.Consumer, CountAfter: true, Timeout: o.Timeout, Logger: o.Logger,
	})
	if err = errors.Join(append(errs, err)...); err != nil {
		return nil, fmt.Errorf("inbox: new batch destination:\n%w", err)
	}
	return &BatchDestination[Tx]{one: d, lanes: lanes, handle: batch}, nil
}

// Features says that it has transactions.
func (d *BatchDestination[Tx]) Features() broker.Features {
	return broker.Features{Fences: "mark", Transactions: true}
}

// String names the consumer.
func (d *BatchDestination[Tx]) String() string { return d.one.String() }

// maxPublish is how many transactions run at once where each message has its own.
const maxPublish = 32

// Publish applies each message in a transaction of its own, with a mark, as
// Destination.Publish does, up to 32 of them side by side.
func (d *BatchDestination[Tx]) Publish(ctx context.Context, msgs []broker.Delivery, report func(i int, r broker.Result)) {
	first := 0
	for some := range slices.Chunk(msgs, maxPublish) {
		from := first
		d.one.Publish(ctx, some, func(i int, r broker.Result) { report(from+i, r) })
		first += len(some)
	}
}

// Probe finds out whether the store works: it runs a transaction that does nothing.
func (d *BatchDestination[Tx]) Probe(ctx context.Context) error { return d.one.Probe(ctx) }

// Close refuses new calls and waits for handlers at work, as Destination.Close does.
func (d *BatchDestination[Tx]) Close(ctx context.Context) error { return d.one.Close(ctx) }

// OpenLane gives the lane's row a new epoch. It waits for the transaction of an earlier
// owner that has begun to write the row. The error is a *broker.Error: Misconfigured where the
// table of lanes or a right is missing, and says which statements help.
func (d *BatchDestination[Tx]) OpenLane(ctx context.Context, name broker.LaneName) (broker.Lane, error) {
	if !d.one.calls.Enter() {
		return nil, &broker.Error{Outcome: broker.Unavailable, Err: broker.ErrClosed}
	}
	defer d.one.calls.Leave()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(d.one.ended, cancel)()
	key := d.one.o.Consumer + "/" + name.String()
	if len(key) > store.MaxLane {
		err := fmt.Errorf("inbox: open lane: its name has %d bytes, more than %d; shorten the consumer's name", len(key), store.MaxLane)
		return nil, &broker.Error{Outcome: broker.Misconfigured, Err: err}
	}
	back := Retry{Min: firstAgain, Max: maxAgain, Factor: 2}
	for n := 1; ; n++ {
		var now store.LaneState
		err := d.one.tx.InTx(ctx, func(ctx context.Context, tx Tx) (err error) {
			now, err = d.lanes.OpenLane(ctx, tx, key)
			return err
		})
		switch {
		case err == nil:
			return &batchLane[Tx]{d: d, key: key, epoch: now.Epoch, record: now.Record}, nil
		case ctx.Err() == nil && meetsAnother(d.one.o.Store, err):
			pause(ctx, back.after(n))
		case errors.Is(err, store.ErrSchema), errors.Is(err, store.ErrDenied):
			return nil, &broker.Error{Outcome: broker.Misconfigured, Err: fmt.Errorf("inbox: open lane: %w", err)}
		default:
			return nil, &broker.Error{Outcome: broker.Unavailable, Err: fmt.Errorf("inbox: open lane: %w", err)}
		}
	}
}
