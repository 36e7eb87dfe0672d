package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/cmd/postbag/internal/exit"
	"github.com/postbag/postbag/cmd/postbag/internal/terminal"
	"github.com/postbag/postbag/internal/operations"
	"github.com/postbag/postbag/store"
)

func newReplayCommand(c *terminal.Terminal) *cobra.Command {
	return group("replay", "Send messages again that were delivered before",
		newReplayStartCommand(c), newReplayListCommand(c), newReplayStatusCommand(c),
		newReplayPauseCommand(c), newReplayResumeCommand(c), newReplayCancelCommand(c))
}

// replayFlags name a replay, and say who gives a command about it.
type replayFlags struct {
	store storeFlags
	audit auditFlags
	box   string
	name  string
}

func (f *replayFlags) add(cmd *cobra.Command, audited bool) {
	if audited {
		f.store.add(cmd)
	} else {
		f.store.addServer(cmd)
	}
	cmd.Flags().StringVar(&f.box, "box", defaultBox, "`name` of the box")
	cmd.Flags().StringVar(&f.name, "name", "", "`name` of the replay, in place of the argument")
	if audited {
		f.audit.add(cmd)
	}
	cmd.Args = argumentOr("the name of a replay", "name")
}

// named returns the replay that an argument names.
func (f *replayFlags) named(args []string) (store.Ref, error) {
	if err := boxName(f.box); err != nil {
		return store.Ref{}, err
	}
	name := f.name
	if len(args) > 0 {
		name = args[0]
	}
	if err := postbag.ValidSubscription(name); err != nil {
		return store.Ref{}, exit.Usagef("that is no name of a replay; postbag replay list shows those there are")
	}
	return store.Ref{Box: f.box, Subscription: name}, nil
}

// change has do change the replay that an argument names.
func (f *replayFlags) change(ctx context.Context, args []string, do func(operations.Store, store.Audit, store.Ref) error) error {
	ref, err := f.named(args)
	if err != nil {
		return err
	}
	audit, err := f.audit.audit()
	if err != nil {
		return err
	}
	return f.store.operate(ctx, func(s operations.Store) error { return do(s, audit, ref) })
}

func newReplayListCommand(c *terminal.Terminal) *cobra.Command {
	var f storeFlags
	var box string
	cmd := &cobra.Command{
		Use: "list", Short: "Show the replays there are, and how far they are",
		Long: `Show the replays of all boxes, or of one. Replays that are through are not there any more:
postbag audit shows what they did.`,
		Example: `  postbag replay list -c postbag.yaml`,
		Args:    none,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if box != "" {
				if err := boxName(box); err != nil {
					return err
				}
			}
			return f.at(cmd.Context(), func(d desk) error {
				all, err := d.Replays(cmd.Context(), box)
				if err != nil {
					return err
				}
				return showReplays(c, all)
			})
		},
	}
	f.addServer(cmd)
	cmd.Flags().StringVar(&box, "box", "", "`name` of the one box to show; all when left out")
	return cmd
}

func showReplays(c *terminal.Terminal, all []operations.Replay) error {
	if c.JSON {
		return c.Emit(all)
	}
	if len(all) == 0 {
		c.Sayf("there is no replay")
		return nil
	}
	rows := make([][]string, len(all))
	for i := range all {
		r := &all[i]
		rows[i] = []string{
			r.Name, r.Box + "/" + r.Of, r.State, r.Percent(), strconv.FormatInt(r.Delivered, 10),
			strconv.FormatInt(r.Filtered, 10), strconv.FormatInt(r.Parked[store.ParkDead.String()], 10), terminal.Printable(r.Destination),
		}
	}
	return c.Table([]string{"REPLAY", "OF", "STATE", "DONE", "DELIVERED", "LEFT OUT", "DEAD", "DESTINATION"}, rows)
}

func newReplayStatusCommand(c *terminal.Terminal) *cobra.Command {
	var f replayFlags
	cmd := &cobra.Command{
		Use: "status NAME", Short: "Show one replay and how far it is",
		Long:    `Show one replay: what it sends again, how far it is, and what became of its messages.`,
		Example: `  postbag replay status replay-20260131-120000 -c postbag.yaml`,
		RunE: func(cmd *cobra.Command, args []string) error {
			ref, err := f.named(args)
			if err != nil {
				return err
			}
			return f.store.at(cmd.Context(), func(d desk) error {
				r, err := replayOf(cmd.Context(), d, ref)
				if err != nil {
					return err
				}
				if c.JSON {
					return c.Emit(r)
				}
				c.Sayf("%s of %s/%s is %s, %s done: %s", r.Name, r.Box, r.Of, r.State, r.Percent(), r.Counts())
				c.Sayf("it sends seqs %d to %d again to %s", r.After+1, r.Through, terminal.Printable(r.Destination))
				return nil
			})
		},
	}
	f.add(cmd, false)
	return cmd
}

// replayOf returns one replay.
func replayOf(ctx context.Context, d desk, ref store.Ref) (*operations.Replay, error) {
	all, err := d.Replays(ctx, ref.Box)
	if err != nil {
		return nil, err
	}
	at := slices.IndexFunc(all, func(r operations.Replay) bool { return r.Name == ref.Subscription })
	if at < 0 {
		return nil, operations.NoReplay(ref)
	}
	return &all[at], nil
}

func newReplayPauseCommand(c *terminal.Terminal) *cobra.Command {
	var f replayFlags
	cmd := &cobra.Command{
		Use: "pause NAME", Short: "Hold a replay until it is resumed",
		Long: `Hold a replay. The process that works it hears of it within a moment, and waits. Retention
waits too, so watch the disk of the box.`,
		Example: `  postbag replay pause replay-20260131-120000 -c postbag.yaml --why "the consumer is slow"`,
		RunE: func(cmd *cobra.Command, args []string) error {
			return f.change(cmd.Context(), args, func(s operations.Store, a store.Audit, ref store.Ref) error {
				if _, err := s.Replay(cmd.Context(), ref); err != nil {
					return err
				}
				if err := s.SetPaused(cmd.Context(), a, ref, true); err != nil {
					return err
				}
				return sayReplay(cmd.Context(), c, s, ref, "%s is paused; postbag replay resume goes on")
			})
		},
	}
	f.add(cmd, true)
	return cmd
}

// sayReplay says what became of a replay, in JSON with all that there is of it.
func sayReplay(ctx context.Context, c *terminal.Terminal, s operations.Store, ref store.Ref, words string) error {
	if !c.JSON {
		c.Sayf(words, ref.Subscription)
		return nil
	}
	r, err := s.Replay(ctx, ref)
	if err != nil {
		return err
	}
	return c.Emit(r)
}

func newReplayCancelCommand(c *terminal.Terminal) *cobra.Command {
	var f replayFlags
	var yes bool
	cmd := &cobra.Command{
		Use: "cancel NAME", Short: "End a replay: what it has not sent is not sent again",
		Long: `End a replay and remove it. A process that works it ends too. What it has sent stays sent. Its
dead messages go with it; the subscription's own are left alone. The audit log keeps what it did.`,
		Example: `  postbag replay cancel replay-20260131-120000 -c postbag.yaml --why "the wrong day"`,
		RunE: func(cmd *cobra.Command, args []string) error {
			return f.change(cmd.Context(), args, func(s operations.Store, a store.Audit, ref store.Ref) error {
				r, err := s.Replay(cmd.Context(), ref)
				if err != nil {
					return err
				}
				if !yes {
					if err := c.Confirm(fmt.Sprintf("end replay %s, which is %s done?", r.Name, r.Percent())); err != nil {
						return err
					}
				}
				return endReplay(cmd.Context(), c, s, a, ref, "is ended")
			})
		},
	}
	f.add(cmd, true)
	cmd.Flags().BoolVar(&yes, "yes", false, "do not ask")
	return cmd
}

// endReplay removes a replay and says what it did.
func endReplay(ctx context.Context, c *terminal.Terminal, s operations.Store, a store.Audit, ref store.Ref, how string) error {
	r, err := s.EndReplay(ctx, a, ref)
	if err != nil {
		return err
	}
	if c.JSON {
		return c.Emit(r)
	}
	c.Sayf("replay %s %s: %s", r.Name, how, r.Summary())
	return nil
}

func newReplayResumeCommand(c *terminal.Terminal) *cobra.Command {
	var f replayFlags
	cmd := &cobra.Command{
		Use: "resume NAME", Short: "Go on with a replay that was paused or interrupted",
		Long: `Go on with a replay where it was, in this process, until it is through. It needs the configuration
of the subscription. After a crash it waits until the leases of the process before run out. If another
process works the replay, the two share its shards and its rate.`,
		Example: `  postbag replay resume replay-20260131-120000 -c postbag.yaml --why "the consumer is back"`,
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			ref, err := f.named(args)
			if err != nil {
				return err
			}
			audit, err := f.audit.audit()
			if err != nil {
				return err
			}
			w, err := f.store.replaying(cmd.Context(), c)
			if err != nil {
				return err
			}
			defer func() { err = errors.Join(err, w.close()) }()
			r, err := w.operations.Replay(cmd.Context(), ref)
			if err != nil {
				return err
			}
			if err := w.configured(store.Ref{Box: ref.Box, Subscription: r.Of}, r.Destination); err != nil {
				return err
			}
			if err := w.open(cmd.Context(), &r.Plan); err != nil {
				return err
			}
			if err := w.operations.SetPaused(cmd.Context(), audit, ref, false); err != nil {
				return err
			}
			return w.work(cmd.Context(), audit, &r.Plan)
		},
	}
	f.add(cmd, true)
	return cmd
}
