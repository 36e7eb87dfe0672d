package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/postbag/postbag/cmd/postbag/internal/component"
	"github.com/postbag/postbag/cmd/postbag/internal/console"
	"github.com/postbag/postbag/cmd/postbag/internal/exit"
	"github.com/postbag/postbag/store"
)

// orderName is the word for a command about parked messages.
func orderName(kind store.CommandKind) string {
	if kind == store.Discard {
		return "discard"
	}
	return "retry"
}

// orderBatch is how many messages are ordered in one transaction: few enough that
// writers of messages do not notice.
const orderBatch = 500

// orderFlags are those of retry and discard.
type orderFlags struct {
	store            storeFlags
	query            queryFlags
	audit            auditFlags
	all, dryRun, yes bool
}

func newOrderCommand(c *console.Console, kind store.CommandKind) *cobra.Command {
	var f orderFlags
	name := orderName(kind)
	does, which := "Make parked messages due now, with their attempts begun anew; publish scheduled ones now", "parked or scheduled"
	if kind == store.Discard {
		does, which = "Give messages up for ever; those behind them go on", "parked, pending or scheduled"
	}
	cmd := &cobra.Command{
		Use:   name + " [ID ...]",
		Short: does,
		Long: does + `.

Messages are named by their ids, or selected by flags among the dead ones; --state chooses others
that are ` + which + `. The relay that owns a message carries the order out between
batches; until then it shows as queued. Of pending messages, at most 500 of a subscription can be
queued at a time, and one that is being delivered stays delivered. Scheduled ones are changed at once.
Who ordered what and why is written to the audit log. To give an order twice does no harm.`,
		Example: fmt.Sprintf(`  postbag messages %[1]s 01234567-89ab-7cde-8f01-23456789abcd --store shop.db --why "fixed"
  postbag messages %[1]s --error "too large" --dry-run --why "limit raised" -c postbag.yaml`, name),
		RunE: func(cmd *cobra.Command, args []string) error { return f.run(cmd, c, kind, args) },
	}
	f.store.add(cmd)
	f.query.add(cmd, "default", "")
	f.audit.add(cmd)
	cmd.Flags().BoolVar(&f.all, "all", false, "all dead messages of the subscription, or all of --state")
	cmd.Flags().BoolVar(&f.dryRun, "dry-run", false, "say what would be done, and do nothing")
	cmd.Flags().BoolVar(&f.yes, "yes", false, "do not ask before more than one message")
	return cmd
}

func (f *orderFlags) run(cmd *cobra.Command, c *console.Console, kind store.CommandKind, args []string) (err error) {
	ref, audit, err := f.query.ref.ordered(&f.audit)
	if err != nil {
		return err
	}
	sel := &selection{ref: ref, kind: kind}
	if sel.query, err = f.query.query(time.Now(), orderable(kind)); err != nil {
		return err
	}
	if err := f.choose(cmd, sel, args); err != nil {
		return err
	}
	if len(sel.ids) == 0 {
		audit.Filter = f.query.filter(f.all)
	}
	s, err := f.store.open(cmd.Context())
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	if err := sel.find(cmd.Context(), s, s.Editor != nil); err != nil {
		return err
	}
	if f.dryRun {
		return sel.show(c, orderName(kind))
	}
	if n := sel.size(); n > 1 && !f.yes {
		if err := c.Confirm(fmt.Sprintf("%s %s of %s?", orderName(kind), console.Count(n, "message"), ref)); err != nil {
			return err
		}
	}
	return give(cmd.Context(), c, s, audit, sel)
}

// choose says what to select: ids, or what flags describe. Nothing is not
// everything: that has to be said.
func (f *orderFlags) choose(cmd *cobra.Command, sel *selection, args []string) error {
	if f.query.id != "" {
		args = append(args, f.query.id)
	}
	for _, text := range args {
		id, err := messageID("an argument", text)
		if err != nil {
			return err
		}
		if !slices.Contains(sel.ids, id) {
			sel.ids = append(sel.ids, id)
		}
	}
	sel.query.ID = [16]byte{}
	switch {
	case len(sel.ids) > 0 && (narrow(&sel.query) || f.all || f.query.state != ""):
		return exit.Usagef("ids and other selections are both given; use one of them")
	case len(sel.ids) == 0 && !narrow(&sel.query) && !f.all:
		return exit.Usagef("nothing is selected; name ids, or use flags such as --type and --error, or --all; see %s --help",
			cmd.CommandPath())
	}
	if len(sel.ids) == 0 && sel.query.State == "" {
		sel.query.State = store.Died
	}
	return nil
}

// ordered is what became of an order, in JSON. Queued are those that a relay is to carry
// out; Done those that were changed at once.
type ordered struct {
	Box          string `json:"box"`
	Subscription string `json:"subscription"`
	Order        string `json:"order"`
	Selected     int    `json:"selected"`
	Queued       int    `json:"queued"`
	Done         int    `json:"done,omitempty"`
}

// give gives the order for all that was selected, some at a time.
func give(ctx context.Context, c *console.Console, s *component.Store, a store.Audit, sel *selection) error {
	done := ordered{Box: sel.ref.Box, Subscription: sel.ref.Subscription, Order: orderName(sel.kind), Selected: sel.size()}
	for rest := range slices.Chunk(sel.later, orderBatch) {
		n, err := s.Editor.Scheduled(ctx, a, sel.ref.Box, sel.kind, rest)
		if done.Done += n; err != nil {
			return fmt.Errorf("%d of %d messages are done; give the order again for the rest: %w", done.Done, done.Selected, err)
		}
	}
	progress := c.Progress("queued", len(sel.seqs))
	for rest := sel.seqs; len(rest) > 0; {
		n := min(orderBatch, len(rest))
		queued, err := s.Command(ctx, a, sel.ref, sel.kind, rest[:n])
		if err != nil {
			progress.End()
			return fmt.Errorf("%d of %d messages are queued; give the order again for the rest: %w", done.Queued, done.Selected, err)
		}
		done.Queued += queued
		rest = rest[n:]
		progress.Add(n)
	}
	progress.End()
	if c.JSON {
		return c.Line(done)
	}
	c.Sayf("%s", done.text())
	return nil
}

// text says what became of an order.
func (o *ordered) text() string {
	var notes []string
	if o.Done > 0 {
		did := "retried"
		if o.Order == orderName(store.Discard) {
			did = "discarded"
		}
		notes = append(notes, fmt.Sprintf("%s %s", did, console.Count(o.Done, "scheduled message")))
	}
	if rest := o.Selected - o.Done; rest > 0 {
		notes = append(notes, fmt.Sprintf("queued %d of %s", o.Queued, console.Count(rest, "message")))
		if passed := rest - o.Queued; passed > 0 {
			notes = append(notes, fmt.Sprintf("%d had it queued already, or are settled", passed))
		}
	}
	if o.Queued > 0 {
		notes = append(notes, "relays carry it out")
	}
	if o.Done == 0 {
		return o.Order + ": " + strings.Join(notes, "; ")
	}
	return strings.Join(notes, "; ")
}
