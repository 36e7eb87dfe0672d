package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/postbag/postbag/cmd/postbag/internal/exit"
	"github.com/postbag/postbag/cmd/postbag/internal/terminal"
	"github.com/postbag/postbag/internal/operations"
	"github.com/postbag/postbag/store"
)

// replayStart are the flags of replay start.
type replayStart struct {
	store       storeFlags
	ref         refFlags
	audit       auditFlags
	name        string
	from, to    string
	choice      operations.ReplayChoice
	more        []string // keys that --keys names, as older scripts do
	dryRun, yes bool
}

func newReplayStartCommand(c *terminal.Terminal) *cobra.Command {
	var f replayStart
	cmd := &cobra.Command{
		Use: "start [NAME]", Short: "Send messages of a subscription again, beginning at a time or a seq",
		Long: `Send messages again that the box still holds, beginning at a time, at a seq or with the latest ones.
They go to the destination of the subscription or to another one. It says what it would do, asks, and works until all
of them are sent. It ends where the box ends now, unless you say where.

A replay has a position, a rate, parked messages and a ledger of its own, and leaves the subscription
alone. Retention waits for it. If this process ends before, postbag replay resume goes on.

Messages keep their ids, so that a consumer with an inbox leaves out what it has applied. They carry the
header Postbag-Replay with the replay's name, unless you say --unmarked. Delivery is at least once.`,
		Example: `  postbag replay start -c postbag.yaml --subscription billing --from 2026-01-31T12:00:00Z --to 2026-01-31T13:00:00Z --why "lost there"
  postbag replay start -c postbag.yaml --last 1000 --types "order.*" --rate 100 --destination audit --dry-run --why "a look"`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return nil
			}
			return argumentOr("the name of a replay", "name")(cmd, args)
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				f.name = args[0]
			}
			return f.run(cmd, c)
		},
	}
	f.store.add(cmd)
	f.ref.add(cmd, "default")
	f.audit.add(cmd)
	flags := cmd.Flags()
	flags.StringVar(&f.name, "name", "", "`name` of the replay; one with the time when left out")
	flags.StringVar(&f.from, "from", "", "begin with what was stored at this `time` or later; also how long ago, such as 2h")
	flags.Int64Var(&f.choice.FromSeq, "from-seq", 0, "begin with this `seq`")
	flags.Int64Var(&f.choice.Last, "last", 0, "begin with the latest messages, about this `number` of them")
	flags.StringVar(&f.to, "to", "", "end before what was stored at this `time`; also how long ago, such as 1h")
	flags.Int64Var(&f.choice.ToSeq, "to-seq", 0, "end with this `seq`")
	flags.StringSliceVar(&f.choice.Types, "types", nil, "only messages of these `types`: exact, or a prefix and .*")
	flags.StringArrayVar(&f.choice.Keys, "key", nil, "only messages of this `key`; may be repeated")
	flags.StringArrayVar(&f.more, "keys", nil, "the name that --key had before")
	_ = flags.MarkHidden("keys") // it is there
	flags.Float64Var(&f.choice.Rate, "rate", 0, "the most messages a second, a `number`; the subscription's own rate when left out, or that of an operator")
	flags.StringVar(&f.choice.Destination, "destination", "", "`name` of the destination; the subscription's own when left out")
	flags.BoolVar(&f.choice.Unmarked, "unmarked", false, "leave out the header Postbag-Replay")
	flags.BoolVar(&f.dryRun, "dry-run", false, "say what would be done, and do nothing")
	flags.BoolVar(&f.yes, "yes", false, "do not ask")
	return cmd
}

// chosen returns what the flags choose.
func (f *replayStart) chosen(cmd *cobra.Command, now time.Time) (operations.ReplayChoice, store.Audit, error) {
	ref, audit, err := f.ref.one(&f.audit)
	if err != nil {
		return f.choice, audit, err
	}
	given := func(name string) bool { return cmd.Flags().Changed(name) }
	begins := 0
	for _, name := range []string{"from", "from-seq", "last"} {
		if given(name) {
			begins++
		}
	}
	switch {
	case begins != 1:
		return f.choice, audit, exit.Usagef("%d of --from, --from-seq and --last are given; give exactly one, which says where the replay begins", begins)
	case given("to") && given("to-seq"):
		return f.choice, audit, exit.Usagef("--to and --to-seq are both given; give one at most")
	case given("types") && len(f.choice.Types) == 0:
		return f.choice, audit, exit.Usagef("--types is empty; name a type, or leave it out")
	case given("rate") && !(f.choice.Rate > 0):
		return f.choice, audit, exit.Usagef("--rate is no number above 0; give the messages of a second, or leave it out")
	}
	for name, n := range map[string]int64{"from-seq": f.choice.FromSeq, "last": f.choice.Last, "to-seq": f.choice.ToSeq} {
		if given(name) && n < 1 {
			return f.choice, audit, exit.Usagef("--%s is %d; give 1 or more", name, n)
		}
	}
	choice := f.choice
	choice.Keys = slices.Concat(f.choice.Keys, f.more)
	choice.Ref, choice.Name = ref, f.name
	if given("from") {
		if choice.From, err = moment("from", f.from, now, -1); err != nil {
			return choice, audit, err
		}
	}
	if given("to") {
		choice.To, err = moment("to", f.to, now, -1)
	}
	return choice, audit, err
}

func (f *replayStart) run(cmd *cobra.Command, c *terminal.Terminal) (err error) {
	choice, audit, err := f.chosen(cmd, time.Now())
	if err != nil {
		return err
	}
	w, err := f.store.replaying(cmd.Context(), c)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, w.close()) }()
	if err := w.configured(choice.Ref, choice.Destination); err != nil {
		return err
	}
	choice.Destination = w.to
	p, err := w.operations.PlanReplay(cmd.Context(), choice)
	if err != nil {
		return err
	}
	if f.dryRun {
		return sayPlan(c, p)
	}
	if err := w.open(cmd.Context(), &p.Replay); err != nil {
		return err
	}
	c.Notef("%s", planText(p))
	if !f.yes {
		if err := c.Confirm("send them again?"); err != nil {
			return err
		}
	}
	if err := w.operations.StartReplay(cmd.Context(), audit, p); err != nil {
		return err
	}
	c.Notef("replay %s begins; if it is interrupted, go on with postbag replay resume %s", p.Ref.Subscription, p.Ref.Subscription)
	return w.work(cmd.Context(), audit, &p.Replay)
}

// sayPlan says what a replay would do.
func sayPlan(c *terminal.Terminal, p *operations.ReplayPlan) error {
	if !c.JSON {
		c.Sayf("%s", planText(p))
		return nil
	}
	return c.Emit(map[string]any{
		"name": p.Ref.Subscription, "box": p.Ref.Box, "of": p.Of, "destination": p.Destination, "after": p.After, "through": p.Through,
		"messages": p.Messages, "narrowed": p.Narrowed(), "gone": p.Gone, "oldest": p.Oldest.UTC(), "seconds": p.Takes().Seconds(),
	})
}

// planText is what a replay would do, in words.
func planText(p *operations.ReplayPlan) string {
	var b strings.Builder
	about := "about"
	if p.Narrowed() {
		about = "at most about"
	}
	fmt.Fprintf(&b, "%s %s of %s/%s", about, terminal.Count(p.Messages, "message"), p.Ref.Box, p.Of)
	if p.From.IsZero() {
		fmt.Fprintf(&b, ", from seq %d", p.After+1)
	} else {
		b.WriteString(", from " + p.From.UTC().Format(time.RFC3339))
	}
	if p.Before.IsZero() {
		fmt.Fprintf(&b, " to seq %d", p.Through)
	} else {
		b.WriteString(" to " + p.Before.UTC().Format(time.RFC3339))
	}
	b.WriteString(", to destination " + p.Destination)
	d := p.Takes()
	if p.Rate > 0 {
		fmt.Fprintf(&b, " at %v/s", p.Rate)
	}
	if len(p.Settings) > 0 {
		b.WriteString(" with what an operator has set of the subscription,")
	}
	for i := range p.Settings {
		fmt.Fprintf(&b, " %s=%s", p.Settings[i].Name, p.Settings[i].Value)
	}
	if d > 0 {
		b.WriteString(": about " + operations.Span(d))
	}
	if p.Gone {
		b.WriteString("; older ones are gone: the box holds messages from " + p.Oldest.UTC().Format(time.RFC3339) + " on")
	}
	return terminal.Printable(b.String())
}
