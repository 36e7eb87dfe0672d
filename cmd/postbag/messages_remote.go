package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/postbag/postbag/cmd/postbag/internal/display"
	"github.com/postbag/postbag/cmd/postbag/internal/exit"
	"github.com/postbag/postbag/cmd/postbag/internal/remote"
	"github.com/postbag/postbag/cmd/postbag/internal/terminal"
	"github.com/postbag/postbag/internal/operations"
	"github.com/postbag/postbag/store"
)

// through gives a command through a console.
func (f *commandFlags) through(cmd *cobra.Command, c *terminal.Terminal, s *remote.Client, choice operations.Choice, audit store.Audit) error {
	if f.rate > 0 && len(choice.IDs) > 1 {
		return exit.Usagef("--rate is for messages that flags select, where a console is asked; leave it out, or select them by flags")
	}
	p, err := s.Preview(cmd.Context(), choice)
	if err != nil {
		return err
	}
	if f.dryRun {
		return display.Chosen(c, &p.Choice, p.First, p.Size())
	}
	if err := f.confirm(c, &p.Choice, p.Size()); err != nil {
		return err
	}
	if p.Long(f.rate) {
		return beginOperation(cmd.Context(), c, s, p, audit, f.rate)
	}
	progress, ended := follow(c, p.Size(), 0, "Ctrl-C ends it")
	at, err := s.Give(cmd.Context(), p, audit, progress)
	ended()
	if err != nil {
		return err
	}
	return gave(c, &given{Box: p.Box, Subscription: p.Subscription, Command: operations.CommandName(p.Kind)}, at)
}

// confirm asks before a command for more than one message.
func (f *commandFlags) confirm(c *terminal.Terminal, k *operations.Choice, n int) error {
	if n <= 1 || f.yes {
		return nil
	}
	return c.Confirm(fmt.Sprintf("%s %s of %s?", operations.CommandName(k.Kind), terminal.Count(n, "message"), k.Ref))
}

// beginOperation begins an operation that the console works, and follows it.
func beginOperation(ctx context.Context, c *terminal.Terminal, s *remote.Client, p *remote.Preview, a store.Audit, rate int) error {
	id, err := s.Begin(ctx, p, a, rate)
	if err != nil {
		return err
	}
	c.Notef("it is operation %d: postbag operations show, pause and cancel work from any terminal", id)
	return followOperation(ctx, c, s, a, id)
}
