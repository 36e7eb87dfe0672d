package inbox

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/postbag/postbag/source"
)

// take stores a batch, and acknowledges it. It returns an error if Run is to end.
func (r *Receiver[Tx]) take(ctx context.Context, msgs []source.Message) error {
	r.fetched.Add(int64(len(msgs)))
	items := make([]item, len(msgs))
	for i := range msgs {
		items[i] = r.item(&msgs[i])
	}
	var stop error
	for i := range items {
		if stop = r.stower.refuse(ctx, items, i, items[i].fault); stop != nil {
			items = items[:i]
			break
		}
	}
	if err := r.stower.stow(ctx, items); err != nil {
		return errors.Join(err, stop)
	}
	return stop
}

// item makes of a message what the box will hold.
func (r *Receiver[Tx]) item(m *source.Message) item {
	it := r.intake.item(m)
	fault := it.fault
	if fault == nil && r.o.Edit != nil {
		own := it.out.ID
		fault = r.o.Edit(&it.out, m)
		it.out.ID = own
	}
	if it.out.Topic == "" {
		it.out.Topic = r.o.Box
	}
	if fault != nil {
		it.blame(fault)
	} else if fault = r.rules.Publish(context.Background(), 0, it.out); fault != nil {
		it.misfit(fault)
	}
	return it
}

// refused says what a fault means: an error ends Run.
func (r *Receiver[Tx]) refused(fault error, it *item) error {
	if fault == nil {
		return nil
	}
	about := func(err error) error {
		return fmt.Errorf("inbox: receive: the message of topic %q at %s: %w", it.from.Topic, it.from.Place, err)
	}
	r.o.OnError(about(fault))
	if r.o.Faults == StopOnFaults {
		return about(fault)
	}
	if stop := r.o.TooLarge.stops(it, "ReceiverOptions"); stop != nil {
		return about(stop)
	}
	return nil
}

// finish counts what is stored, and acknowledges it.
func (r *Receiver[Tx]) finish(ctx context.Context, items []item, fresh []bool) error {
	r.count(items, fresh)
	return r.ack(ctx, items)
}

func (r *Receiver[Tx]) count(items []item, fresh []bool) {
	for i := range items {
		switch {
		case !fresh[i]:
			r.repeated.Add(1)
		case items[i].fault != nil:
			r.faulty.Add(1)
			r.stored.Add(1)
			r.log.Warn("a message was taken in with a fault", "id", items[i].out.ID, "topic", items[i].out.Topic, "place", items[i].from.Place,
				"fault", items[i].fault)
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
	switch {
	case err == nil:
		r.acks.over()
	case ctx.Err() == nil:
		r.failedAcks.Add(1)
		r.acks.note(fmt.Errorf("inbox: receive: acknowledge: %w", err))
	}
	return nil
}

// extend tells the broker that the messages are still at work.
func (r *Receiver[Tx]) extend(ctx context.Context, items []item) {
	e, can := r.o.Source.(source.Extender)
	if !can || r.o.Source.Features().AckWait == 0 {
		return
	}
	call, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	_, err := e.Extend(call, receipts(items))
	switch {
	case err == nil:
		r.acks.over()
	case ctx.Err() == nil:
		r.failedExtends.Add(1)
		r.acks.note(fmt.Errorf("inbox: receive: extend the ack wait: %w", err))
	}
}

func receipts(items []item) []source.Receipt {
	out := make([]source.Receipt, len(items))
	for i := range items {
		out[i] = items[i].from.Receipt
	}
	return out
}
