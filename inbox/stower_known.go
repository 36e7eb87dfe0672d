package inbox

import (
	"context"
	"errors"
	"fmt"

	"github.com/postbag/postbag/store"
)

// refuse tells of a fault of one of items. Its error ends the call. There is none if the message was taken in before, and its
// acknowledgement was lost: it is stored no second time, and to stop at it would hold up all that comes after it.
func (s *stower[Tx]) refuse(ctx context.Context, items []item, i int, fault error) error {
	stop := s.refused(fault, &items[i])
	if stop == nil {
		return nil
	}
	known, err := s.known(ctx, items, i)
	if err != nil {
		return err
	}
	if known {
		items[i].taken = true
		return nil
	}
	return stop
}

// known says whether one of items has a mark. It leaves none behind. While the store fails, it waits and tries again.
func (s *stower[Tx]) known(ctx context.Context, items []item, i int) (bool, error) {
	it := &items[i]
	for {
		known, err := s.look(ctx, it.mark)
		switch {
		case err == nil:
			s.db.over()
			return known, nil
		case ctx.Err() != nil:
			return false, context.Cause(ctx)
		case errors.Is(err, store.ErrOtherBytes) && it.mark.Sum != (store.Sum{}):
			it.part()
		default:
			s.db.met(ctx, fmt.Errorf("inbox: %s: look for the mark of a message: %w", s.verb, err))
			s.failing(ctx, items)
		}
	}
}

// look makes a mark in a transaction that it rolls back, and says whether it was there.
func (s *stower[Tx]) look(ctx context.Context, mark Mark) (known bool, err error) {
	err = s.to.InTx(ctx, func(ctx context.Context, tx Tx) error {
		fresh, err := s.marks.OnceBatch(ctx, tx, s.consumer, []Mark{mark})
		if err != nil {
			return err
		}
		known = !fresh[0]
		return errUndo
	})
	if errors.Is(err, errUndo) {
		err = nil
	}
	return known, err
}
