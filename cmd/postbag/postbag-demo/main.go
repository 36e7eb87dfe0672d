// Command postbag-demo shows Postbag in small, on this machine alone: a shop, a relay that is killed, a broker that is
// restarted, a consumer that checks what arrives, and a billing service that is killed and applies each order once.
//
//	postbag-demo [--postgres] [--orders N] [--console] [--json]
//
// It brings a NATS server, and can start a private PostgreSQL server; so it is a program of its own, and the postbag command
// links neither. "make demo" builds and runs it.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/postbag/postbag/cmd/postbag/internal/demo"
	"github.com/postbag/postbag/cmd/postbag/internal/exit"
	"github.com/postbag/postbag/cmd/postbag/internal/terminal"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM, syscall.SIGQUIT)
	code := run(ctx, os.Args[1:], &terminal.Terminal{In: os.Stdin, Out: os.Stdout, Err: os.Stderr})
	stop()
	os.Exit(int(code))
}

// run executes a command line and returns the exit code.
func run(ctx context.Context, args []string, c *terminal.Terminal) exit.Code {
	cmd := newCommand(c)
	cmd.SetArgs(args)
	cmd.SetOut(c.Out)
	cmd.SetErr(c.Err)
	err := cmd.ExecuteContext(ctx)
	if err != nil {
		c.Fail(err)
	}
	return exit.Of(err)
}

func newCommand(c *terminal.Terminal) *cobra.Command {
	o := demo.Options{Out: c.Out}
	cmd := &cobra.Command{
		Use:   "postbag-demo",
		Short: "Watch a shop, a relay, a broker and a consumer survive faults, on this machine alone",
		Long: `A shop commits orders together with their messages, a relay process delivers them to a NATS JetStream
server in this process, and a consumer checks what arrives. A billing service, a process too, applies
each order to a database of its own. Meanwhile relay and billing service are killed without warning and
the broker is restarted. It ends with a table of what was committed, delivered, applied, lost, out of
order or there twice, and leaves nothing behind. With --json that table is an object on standard output,
and the rest goes to standard error.`,
		SilenceUsage:  true,
		SilenceErrors: true,
		Args:          cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if o.Orders < 100 || o.Orders > 1_000_000 {
				return exit.Usagef("--orders is %d; choose between 100 and 1000000", o.Orders)
			}
			program, err := os.Executable()
			if err != nil {
				return fmt.Errorf("demo: this program cannot find itself: %w", err)
			}
			o.Relay, o.Billing = []string{program, "relay"}, []string{program, "billing"}
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
	cmd.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return exit.Usagef("%w; see postbag-demo --help", err) })
	cmd.Flags().BoolVar(&c.JSON, "json", false, "write JSON for programs")
	cmd.Flags().BoolVar(&o.Postgres, "postgres", false, "on a private PostgreSQL server, in place of a sqlite file")
	cmd.Flags().BoolVar(&o.Console, "console", false, "serve the console, and go on until Ctrl-C")
	cmd.Flags().IntVar(&o.Orders, "orders", 5000, "how `many` orders to commit")
	for name, work := range processes {
		cmd.AddCommand(&cobra.Command{
			Use:    name,
			Short:  "A process of the demo, started by it",
			Hidden: true,
			Args:   cobra.NoArgs,
			RunE:   func(cmd *cobra.Command, _ []string) error { return work(cmd.Context(), c.In, c.Err) },
		})
	}
	return cmd
}

// processes are what the demo starts of its own program.
var processes = map[string]func(ctx context.Context, life io.Reader, log io.Writer) error{"relay": demo.Relay, "billing": demo.Billing}
