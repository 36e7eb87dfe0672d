package main

import (
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/postbag/postbag/cmd/postbag/internal/demo"
	"github.com/postbag/postbag/cmd/postbag/internal/exit"
	"github.com/postbag/postbag/cmd/postbag/internal/terminal"
)

func newDemoCommand(c *terminal.Terminal) *cobra.Command {
	o := demo.Options{Out: c.Out}
	cmd := &cobra.Command{
		Use:   "demo",
		Short: "Watch a shop, a relay and a broker survive faults, on this machine alone",
		Long: `A shop commits orders together with their messages, a relay process delivers them to a NATS JetStream
server in this process, and a consumer checks what arrives. Meanwhile the relay is killed without
warning and the broker restarted. It ends with a table of what was committed, delivered, lost, out of
order or there twice, and leaves nothing behind. With --json that table is an object on standard output,
and the rest goes to standard error.`,
		Args: none,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if o.Orders < 100 || o.Orders > 1_000_000 {
				return exit.Usagef("--orders is %d; choose between 100 and 1000000", o.Orders)
			}
			program, err := os.Executable()
			if err != nil {
				return fmt.Errorf("demo: this program cannot find itself: %w", err)
			}
			o.Command = []string{program, "demo", "relay"}
			o.Live = terminal.IsTerminal(c.Out)
			if c.JSON {
				o.Out, o.Live = c.Err, terminal.IsTerminal(c.Err)
			}
			report, err := demo.Run(cmd.Context(), o)
			if c.JSON && (err == nil || errors.Is(err, demo.ErrBroken)) {
				return errors.Join(c.Emit(report), err)
			}
			return err
		},
	}
	cmd.Flags().BoolVar(&o.Postgres, "postgres", false, "on a private PostgreSQL server, in place of a sqlite file")
	cmd.Flags().IntVar(&o.Orders, "orders", 5000, "how `many` orders to commit")
	cmd.AddCommand(&cobra.Command{
		Use:    "relay",
		Short:  "The relay's process of the demo, started by it",
		Hidden: true,
		Args:   none,
		RunE:   func(cmd *cobra.Command, _ []string) error { return demo.Relay(cmd.Context(), c.In, c.Err) },
	})
	return cmd
}
