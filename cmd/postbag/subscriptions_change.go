package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/postbag/postbag/cmd/postbag/internal/exit"
	"github.com/postbag/postbag/cmd/postbag/internal/terminal"
	"github.com/postbag/postbag/internal/operations"
	"github.com/postbag/postbag/store"
)

func newSubscriptionsSetCommand(c *terminal.Terminal) *cobra.Command {
	var f storeFlags
	var n namedFlags
	var a auditFlags
	var t filterFlags
	var p policyFlags
	cmd := &cobra.Command{
		Use: "set NAME", Short: "Give a subscription another filter or policy, while its relays run",
		Long: `Give a subscription another filter. What no flag names stays as it is: its types, its topics, its
headers, and what it excepts. With --as-configured it gets the filter that the configuration says, such
as that of a route. Each read that begins after the command goes by it. What relays
have read before stays as it was read, and what they have passed is not read again. From then on the
filter is the operator's: a deployment with another one changes nothing, and its relay says so in one
line of its log. Relays of version 0.1.0 know types alone; the command names those that live.

The other flags set parts of the policy. They hold in all relays within a moment, and take the place
of what deployments say until --reset. A rate is that of the whole subscription, and takes the place of
all that a deployment says of rates. Set the filter and the policy with two commands.`,
		Example: `  postbag subscriptions set billing --types invoice.*,order.paid -c postbag.yaml --why "orders too"
  postbag subscriptions set billing --topics orders,orders.* --header region=eu -c postbag.yaml --why "Europe"
  postbag subscriptions set orders.eu --as-configured -c postbag.yaml --why "routes of release 7"
  postbag subscriptions set billing --all-types -c postbag.yaml --why "everything again"
  postbag subscriptions set billing --rate 100/s --max-attempts 5 -c postbag.yaml --why "a slow partner"
  postbag subscriptions set billing --reset rate,max_attempts -c postbag.yaml --why "they are fast again"`,
		RunE: func(cmd *cobra.Command, args []string) error {
			ref, err := n.ref(args)
			if err != nil {
				return err
			}
			policy := p.given(cmd)
			if err := t.beside(cmd, policy); err != nil {
				return err
			}
			audit, err := a.audit()
			if err != nil {
				return err
			}
			if policy {
				return p.run(cmd, c, &f, ref, audit)
			}
			if f.server.given(&f) {
				return exit.Usagef("a console changes no filters; set them where the database can be reached")
			}
			return t.set(cmd, c, &f, ref, audit)
		},
	}
	f.addServer(cmd)
	n.add(cmd)
	a.add(cmd)
	p.add(cmd)
	t.add(cmd)
	return cmd
}

// removeFlags are those of remove.
type removeFlags struct {
	store              storeFlags
	named              namedFlags
	audit              auditFlags
	dryRun, yes, force bool
}

// remove says what is lost, asks, and removes.
func (f *removeFlags) remove(cmd *cobra.Command, c *terminal.Terminal, s operations.Store, ref store.Ref, audit store.Audit) error {
	d, err := find(cmd, s, ref)
	if err != nil {
		return err
	}
	if d.ReplayOf != "" {
		return exit.Usagef("%s is a replay; end it with postbag replay cancel %s", ref, ref.Subscription)
	}
	loss := operations.LossOf(d)
	switch {
	case f.dryRun:
		return sayLoss(c, &loss, true)
	case len(d.Owners) > 0 && !d.Paused && !f.force:
		return worked(ref, d.Owners)
	case !f.yes:
		if err := askForName(c, &loss); err != nil {
			return err
		}
	}
	err = s.Remove(cmd.Context(), audit, ref, f.force)
	switch {
	case errors.Is(err, store.ErrWorked):
		return worked(ref, d.Owners)
	case err != nil:
		return noSubscription(ref, err)
	}
	return sayLoss(c, &loss, false)
}

func newSubscriptionsRemoveCommand(c *terminal.Terminal) *cobra.Command {
	var f removeFlags
	cmd := &cobra.Command{
		Use: "remove NAME", Short: "Delete a subscription: its positions, parked messages and ledger",
		Long: `Delete a subscription with its positions, its parked and dead messages, its commands and its ledger.
The messages of the box and its other subscriptions stay. It says first what is lost, and asks for the
name. It refuses a subscription that a live relay works: pause it first, or give --force. Relays let go
of it within a moment. They do not declare it again, not even after a restart, until postbag
subscriptions readmit.`,
		Example: `  postbag subscriptions remove billing -c postbag.yaml --why "billing reads another box now"`,
		RunE: func(cmd *cobra.Command, args []string) error {
			ref, err := f.named.ref(args)
			if err != nil {
				return err
			}
			audit, err := f.audit.audit()
			if err != nil {
				return err
			}
			return f.store.operate(cmd.Context(), func(s operations.Store) error { return f.remove(cmd, c, s, ref, audit) })
		},
	}
	f.store.add(cmd)
	f.named.add(cmd)
	f.audit.add(cmd)
	cmd.Flags().BoolVar(&f.dryRun, "dry-run", false, "say what would be lost, and do nothing")
	cmd.Flags().BoolVar(&f.yes, "yes", false, "do not ask")
	cmd.Flags().BoolVar(&f.force, "force", false, "remove it although a live relay works it: what that has sent and not settled may be missing in the ledger")
	return cmd
}

func worked(ref store.Ref, owners []string) error {
	return exit.With(exit.Usage, fmt.Errorf("a live relay works %s (%s); run postbag subscriptions pause first, or give --force; nothing was done",
		ref, terminal.Printable(strings.Join(owners, " "))))
}

func lossText(l *operations.Loss) string {
	return fmt.Sprintf("a backlog of %s, %d parked and %d dead", terminal.Count(l.Backlog, "message"), l.Waiting, l.Dead)
}

// askForName asks before what cannot be undone.
func askForName(c *terminal.Terminal, l *operations.Loss) error {
	return c.ConfirmName(fmt.Sprintf("%s/%s has %s, which nobody delivers for it any more.", l.Box, l.Name, lossText(l)), l.Name)
}

// removal is what became of a removal, in JSON.
type removal struct {
	Box          string `json:"box"`
	Subscription string `json:"subscription"`
	Backlog      int64  `json:"backlog"`
	Parked       int64  `json:"parked"`
	Dead         int64  `json:"dead"`
	DryRun       bool   `json:"dry_run,omitempty"`
}

func sayLoss(c *terminal.Terminal, l *operations.Loss, dry bool) error {
	if c.JSON {
		return c.Emit(removal{Box: l.Box, Subscription: l.Name, Backlog: l.Backlog, Parked: l.Waiting, Dead: l.Dead, DryRun: dry})
	}
	if dry {
		c.Sayf("%s/%s would be removed, with %s; nothing was done", l.Box, l.Name, lossText(l))
		return nil
	}
	c.Sayf("%s/%s is removed; it had %s", l.Box, l.Name, lossText(l))
	return nil
}

func newSubscriptionsReadmitCommand(c *terminal.Terminal) *cobra.Command {
	var f storeFlags
	var n namedFlags
	var a auditFlags
	cmd := &cobra.Command{
		Use: "readmit NAME", Short: "Let relays declare a removed subscription again",
		Long: `Let relays declare a removed subscription again. The next relay that starts and names it declares
it, as a new one that begins where its from says. Relays that run already and name it work it from then
on, too.`,
		Example: `  postbag subscriptions readmit billing -c postbag.yaml --why "removed by mistake"`,
		RunE: func(cmd *cobra.Command, args []string) error {
			ref, err := n.ref(args)
			if err != nil {
				return err
			}
			audit, err := a.audit()
			if err != nil {
				return err
			}
			do := func(s operations.Store) error { return s.Readmit(cmd.Context(), audit, ref) }
			if err := f.operate(cmd.Context(), do); errors.Is(err, store.ErrNoSubscription) {
				return exit.With(exit.NotFound, fmt.Errorf("no subscription %s was removed; postbag subscriptions list has those that were", ref))
			} else if err != nil {
				return err
			}
			if c.JSON {
				return c.Emit(map[string]any{"box": ref.Box, "subscription": ref.Subscription, "readmitted": true})
			}
			c.Sayf("%s may be declared again; a relay that starts and names it does so", ref)
			return nil
		},
	}
	f.add(cmd)
	n.add(cmd)
	a.add(cmd)
	return cmd
}

// noSubscription says which subscription is not there.
func noSubscription(ref store.Ref, err error) error {
	if !errors.Is(err, store.ErrNoSubscription) {
		return err
	}
	return exit.With(exit.NotFound, fmt.Errorf("box %s has no subscription %s; postbag subscriptions list has those there are", ref.Box, ref.Subscription))
}
