package main

import (
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
	trouble, idle := troubled(c, id), unworked(c, id)
	for o.State == store.OperationRunning && err == nil {
		at := o.Progress()
		progress(at)
		at.Trouble = terminal.Printable(o.Trouble)
		trouble(at)
		idle(o.Idle)
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

// idleLooks is how many looks in a row must find that nobody works an operation before the user is told: a console takes one up within
// a moment, if it has just begun or the console before it has ended.
const idleLooks = 10

// unworked returns what tells the user that nobody works an operation, and that it goes on.
func unworked(c *terminal.Terminal, id store.OperationID) func(idle bool) {
	looks := 0
	return func(idle bool) {
		switch {
		case idle:
			if looks++; looks == idleLooks {
				c.Notef("nobody works operation %[1]d at the moment; a console that takes commands goes on with it within two minutes, and postbag operations run does at once where the database can be reached", id)
			}
			return
		case looks >= idleLooks:
			c.Notef("operation %d goes on", id)
		}
		looks = 0
	}
}

// pauseFollowed pauses an operation whose command is ended, and says how to go on. One that has come to its end says so.
func pauseFollowed(ctx context.Context, c *terminal.Terminal, s *remote.Client, a store.Audit, id store.OperationID) error {
	end := ctx.Err()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), lastWords)
	defer cancel()
	switch o, paused, err := pauseRunning(ctx, s, a, id); {
	case err != nil:
		c.Notef("operation %[1]d may go on in the console, since it could not be paused: %[2]v; postbag operations pause %[1]d tries again", id, err)
	case !paused:
		return followed(c, &o)
	default:
		c.Notef("operation %[1]d waits, with %[2]d of %[3]d messages handled; postbag operations resume %[1]d goes on with it", o.ID, o.At, o.Matched)
	}
	return end
}

// pauseRunning pauses an operation if it runs, and looks at it. It may end, or be paused by somebody else, just before.
func pauseRunning(ctx context.Context, s *remote.Client, a store.Audit, id store.OperationID) (o operations.Operation, paused bool, err error) {
	if o, err = s.Operation(ctx, id); err != nil || o.State != store.OperationRunning {
		return o, false, err
	}
	refused := s.PauseOperation(ctx, operations.Interrupted(a), id)
	o, err = s.Operation(ctx, id)
	if refused != nil && (err != nil || o.State == store.OperationRunning) {
		return o, false, refused
	}
	return o, refused == nil, err
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
