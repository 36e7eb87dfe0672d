package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"time"

	"github.com/postbag/postbag/cmd/postbag/internal/remote"
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

// goOn works an operation that was resumed, or follows it where a console works it.
func goOn(ctx context.Context, c *terminal.Terminal, d desk, a store.Audit, id store.OperationID) error {
	switch d := d.(type) {
	case *remote.Client:
		return followOperation(ctx, c, d, a, id)
	case database:
		return workOperation(ctx, c, d.Store, a, id)
	}
	return sayState(ctx, c, d, id)
}

// workOperation works an operation in this process, until its end or that of ctx.
func workOperation(ctx context.Context, c *terminal.Terminal, s operations.Store, a store.Audit, id store.OperationID) error {
	o, err := s.Operation(ctx, id)
	if err != nil {
		return err
	}
	w := s.Work(id, a, process())
	progress, ended := follow(c, int(o.Matched), int(o.At), "Ctrl-C pauses it")
	trouble := troubled(c, id)
	w.OnProgress = func(at operations.Progress) {
		progress(at)
		trouble(at)
	}
	held := pausable(ctx, func() { toggle(ctx, c, w) })
	at, err := w.Do(ctx)
	held()
	ended()
	switch {
	case errors.Is(err, store.ErrOperationHeld):
		c.Notef("another process has operation %[1]d, and goes on with it; if that was killed, give postbag operations resume %[1]d again half a minute later", id)
		return sayState(ctx, c, database{s}, id)
	case err != nil && ctx.Err() != nil:
		sayLeft(ctx, c, s, id)
		return err
	case err != nil:
		return err
	}
	return gave(c, &given{Box: o.Box, Subscription: o.Subscription, Command: operations.CommandName(o.Kind.Command()), Operation: id}, at)
}

// troubled returns what tells the user once of each trouble of an operation, and of its end.
func troubled(c *terminal.Terminal, id store.OperationID) func(operations.Progress) {
	before := ""
	return func(at operations.Progress) {
		switch {
		case at.Trouble == before:
			return
		case at.Trouble == "":
			c.Notef("operation %d goes on", id)
		case before == "":
			c.Notef("operation %d does not go on at the moment, and tries again all the time: %s", id, at.Trouble)
		}
		before = at.Trouble
	}
}

// lastLook is how long an interrupted command tries to find out what becomes of its operation.
const lastLook = 5 * time.Second

// sayLeft says what becomes of an operation that this process does not work any more, since it was interrupted, and how to go on.
func sayLeft(ctx context.Context, c *terminal.Terminal, s operations.Store, id store.OperationID) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), lastLook)
	defer cancel()
	o, err := s.Operation(ctx, id)
	if err != nil {
		c.Notef("what becomes of operation %[1]d is not known, since the store does not say: this process gives no more commands, and postbag operations show %[1]d says how it is: %[2]v", id, err)
		return
	}
	c.Notef("%s", leftText(&o))
}

// leftText says how an operation is that was left.
func leftText(o *operations.Operation) string {
	at := fmt.Sprintf("operation %d is %s, with %d of %d messages behind it", o.ID, terminal.Printable(string(o.State)), o.At, o.Matched)
	switch {
	case o.State == store.OperationPaused:
		return fmt.Sprintf("%s; it waits until postbag operations resume %d goes on with it", at, o.ID)
	case o.State == store.OperationFailed:
		return fmt.Sprintf("%s; postbag operations resume %d goes on with it", at, o.ID)
	case o.State != store.OperationRunning:
		return at + "; it is over"
	case o.Idle:
		return fmt.Sprintf("%s, and nobody works it; a console that takes commands goes on with it within two minutes, and postbag operations run or resume %d does at once; postbag operations pause %[2]d holds it", at, o.ID)
	case o.Worker == process():
		return fmt.Sprintf("%s; the store did not take its lease back, so nobody goes on with it for half a minute; then a console that takes commands does, or postbag operations run or resume %d; postbag operations pause %[2]d holds it", at, o.ID)
	}
	return fmt.Sprintf("%s, and goes on: %s works it; postbag operations pause %d holds it", at, terminal.Printable(o.Worker), o.ID)
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
	for more := true; more && ctx.Err() == nil; {
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
			if ctx.Err() != nil { // what was not begun is left as it was
				c.Notef("%s", leftText(&o))
				continue
			}
			if err := workOne(ctx, c, s, o.ID); err != nil {
				errs = append(errs, err)
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
	w.OnProgress = troubled(c, id)
	held := pausable(ctx, func() { toggle(ctx, c, w) })
	at, err := w.Do(ctx)
	held()
	if errors.Is(err, store.ErrOperationHeld) || errors.Is(err, store.ErrOperationState) {
		return nil
	}
	switch {
	case err != nil && ctx.Err() != nil:
		sayLeft(ctx, c, s, id)
	case err == nil && at.Paused:
		c.Sayf("operation %[1]d was paused, with %[2]d of %[3]s handled; postbag operations resume %[1]d goes on with it", id, at.Handled, terminal.Count(at.Chosen, "message"))
	case err == nil:
		c.Sayf("operation %d: %d of %s handled", id, at.Handled, terminal.Count(at.Chosen, "message"))
	}
	return err
}
