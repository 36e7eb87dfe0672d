package main

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/postbag/postbag/cmd/postbag/internal/component"
	"github.com/postbag/postbag/cmd/postbag/internal/config"
	"github.com/postbag/postbag/cmd/postbag/internal/exit"
	"github.com/postbag/postbag/cmd/postbag/internal/plan"
	"github.com/postbag/postbag/cmd/postbag/internal/terminal"
	"github.com/postbag/postbag/store"
)

func newExportCommand(c *terminal.Terminal) *cobra.Command {
	var f storeFlags
	cmd := &cobra.Command{
		Use:   "export",
		Short: "Write a configuration file of what a store holds",
		Long: `Write a configuration file of what a store holds: boxes, subscriptions, filters, shards, and how long
messages stay. postbag config check accepts it, and postbag plan finds no difference. The store does not
have destinations: each is an address that exists nowhere, under the name that a live relay has for it.
Correct them. Until then a relay with this file delivers nothing, and loses nothing.

What relays alone know is not in the file: retries, rates, headers, formats and the like.`,
		Example: `  postbag export --store-env DATABASE_URL > postbag.yaml`,
		Args:    none,
		RunE: func(cmd *cobra.Command, _ []string) error {
			where, err := f.where()
			if err != nil {
				return err
			}
			return export(cmd.Context(), c, where)
		},
	}
	f.add(cmd)
	return cmd
}

// export writes what is in the store of a place.
func export(ctx context.Context, c *terminal.Terminal, where config.Store) (err error) {
	where.Create = false
	s, err := component.OpenStore(ctx, where, component.StoreOptions{})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	o, err := s.Overview(ctx)
	if err != nil {
		return err
	}
	rules := make(map[string]store.SlotRule)
	for i := range o.Boxes {
		if b := &o.Boxes[i]; !b.Missing {
			if rules[b.Name], err = s.Migrator.SlotRule(ctx, b.Name); err != nil {
				return err
			}
		}
	}
	e := plan.Export(&o, rules, &where)
	if len(e.Boxes)+len(e.Subscriptions) == 0 {
		return exit.With(exit.NotFound, errors.New("the store has no box, so there is nothing to export; make one with postbag migrate up --box"))
	}
	if c.JSON {
		for _, note := range e.Notes {
			c.Notef("%s", terminal.Printable(note))
		}
		return c.Emit(e.Document())
	}
	text := e.YAML([]string{
		fmt.Sprintf("Written by postbag export: what a store of %s holds.", s.Kind),
		"Correct the destinations: these addresses exist nowhere, and nothing is delivered to them.",
	})
	if size := len(text); size > config.MaxSize {
		c.Notef("the file has %d bytes, and -c reads %d at most; make several files of it", size, config.MaxSize)
	}
	_, err = io.WriteString(c.Out, text)
	return err
}
