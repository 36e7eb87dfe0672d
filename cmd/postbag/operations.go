package main

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/postbag/postbag/cmd/postbag/internal/exit"
	"github.com/postbag/postbag/cmd/postbag/internal/terminal"
	"github.com/postbag/postbag/internal/operations"
	"github.com/postbag/postbag/store"
)

func newOperationsCommand(c *terminal.Terminal) *cobra.Command {
	return group("operations", "Look at commands for many messages, pause, resume or cancel them",
		newOperationsListCommand(c), newOperationsShowCommand(c), newOperationsPauseCommand(c), newOperationsResumeCommand(c),
		newOperationsCancelCommand(c), newOperationsRunCommand(c))
}

func newOperationsListCommand(c *terminal.Terminal) *cobra.Command {
	var f storeFlags
	limit := 20
	cmd := &cobra.Command{
		Use: "list", Short: "Show the latest operations, and how far they are",
		Long: `Show the latest operations: retries, discards, deletes and publish-nows of many messages. The store
keeps them, whatever becomes of the process that began them. Housekeeping removes those that nobody
changed for 30 days.`,
		Example: `  postbag operations list -c postbag.yaml`,
		Args:    none,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return f.at(cmd.Context(), func(d desk) error {
				all, err := d.Operations(cmd.Context(), limit)
				if err != nil {
					return err
				}
				return showOperations(c, all)
			})
		},
	}
	f.addServer(cmd)
	cmd.Flags().IntVar(&limit, "limit", limit, fmt.Sprintf("most `operations` to list, at most %d", operations.MaxOperationList))
	return cmd
}

func showOperations(c *terminal.Terminal, all []operations.Operation) error {
	if c.JSON {
		return c.Emit(all)
	}
	if len(all) == 0 {
		c.Sayf("there is no operation")
		return nil
	}
	rows := make([][]string, len(all))
	for i := range all {
		o := &all[i]
		rows[i] = []string{
			strconv.FormatInt(int64(o.ID), 10), terminal.Printable(string(o.Kind)), placeOf(o), stateOfOperation(o), fmt.Sprintf("%d/%d", o.At, o.Matched),
			strconv.FormatInt(o.Given, 10), strconv.FormatInt(o.Changed, 10), strconv.FormatInt(o.Passed, 10), terminal.Printable(o.Who), o.Made.UTC().Format(time.RFC3339),
		}
	}
	return c.Table([]string{"ID", "KIND", "OF", "STATE", "BEHIND IT", "GIVEN", "CHANGED", "PASSED", "WHO", "MADE"}, rows)
}

// placeOf is the box of an operation, and its subscription if it has one.
func placeOf(o *operations.Operation) string {
	if o.Subscription == "" {
		return o.Box
	}
	return o.Box + "/" + o.Subscription
}

// stateOfOperation is the state for people.
func stateOfOperation(o *operations.Operation) string {
	switch {
	case o.Later:
		return terminal.Printable(string(o.State)) + ", of a later version"
	case o.Idle:
		return string(o.State) + ", nobody works it"
	case o.Trouble != "":
		return string(o.State) + ", in trouble"
	}
	return terminal.Printable(string(o.State))
}

// operationFlags name an operation.
type operationFlags struct {
	store storeFlags
	audit auditFlags
}

func (f *operationFlags) add(cmd *cobra.Command, audited bool) {
	f.store.addServer(cmd)
	if audited {
		f.audit.add(cmd)
	}
	cmd.Args = exactly("the number of an operation")
}

func operationID(text string) (store.OperationID, error) {
	id, err := strconv.ParseInt(text, 10, 64)
	if err != nil || id < 1 {
		return 0, exit.Usagef("that is no number of an operation; postbag operations list shows those there are")
	}
	return store.OperationID(id), nil
}

// change has do change the operation that the argument names.
func (f *operationFlags) change(ctx context.Context, args []string, do func(desk, store.Audit, store.OperationID) error) error {
	id, err := operationID(args[0])
	if err != nil {
		return err
	}
	audit, err := f.audit.audit()
	if err != nil {
		return err
	}
	return f.store.at(ctx, func(d desk) error { return do(d, audit, id) })
}

func newOperationsShowCommand(c *terminal.Terminal) *cobra.Command {
	var f operationFlags
	cmd := &cobra.Command{
		Use: "show ID", Short: "Show one operation: what it is for, how far it is, who holds it",
		Long:    `Show one operation: which messages it is for, what became of them, who began it, paused it or works it.`,
		Example: `  postbag operations show 7 -c postbag.yaml`,
		RunE: func(cmd *cobra.Command, args []string) error {
			id, err := operationID(args[0])
			if err != nil {
				return err
			}
			return f.store.at(cmd.Context(), func(d desk) error {
				o, err := d.Operation(cmd.Context(), id)
				if err != nil {
					return err
				}
				if c.JSON {
					return c.Emit(o)
				}
				sayOperation(c, &o)
				return nil
			})
		},
	}
	f.add(cmd, false)
	return cmd
}

func sayOperation(c *terminal.Terminal, o *operations.Operation) {
	p := terminal.Printable
	c.Sayf("operation %d: %s %d %s messages of %s", o.ID, p(string(o.Kind)), o.Matched, p(string(o.Of)), placeOf(o))
	c.Sayf("it is %s, with %d of %d behind it: %d given, %d changed, %d passed", stateOfOperation(o), o.At, o.Matched, o.Given, o.Changed, o.Passed)
	c.Sayf("begun by %s at %s: %s", p(o.Who), o.Made.UTC().Format(time.RFC3339), p(o.Why))
	if len(o.Chosen) > 0 {
		c.Sayf("chosen by %s", p(string(o.Chosen)))
	}
	if o.Rate > 0 {
		c.Sayf("at most %d a second", o.Rate)
	}
	if o.By != "" {
		c.Sayf("paused, resumed or cancelled last by %s: %s", p(o.By), p(o.ByWhy))
	}
	if o.Worker != "" {
		c.Sayf("worked by %s", p(o.Worker))
	}
	if o.Error != "" {
		c.Sayf("failed: %s", p(o.Error))
	}
	if o.Trouble != "" {
		c.Sayf("in trouble: %s", p(o.Trouble))
	}
}

func newOperationsPauseCommand(c *terminal.Terminal) *cobra.Command {
	var f operationFlags
	cmd := &cobra.Command{
		Use: "pause ID", Short: "Hold an operation until it is resumed",
		Long: `Hold an operation until it is resumed. When this command returns, no further message gets the command
of the operation. The process that works it waits.`,
		Example: `  postbag operations pause 7 -c postbag.yaml --why "the endpoint cannot take more"`,
		RunE: func(cmd *cobra.Command, args []string) error {
			return f.change(cmd.Context(), args, func(s desk, a store.Audit, id store.OperationID) error {
				if err := s.PauseOperation(cmd.Context(), a, id); err != nil {
					return err
				}
				return sayState(cmd.Context(), c, s, id)
			})
		},
	}
	f.add(cmd, true)
	return cmd
}

func newOperationsCancelCommand(c *terminal.Terminal) *cobra.Command {
	var f operationFlags
	cmd := &cobra.Command{
		Use: "cancel ID", Short: "End an operation before its last message",
		Long: `End an operation before its last message. What has its command keeps it. A cancelled operation
cannot be resumed: give the command again for the rest.`,
		Example: `  postbag operations cancel 7 -c postbag.yaml --why "the wrong messages"`,
		RunE: func(cmd *cobra.Command, args []string) error {
			return f.change(cmd.Context(), args, func(s desk, a store.Audit, id store.OperationID) error {
				if err := s.CancelOperation(cmd.Context(), a, id); err != nil {
					return err
				}
				return sayState(cmd.Context(), c, s, id)
			})
		},
	}
	f.add(cmd, true)
	return cmd
}

// sayState says how an operation is by now.
func sayState(ctx context.Context, c *terminal.Terminal, s desk, id store.OperationID) error {
	o, err := s.Operation(ctx, id)
	if err != nil {
		return err
	}
	return sayOperationState(c, &o)
}

func sayOperationState(c *terminal.Terminal, o *operations.Operation) error {
	if c.JSON {
		return c.Emit(o)
	}
	c.Sayf("operation %d is %s, with %d of %d messages behind it", o.ID, o.State, o.At, o.Matched)
	return nil
}

func newOperationsResumeCommand(c *terminal.Terminal) *cobra.Command {
	var f operationFlags
	cmd := &cobra.Command{
		Use: "resume ID", Short: "Go on with an operation that is paused, has failed, or lost its process",
		Long: `Go on with an operation that is paused, has failed, or whose process was killed. This process works it
until its last message, from where it was: no message is left out, and none gets the command twice. If
another process waits for the end of the pause, that one goes on, and this one returns.`,
		Example: `  postbag operations resume 7 -c postbag.yaml --why "the endpoint is back"`,
		RunE: func(cmd *cobra.Command, args []string) error {
			return f.change(cmd.Context(), args, func(s desk, a store.Audit, id store.OperationID) error {
				if err := s.ResumeOperation(cmd.Context(), a, id); err != nil {
					return err
				}
				return goOn(cmd.Context(), c, s, a, id)
			})
		},
	}
	f.add(cmd, true)
	return cmd
}

func newOperationsRunCommand(c *terminal.Terminal) *cobra.Command {
	var f storeFlags
	cmd := &cobra.Command{
		Use: "run", Short: "Work all operations that run and that no process works",
		Long: `Work all operations that run and that no process works, one after another, the oldest first. It leaves
those alone that are paused. A timer can do it, so that an operation goes on whose process was killed.
While the store is away it waits. Ctrl-C ends it, and pauses nothing: each operation that is not over still runs,
and the next run goes on with it, or a console that takes commands.`,
		Example: `  postbag operations run -c postbag.yaml`,
		Args:    none,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return f.operate(cmd.Context(), func(s operations.Store) error { return workIdle(cmd.Context(), c, s) })
		},
	}
	f.add(cmd)
	return cmd
}
