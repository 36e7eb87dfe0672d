package main

import (
	"time"

	"github.com/spf13/cobra"

	"github.com/postbag/postbag/cmd/postbag/internal/config"
	"github.com/postbag/postbag/cmd/postbag/internal/exit"
	"github.com/postbag/postbag/cmd/postbag/internal/terminal"
	"github.com/postbag/postbag/internal/operations"
	"github.com/postbag/postbag/store"
)

// addFlags are those of add.
type addFlags struct {
	store  storeFlags
	named  namedFlags
	audit  auditFlags
	types  []string
	topics []string
	header []string
	from   string
	shards int
	// destination is the one that running relays begin it with.
	destination string
	// configured: the filter is that of the configuration.
	configured bool
}

// spec is what the flags say.
func (f *addFlags) spec(args []string) (store.Spec, error) {
	ref, err := f.named.ref(args)
	if err != nil {
		return store.Spec{}, err
	}
	spec := store.Spec{Ref: ref, Types: f.types, Where: store.Where{Topics: f.topics, Headers: f.header}, Shards: f.shards}
	if spec.From, err = beginning(f.from); err != nil {
		return spec, err
	}
	if f.configured {
		if len(f.types)+len(f.topics)+len(f.header) > 0 {
			return spec, exit.Usagef("--as-configured takes the whole filter from the configuration; leave --types, --topics and --header out")
		}
		filter, err := f.store.configuredFilter(ref)
		if err != nil {
			return spec, err
		}
		spec.Types, spec.Where = filter.Types, filter.Where
	}
	if f.shards < 0 || f.shards > store.SlotCount {
		return spec, exit.Usagef("--shards is %d; choose between 1 and %d, or leave it out", f.shards, store.SlotCount)
	}
	return spec, nil
}

func newSubscriptionsAddCommand(c *terminal.Terminal) *cobra.Command {
	var f addFlags
	cmd := &cobra.Command{
		Use: "add NAME", Short: "Declare a subscription before a relay does, at the place that you say",
		Long: `Declare a subscription before a relay does, at the place that you say. Its backlog grows from then on.
A relay delivers it if its configuration has it: one that starts later, or one that runs and had it before
somebody removed it. With --destination, relays that run begin it, too: those whose configuration has a
destination of that name. They deliver at least once, in the form of that destination, with the defaults of a
subscription and what postbag subscriptions set says. A relay whose configuration has the subscription goes by that. The filter is then the operator's, and from, types and shards of a deployment change nothing.
Add a route with --as-configured: its filter then has the exceptions that the configuration says, too.
A subscription that was removed is added as a new one.`,
		Example: `  postbag subscriptions add audit --from now --types "order.*" --shards 8 -c postbag.yaml --why "a new consumer"
  postbag subscriptions add audit --destination audit -c postbag.yaml --why "the auditors ask"`,
		RunE: func(cmd *cobra.Command, args []string) error {
			spec, err := f.spec(args)
			if err != nil {
				return err
			}
			audit, err := f.audit.audit()
			if err != nil {
				return err
			}
			if cmd.Flags().Changed("destination") {
				if err := f.store.addable(c, spec.Ref, f.destination); err != nil {
					return err
				}
			}
			do := func(s operations.Store) error {
				if cmd.Flags().Changed("destination") {
					return s.AddTo(cmd.Context(), audit, spec, f.destination)
				}
				return s.Add(cmd.Context(), audit, spec)
			}
			if err := f.store.operate(cmd.Context(), do); err != nil {
				return err
			}
			return f.said(c, spec)
		},
	}
	f.store.add(cmd)
	f.named.add(cmd)
	f.audit.add(cmd)
	cmd.Flags().StringVar(&f.from, "from", "first", "where it begins: first, now, a `time` (RFC 3339), or how long ago (3d)")
	cmd.Flags().StringSliceVar(&f.types, "types", nil, "`types` to deliver, with commas between: exact, or a prefix and .*; all when left out")
	cmd.Flags().StringSliceVar(&f.topics, "topics", nil, "`topics` to deliver, with commas between: exact, or a prefix and .*; all when left out")
	cmd.Flags().StringArrayVar(&f.header, "header", nil, "a `condition` on a header: name=value, or name alone for any value; give the flag again for more")
	cmd.Flags().BoolVar(&f.configured, "as-configured", false, "take the whole filter, with its exceptions, from the configuration (-c)")
	cmd.Flags().StringVar(&f.destination, "destination", "", "`name` of the destination with which running relays begin it; none when left out")
	cmd.Flags().IntVar(&f.shards, "shards", 0, "how `many` shards it has (default 4, or 1 on sqlite)")
	return cmd
}

// beginning is where a subscription begins, as a configuration says it.
func beginning(from string) (store.Start, error) {
	s := config.Subscription{From: from}
	switch from {
	case "first":
		return store.Start{}, nil
	case "now":
		return store.Start{Now: true}, nil
	}
	at, err := s.Begins(time.Now())
	if err != nil {
		return store.Start{}, exit.Usagef("--from is neither first nor now nor a time; write a time as 2026-01-31T12:00:00Z, or how long ago as 3d")
	}
	return store.Start{At: at}, nil
}

// said prints what was added.
func (f *addFlags) said(c *terminal.Terminal, spec store.Spec) error {
	if c.JSON {
		out := map[string]any{"box": spec.Box, "subscription": spec.Subscription, "from": f.from, "types": append([]string{}, spec.Types...), "where": spec.Where, "added": true}
		if f.destination != "" {
			out["destination"] = f.destination
		}
		return c.Emit(out)
	}
	who := "a relay that has it in its configuration delivers it"
	if f.destination != "" {
		who = "relays that have a destination " + f.destination + " begin it within a moment"
	}
	c.Sayf("%s is added, from %s; %s", spec.Ref, f.from, who)
	return nil
}
