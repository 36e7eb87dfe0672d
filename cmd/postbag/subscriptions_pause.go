package main

import (
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/postbag/postbag/cmd/postbag/internal/duration"
	"github.com/postbag/postbag/cmd/postbag/internal/exit"
	"github.com/postbag/postbag/cmd/postbag/internal/terminal"
	"github.com/postbag/postbag/internal/operations"
	"github.com/postbag/postbag/store"
)

// pauseFlags say what a pause is of.
type pauseFlags struct {
	refFlags

	topic, typ, key, destination string
}

func (f *pauseFlags) add(cmd *cobra.Command) {
	f.refFlags.add(cmd, "default")
	cmd.Flags().StringVar(&f.topic, "topic", "", "only the messages of this `topic`")
	cmd.Flags().StringVar(&f.typ, "type", "", "only the messages of this `type`, or of all types with a prefix: order.*")
	cmd.Flags().StringVar(&f.key, "key", "", "only the messages with this `key`")
	cmd.Flags().StringVar(&f.destination, "destination", "", "all subscriptions of the store that deliver to the destination of this `name`")
	cmd.Args = func(cmd *cobra.Command, args []string) error {
		if len(args) == 0 {
			return nil
		}
		return argumentOr("the name of the subscription", "subscription")(cmd, args)
	}
}

// pause returns what is to be held, or goes on. The subscription may be an argument, too.
func (f *pauseFlags) pause(cmd *cobra.Command, args []string, a *auditFlags) (store.Pause, store.Audit, error) {
	p := store.Pause{Scope: store.PauseSubscription}
	if len(args) > 0 {
		if err := cmd.Flags().Set("subscription", args[0]); err != nil {
			return p, store.Audit{}, err
		}
	}
	for _, one := range []struct {
		scope store.PauseScope
		value string
	}{
		{store.PauseTopic, f.topic}, {store.PauseType, f.typ}, {store.PauseKey, f.key}, {store.PauseDestination, f.destination},
	} {
		if !cmd.Flags().Changed(string(one.scope)) {
			continue
		}
		if p.Scope != store.PauseSubscription {
			return p, store.Audit{}, exit.Usagef("--%s and --%s are given; give one of --topic, --type, --key and --destination, and pause again for another", p.Scope, one.scope)
		}
		p.Scope, p.Value = one.scope, one.value
	}
	if p.Scope == store.PauseDestination {
		if cmd.Flags().Changed("box") || cmd.Flags().Changed("subscription") {
			return p, store.Audit{}, exit.Usagef("--destination is for all subscriptions of the store; leave --box and --subscription out, and the name")
		}
		audit, err := a.audit()
		return p, audit, err
	}
	ref, audit, err := f.one(a)
	p.Ref = ref
	return p, audit, err
}

// endFlags say when a pause ends by itself.
type endFlags struct {
	long  time.Duration
	until string
}

func (f *endFlags) add(cmd *cobra.Command) {
	cmd.Flags().Var(duration.Flag(&f.long), "for", "end by itself after this `duration`: "+duration.Forms)
	cmd.Flags().StringVar(&f.until, "until", "", "end by itself at this `time`, by the database's clock: 2026-01-31T12:00:00Z")
}

// end adds the end to a pause, or returns for how long it is.
func (f *endFlags) end(cmd *cobra.Command, p *store.Pause) (time.Duration, error) {
	long, until := cmd.Flags().Changed("for"), cmd.Flags().Changed("until")
	switch {
	case long && until:
		return 0, exit.Usagef("--for and --until are given; give one of them, or none for a pause without an end")
	case long && f.long <= 0:
		return 0, exit.Usagef("--for is not above zero; write %s", duration.Forms)
	case until:
		t, err := time.Parse(time.RFC3339, f.until)
		if err != nil {
			return 0, exit.Usagef("--until is no time; write 2026-01-31T12:00:00Z, or 2026-01-31T12:00:00+02:00, or say --for 2h")
		}
		p.Until = t
	}
	return f.long, nil
}

func newPauseCommand(c *terminal.Terminal) *cobra.Command {
	var f storeFlags
	var of pauseFlags
	var ends endFlags
	var a auditFlags
	cmd := &cobra.Command{
		Use: "pause [NAME]", Short: "Hold a subscription, a destination, or messages of a topic, a type or a key",
		Long: `Hold a subscription, until it is resumed or the pause ends by itself. Relays hear of it within
a moment. They keep its shards, and wait for answers to what they sent; they send and read
nothing more, and change no number of attempts. Messages wait in the box, so watch its disk.
The pause outlasts relays, and --drain waits for its end.

With --topic, --type or --key only those messages wait, and later ones of their keys behind
them. All others go on. With --destination all subscriptions of the store wait that deliver to
the destination of this name in postbag.yaml.

If the same is paused already, the pause gets the new reason and the new end.`,
		Example: `  postbag subscriptions pause billing -c postbag.yaml --why "bad deployment"
  postbag subscriptions pause -c postbag.yaml --type order.* --for 2h --why "the shop is migrated"
  postbag subscriptions pause -c postbag.yaml --destination kafka --until 2026-01-31T12:00:00Z --why "maintenance"`,
		RunE: func(cmd *cobra.Command, args []string) error {
			p, audit, err := of.pause(cmd, args, &a)
			if err != nil {
				return err
			}
			long, err := ends.end(cmd, &p)
			if err != nil {
				return err
			}
			return f.at(cmd.Context(), func(d desk) error {
				notes, err := d.Pause(cmd.Context(), audit, p, long)
				if err != nil {
					return err
				}
				for _, n := range notes {
					c.Notef("%s", n)
				}
				return sayPause(c, &p, true, of.resume(&p))
			})
		},
	}
	f.addServer(cmd)
	of.add(cmd)
	ends.add(cmd)
	a.add(cmd)
	return cmd
}

// resume is how the pause is ended by hand.
func (*pauseFlags) resume(p *store.Pause) string {
	text := "postbag subscriptions resume"
	if p.Scope != store.PauseDestination {
		text += " --box " + p.Box + " --subscription " + p.Subscription
	}
	if p.Scope != store.PauseSubscription {
		text += " --" + string(p.Scope) + " " + strings.ToUpper(string(p.Scope))
	}
	return text
}

// sayPause says that something is held, or goes on.
func sayPause(c *terminal.Terminal, p *store.Pause, paused bool, resume string) error {
	if c.JSON {
		out := map[string]any{"scope": p.Scope, "paused": paused}
		for name, value := range map[string]string{"value": p.Value, "box": p.Box, "subscription": p.Subscription} {
			if value != "" {
				out[name] = value
			}
		}
		return c.Emit(out)
	}
	of := terminal.Printable(p.String())
	switch {
	case !paused:
		c.Sayf("%s goes on", of)
	case p.Messages():
		c.Sayf("%s is paused; relays send none of those messages until the pause ends, or %s", of, resume)
	default:
		c.Sayf("%s is paused; relays send nothing of it until the pause ends, or %s", of, resume)
	}
	return nil
}

func newResumeCommand(c *terminal.Terminal) *cobra.Command {
	var f storeFlags
	var of pauseFlags
	var a auditFlags
	cmd := &cobra.Command{
		Use: "resume [NAME]", Short: "Let what is paused go on",
		Long: `Let a paused subscription go on where it was, or a destination, or messages of a topic, a type
or a key. Name what the pause names. Relays hear of it within a moment. Messages that waited
go out in the sequence of their keys.`,
		Example: `  postbag subscriptions resume billing -c postbag.yaml --why "rolled back"
  postbag subscriptions resume -c postbag.yaml --type order.* --why "migrated"`,
		RunE: func(cmd *cobra.Command, args []string) error {
			p, audit, err := of.pause(cmd, args, &a)
			if err != nil {
				return err
			}
			do := func(d desk) error { return d.Resume(cmd.Context(), audit, p) }
			if err := f.at(cmd.Context(), do); err != nil {
				return err
			}
			return sayPause(c, &p, false, "")
		},
	}
	f.addServer(cmd)
	of.add(cmd)
	a.add(cmd)
	return cmd
}

func newPausesCommand(c *terminal.Terminal) *cobra.Command {
	var f storeFlags
	var box string
	cmd := &cobra.Command{
		Use: "pauses", Short: "Show what is paused, by whom, why and until when",
		Long: `Show what operators hold, oldest first: of all boxes, or of one, with the pauses of destinations. HELD is how many messages are held; those
behind them in their keys do not count. A pause that has ended is in postbag audit.`,
		Example: `  postbag subscriptions pauses -c postbag.yaml`,
		Args:    none,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if box != "" {
				if err := boxName(box); err != nil {
					return err
				}
			}
			return f.at(cmd.Context(), func(d desk) error {
				if box != "" {
					if _, err := d.Status(cmd.Context(), box); err != nil {
						return err
					}
				}
				v, err := d.Status(cmd.Context(), "") // destinations hold messages of other boxes too
				if err != nil {
					return err
				}
				return showPauses(c, slices.DeleteFunc(v.Pauses, func(p operations.Pause) bool { return box != "" && p.Box != "" && p.Box != box }))
			})
		},
	}
	f.addServer(cmd)
	cmd.Flags().StringVar(&box, "box", "", "`name` of the one box; all when left out")
	return cmd
}

func showPauses(c *terminal.Terminal, all []operations.Pause) error {
	if c.JSON {
		return c.Emit(all)
	}
	if len(all) == 0 {
		c.Sayf("nothing is paused")
		return nil
	}
	rows := make([][]string, len(all))
	for i := range all {
		p := &all[i]
		rows[i] = []string{
			terminal.Printable(p.Of()), p.Since.Format(time.RFC3339), p.Ends(), terminal.Count(p.Messages, "message"), terminal.Printable(p.Who), terminal.Printable(p.Why),
		}
	}
	return c.Table([]string{"PAUSED", "SINCE", "ENDS", "HELD", "WHO", "WHY"}, rows)
}
