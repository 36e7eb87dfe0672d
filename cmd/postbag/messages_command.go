package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/cmd/postbag/internal/display"
	"github.com/postbag/postbag/cmd/postbag/internal/exit"
	"github.com/postbag/postbag/cmd/postbag/internal/remote"
	"github.com/postbag/postbag/cmd/postbag/internal/terminal"
	"github.com/postbag/postbag/internal/operations"
	"github.com/postbag/postbag/store"
)

// commandFlags are those of retry and discard.
type commandFlags struct {
	store            storeFlags
	query            queryFlags
	audit            auditFlags
	all, dryRun, yes bool
	rate             int
	only             store.State // the command is for messages of this state alone
}

func newRetryOrDiscardCommand(c *terminal.Terminal, kind store.CommandKind) *cobra.Command {
	var f commandFlags
	name := operations.CommandName(kind)
	does, which := "Make parked messages due now, and count their attempts from zero; publish scheduled ones now", "parked or scheduled"
	if kind == store.Discard {
		does, which = "Give messages up for ever; those behind them go on", "parked, pending or scheduled"
	}
	cmd := &cobra.Command{
		Use:   name + " [ID ...]",
		Short: does,
		Long: does + `.

Name messages by their ids, or select them by flags among the dead ones. --state selects others
that are ` + which + `. The relay that owns a message carries the command out between
batches; until then it shows as queued. Of pending messages, at most 500 of a subscription can be
queued at a time: the command waits for relays then, and goes on. One that is being delivered stays
delivered. They need no retry: they go out in their turn. Scheduled ones are changed at once.
` + inPortions + `
The audit log records who gave which command, and why. Giving a command twice does no harm.`,
		Example: fmt.Sprintf(`  postbag messages %[1]s 01234567-89ab-7cde-8f01-23456789abcd --store shop.db --why "fixed"
  postbag messages %[1]s --error "too large" --dry-run --why "limit raised" -c postbag.yaml`, name),
		RunE: func(cmd *cobra.Command, args []string) error { return f.run(cmd, c, kind, args) },
	}
	f.add(cmd, "all dead messages of the subscription, or all of --state")
	return cmd
}

// inPortions is what the help of each of these commands says of many messages.
const inPortions = `Many messages get the command in portions; --rate limits how many get it in a second. Ctrl-Z pauses
it between two portions, and again goes on; so does kill -TSTP from another shell. If there are several
portions, the store keeps the operation: postbag operations shows it in any terminal, and pauses, resumes
or cancels it. Ctrl-C pauses it then. A process that is killed leaves it to postbag operations resume.`

// newDeleteCommand is a discard of dead messages.
func newDeleteCommand(c *terminal.Terminal) *cobra.Command {
	f := commandFlags{only: store.StateDead}
	cmd := &cobra.Command{
		Use: "delete [ID ...]", Short: "Remove dead messages for ever",
		Long: `Remove dead messages for ever: postbag messages discard, for dead ones alone. What waits behind
one in its key goes on. The rows go with their retention, for discarded messages; until then messages show has
them with their errors. The relay that owns a message carries the command out between batches.
` + inPortions + `
The audit log records who gave the command, and why.`,
		Example: `  postbag messages delete --type "report.*" --before 30d -c postbag.yaml --dry-run --why "nobody needs them"
  postbag messages delete --all --subscription billing -c postbag.yaml --why "billing was rebuilt"`,
		RunE: func(cmd *cobra.Command, args []string) error { return f.run(cmd, c, store.Discard, args) },
	}
	f.add(cmd, "all dead messages of the subscription")
	return cmd
}

// newPublishNowCommand is a retry of scheduled messages.
func newPublishNowCommand(c *terminal.Terminal) *cobra.Command {
	f := commandFlags{only: store.StateScheduled}
	cmd := &cobra.Command{
		Use: "publish-now [ID ...]", Short: "Publish scheduled messages now",
		Long: `Make scheduled messages due now: postbag messages retry, for scheduled ones alone. They are for all
subscriptions of the box. Housekeeping moves them into the log: a relay does it, or postbag maintain.
` + inPortions + `
The audit log records who gave the command, and why.`,
		Example: `  postbag messages publish-now 01234567-89ab-7cde-8f01-23456789abcd -c postbag.yaml --why "the sale begins early"
  postbag messages publish-now --type "sale.*" -c postbag.yaml --dry-run --why "the sale begins early"`,
		RunE: func(cmd *cobra.Command, args []string) error { return f.run(cmd, c, store.Retry, args) },
	}
	f.add(cmd, "all scheduled messages of the box")
	return cmd
}

func (f *commandFlags) add(cmd *cobra.Command, all string) {
	f.store.addServer(cmd)
	f.query.add(cmd, "default", string(f.only))
	if f.only != "" {
		_ = cmd.Flags().MarkHidden("state") // the flag is there
	}
	f.audit.add(cmd)
	cmd.Flags().BoolVar(&f.all, "all", false, all)
	cmd.Flags().BoolVar(&f.dryRun, "dry-run", false, "say what would be done, and do nothing")
	cmd.Flags().BoolVar(&f.yes, "yes", false, "do not ask before more than one message")
	cmd.Flags().IntVar(&f.rate, "rate", 0, "the most messages a second (default no limit)")
}

func (f *commandFlags) run(cmd *cobra.Command, c *terminal.Terminal, kind store.CommandKind, args []string) (err error) {
	ref, audit, err := f.query.ref.one(&f.audit)
	if err != nil {
		return err
	}
	if f.rate < 0 || cmd.Flags().Changed("rate") && f.rate == 0 {
		return exit.Usagef("--rate is %d; say how many messages a second, from 1, or leave it out", f.rate)
	}
	if f.only != "" && f.query.state != string(f.only) {
		return exit.Usagef("--state is not for this command, which is for %s messages; use retry or discard", f.only)
	}
	if store.State(f.query.state) == store.StatePending {
		if err := operations.Takes(kind, store.StatePending); err != nil {
			return exit.Usagef("--state pending: %w", err)
		}
	}
	choice := operations.Choice{Ref: ref, Kind: kind, Only: f.only, All: f.all, Filter: f.query.filter(f.all)}
	if choice.Query, err = f.query.query(time.Now(), operations.CommandStates(kind)); err != nil {
		return err
	}
	if err := f.choose(cmd, &choice, args); err != nil {
		return err
	}
	if f.store.server.given(&f.store) {
		return f.store.server.at(cmd.Context(), func(s *remote.Client) error { return f.through(cmd, c, s, choice, audit) })
	}
	s, err := f.store.open(cmd.Context())
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	preview, err := s.Operations().Preview(cmd.Context(), choice)
	if err != nil {
		return err
	}
	if f.dryRun {
		return f.show(cmd.Context(), c, database{s.Operations()}, preview)
	}
	if err := f.confirm(c, &preview.Choice, preview.Size()); err != nil {
		return err
	}
	if s.Operations().Recorded(preview, f.rate) {
		return startOperation(cmd.Context(), c, s.Operations(), preview, audit, f.rate)
	}
	run := s.Operations().Run(preview, audit)
	run.Rate = f.rate
	return give(cmd.Context(), c, run, preview)
}

// show says what a command would be given for. A preview reads no payloads, so those that are shown are read again, with their sizes.
func (*commandFlags) show(ctx context.Context, c *terminal.Terminal, d database, p *operations.Preview) error {
	first := views(p.Box, p.First, false)
	if len(p.IDs) == 0 {
		q := p.Query
		q.Oldest = true
		if q.Ref = p.Ref; p.Only == store.StateScheduled {
			q.Subscription = ""
		}
		first = nil
		_, err := d.Messages(ctx, q, operations.PreviewItems, func(page []operations.Message) error {
			first = append(first, page...)
			return nil
		})
		if err != nil {
			return err
		}
	}
	return display.Chosen(c, &p.Choice, first, p.Size())
}

// choose says what to select: ids, or what flags describe.
func (f *commandFlags) choose(cmd *cobra.Command, choice *operations.Choice, args []string) error {
	if f.query.id != "" {
		args = append(args, f.query.id)
	}
	for _, text := range args {
		id, err := messageID("an argument", text)
		if err != nil {
			return err
		}
		if !slices.Contains(choice.IDs, id) {
			choice.IDs = append(choice.IDs, id)
		}
	}
	choice.Query.ID = postbag.ID{}
	if len(choice.IDs) > 0 && f.only != "" {
		choice.Query.State = "" // Only asks for it
	}
	err := choice.Check()
	if errors.Is(err, operations.ErrNoChoice) {
		alone := ""
		if cmd.Flags().Changed("state") && f.only == "" {
			alone = "--state alone selects nothing: "
		}
		return exit.Usagef("nothing is selected; %sname ids, or use flags such as --type and --error, or --all; see %s --help",
			alone, cmd.CommandPath())
	}
	return err
}

// given is what became of a command, in JSON. Queued are those that a relay is to carry out; Done those that were changed at
// once. Changed are those that are not dead any more, and do not have the command.
type given struct {
	Box          string `json:"box"`
	Subscription string `json:"subscription"`
	Command      string `json:"command"`
	Selected     int    `json:"selected"`
	Queued       int    `json:"queued"`
	Done         int    `json:"done,omitempty"`
	Changed      int    `json:"changed,omitempty"`
	// Operation is the record of it, if the store keeps one.
	Operation store.OperationID `json:"operation,omitempty"`
}

// give gives the command for all that was chosen.
func give(ctx context.Context, c *terminal.Terminal, run *operations.Run, p *operations.Preview) error {
	progress, ended := follow(c, p.Size(), 0, "Ctrl-C ends it")
	run.OnProgress = progress
	held := pausable(ctx, func() { hold(c, run) })
	at, err := run.Do(ctx)
	held()
	ended()
	if err != nil {
		return err
	}
	return gave(c, &given{Box: p.Box, Subscription: p.Subscription, Command: operations.CommandName(p.Kind)}, at)
}

// follow shows how far a command is, of which some messages have it already.
func follow(c *terminal.Terminal, all, before int, end string) (progress func(operations.Progress), ended func()) {
	bar, waited := c.Progress("handled", all), false
	return func(at operations.Progress) {
		if at.Waits && !waited {
			waited = true
			bar.End()
			c.Notef("%d messages have the command; it waits for relays to carry that out, and goes on; %s", at.Handled, end)
		}
		bar.Add(max(at.Handled-before, 0))
		before = max(at.Handled, before)
	}, bar.End
}

// gave says what became of a command.
func gave(c *terminal.Terminal, done *given, at operations.Progress) error {
	done.Selected, done.Queued, done.Done, done.Changed = at.Chosen, at.Queued, at.Done, at.Changed
	if c.JSON {
		return c.Line(done)
	}
	c.Sayf("%s", done.text())
	return nil
}

// text says what became of a command.
func (o *given) text() string {
	var notes []string
	if o.Done > 0 {
		did := "retried"
		if o.Command == operations.CommandName(store.Discard) {
			did = "discarded"
		}
		notes = append(notes, fmt.Sprintf("%s %s", did, terminal.Count(o.Done, "scheduled message")))
	}
	if rest := o.Selected - o.Done; rest > 0 {
		notes = append(notes, fmt.Sprintf("queued %d of %s", o.Queued, terminal.Count(rest, "message")))
		if o.Changed > 0 {
			notes = append(notes, fmt.Sprintf("%s changed since they were selected, and were left", terminal.Count(o.Changed, "message")))
		}
		if passed := rest - o.Queued - o.Changed; passed > 0 {
			notes = append(notes, fmt.Sprintf("%d had it queued already, or are settled", passed))
		}
	}
	if o.Queued > 0 {
		notes = append(notes, "relays carry it out")
	}
	if o.Done == 0 {
		return o.Command + ": " + strings.Join(notes, "; ")
	}
	return strings.Join(notes, "; ")
}
