package inbox

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/postbag/postbag/store"
)

// defaultPause is how long Maintain rests after it looked at all marks.
const defaultPause = time.Hour

// How long Maintain rests after an error, or where it could do nothing.
const (
	firstBackoff = time.Second
	maxBackoff   = time.Minute
)

// errForgets says that the store keeps marks forever.
var errForgets = errors.New("inbox: the store cannot remove marks (it is no store.Forgetter); use one that can, or remove them yourself")

// Declare says for how long the marks of consumer are kept, at least: from a minute up, by
// the database's clock. It replaces what was said before, for marks that are there, too. A
// consumer that is not declared keeps its marks for store.DefaultKeep. Call it when your
// program starts. The store must be a store.Forgetter.
func (in *Inbox[Tx]) Declare(ctx context.Context, consumer string, keep time.Duration) error {
	if in.forget == nil {
		return errForgets
	}
	if err := store.ValidConsumer(consumer); err != nil {
		return fmt.Errorf("inbox: declare: %w", err)
	}
	if keep < store.MinKeep {
		return fmt.Errorf("inbox: declare %q: keep is %s; give a minute or more, and longer than a message can be delivered again", consumer, keep)
	}
	return in.forget.DeclareConsumer(ctx, consumer, keep)
}

// Maintain removes marks whose time is over, until ctx ends. See the function [Maintain].
// The store must be a store.Forgetter.
func (in *Inbox[Tx]) Maintain(ctx context.Context, every time.Duration, onError func(error)) error {
	return Maintain(ctx, in.forget, every, onError)
}

// Maintain removes the marks of all consumers whose time is over, until ctx ends. Then it
// returns nil. After it has looked at all marks it rests for a time, every; zero is an
// hour. Any number of processes may run it: one works, the others rest. An error does not
// end it: it calls onError, if that is not nil, and tries again after a second, then two,
// up to a minute. It returns an error at once if f is nil, or every is negative.
func Maintain(ctx context.Context, f store.Forgetter, every time.Duration, onError func(error)) error {
	switch {
	case f == nil:
		return errForgets
	case every < 0:
		return fmt.Errorf("inbox: maintain: every is %s; give the time between two walks, or zero for %s", every, defaultPause)
	case every == 0:
		every = defaultPause
	}
	wait := firstBackoff
	for ctx.Err() == nil {
		did, err := f.Forget(ctx)
		switch {
		case err != nil && ctx.Err() != nil: // it ended the call
		case err != nil:
			if onError != nil {
				onError(fmt.Errorf("inbox: maintain: %w", err))
			}
			wait = rest(ctx, wait)
		case did.Done || did.Busy:
			pause(ctx, every)
			wait = firstBackoff
		case did.Looked == 0: // locks of consumers are in its way
			wait = rest(ctx, wait)
		default:
			wait = firstBackoff
		}
	}
	return nil
}

// rest pauses, and returns for how long to do it the next time.
func rest(ctx context.Context, wait time.Duration) time.Duration {
	pause(ctx, wait)
	return min(2*wait, maxBackoff)
}

// pause waits for d, or until ctx ends.
func pause(ctx context.Context, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-ctx.Done():
	}
}
