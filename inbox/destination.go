package inbox

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/broker"
	"github.com/postbag/postbag/broker/brokerkit"
	"github.com/postbag/postbag/store"
)

// Destination calls a handler for each message that a relay takes from a box. It is what a
// subscription delivers to (relay.Subscription.To): the last part of a durable inbox. The
// handler runs in a transaction of the user's database, which also has a mark of the message.
// The message counts as delivered when that has committed. So a message that a relay delivers
// again is not applied again. The box may be in another database.
//
// The relay does the rest, by the subscription's options: sequence of each key, attempts,
// pauses, what becomes of a message whose attempts are used up, and how many handlers run at
// once (Concurrency). Make it with [NewDestination]. It is safe for concurrent use.
type Destination[Tx any] struct {
	o     DestinationOptions[Tx]
	call  Handler[Tx]            // with its middleware
	tx    *postbag.Publisher[Tx] // its InTx wakes relays of what handlers publish
	marks *Inbox[Tx]

	calls brokerkit.CallGuard
	ended context.Context //nolint:containedctx // a Close that gave up waiting ends it, and with it every handler
	end   context.CancelFunc
}

var (
	_ broker.Destination = (*Destination[int])(nil)
	_ broker.Prober      = (*Destination[int])(nil)
)

// DestinationOptions say who applies the messages of a box. Store, Handle and Consumer are
// needed.
type DestinationOptions[Tx any] struct {
	// Store has the marks. Its InTx makes the transactions.
	Store Store[Tx]
	// Handle applies a message. Its error rejects the message: the relay counts an attempt,
	// and tries it again by its own rules. An error that wraps a *broker.Error with the
	// outcome Unavailable or Misconfigured counts none, and has the scope of that error:
	// return one if what the handler needs beside the database is away.
	Handle Handler[Tx]
	// Use is middleware before Handle. The first sees a message first, and its error last.
	// Nil ones are left out.
	Use []Middleware[Tx]
	// Consumer is the name under which messages are marked. All processes that work one
	// subscription have one name. Each subscription applies a message once, also under one
	// name. The marks are none that a Receiver or a Consumer makes under that name.
	Consumer string
	// SumOff marks ids without a hash of the payload. By default a message whose id was
	// applied with another payload is rejected.
	SumOff bool
	// CountAfter counts an attempt when the handler has failed, and not before it is called.
	// That saves a row in the box's database for each message. A handler that ends its
	// process is then called again without an end.
	CountAfter bool
	// Timeout bounds one attempt. What takes longer has failed. Nine tenths of what the
	// relay gives the call (relay.Subscription.Timeout) bound it too, so that the relay
	// hears of it. Defaults to 30 s.
	Timeout time.Duration
	// Logger gets the stack of a handler that panics. Defaults to slog.Default().
	Logger *slog.Logger
}

// NewDestination returns a destination. It does no I/O. The error names all bad options at
// once.
func NewDestination[Tx any](o DestinationOptions[Tx]) (*Destination[Tx], error) {
	if err := errors.Join(o.fill()...); err != nil {
		return nil, fmt.Errorf("inbox: new destination:\n%w", err)
	}
	call, err := wrap("DestinationOptions", o.Handle, o.Use)
	if err != nil {
		return nil, err
	}
	marks, err := New[Tx](o.Store)
	if err != nil {
		return nil, err
	}
	tx, err := postbag.NewPublisher[Tx](o.Store, postbag.PublisherOptions{})
	if err != nil {
		return nil, err
	}
	d := &Destination[Tx]{o: o, call: call, tx: tx, marks: marks}
	d.ended, d.end = context.WithCancel(context.Background()) //nolint:gosec // Close calls it
	return d, nil
}

// fill puts the defaults in, and returns what is wrong.
func (o *DestinationOptions[Tx]) fill() (errs []error) {
	if isNil(o.Store) {
		errs = append(errs, errors.New("inbox: DestinationOptions.Store is nil; open one, such as pgstore.Open"))
	}
	if o.Handle == nil {
		errs = append(errs, errors.New("inbox: DestinationOptions.Handle is nil; give the function that applies a message"))
	}
	if err := store.ValidConsumer(o.Consumer); err != nil {
		errs = append(errs, fmt.Errorf("inbox: DestinationOptions.Consumer: %w", err))
	}
	if o.Timeout < 0 {
		errs = append(errs, fmt.Errorf("inbox: DestinationOptions.Timeout is %s; give a time, or zero for %s", o.Timeout, defaultTimeout))
	}
	if o.Timeout == 0 {
		o.Timeout = defaultTimeout
	}
	if o.Logger == nil {
		o.Logger = slog.Default()
	}
	return errs
}

// String names the consumer.
func (d *Destination[Tx]) String() string { return "handler " + d.o.Consumer }

// Features says that each message is a call of its own, so that a relay runs many side by
// side, and one of each key at a time. Marks keep a repeated message from being applied
// twice. Attempts are counted before calls, unless DestinationOptions.CountAfter is set.
func (d *Destination[Tx]) Features() broker.Features {
	return broker.Features{MaxBatch: 1, Fences: "mark", CountsFirst: !d.o.CountAfter}
}

// Publish calls the handler for each message, all at a time. A message is Accepted when the
// transaction with its mark has committed, by this call or an earlier one. It returns when
// all handlers have returned, so a handler must return when its context ends.
func (d *Destination[Tx]) Publish(ctx context.Context, msgs []broker.Delivery, report func(i int, r broker.Result)) {
	if !d.calls.Enter() {
		brokerkit.ReportAll(msgs, report, notSent(broker.ErrClosed))
		return
	}
	defer d.calls.Leave()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(d.ended, cancel)()
	var handlers sync.WaitGroup
	for i := range msgs {
		handlers.Go(func() {
			r := broker.Result{Err: errGone} // if its goroutine ends before it has an answer
			defer func() {
				if p := recover(); p != nil {
					r.Err = fmt.Errorf("inbox: handle: %w", d.panicked("the store", p))
				}
				report(i, r)
			}()
			r = d.deliver(ctx, &msgs[i])
		})
	}
	handlers.Wait()
}

// Probe finds out whether the store works: it runs a transaction that does nothing.
func (d *Destination[Tx]) Probe(ctx context.Context) error {
	if !d.calls.Enter() {
		return &broker.Error{Outcome: broker.Unavailable, Err: broker.ErrClosed}
	}
	defer d.calls.Leave()
	ctx, cancel := context.WithTimeout(ctx, maxProbe)
	defer cancel()
	defer context.AfterFunc(d.ended, cancel)()
	if err := d.o.Store.InTx(ctx, func(context.Context, Tx) error { return nil }); err != nil {
		return &broker.Error{Outcome: broker.Unavailable, Err: fmt.Errorf("inbox: handle: the database fails: %w", err)}
	}
	return nil
}

// Close refuses new calls and waits for handlers at work. If ctx ends first, it ends their
// contexts, and returns an error at once. The store stays open. Calling it again waits
// again.
func (d *Destination[Tx]) Close(ctx context.Context) error {
	if err := d.calls.Shut(ctx); err != nil {
		d.end()
		return fmt.Errorf("inbox: handle: close: handlers are still at work, and their contexts are ended: %w", err)
	}
	d.end()
	return nil
}
