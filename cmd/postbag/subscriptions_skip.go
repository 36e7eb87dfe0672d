package main

import (
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
	"github.com/postbag/postbag/store"
	"github.com/postbag/postbag/store/storekit"
)

// skipFlags are those of skip.
type skipFlags struct {
	store             storeFlags
	named             namedFlags
	audit             auditFlags
	before, olderThan string
	types             []string
	dryRun, yes       bool
	rate              int
}

func newSubscriptionsSkipCommand(c *terminal.Terminal) *cobra.Command {
	var f skipFlags
	cmd := &cobra.Command{
		Use: "skip NAME", Short: "Give up the messages of a subscription that are older than a time",
		Long: `Give up the messages of a subscription that were stored before a time and are not delivered: pending
ones, those that wait for another attempt or behind another message, and held ones. What is in flight goes
on, and messages that are dead already stay. Other subscriptions of the box are not touched. It says first how many there
are, and asks. Then it is postbag messages discard: relays carry it out between batches, in portions of 500.
Until a relay comes to a message it shows as queued, and one that is delivered before stays delivered.`,
		Example: `  postbag subscriptions skip billing --before 2026-01-27 -c postbag.yaml --dry-run --why "Monday's flood"
  postbag subscriptions skip billing --older-than 3d --types "report.*" -c postbag.yaml --why "nobody reads them"`,
		RunE: func(cmd *cobra.Command, args []string) error { return f.run(cmd, c, args) },
	}
	f.store.add(cmd)
	f.named.add(cmd)
	f.audit.add(cmd)
	flags := cmd.Flags()
	flags.StringVar(&f.before, "before", "", "stored before this `time`: 2026-01-31, or 2026-01-31T12:00:00Z")
	flags.StringVar(&f.olderThan, "older-than", "", "stored longer ago than this `span`, such as 90m or 3d")
	flags.StringSliceVar(&f.types, "types", nil, "only of these `types`, with commas between: exact, or a prefix and .*; all when left out")
	flags.BoolVar(&f.dryRun, "dry-run", false, "say what would be skipped, and do nothing")
	flags.BoolVar(&f.yes, "yes", false, "do not ask")
	flags.IntVar(&f.rate, "rate", 0, "the most messages a second that get the command (default no limit)")
	return cmd
}

// choice is what the flags say. now is what spans are measured from.
func (f *skipFlags) choice(args []string, now time.Time) (k operations.Skip, err error) {
	if k.Ref, err = f.named.ref(args); err != nil {
		return k, err
	}
	switch {
	case (f.before == "") == (f.olderThan == ""):
		return k, exit.Usagef("give either --before with a time, or --older-than with a span")
	case f.before != "":
		k.Before, err = moment("before", f.before, now, -1)
	default:
		var span time.Duration
		if span, err = duration.Parse(f.olderThan); err != nil || span < 0 {
			err = exit.Usagef("--older-than is no span; write %s", duration.Forms)
		}
		k.Before = now.Add(-span)
	}
	if err != nil {
		return k, err
	}
	if err := storekit.CheckFilter(store.Filter{Types: f.types}); err != nil {
		return k, exit.Usagef("--types: %w", err)
	}
	if f.rate < 0 {
		return k, exit.Usagef("--rate is %d; say how many messages a second, from 1, or leave it out", f.rate)
	}
	k.Types, k.Filter = f.types, f.filter(k.Before)
	return k, nil
}

// filter is what the flags select by, for the audit log.
func (f *skipFlags) filter(before time.Time) string {
	text := fmt.Sprintf("subscriptions skip --before %s", before.UTC().Format(time.RFC3339))
	if len(f.types) > 0 {
		text += fmt.Sprintf(" --types %q", strings.Join(f.types, ","))
	}
	return text
}

func (f *skipFlags) run(cmd *cobra.Command, c *terminal.Terminal, args []string) (err error) {
	k, err := f.choice(args, time.Now())
	if err != nil {
		return err
	}
	audit, err := f.audit.audit()
	if err != nil {
		return err
	}
	s, err := f.store.open(cmd.Context())
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	d, err := find(cmd, s.Operations(), k.Ref)
	if err != nil {
		return err
	}
	preview, err := s.Operations().PreviewSkip(cmd.Context(), k)
	if err != nil {
		return err
	}
	if f.dryRun {
		return display.Preview(c, preview)
	}
	if !f.yes {
		question := fmt.Sprintf("give up %s of %s that were stored before %s?", terminal.Count(preview.Size(), "message"), k.Ref, k.Before.UTC().Format(time.RFC3339))
		if err := c.Confirm(question); err != nil {
			return err
		}
	}
	if len(d.Owners) == 0 {
		c.Notef("no relay works %s now; the messages are given up once one does", k.Ref)
	}
	run := s.Operations().Run(preview, audit)
	run.Rate = f.rate
	return give(cmd.Context(), c, run, preview)
}
