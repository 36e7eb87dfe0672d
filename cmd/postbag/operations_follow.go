package main

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"github.com/postbag/postbag/cmd/postbag/internal/remote"
	"github.com/postbag/postbag/cmd/postbag/internal/terminal"
	"github.com/postbag/postbag/internal/operations"
	"github.com/postbag/postbag/store"
)

// followEvery is how long lies between two looks at an operation that a console works.
const followEvery = 500 * time.Millisecond

// lastWords is how long a command that is ended may take to pause what it began.
const lastWords = 5 * time.Second

// followOperation shows how far an operation is that the console works, until its end. If ctx ends, it is paused, as one is that this
// process works.
func followOperation(ctx context.Context, c *terminal.Terminal, s *remote.Client, a store.Audit, id store.OperationID) error {
	o, err := s.Operation(ctx, id)
	if err != nil && ctx.Err() == nil {
		return err
	}
	progress, ended := follow(c, int(o.Matched), int(o.At), "Ctrl-C pauses it")
	for o.State == store.OperationRunning && err == nil {
		progress(o.Progress())
		select {
		case <-ctx.Done():
			err = ctx.Err()
		case <-time.After(followEvery):
			var now operations.Operation
			if now, err = s.Operation(ctx, id); err == nil {
				o = now
			}
		}
	}
	ended()
	switch {
	case ctx.Err() != nil:
		return pauseFollowed(ctx, c, s, a, id)
	case err != nil:
		return fmt.Errorf("the console works operation %[1]d, and it is not known how far it is: %[2]w; postbag operations show %[1]d says it", id, err)
	}
	return followed(c, &o)
}

// pauseFollowed pauses an operation whose command is ended, and says how to go on.
func pauseFollowed(ctx context.Context, c *terminal.Terminal, s *remote.Client, a store.Audit, id store.OperationID) error {
	end := ctx.Err()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), lastWords)
	defer cancel()
	a.Why = "interrupted: " + a.Why
	err := s.PauseOperation(ctx, a, id)
	o, unknown := s.Operation(ctx, id)
	if err = cmp.Or(err, unknown); err != nil {
		c.Notef("operation %[1]d may go on in the console, since it could not be paused: %[2]v; postbag operations pause %[1]d tries again", id, err)
		return end
	}
	c.Notef("operation %[1]d waits, with %[2]d of %[3]d messages handled; postbag operations resume %[1]d goes on with it", o.ID, o.At, o.Matched)
	return end
}

// followed says what became of an operation that does not run any more.
func followed(c *terminal.Terminal, o *operations.Operation) error {
	if o.State == store.OperationPaused {
		c.Notef("operation %[1]d was paused by %[2]s: %[3]s; postbag operations resume %[1]d goes on with it", o.ID, terminal.Printable(o.By), terminal.Printable(o.ByWhy))
		return sayOperationState(c, o)
	}
	if err := o.Err(); err != nil {
		return err
	}
	return gave(c, &given{Box: o.Box, Subscription: o.Subscription, Command: operations.CommandName(o.Kind.Command()), Operation: o.ID}, o.Progress())
}
