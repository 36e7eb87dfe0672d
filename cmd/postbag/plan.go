package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/postbag/postbag/cmd/postbag/internal/display"
	"github.com/postbag/postbag/cmd/postbag/internal/exit"
	"github.com/postbag/postbag/cmd/postbag/internal/plan"
	"github.com/postbag/postbag/cmd/postbag/internal/terminal"
)

// planFlags are those of commands that compare a file with its stores.
type planFlags struct {
	config  configFlags
	store   string
	options plan.Options
}

func (f *planFlags) add(cmd *cobra.Command) {
	f.config.add(cmd)
	cmd.Flags().StringVar(&f.store, "store-name", "", "only this one of the file's stores: its `name`; all when left out")
	cmd.Flags().BoolVar(&f.options.Remove, "allow-remove", false, "allow what deletes: the removal of subscriptions that the file does not name, and a shorter retention")
	cmd.Flags().BoolVar(&f.options.Readmit, "readmit", false, "allow the declaration of subscriptions that an operator removed")
	cmd.Flags().BoolVar(&f.options.Migrate, "migrate", false, "allow migrations of the schema")
	cmd.Annotations = map[string]string{differs: ""}
}

// differs marks a command whose exit code 2 says that something differs. What is wrong with its arguments has code 1.
const differs = "differs"

// targets opens the stores of the file. Close all that it returns, whatever the error.
func (f *planFlags) targets(ctx context.Context) ([]*plan.Target, error) {
	if err := f.config.check(); err != nil {
		return nil, err
	}
	if !f.config.given() {
		return nil, exit.Usagef("-c is missing; name a configuration file")
	}
	file, err := f.config.read(false)
	if err != nil {
		return nil, err
	}
	all := file.AllStores()
	names := slices.Sorted(maps.Keys(all))
	if f.store != "" {
		if _, known := all[f.store]; !known {
			return nil, exit.Usagef("--store-name names none of the file's stores; it has %s", storeNames(names))
		}
		names = []string{f.store}
	}
	var targets []*plan.Target
	for _, name := range names {
		t, err := plan.Open(ctx, name, all[name], plan.Of(file, name))
		if t != nil {
			targets = append(targets, t)
		}
		if err != nil {
			return targets, err
		}
	}
	return targets, nil
}

// storeNames lists the names of stores. One without a name is the only one.
func storeNames(names []string) string {
	if len(names) == 1 && names[0] == "" {
		return "one store without a name; leave --store-name out"
	}
	return strings.Join(names, ", ")
}

// with opens the stores, and closes them after do.
func (f *planFlags) with(ctx context.Context, do func([]*plan.Target) error) (err error) {
	targets, err := f.targets(ctx)
	defer func() {
		for _, t := range targets {
			err = errors.Join(err, t.Close())
		}
	}()
	if err != nil {
		return err
	}
	return do(targets)
}

func newPlanCommand(c *terminal.Terminal) *cobra.Command {
	var f planFlags
	cmd := &cobra.Command{
		Use:   "plan",
		Short: "Say how the stores differ from a configuration file; exit code 2 if they do",
		Long: `Compare a configuration file with its stores, and say what postbag apply would do: migrations, boxes,
subscriptions, their filters and shards, and how long messages stay. It writes nothing. Exit code 2 says
that something differs. What is exit code 2 elsewhere, such as a mistake in the file, is 1 here.

    + it would be made    ~ it would be changed    - it would be removed    ^ the schema would be migrated

What the store has and the file does not name is no difference: it is listed, and --allow-remove makes it
one. A retention that would become shorter needs --allow-remove too, and a subscription that an operator
removed needs --readmit. Pauses and replays are listed, and nothing here changes them. Destinations are
not in the store, and are not compared.`,
		Example: `  postbag plan -c postbag.yaml
  postbag plan -c postbag.yaml --allow-remove --json`,
		Args: none,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return f.with(cmd.Context(), func(targets []*plan.Target) error {
				p, err := plan.Compare(cmd.Context(), targets, f.options)
				if err != nil {
					return err
				}
				return showPlan(c, p)
			})
		},
	}
	f.add(cmd)
	return cmd
}

// showPlan writes a plan, and returns what its exit code says.
func showPlan(c *terminal.Terminal, p *plan.Plan) error {
	if c.JSON {
		return errors.Join(c.Emit(p), different(p.Differences, makesItSo))
	}
	display.Plan(c, p)
	if !p.Different {
		c.Sayf("the stores have what the file says")
	}
	return different(p.Differences, makesItSo)
}

// What becomes of differences.
const (
	makesItSo = "postbag apply makes it so"
	areLeft   = "they are left as they are"
)

// different is the error of differences, with the exit code that says so.
func different(all []*plan.Difference, what string) error {
	if len(all) == 0 {
		return nil
	}
	counts := make(map[string]int)
	waits := 0
	for _, d := range all {
		counts[d.Action]++
		if d.Needs != "" {
			waits++
		}
	}
	var parts []string
	for _, one := range []struct{ action, text string }{
		{plan.Migrate, "to migrate"}, {plan.Create, "to make"}, {plan.Change, "to change"}, {plan.Remove, "to remove"},
	} {
		if n := counts[one.action]; n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, one.text))
		}
	}
	text := terminal.Count(len(all), "difference") + ": " + strings.Join(parts, ", ")
	if waits > 0 {
		text += fmt.Sprintf("; apply needs something first for %d of them", waits)
	}
	return exit.Differs(text + "; " + what)
}
