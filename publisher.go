package postbag

import (
	"context"
	"errors"
	"fmt"
	"reflect"
)

// Publisher writes messages to one box, in your transactions. They must be of the kind
// that its store takes: another kind does not compile. It holds no connection, starts no
// goroutine and needs no closing. It is safe for concurrent use, as far as the
// transactions are. Make it with [NewPublisher].
type Publisher[Tx any] struct {
	store   Appender[Tx]
	options PublisherOptions
	rules   rules
}

// NewPublisher returns a publisher over a store. It does no I/O: a missing box shows at
// the first Publish. The error names all bad options at once.
func NewPublisher[Tx any](s Appender[Tx], o PublisherOptions) (*Publisher[Tx], error) {
	var noStore error
	if isNil(s) {
		noStore = errors.New("postbag: the store is nil; open one, such as pgstore.Open")
	}
	o = o.withDefaults()
	if err := errors.Join(noStore, o.validate()); err != nil {
		return nil, fmt.Errorf("postbag: new publisher:\n%w", err)
	}
	return &Publisher[Tx]{store: s, options: o, rules: rules{maxSize: o.MaxSize, json: o.ValidateJSON, custom: o.Check}}, nil
}

// Publish writes msgs in tx, in this order, with one round trip. They are delivered when
// tx has committed, and never otherwise. Without messages it does nothing.
//
// Publish checks everything before it runs any SQL. It reports all faults of all messages
// as [MessageError]s, and the transaction is then as it was. Any other error is the
// store's. It leaves tx as the database leaves it, usually only good for a rollback.
// Publish does not change msgs, or what they point to.
//
// Messages of one key are delivered in commit order. If two transactions that write a key
// run side by side, make one wait for the other: with a lock on the row that the key
// stands for, or with PublishOrdered. Otherwise they have no order.
func (p *Publisher[Tx]) Publish(ctx context.Context, tx Tx, msgs ...Message) error {
	return p.publish(ctx, tx, msgs, false)
}

// PublishOrdered is Publish for keys that are written concurrently. It first takes a lock
// for each key, which tx holds until it ends. So transactions that write a key commit one
// after another, in the order of their messages. A message without a key is an error.
// PublishOrdered costs a second round trip.
//
// Each call locks its keys in sorted order. Transactions that make several calls with
// several keys may deadlock, as with any locks. The database then ends one of them.
func (p *Publisher[Tx]) PublishOrdered(ctx context.Context, tx Tx, msgs ...Message) error {
	return p.publish(ctx, tx, msgs, true)
}

// Bind returns a Sender that publishes in tx with Publish. Give it to business code that
// should not know the store or the transaction. It is good as long as tx is. If tx is
// nil, its Publish returns an error.
func (p *Publisher[Tx]) Bind(tx Tx) Sender { return bound[Tx]{publisher: p, tx: tx} }

// InTx runs fn in a new transaction and commits it. Then it wakes the relays of this
// process, if anything was published with the context of fn, to any box. If fn returns an
// error or panics, InTx rolls back, and returns the error or panics. An error that wraps
// [ErrCommitUnknown] says that the transaction may have committed.
//
// InTx does not join an open transaction. An InTx within fn, of this or another
// publisher, begins a second transaction on its own connection, which commits by itself,
// whatever happens to the first. On a pool without a free connection it waits for the
// first for ever. On SQLite, with its single writer, it fails when the store's time for
// busy writers is over. To share a transaction, pass on tx or a Sender.
func (p *Publisher[Tx]) InTx(ctx context.Context, fn func(context.Context, Tx) error) error {
	if fn == nil {
		return errors.New("postbag: in transaction: the function is nil; give what is to be done")
	}
	ctx, calls := withWakeCalls(ctx)
	err := p.store.InTx(ctx, fn)
	if err == nil || errors.Is(err, ErrCommitUnknown) {
		calls.wake()
	}
	return err
}

// Cancel removes a scheduled message in tx, before it is due. It returns whether the
// message was there; it is gone when tx commits. False means that it is due already, was
// cancelled before, or was never scheduled in this box.
func (p *Publisher[Tx]) Cancel(ctx context.Context, tx Tx, id ID) (bool, error) {
	switch {
	case isNil(tx):
		return false, ErrNoTx
	case id.IsZero():
		return false, errors.New("postbag: cancel: the id is zero; set Message.ID with NewID before publishing, and give that")
	}
	return p.store.Cancel(ctx, tx, p.options.Box, id)
}

// Committed wakes the relays of this process. Call it after you committed a transaction
// of your own, so that its messages are delivered at once and not at the next poll. InTx
// does so by itself. It never blocks.
func (p *Publisher[Tx]) Committed() { p.store.Wake(p.options.Box) }

// publish completes the caller's messages, runs the wrapper and appends.
func (p *Publisher[Tx]) publish(ctx context.Context, tx Tx, msgs []Message, ordered bool) error {
	switch {
	case isNil(tx):
		return ErrNoTx
	case len(msgs) == 0:
		return nil
	}
	own, faulty := p.complete(ctx, msgs)
	if p.options.Wrap == nil || faulty {
		return p.append(ctx, tx, own, ordered)
	}
	wrapped := p.options.Wrap(func(ctx context.Context, msgs []Message) error {
		return p.append(ctx, tx, p.completeWrapped(msgs), ordered)
	})
	if wrapped == nil {
		return errors.New("postbag: publish: PublisherOptions.Wrap returned nil; return a function, or next")
	}
	return wrapped(ctx, own)
}

// append checks complete messages and hands them to the store.
func (p *Publisher[Tx]) append(ctx context.Context, tx Tx, msgs []Message, ordered bool) error {
	if len(msgs) == 0 {
		return nil
	}
	msgs, err := p.withShardKeys(msgs)
	if err == nil {
		err = p.rules.check(msgs, ordered)
	}
	if err != nil {
		return err
	}
	if ordered {
		if err = p.store.Lock(ctx, tx, p.options.Box, orderKeys(msgs)); err != nil {
			return err
		}
	}
	if err = p.store.Append(ctx, tx, p.options.Box, msgs); err != nil {
		return err
	}
	wakeAfterCommit(ctx, p)
	return nil
}

// isNil says whether v is nil, or a nil pointer or the like in an interface.
func isNil(v any) bool {
	if v == nil {
		return true
	}
	switch r := reflect.ValueOf(v); r.Kind() {
	case reflect.Pointer, reflect.Map, reflect.Func, reflect.Chan, reflect.Slice, reflect.UnsafePointer:
		return r.IsNil()
	default:
		return false
	}
}
