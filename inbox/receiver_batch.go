package inbox

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/source"
	"github.com/postbag/postbag/store"
)

// take stores a batch, and acknowledges it. It returns an error if Run is to end.
func (r *Receiver[Tx]) take(ctx context.Context, msgs []source.Message) error {
	r.fetched.Add(int64(len(msgs)))
	items := make([]item, 0, len(msgs))
	var stop error
	for i := range msgs {
		it := r.item(&msgs[i])
		if stop = r.refused(it.fault, it.from); stop != nil {
			break
		}
		items = append(items, it)
	}
	if err := r.store(ctx, items); err != nil {
		return errors.Join(err, stop)
	}
	return stop
}

// refused says what a fault means: an error ends Run.
func (r *Receiver[Tx]) refused(fault error, m *source.Message) error {
	if fault == nil {
		return nil
	}
	err := fmt.Errorf("inbox: receive: the message of topic %q at %s: %w", m.Topic, m.Place, fault)
	r.o.OnError(err)
	if r.o.Faults == StopOnFaults {
		return err
	}
	return nil
}

// store stores items in their sequence, however often it takes, and acknowledges them.
func (r *Receiver[Tx]) store(ctx context.Context, items []item) error {
	if len(items) == 0 {
		return nil
	}
	db := trouble{log: r.log, onError: r.o.OnError, began: "the store of an inbox fails", ended: "the store of an inbox works again"}
	for {
		fresh, at, err := r.commit(ctx, items)
		if err == nil {
			db.over()
			r.count(items, fresh)
			return r.ack(ctx, items)
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		refused, rejected := errors.AsType[*postbag.MessageError](err)
		switch {
		case errors.Is(err, store.ErrOtherBytes) && len(items) > 1:
			db.over()
			half := len(items) / 2
			if err := r.store(ctx, items[:half]); err != nil {
				return err
			}
			return r.store(ctx, items[half:])
		case errors.Is(err, store.ErrOtherBytes) && items[0].mark.Sum != (store.Sum{}):
			items[0].part()
			err = r.refused(errOther, items[0].from)
		case rejected && refused.Index >= 0 && refused.Index < len(at):
			err = r.spoil(&items[at[refused.Index]], refused)
		case errors.Is(err, store.ErrAgain), errors.Is(err, postbag.ErrCommitUnknown):
			db.met(ctx, fmt.Errorf("inbox: receive: %w", err))
			continue
		default:
			db.met(ctx, fmt.Errorf("inbox: receive: store in %q: %w", r.o.Box, err))
			r.extend(ctx, items)
			continue
		}
		if err != nil {
			return err
		}
	}
}

// spoil makes an item that the store refuses one with a fault.
func (r *Receiver[Tx]) spoil(it *item, fault error) error {
	if it.cut || it.fault != nil && !isTooLong(fault) {
		return fmt.Errorf("inbox: receive: the message of topic %q at %s is refused even with its fault: %w", it.from.Topic, it.from.Place, fault)
	}
	it.blame(fault)
	return r.refused(fault, it.from)
}

// commit stores what is new of items in one transaction. It returns which are, and where in
// items those stand that it gave to Append.
func (r *Receiver[Tx]) commit(ctx context.Context, items []item) (fresh []bool, at []int, err error) {
	marks := make([]Mark, len(items))
	for i := range items {
		marks[i] = items[i].mark
	}
	err = r.o.Store.InTx(ctx, func(ctx context.Context, tx Tx) error {
		if fresh, err = r.marks.OnceBatch(ctx, tx, r.o.Consumer, marks); err != nil {
			return err
		}
		at = at[:0]
		msgs := make([]postbag.Message, 0, len(items))
		for i := range items {
			if fresh[i] {
				msgs, at = append(msgs, items[i].out), append(at, i)
			}
		}
		if len(msgs) == 0 {
			return nil
		}
		return r.o.Store.Append(ctx, tx, r.o.Box, msgs)
	})
	if err == nil && len(at) > 0 {
		r.o.Store.Wake(r.o.Box)
	}
	return fresh, at, err
}

func (r *Receiver[Tx]) count(items []item, fresh []bool) {
	for i := range items {
		switch {
		case !fresh[i]:
			r.repeated.Add(1)
		case items[i].fault != nil:
			r.faulty.Add(1)
			r.stored.Add(1)
			r.log.Warn("a message was taken in with a fault", "id", items[i].out.ID, "topic", items[i].out.Topic, "fault", items[i].fault)
		default:
			r.stored.Add(1)
		}
	}
}

// ack acknowledges what is stored. If that fails, the messages come again, and their marks
// drop them.
func (r *Receiver[Tx]) ack(ctx context.Context, items []item) error {
	lost, err := r.o.Source.Ack(ctx, receipts(items))
	r.lost.Add(int64(lost))
	if errors.Is(err, source.ErrClosed) {
		return fmt.Errorf("inbox: receive: acknowledge: %w", err)
	}
	if err != nil && ctx.Err() == nil {
		r.o.OnError(fmt.Errorf("inbox: receive: acknowledge: %w", err))
	}
	return nil
}

// extend tells the broker that the messages are still at work.
func (r *Receiver[Tx]) extend(ctx context.Context, items []item) {
	e, can := r.o.Source.(source.Extender)
	if !can || r.o.Source.Features().AckWait == 0 {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	if _, err := e.Extend(ctx, receipts(items)); err != nil {
		r.o.OnError(fmt.Errorf("inbox: receive: extend the ack wait: %w", err))
	}
}

func receipts(items []item) []source.Receipt {
	out := make([]source.Receipt, len(items))
	for i := range items {
		out[i] = items[i].from.Receipt
	}
	return out
}
