package main

import (
	"context"
	"errors"
	"strings"

	"github.com/spf13/cobra"

	"github.com/postbag/postbag/cmd/postbag/internal/terminal"
	"github.com/postbag/postbag/relay"
	"github.com/postbag/postbag/store"
)

func newMaintainCommand(c *terminal.Terminal) *cobra.Command {
	var f storeFlags
	var box string
	var untilDone bool
	cmd := &cobra.Command{
		Use:   "maintain",
		Short: "Do the housekeeping of a box, from cron, where no relay does it",
		Long: `Do the housekeeping of a box: remove what it does not keep any longer, move scheduled messages that are
due into the log, and make room in it. Relays do that, unless their configuration has maintenance: false.
Use this command, from cron, for those, for example under the role that owns the tables. One round takes
about a second; --until-done goes on until there is nothing more to do.

If a relay does the housekeeping, the command says so and ends with 0. It ends with 1 if housekeeping found
something that it does not touch, such as a ledger that does not agree, and says what.`,
		Example: `  postbag maintain --store-env DATABASE_URL --box outbox --until-done`,
		Args:    none,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := boxName(box); err != nil {
				return err
			}
			return maintain(cmd.Context(), c, &f, box, untilDone)
		},
	}
	f.add(cmd)
	cmd.Flags().StringVar(&box, "box", defaultBox, "`name` of the box")
	cmd.Flags().BoolVar(&untilDone, "until-done", false, "go on until there is nothing more to do")
	return cmd
}

// maintained is what a round did, in JSON.
type maintained struct {
	Box       string   `json:"box"`
	Busy      bool     `json:"busy"`
	Deleted   int64    `json:"deleted"`
	Dropped   int64    `json:"partitions_dropped"`
	Added     int64    `json:"partitions_added"`
	Promoted  int64    `json:"promoted"`
	Discarded int64    `json:"dead_discarded"`
	More      bool     `json:"more"`
	Faults    []string `json:"faults"`
}

func maintain(ctx context.Context, c *terminal.Terminal, f *storeFlags, box string, untilDone bool) (err error) {
	s, err := f.open(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	r, err := relay.Maintain(ctx, s.Store, box, relay.MaintainOptions{UntilDone: untilDone})
	busy := errors.Is(err, relay.ErrMaintained)
	if err != nil && !busy {
		return err
	}
	if c.JSON {
		out := maintained{box, busy, r.Deleted, r.Dropped, r.Added, r.Promoted, r.Expired, r.More, append([]string{}, r.Faults...)}
		if err := c.Emit(out); err != nil {
			return err
		}
	} else {
		sayMaintained(c, box, busy, &r)
	}
	if len(r.Faults) > 0 {
		return errors.New("housekeeping found what it does not touch: " + strings.Join(r.Faults, "; "))
	}
	return nil
}

func sayMaintained(c *terminal.Terminal, box string, busy bool, r *store.Report) {
	if busy {
		c.Sayf("another process does the housekeeping of box %s; there is nothing to do", box)
		return
	}
	text := ""
	if r.More {
		text = "; there is more to do"
	}
	c.Sayf("box %s: %s deleted, %s dropped and %d added, %s moved into the log, %s discarded%s", box, terminal.Count(r.Deleted, "message"),
		terminal.Count(r.Dropped, "partition"), r.Added, terminal.Count(r.Promoted, "scheduled message"), terminal.Count(r.Expired, "dead message"), text)
}
