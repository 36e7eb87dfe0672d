package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/postbag/postbag/cmd/postbag/internal/component"
	"github.com/postbag/postbag/cmd/postbag/internal/console"
	"github.com/postbag/postbag/cmd/postbag/internal/exit"
)

func newMigrateCommand(c *console.Console) *cobra.Command {
	return group("migrate", "Make and update the schema",
		newMigrateUpCommand(c), newMigrateStatusCommand(c), newMigratePrintCommand(c))
}

func newMigrateUpCommand(c *console.Console) *cobra.Command {
	var f storeFlags
	var boxes []string
	cmd := &cobra.Command{
		Use:   "up",
		Short: "Bring the schema up to date, and make boxes",
		Long: `Bring the schema up to date, and make boxes. It can be run at any time, again and by
several at once. A sqlite file that is missing is made.`,
		Example: `  postbag migrate up --store-env DATABASE_URL --box outbox`,
		Args:    none,
		RunE: func(cmd *cobra.Command, _ []string) error {
			for _, box := range boxes {
				if err := boxName(box); err != nil {
					return err
				}
			}
			return withStore(cmd.Context(), f, true, func(s *component.Store) error {
				return migrateUp(cmd.Context(), c, s, boxes)
			})
		},
	}
	f.add(cmd)
	cmd.Flags().StringSliceVar(&boxes, "box", nil, "make this `box` too; may be repeated")
	return cmd
}

// withStore opens a store for migrations, and closes it.
func withStore(ctx context.Context, f storeFlags, create bool, fn func(*component.Store) error) (err error) {
	where, err := f.where()
	if err != nil {
		return err
	}
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

func migrateUp(ctx context.Context, c *console.Console, s *component.Store, boxes []string) error {
	steps, err := s.Migrate(ctx)
	if err != nil {
		return err
	}
	for _, box := range boxes {
		if err := s.CreateBox(ctx, box); err != nil {
			return err
		}
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

func newMigrateStatusCommand(c *console.Console) *cobra.Command {
	var f storeFlags
	cmd := &cobra.Command{
		Use:   "status",
		Short: "Say which steps are missing; exit code 5 if any is",
		Args:  none,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return withStore(cmd.Context(), f, false, func(s *component.Store) error {
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

func migrateStatus(ctx context.Context, c *console.Console, s *component.Store) error {
	version, steps, err := s.Pending(ctx)
	if err != nil {
		return err
	}
	state := schemaState{Version: version, Pending: []string{}}
	for _, step := range steps {
		state.Pending = append(state.Pending, step.Name)
	}
	if c.JSON {
		err = c.Emit(state)
	} else {
		c.Sayf("the schema has version %d; missing: %s", version, console.Count(len(steps), "step"))
		for _, name := range state.Pending {
			c.Sayf("  %s", name)
		}
	}
	if len(steps) > 0 {
		err = errors.Join(err, exit.With(exit.Schema, fmt.Errorf("the schema lacks %s; run postbag migrate up", console.Count(len(steps), "step"))))
	}
	return err
}
