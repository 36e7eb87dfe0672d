package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/postbag/postbag/cmd/postbag/internal/display"
	"github.com/postbag/postbag/cmd/postbag/internal/duration"
	"github.com/postbag/postbag/cmd/postbag/internal/exit"
	"github.com/postbag/postbag/cmd/postbag/internal/terminal"
	"github.com/postbag/postbag/internal/operations"
)

// statusFlags say what to show, and how often.
type statusFlags struct {
	store  storeFlags
	box    string
	shards bool
	watch  bool
	check  bool
	every  time.Duration
}

func newStatusCommand(c *terminal.Terminal) *cobra.Command {
	var f statusFlags
	cmd := &cobra.Command{
		Use:   "status",
		Short: "Show boxes, subscriptions, relays, and what waits",
		Long: `Show boxes, subscriptions and relays: what waits and since when, what is parked, who owns the shards.
Large numbers of messages are estimates. With --watch it repeats, and shows rates too. With --watch and
--json it prints one object per line.`,
		Example: `  postbag status --store-env DATABASE_URL --watch`,
		Args:    none,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if f.every < 100*time.Millisecond || f.every > time.Hour {
				return exit.Usagef("--every is %v; choose between 100ms and 1h", f.every)
			}
			if f.box != "" {
				if err := boxName(f.box); err != nil {
					return err
				}
			}
			if f.watch && f.check {
				return exit.Usagef("--check and --watch are both given; use one of them")
			}
			return f.store.at(cmd.Context(), func(d desk) error { return f.look(cmd.Context(), c, d) })
		},
	}
	f.store.addServer(cmd)
	cmd.Flags().StringVar(&f.box, "box", "", "`name` of the one box to show; all when left out")
	cmd.Flags().BoolVar(&f.shards, "shards", false, "show every shard with its owner")
	cmd.Flags().BoolVar(&f.check, "check", false, "end with 6 when a subscription has no relay or is paused, a destination or topic does not work, messages are dead, or a log was begun again; also when a relay is too old to know a filter")
	cmd.Flags().BoolVar(&f.watch, "watch", false, "look again and again, and show rates, until interrupted")
	f.every = 2 * time.Second
	cmd.Flags().Var(duration.Flag(&f.every), "every", "with --watch: `time` between two looks")
	return cmd
}

// look shows the state once, or again and again.
func (f *statusFlags) look(ctx context.Context, c *terminal.Terminal, d desk) error {
	if f.watch {
		return watch(ctx, c, d, f)
	}
	v, err := d.Status(ctx, f.box)
	if err != nil {
		return err
	}
	if c.JSON {
		err = c.Emit(v)
	} else {
		err = display.Status(c, v, f.shards)
	}
	if troubles := v.Troubles(); err == nil && f.check && len(troubles) > 0 {
		return exit.With(exit.Unhealthy, errors.New(strings.Join(troubles, "; ")))
	}
	return err
}

// watch looks until ctx ends, which is how it is meant to end.
func watch(ctx context.Context, c *terminal.Terminal, d desk, f *statusFlags) error {
	look := d.Watch(f.box)
	tick := time.NewTicker(f.every)
	defer tick.Stop()
	for {
		v, err := look(ctx)
		switch {
		case ctx.Err() != nil:
			return nil
		case err != nil:
			return err
		}
		if err := showLook(c, v, f.shards); err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
	}
}

// showLook writes one look of many: on a terminal in place of the one before.
func showLook(c *terminal.Terminal, v *operations.Status, shards bool) error {
	if c.JSON {
		return c.Line(v)
	}
	if terminal.IsTerminal(c.Out) {
		_, _ = fmt.Fprint(c.Out, "\x1b[H\x1b[2J")
	}
	c.Sayf("%s", v.Now.Format(time.RFC3339))
	return display.Status(c, v, shards)
}
