package main

import (
	"context"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/postbag/postbag/cmd/postbag/internal/display"
	"github.com/postbag/postbag/cmd/postbag/internal/exit"
	"github.com/postbag/postbag/cmd/postbag/internal/plan"
	"github.com/postbag/postbag/cmd/postbag/internal/terminal"
	"github.com/postbag/postbag/store"
)

// applyFlags are those of apply.
type applyFlags struct {
	planFlags

	audit auditFlags
	yes   bool
}

func newApplyCommand(c *terminal.Terminal) *cobra.Command {
	var f applyFlags
	cmd := &cobra.Command{
		Use:   "apply",
		Short: "Give the stores what a configuration file says",
		Long: `Print what postbag plan prints, ask, and do it: first what makes and keeps, last what loses. The
audit log has each new subscription, change and removal, with who and why. New boxes and migrations are
not in it. It stops at the first error, and says what was done and what was not. Run it again: it goes on
with what still differs.

Without --allow-remove nothing is deleted. Without --migrate a store whose schema lacks a step is left as
it is. Exit code 2 says that something still differs in the end, since it needs a flag or something else first. What
is exit code 2 elsewhere is 1 here.`,
		Example: `  postbag apply -c postbag.yaml --why "release 42"
  postbag apply -c postbag.yaml --yes --migrate --who ci --why "release 42"`,
		Args: none,
		RunE: func(cmd *cobra.Command, _ []string) error {
			audit, err := f.audit.audit()
			if err != nil {
				return err
			}
			if c.JSON && !f.yes {
				return exit.Usagef("--json has no question; give --yes too")
			}
			return f.with(cmd.Context(), func(targets []*plan.Target) error {
				return f.apply(cmd.Context(), c, targets, audit)
			})
		},
	}
	f.add(cmd)
	f.audit.add(cmd)
	cmd.Flags().BoolVar(&f.yes, "yes", false, "do not ask")
	return cmd
}

// apply plans and does what the plan says; twice, where an old schema hides what else differs.
func (f *applyFlags) apply(ctx context.Context, c *terminal.Terminal, targets []*plan.Target, audit store.Audit) (err error) {
	all := &plan.Plan{Differences: []*plan.Difference{}, Notes: []plan.Note{}}
	shown := false
	if c.JSON {
		defer func() {
			if !shown {
				return // nothing was compared
			}
			if e := c.Emit(all); err == nil {
				err = e
			}
		}()
	}
	for {
		p, err := plan.Compare(ctx, targets, f.options)
		if err != nil {
			all.Different = true
			return err
		}
		shown = true
		again := plan.Again(targets, f.options)
		all.Differences = slices.DeleteFunc(all.Differences, func(d *plan.Difference) bool { return d.Needs != "" }) // they are said again
		all.Differences, all.Notes = append(all.Differences, p.Differences...), p.Notes
		if err := f.round(ctx, c, p, targets, audit); err != nil {
			all.Different = true
			return err
		}
		all.Different = len(left(p)) > 0
		if !again {
			return different(left(p), areLeft)
		}
	}
}

// left are the differences that apply leaves as they are.
func left(p *plan.Plan) (out []*plan.Difference) {
	for _, d := range p.Differences {
		if d.Needs != "" {
			out = append(out, d)
		}
	}
	return out
}

// round shows a plan, asks, and does it.
func (f *applyFlags) round(ctx context.Context, c *terminal.Terminal, p *plan.Plan, targets []*plan.Target, audit store.Audit) error {
	if !c.JSON {
		display.Plan(c, p)
	}
	ready := p.Ready()
	if !p.Different && !c.JSON {
		c.Sayf("the stores have what the file says; nothing was done")
	}
	if len(ready) > 0 && !f.yes {
		if err := c.Confirm(fmt.Sprintf("do %s?", terminal.Count(len(ready), "step"))); err != nil {
			return err
		}
	}
	return p.Apply(ctx, targets, audit, func(d *plan.Difference) {
		if !c.JSON {
			c.Sayf("done: %s", terminal.Printable(d.Summary()))
		}
	})
}
