package main

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/postbag/postbag/cmd/postbag/internal/component"
	"github.com/postbag/postbag/cmd/postbag/internal/config"
	"github.com/postbag/postbag/cmd/postbag/internal/duration"
	"github.com/postbag/postbag/cmd/postbag/internal/exit"
	"github.com/postbag/postbag/cmd/postbag/internal/sqlscript"
	"github.com/postbag/postbag/cmd/postbag/internal/terminal"
	"github.com/postbag/postbag/store"
)

func newMigrateCommand(c *terminal.Terminal) *cobra.Command {
	return group("migrate", "Make and update the schema",
		newMigrateUpCommand(c), newMigrateStatusCommand(c), newMigratePrintCommand(c))
}

func newMigrateUpCommand(c *terminal.Terminal) *cobra.Command {
	var f storeFlags
	var boxes []string
	var slots string
	cmd := &cobra.Command{
		Use:   "up",
		Short: "Bring the schema up to date, and make boxes",
		Long: `Bring the schema up to date, and make boxes. You can run it at any time, again, and
several times at once. It makes a missing sqlite file. --slots number makes boxes whose
messages have numbers for keys: their slots are these numbers modulo 4,096. A box keeps the
rule that it was made with. With -c, boxes.NAME.slots of the file says it, too.`,
		Example: `  postbag migrate up --store-env DATABASE_URL --box outbox
  postbag migrate up --store-env DATABASE_URL --box accounts --slots number`,
		Args: none,
		RunE: func(cmd *cobra.Command, _ []string) error {
			for _, box := range boxes {
				if err := boxName(box); err != nil {
					return err
				}
			}
			if err := checkSlots(slots, boxes); err != nil {
				return err
			}
			where, err := f.where()
			if err != nil {
				return err
			}
			where = where.WithSlots(store.SlotRule(slots), boxes)
			return withStoreAt(cmd.Context(), where, true, func(s *component.Store) error {
				return migrateUp(cmd.Context(), c, s, boxes)
			})
		},
	}
	f.add(cmd)
	addSlots(cmd, &slots)
	cmd.Flags().StringSliceVar(&boxes, "box", nil, "make this `box` too; may be repeated")
	return cmd
}

// addSlots adds --slots.
func addSlots(cmd *cobra.Command, slots *string) {
	cmd.Flags().StringVar(slots, "slots", "", "the `rule` by which these boxes make slots: hash or number; hash when left out")
	_ = cmd.RegisterFlagCompletionFunc("slots", words(string(store.SlotsByHash), string(store.SlotsByNumber))) // the flag is there
}

// checkSlots refuses a rule that there is not, and one for no box.
func checkSlots(slots string, boxes []string) error {
	if err := store.SlotRule(slots).Validate(); err != nil {
		return exit.Usagef("--slots is %.40q; say hash or number", slots)
	}
	if slots != "" && len(boxes) == 0 {
		return exit.Usagef("--slots goes with --box; name the boxes")
	}
	return nil
}

// withStore opens a store that is there for migrations, and closes it.
func withStore(ctx context.Context, f storeFlags, fn func(*component.Store) error) (err error) {
	where, err := f.where()
	if err != nil {
		return err
	}
	return withStoreAt(ctx, where, false, fn)
}

// withStoreAt is withStore for a store whose settings were read: those of a pipe can be read once. create makes a missing
// sqlite file.
func withStoreAt(ctx context.Context, where config.Store, create bool, fn func(*component.Store) error) (err error) {
	where.Create = false // that is what these commands are for
	s, err := component.OpenStore(ctx, where, component.StoreOptions{Create: create, Unmigrated: true})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	return fn(s)
}

// migrated is what migrate up did.
type migrated struct {
	Steps []string `json:"steps"`
	Boxes []string `json:"boxes"`
}

func migrateUp(ctx context.Context, c *terminal.Terminal, s *component.Store, boxes []string) error {
	steps, err := s.Schema().Up(ctx, boxes)
	if err != nil {
		return err
	}
	if c.JSON {
		return c.Emit(migrated{Steps: append([]string{}, steps...), Boxes: append([]string{}, boxes...)})
	}
	for _, step := range steps {
		c.Sayf("applied %s", step)
	}
	if len(steps) == 0 {
		c.Sayf("the schema is up to date")
	}
	for _, box := range boxes {
		c.Sayf("box %s is there", box)
	}
	return nil
}

func newMigrateStatusCommand(c *terminal.Terminal) *cobra.Command {
	var f storeFlags
	cmd := &cobra.Command{
		Use:   "status",
		Short: "Say which steps are missing; exit code 5 if any is",
		Args:  none,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return withStore(cmd.Context(), f, func(s *component.Store) error {
				return migrateStatus(cmd.Context(), c, s)
			})
		},
	}
	f.add(cmd)
	return cmd
}

// schemaState is what migrate status found.
type schemaState struct {
	Version int      `json:"version"`
	Pending []string `json:"pending"`
}

func migrateStatus(ctx context.Context, c *terminal.Terminal, s *component.Store) error {
	state, err := s.Schema().State(ctx)
	if err != nil {
		return err
	}
	names := state.Names()
	if c.JSON {
		err = c.Emit(schemaState{Version: state.Version, Pending: names})
	} else {
		c.Sayf("the schema has version %d; missing: %s", state.Version, terminal.Count(len(names), "step"))
		for _, name := range names {
			c.Sayf("  %s", name)
		}
	}
	return errors.Join(err, state.Err())
}

// printing is what is printed, and how.
type printing struct {
	storeFlags
	boxes     []string
	format    string
	after     int
	partition time.Duration
	slots     string
}

func newMigratePrintCommand(c *terminal.Terminal) *cobra.Command {
	var p printing
	cmd := &cobra.Command{
		Use:   "print",
		Short: "Write the SQL of migrate up, and do nothing",
		Long: `Print the SQL of missing steps and of boxes, for review or for a migration tool of your
own. With --store-kind and no store it connects to nothing, and prints all steps, or those
after a version. Each format is one file: statements for the database's
own shell (plain), a migration of goose, or one of Atlas.`,
		Example: `  postbag migrate print --store-kind postgresql --box outbox --format goose > 00007_postbag.sql`,
		Args:    none,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := p.check(cmd.Flags().Changed("after")); err != nil {
				return err
			}
			steps, err := p.steps(cmd.Context())
			if err != nil {
				return err
			}
			return printSteps(c, p.format, steps)
		},
	}
	p.add(cmd)
	cmd.Flags().StringSliceVar(&p.boxes, "box", nil, "write what makes this `box` too; may be repeated")
	addSlots(cmd, &p.slots)
	cmd.Flags().StringVar(&p.format, "format", sqlscript.Plain, "`form` of the file: "+strings.Join(sqlscript.Formats(), ", "))
	cmd.Flags().IntVar(&p.after, "after", 0, "without a store: only the steps behind this `version`")
	cmd.Flags().Var(duration.Flag(&p.partition), "partition", "without a store: divide boxes of mysql and mariadb into partitions of about this `time`")
	_ = cmd.RegisterFlagCompletionFunc("format", words(sqlscript.Formats()...)) // the flag is there
	return cmd
}

// offline says that no store is named, but its kind.
func (p *printing) offline() bool { return p.kind != "" && p.count() == 0 }

func (p *printing) empty() bool { return p.kind == "" && p.count() == 0 }

func (p *printing) check(after bool) error {
	switch {
	case !slices.Contains(sqlscript.Formats(), p.format):
		return exit.Usagef("--format is %q; say %s", p.format, strings.Join(sqlscript.Formats(), ", "))
	case p.after < 0:
		return exit.Usagef("--after is %d; give the version of the schema that is there, or leave it out", p.after)
	case p.empty():
		return exit.Usagef("no store is given; pass -c FILE, --store DSN, --store-env NAME or --store-file FILE, " +
			"or --store-kind KIND alone for the SQL of an empty database")
	case (after || p.partition != 0) && !p.offline():
		return exit.Usagef("--after and --partition are for --store-kind without a store; leave them out, the store knows them")
	case p.partition < 0 || p.partition%time.Second != 0:
		return exit.Usagef("--partition is %v; give whole seconds, such as 24h, or leave it out", p.partition)
	}
	for _, box := range p.boxes {
		if err := boxName(box); err != nil {
			return err
		}
	}
	return checkSlots(p.slots, p.boxes)
}

// steps returns what is missing: after a version, or in a store.
func (p *printing) steps(ctx context.Context) ([]store.Step, error) {
	if p.offline() {
		said := new(config.Store).WithSlots(store.SlotRule(p.slots), p.boxes)
		all, err := component.Script(p.kind, p.partition, said.Slots(), p.boxes)
		if last := lastVersion(all); err == nil && p.after > last {
			return nil, exit.Usagef("--after is %d, and the last version is %d; give the version of the schema that is there", p.after, last)
		}
		return slices.DeleteFunc(all, func(s store.Step) bool { return s.Version > 0 && s.Version <= p.after }), err
	}
	where, err := p.where()
	if err != nil {
		return nil, err
	}
	where = where.WithSlots(store.SlotRule(p.slots), p.boxes)
	var steps []store.Step
	err = withStoreAt(ctx, where, false, func(s *component.Store) (err error) {
		steps, err = s.Schema().Missing(ctx, p.boxes, func(boxes []string) ([]store.Step, error) {
			return component.Script(s.Kind, where.Partition, where.Slots(), boxes)
		})
		return errors.Join(err, p.refuse(ctx, s, where.Slots()))
	})
	return steps, err
}

// refuse says which boxes are there by another rule for slots, which migrate up refuses. On a
// schema that lacks a step the rules may not be there to read.
func (p *printing) refuse(ctx context.Context, s *component.Store, said map[string]store.SlotRule) error {
	state, err := s.Schema().State(ctx)
	if err != nil || len(state.Missing) > 0 {
		return err
	}
	var errs []error
	for _, box := range p.boxes {
		has, err := s.Migrator.SlotRule(ctx, box)
		switch {
		case errors.Is(err, store.ErrNoBox):
		case err != nil:
			errs = append(errs, err)
		case said[box] != "" && said[box] != has:
			errs = append(errs, exit.Usagef("box %s has slots by %s, not by %s; %s", box, has, said[box], strings.TrimPrefix(store.ErrSlotRule.Error(), "store: ")))
		}
	}
	return errors.Join(errs...)
}

// lastVersion is that of the last step; boxes have none.
func lastVersion(steps []store.Step) (last int) {
	for _, s := range steps {
		last = max(last, s.Version)
	}
	return last
}

// printedStep is a step in JSON. A box has no version.
type printedStep struct {
	Version int    `json:"version"`
	Name    string `json:"name"`
	SQL     string `json:"sql"`
}

func printSteps(c *terminal.Terminal, format string, steps []store.Step) error {
	if c.JSON {
		out := make([]printedStep, 0, len(steps))
		for _, s := range steps {
			out = append(out, printedStep(s))
		}
		return c.Emit(out)
	}
	if len(steps) == 0 {
		c.Sayf("-- no step is missing")
		return nil
	}
	c.Sayf("%s", strings.TrimRight(sqlscript.Write(format, steps), "\n"))
	return nil
}
