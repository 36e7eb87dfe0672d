package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/cmd/postbag/internal/component"
	"github.com/postbag/postbag/cmd/postbag/internal/config"
	"github.com/postbag/postbag/cmd/postbag/internal/exit"
)

// defaultBox is the box of commands that name none.
const defaultBox = "outbox"

// storeFlags say which store a command works on: a configuration file, or the
// place of a DSN.
type storeFlags struct {
	config string
	env    string
	file   string
	dsn    string
	kind   string
}

func (f *storeFlags) add(cmd *cobra.Command) {
	cmd.Flags().StringVarP(&f.config, "config", "c", "", "configuration `file`")
	cmd.Flags().StringVar(&f.env, "store-env", "", "environment `variable` that holds the store's DSN")
	cmd.Flags().StringVar(&f.file, "store-file", "", "`file` that holds the store's DSN")
	cmd.Flags().StringVar(&f.dsn, "store", "", "the store's `DSN` without a password, or the path of a sqlite file")
	cmd.Flags().StringVar(&f.kind, "store-kind", "", "`kind` of store, when the DSN does not tell: postgresql or sqlite")
	_ = cmd.RegisterFlagCompletionFunc("store-kind", words("postgresql", "sqlite")) // the flag is there
}

// where returns the store section that the flags, or the file they name,
// describe.
func (f *storeFlags) where() (config.Store, error) {
	given := 0
	for _, v := range []string{f.config, f.env, f.file, f.dsn} {
		if v != "" {
			given++
		}
	}
	if given != 1 {
		return config.Store{}, exit.Usagef("%d of -c, --store, --store-env and --store-file are given; give exactly one", given)
	}
	if f.config != "" {
		if f.kind != "" {
			return config.Store{}, exit.Usagef("--store-kind goes without -c; set store.kind in the file")
		}
		file, err := config.Read(f.config, component.Kinds())
		if err != nil {
			return config.Store{}, exit.With(exit.Usage, err)
		}
		return file.Store, nil
	}
	if config.HasPassword(f.dsn) {
		return config.Store{}, exit.Usagef(
			"--store holds a password, and arguments can be seen by everyone on the machine; use --store-env or --store-file")
	}
	return config.Store{Kind: f.kind, DSN: f.dsn, DSNEnv: f.env, DSNFile: f.file}, nil
}

// open opens the store that the flags describe. Only relay and migrate make one.
func (f *storeFlags) open(ctx context.Context) (*component.Store, error) {
	where, err := f.where()
	if err != nil {
		return nil, err
	}
	where.Create = false
	return component.OpenStore(ctx, where, component.StoreOptions{})
}

// words completes a flag from a fixed list.
func words(list ...string) cobra.CompletionFunc {
	return cobra.FixedCompletions(list, cobra.ShellCompDirectiveNoFileComp)
}

// boxName checks the name of a box.
func boxName(box string) error { return exit.With(exit.Usage, postbag.ValidBox(box)) }
