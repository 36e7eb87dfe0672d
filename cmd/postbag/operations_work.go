package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"

	"github.com/postbag/postbag/cmd/postbag/internal/terminal"
	"github.com/postbag/postbag/internal/operations"
	"github.com/postbag/postbag/store"
)

// startOperation has the store keep a command for many messages, and works it.
func startOperation(ctx context.Context, c *terminal.Terminal, s operations.Store, p *operations.Preview, a store.Audit, rate int) error {
	held := pausable(ctx, func() { c.Notef("its messages are being written down; it can be paused once it has begun") })
	id, err := s.StartOperation(ctx, p, a, rate)
	held()
	if err != nil {
		return err
	}
	c.Notef("it is operation %d: postbag operations show, pause and cancel work from any terminal", id)
	return workOperation(ctx, c, s, a, id)
}

// workOperation works an operation in this process, until its end or that of ctx.
func workOperation(ctx context.Context, c *terminal.Terminal, s operations.Store, a store.Audit, id store.OperationID) error {
	o, err := s.Operation(ctx, id)
	if err != nil {
		return err
	}
	w := s.Work(id, a, process())
	progress, ended := follow(c, int(o.Matched), int(o.At), "Ctrl-C pauses it")
	w.OnProgress = progress
	held := pausable(ctx, func() { toggle(ctx, c, w) })
	at, err := w.Do(ctx)
	held()
	ended()
	switch {
	case errors.Is(err, store.ErrOperationHeld):
		c.Notef("another process has operation %[1]d, and goes on with it; if that was killed, give postbag operations resume %[1]d again half a minute later", id)
		return sayState(ctx, c, s, id)
	case errors.Is(err, context.Canceled):
		c.Notef("operation %[1]d waits, with %[2]d of %[3]d messages handled; postbag operations resume %[1]d goes on with it", id, at.Handled, at.Chosen)
		return err
	case err != nil:
		return err
	}
	return gave(c, &given{Box: o.Box, Subscription: o.Subscription, Command: operations.CommandName(o.Kind.Command()), Operation: id}, at)
}

// toggle pauses an operation, or lets it go on.
func toggle(ctx context.Context, c *terminal.Terminal, w *operations.Work) {
	switch at, err := w.Toggle(ctx); {
	case err != nil:
		c.Notef("it cannot be paused or resumed: %v", err)
	case at.Paused:
		c.Notef("paused, with %d of %s handled; Ctrl-Z again goes on, Ctrl-C ends it", at.Handled, terminal.Count(at.Chosen, "message"))
	default:
		c.Notef("it goes on")
	}
}

// process is how records call this process.
func process() string {
	name := fmt.Sprintf("%s, process %d", systemUser(), os.Getpid())
	return name[max(0, len(name)-200):]
}

// workIdle works all operations that run and that nobody works, the oldest first, until none is left.
func workIdle(ctx context.Context, c *terminal.Terminal, s operations.Store) error {
	var errs []error
	worked := map[store.OperationID]bool{}
	for more := true; more; {
		all, err := s.Operations(ctx, operations.MaxOperationList)
		if err != nil {
			return errors.Join(append(errs, err)...)
		}
		more = false
		for _, o := range slices.Backward(all) {
			if !o.Idle || o.Later || worked[o.ID] {
				continue
			}
			worked[o.ID], more = true, true
			if err := workOne(ctx, c, s, o.ID); err != nil {
				errs = append(errs, err)
			}
			if ctx.Err() != nil {
				return errors.Join(errs...)
			}
		}
	}
	if len(worked) == 0 {
		c.Sayf("there is no operation that runs and that nobody works")
	}
	return errors.Join(errs...)
}

// workOne works one operation, unless another process has it by now.
func workOne(ctx context.Context, c *terminal.Terminal, s operations.Store, id store.OperationID) error {
	w := s.Work(id, store.Audit{Who: systemUser(), Why: "postbag operations run"}, process())
	w.Stays = true
	held := pausable(ctx, func() { toggle(ctx, c, w) })
	at, err := w.Do(ctx)
	held()
	if errors.Is(err, store.ErrOperationHeld) || errors.Is(err, store.ErrOperationState) {
		return nil
	}
	if err == nil {
		c.Sayf("operation %d: %d of %s handled", id, at.Handled, terminal.Count(at.Chosen, "message"))
	}
	return err
}
