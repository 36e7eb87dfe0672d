package main

import (
	"cmp"

	"github.com/spf13/cobra"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/cmd/postbag/internal/config"
	"github.com/postbag/postbag/cmd/postbag/internal/display"
	"github.com/postbag/postbag/cmd/postbag/internal/exit"
	"github.com/postbag/postbag/cmd/postbag/internal/terminal"
	"github.com/postbag/postbag/internal/operations"
	"github.com/postbag/postbag/store"
	"github.com/postbag/postbag/store/storekit"
)

func newSubscriptionsListCommand(c *terminal.Terminal) *cobra.Command {
	var f storeFlags
	var box string
	cmd := &cobra.Command{
		Use: "list", Short: "List subscriptions, and those that were removed",
		Long: `List subscriptions with their filters, shards, backlogs and relays. It also lists those that an
operator removed.`,
		Example: `  postbag subscriptions list -c postbag.yaml`,
		Args:    none,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if box != "" {
				if err := boxName(box); err != nil {
					return err
				}
			}
			return f.at(cmd.Context(), func(d desk) error {
				l, err := d.Subscriptions(cmd.Context(), box)
				if err != nil {
					return err
				}
				if c.JSON {
					return c.Emit(l)
				}
				return display.Subscriptions(c, l)
			})
		},
	}
	f.addServer(cmd)
	cmd.Flags().StringVar(&box, "box", "", "`name` of the one box; all when left out")
	return cmd
}

func newSubscriptionsShowCommand(c *terminal.Terminal) *cobra.Command {
	var f storeFlags
	var n namedFlags
	cmd := &cobra.Command{
		Use: "show NAME", Short: "Show one subscription with its settings, and where each comes from",
		Long: `Show one subscription with its settings, and where each comes from: declared with it, set by an
operator's command, or said by the deployment. The store keeps the first two. With -c it shows what
the configuration says, too, and what of that is not in force.`,
		Example: `  postbag subscriptions show billing -c postbag.yaml`,
		RunE: func(cmd *cobra.Command, args []string) error {
			ref, err := n.ref(args)
			if err != nil {
				return err
			}
			return f.at(cmd.Context(), func(at desk) error {
				d, stored, err := at.Subscription(cmd.Context(), ref)
				if err != nil {
					return noSubscription(ref, err)
				}
				if d.Settings, err = f.settings(ref, d, stored); err != nil {
					return err
				}
				if c.JSON {
					return c.Emit(d)
				}
				return display.Subscription(c, d)
			})
		},
	}
	f.addServer(cmd)
	n.add(cmd)
	return cmd
}

// namedFlags name a subscription: by an argument, or by --subscription as commands about messages have it.
type namedFlags struct{ box, subscription string }

func (f *namedFlags) add(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.box, "box", defaultBox, "`name` of the box")
	cmd.Flags().StringVar(&f.subscription, "subscription", "", "`name` of the subscription, in place of the argument")
	cmd.Args = argumentOr("the name of the subscription", "subscription")
}

func (f *namedFlags) ref(args []string) (store.Ref, error) {
	if err := boxName(f.box); err != nil {
		return store.Ref{}, err
	}
	name := f.subscription
	if len(args) > 0 {
		name = args[0]
	}
	if err := postbag.ValidSubscription(name); err != nil {
		return store.Ref{}, exit.With(exit.Usage, err)
	}
	return store.Ref{Box: f.box, Subscription: name}, nil
}

// find looks a subscription up.
func find(cmd *cobra.Command, s operations.Store, ref store.Ref) (*operations.SubscriptionDetail, error) {
	o, err := s.Look(cmd.Context(), ref.Box)
	if err != nil {
		return nil, err
	}
	d, err := operations.Subscriptions(&o).Find(ref)
	return d, noSubscription(ref, err)
}

// settings returns those of the store, which are all, and with -c those of the file.
func (f *storeFlags) settings(ref store.Ref, d *operations.SubscriptionDetail, all []operations.Setting) ([]operations.Setting, error) {
	if !f.config.given() {
		return all, nil
	}
	file, err := f.config.read(false)
	if err != nil {
		return nil, err
	}
	said := deployed(file, f.name, ref)
	if said == nil {
		return all, nil
	}
	for i := range all {
		all[i].Unused = all[i].Name == store.SettingDestination // of a relay that has the subscription
	}
	asks, has := said.Filter(), d.Filter()
	if d.Unreadable != "" || !storekit.SameFilter(store.Filter{Types: asks.Types}, store.Filter{Types: has.Types}) {
		all = append(all, operations.Setting{Name: "types", Value: operations.TypesText(asks.Types), Source: operations.FromDeployment, Unused: true})
	}
	if !storekit.SameFilter(store.Filter{Where: asks.Where}, store.Filter{Where: has.Where}) {
		where := cmp.Or(operations.WhereText(asks.Where), "all")
		all = append(all, operations.Setting{Name: "where", Value: where, Source: operations.FromDeployment, Unused: true})
	}
	for _, s := range said.Settings() {
		all = append(all, operations.Setting{Name: s[0], Value: s[1], Source: operations.FromDeployment, Unused: d.Overrides(s[0])})
	}
	return all, nil
}

// deployed is what a file says of a subscription, if it has it.
func deployed(file *config.File, name string, ref store.Ref) *config.Subscription {
	for i := range file.Subscriptions {
		s := &file.Subscriptions[i]
		if s.Box == ref.Box && s.Name == ref.Subscription && (name == "" || s.Store == name) {
			return s
		}
	}
	return nil
}
