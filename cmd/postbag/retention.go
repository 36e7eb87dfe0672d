package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/postbag/postbag/cmd/postbag/internal/config"
	"github.com/postbag/postbag/cmd/postbag/internal/duration"
	"github.com/postbag/postbag/cmd/postbag/internal/exit"
	"github.com/postbag/postbag/cmd/postbag/internal/terminal"
	"github.com/postbag/postbag/internal/operations"
	"github.com/postbag/postbag/store"
)

func newRetentionCommand(c *terminal.Terminal) *cobra.Command {
	return group("retention", "Show or set how long messages of a box stay",
		newRetentionShowCommand(c), newRetentionSetCommand(c), newRetentionResetCommand(c))
}

func newRetentionShowCommand(c *terminal.Terminal) *cobra.Command {
	var f storeFlags
	var box string
	cmd := &cobra.Command{
		Use:   "show",
		Short: "Show how long messages of a box stay, and where that comes from",
		Long: `Show how long messages of a box stay, and where each time comes from: an operator, a relay's
configuration (deployment), or the default.`,
		Example: `  postbag retention show -c postbag.yaml --box outbox`,
		Args:    none,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := boxName(box); err != nil {
				return err
			}
			return f.at(cmd.Context(), func(d desk) error {
				v, err := d.Status(cmd.Context(), box)
				if err != nil {
					return err
				}
				return showRetention(c, v)
			})
		},
	}
	f.addServer(cmd)
	cmd.Flags().StringVar(&box, "box", defaultBox, "`name` of the box")
	return cmd
}

func showRetention(c *terminal.Terminal, v *operations.Status) error {
	r := v.Boxes[0].Retention
	if r == nil {
		return fmt.Errorf("box %s shows no retention: %w", v.Boxes[0].Name, operations.ErrNotFound)
	}
	if c.JSON {
		return c.Emit(struct {
			Box string `json:"box"`
			*operations.Retention
		}{v.Boxes[0].Name, r})
	}
	c.Sayf("box %s keeps messages: %s", v.Boxes[0].Name, r.InWords())
	if r.DeployedBy != "" {
		c.Sayf("relay %s said what is deployed %s ago", terminal.Printable(r.DeployedBy), operations.Span(operations.Seconds(r.DeployedAgo)))
	}
	return nil
}

// retentionFlags are those of commands that change a retention.
type retentionFlags struct {
	edit                 editFlags
	delivered, discarded time.Duration
	dead                 string
	dryRun, yes          bool
}

func (f *retentionFlags) add(cmd *cobra.Command) {
	f.edit.add(cmd)
	cmd.Flags().BoolVar(&f.dryRun, "dry-run", false, "say what would change, and do nothing")
	cmd.Flags().BoolVar(&f.yes, "yes", false, "do not ask before messages are kept for less than half as long as before")
}

func newRetentionSetCommand(c *terminal.Terminal) *cobra.Command {
	var f retentionFlags
	cmd := &cobra.Command{
		Use:   "set",
		Short: "Set how long messages of a box stay, by what became of them",
		Long: `Set how long messages of a box stay. What you do not name stays as it is. It overrides what relays have
in their configuration, until postbag retention reset.

A delivered or discarded message stays in the log for so long after every subscription has passed it; a
discarded one keeps all that is behind it as long. A dead message stays parked for so long; then the owner
of its shard discards it, and its key goes on. The least is 10m. The command says first about how many
messages the next housekeeping would remove, and asks if something is kept for less than half as long as
before. The audit log records who set what, and why.`,
		Example: `  postbag retention set -c postbag.yaml --delivered 3d --discarded 7d --dead never --why "more disk"`,
		Args:    none,
		RunE: func(cmd *cobra.Command, _ []string) error {
			l := store.Lifetimes{Delivered: f.delivered, Discarded: f.discarded}
			var err error
			if l.Dead, err = config.Dead(strings.TrimSpace(f.dead)); err != nil {
				return exit.Usagef("--dead %v", err)
			}
			return f.change(cmd.Context(), c, func(s operations.Store) (operations.RetentionChange, error) {
				return s.PreviewRetention(cmd.Context(), f.edit.box, l)
			})
		},
	}
	f.add(cmd)
	cmd.Flags().Var(duration.Flag(&f.delivered), "delivered", "how long delivered and filtered messages stay")
	cmd.Flags().Var(duration.Flag(&f.discarded), "discarded", "how long discarded messages stay; not less than delivered ones")
	cmd.Flags().StringVar(&f.dead, "dead", "", "how long dead messages stay: a `duration`, or never")
	return cmd
}

func newRetentionResetCommand(c *terminal.Terminal) *cobra.Command {
	var f retentionFlags
	cmd := &cobra.Command{
		Use:   "reset",
		Short: "Have a box keep messages as relays say in their configuration",
		Long: `End what postbag retention set has set for a box. Then the configuration of its relays holds again, or
the default. What no relay has said for an hour ends too.`,
		Example: `  postbag retention reset -c postbag.yaml --why "the disk is larger now"`,
		Args:    none,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return f.change(cmd.Context(), c, func(s operations.Store) (operations.RetentionChange, error) {
				return s.PreviewReset(cmd.Context(), f.edit.box)
			})
		},
	}
	f.add(cmd)
	return cmd
}

// change shows what would change, asks if messages go much earlier, and does it.
func (f *retentionFlags) change(ctx context.Context, c *terminal.Terminal, preview func(operations.Store) (operations.RetentionChange, error)) error {
	return f.edit.edit(ctx, func(s operations.Store, a store.Audit) error {
		p, err := preview(s)
		if err != nil {
			return err
		}
		if !c.JSON {
			sayRetention(c, &p)
		}
		if f.dryRun {
			return f.changed(c, &p)
		}
		if shorter := p.Shorter(); len(shorter) > 0 && !f.yes {
			if err := c.Confirm(fmt.Sprintf("keep %s?", strings.Join(shorter, ", and "))); err != nil {
				return err
			}
		}
		if err := s.SetRetention(ctx, a, &p); err != nil {
			return err
		}
		return f.changed(c, &p)
	})
}

func sayRetention(c *terminal.Terminal, p *operations.RetentionChange) {
	c.Sayf("before: %s", lifetimesText(&p.Before))
	c.Sayf("after:  %s", lifetimesText(&p.After))
	if p.Messages > 0 {
		c.Sayf("the next housekeeping would remove about %s of the log", terminal.Count(p.Messages, "message"))
	}
	if p.Dead > 0 && p.After.Dead != store.Forever {
		c.Sayf("of %s, those that are dead for more than %s would be discarded", terminal.Count(p.Dead, "dead message"), operations.Lifetime(p.After.Dead))
	}
}

// lifetimesText says lifetimes in words.
func lifetimesText(l *store.Lifetimes) string {
	return fmt.Sprintf("delivered %s, discarded %s, dead %s", operations.Lifetime(l.Delivered), operations.Lifetime(l.Discarded), operations.Lifetime(l.Dead))
}

// retentionChanged is what a change was, in JSON.
type retentionChanged struct {
	Box      string            `json:"box"`
	Before   map[string]string `json:"before"`
	After    map[string]string `json:"after"`
	Messages int64             `json:"messages"`
	Dead     int64             `json:"dead"`
	Changed  bool              `json:"changed"`
}

func (f *retentionFlags) changed(c *terminal.Terminal, p *operations.RetentionChange) error {
	if !c.JSON {
		if f.dryRun {
			c.Sayf("nothing was changed")
		} else {
			c.Sayf("box %s keeps messages so from now on", p.Box)
		}
		return nil
	}
	words := func(l *store.Lifetimes) map[string]string {
		return map[string]string{"delivered": operations.Lifetime(l.Delivered), "discarded": operations.Lifetime(l.Discarded), "dead": operations.Lifetime(l.Dead)}
	}
	return c.Emit(retentionChanged{p.Box, words(&p.Before), words(&p.After), p.Messages, p.Dead, !f.dryRun})
}
