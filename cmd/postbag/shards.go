package main

import (
	"strconv"

	"github.com/spf13/cobra"

	"github.com/postbag/postbag/cmd/postbag/internal/terminal"
	"github.com/postbag/postbag/internal/operations"
)

func newShardsCommand(c *terminal.Terminal) *cobra.Command {
	return group("shards", "Change how many shards a subscription has", newShardsSetCommand(c))
}

func newShardsSetCommand(c *terminal.Terminal) *cobra.Command {
	var f storeFlags
	var r refFlags
	var a auditFlags
	cmd := &cobra.Command{
		Use:   "set NUMBER",
		Short: "Ask for another number of shards",
		Long: `Ask for another number of shards, 1 to 4096. Relays carry it out between batches and keep
the order of every key; postbag status shows how far they are. More shards let more relays
share a subscription; each costs a row in every settlement.`,
		Example: `  postbag shards set 8 --store-env DATABASE_URL --why "two more relays"`,
		Args:    exactly("the number of shards"),
		RunE: func(cmd *cobra.Command, args []string) error {
			n, err := strconv.Atoi(args[0])
			if err != nil {
				n = 0 // no number of shards
			}
			if err := operations.ValidShards(n); err != nil {
				return err
			}
			ref, audit, err := r.one(&a)
			if err != nil {
				return err
			}
			do := func(d desk) error { return d.SetShards(cmd.Context(), audit, ref, n) }
			if err := f.at(cmd.Context(), do); err != nil {
				return err
			}
			if c.JSON {
				return c.Emit(map[string]any{"box": ref.Box, "subscription": ref.Subscription, "wanted": n})
			}
			c.Sayf("asked for %d shards of %s; relays carry it out", n, ref)
			return nil
		},
	}
	f.addServer(cmd)
	r.add(cmd, "default")
	a.add(cmd)
	return cmd
}
