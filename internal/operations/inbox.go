package operations

import (
	"context"
	"time"

	"github.com/postbag/postbag/store"
)

var errNoInbox = refusef(ErrUnsupported, "this kind of store keeps no marks of consumers; use one of Postbag's own")

// Consumers returns the consumers for which somebody said how long their marks are kept.
func (s Store) Consumers(ctx context.Context) ([]store.Consumer, error) {
	if s.Forgetter == nil {
		return nil, errNoInbox
	}
	return s.Forgetter.Consumers(ctx)
}

// KeepMarks says for how long the marks of a consumer are kept.
func (s Store) KeepMarks(ctx context.Context, consumer string, keep time.Duration) error {
	if s.Forgetter == nil {
		return errNoInbox
	}
	if err := store.ValidConsumer(consumer); err != nil {
		return refusef(ErrInvalid, "%v", err)
	}
	if keep < store.MinKeep {
		return refusef(ErrInvalid, "marks cannot be kept for %s; keep them for %s or longer", keep, store.MinKeep)
	}
	return s.Forgetter.DeclareConsumer(ctx, consumer, keep)
}

// ForgetMarks removes the marks whose time is over, from all consumers, and returns what it did. If another process is at it, Busy is set and
// there may be more to remove.
func (s Store) ForgetMarks(ctx context.Context) (store.Forgotten, error) {
	if s.Forgetter == nil {
		return store.Forgotten{}, errNoInbox
	}
	var sum store.Forgotten
	for {
		f, err := s.Forgetter.Forget(ctx)
		sum.Looked, sum.Removed, sum.Done, sum.Busy = sum.Looked+f.Looked, sum.Removed+f.Removed, f.Done, f.Busy
		if err != nil || f.Done || f.Busy {
			return sum, err
		}
	}
}
