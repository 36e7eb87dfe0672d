package inbox

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/store"
)

// stower stores items in a box, each once, however often it takes: all that a Receiver
// takes in, and what a Consumer parks. It is safe for concurrent use, as far as its
// functions are.
type stower[Tx any] struct {
	to            Store[Tx]
	marks         *Inbox[Tx]
	consumer, box string
	verb          string // what errors begin with
	db            *trouble
	// refused hears of a fault of a message, which has it already. Its error ends the call, unless
	// the message was taken in before: see refuse.
	refused func(fault error, it *item) error
	// failing is called each time that the store has failed, after the pause.
	failing func(ctx context.Context, items []item)
	// done is called with what is stored, and which of it this call stored: as far as is
	// known, if a commit had no answer.
	done func(ctx context.Context, items []item, fresh []bool) error
}

// stow stores items in their sequence.
func (s *stower[Tx]) stow(ctx context.Context, items []item) error {
	if len(items) == 0 {
		return nil
	}
	for {
		fresh, at, err := s.commit(ctx, items)
		if err == nil {
			return s.stored(ctx, items, fresh)
		}
		if errors.Is(err, postbag.ErrCommitUnknown) {
			for _, i := range at {
				items[i].unsure = true
			}
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		refused, rejected := errors.AsType[*postbag.MessageError](err)
		switch {
		case (errors.Is(err, store.ErrOtherBytes) || errors.Is(err, store.ErrNoNumber)) && len(items) > 1:
			s.db.over()
			half := len(items) / 2
			if err := s.stow(ctx, items[:half]); err != nil {
				return err
			}
			return s.stow(ctx, items[half:])
		case errors.Is(err, store.ErrOtherBytes) && items[0].mark.Sum != (store.Sum{}):
			items[0].part()
			err = s.refuse(ctx, items, 0, errOther)
		case errors.Is(err, store.ErrNoNumber) && store.SlotsByNumber.Check(&items[0].out) != nil:
			err = s.number(ctx, items, err)
		case rejected && refused.Index >= 0 && refused.Index < len(at):
			err = s.spoilOne(ctx, items, at[refused.Index], refused)
		case errors.Is(err, store.ErrAgain), errors.Is(err, postbag.ErrCommitUnknown):
			s.db.met(ctx, fmt.Errorf("inbox: %s: %w", s.verb, err))
			continue
		default:
			s.db.met(ctx, fmt.Errorf("inbox: %s: store in %q: %w", s.verb, s.box, err))
			s.failing(ctx, items)
			continue
		}
		if err != nil {
			return err
		}
	}
}

// stored tells what a commit has stored. What is found there after one without an answer is
// most likely that one's.
func (s *stower[Tx]) stored(ctx context.Context, items []item, fresh []bool) error {
	s.db.over()
	for i := range items {
		fresh[i] = fresh[i] || items[i].unsure
	}
	return s.done(ctx, items, fresh)
}

// spoilOne is spoil, of one of items. If that ends the call, those before it are stored.
func (s *stower[Tx]) spoilOne(ctx context.Context, items []item, i int, fault error) error {
	err := s.spoil(ctx, items, i, fault)
	if err != nil {
		err = errors.Join(s.stow(ctx, items[:i]), err)
	}
	return err
}

// spoil makes an item that the store refuses one with a fault.
func (s *stower[Tx]) spoil(ctx context.Context, items []item, i int, fault error) error {
	it := &items[i]
	if it.cut || it.fault != nil && !isTooLong(fault) {
		return fmt.Errorf("inbox: %s: the message of topic %q at %s is refused even with its fault: %w", s.verb, it.from.Topic, it.from.Place, fault)
	}
	it.misfit(fault)
	if it.failed != nil { // why it is parked at all comes first
		fault = it.why()
	}
	return s.refuse(ctx, items, i, fault)
}

// number has a box by number take the only item, whose key it refuses. The message keeps its key, and gets a number as its shard
// key: the slot that a box by hash would give it, so that messages of one key stay in one slot.
func (s *stower[Tx]) number(ctx context.Context, items []item, fault error) error {
	it := &items[0]
	told := it.faulty() || it.failed != nil // with its first fault, or as what failed
	if !told {
		it.blame(fault)
	}
	if _, fits := store.SlotsByNumber.SlotOf(&it.out); !fits {
		it.out.ShardKey = ""
		it.out.ShardKey = strconv.Itoa(store.SlotOf(&it.out))
	}
	if told {
		return nil
	}
	return s.refuse(ctx, items, 0, fault)
}

// commit stores what is new of items in one transaction. It returns which are, and where in
// items those stand that it gave to Append.
func (s *stower[Tx]) commit(ctx context.Context, items []item) (fresh []bool, at []int, err error) {
	marks := make([]Mark, len(items))
	for i := range items {
		marks[i] = items[i].mark
	}
	err = s.to.InTx(ctx, func(ctx context.Context, tx Tx) error {
		if fresh, err = s.marks.OnceBatch(ctx, tx, s.consumer, marks); err != nil {
			return err
		}
		at = at[:0]
		msgs := make([]postbag.Message, 0, len(items))
		for i := range items {
			fresh[i] = fresh[i] && !items[i].taken
			if fresh[i] {
				msgs, at = append(msgs, items[i].out), append(at, i)
			}
		}
		if len(msgs) == 0 {
			return nil
		}
		return s.to.Append(ctx, tx, s.box, msgs)
	})
	if err == nil && len(at) > 0 {
		s.to.Wake(s.box)
	}
	return fresh, at, err
}
