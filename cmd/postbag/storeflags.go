package main

import (
	"context"
	"maps"
	"slices"
	"strings"

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
	config configFlags
	env    string
	file   string
	dsn    string
	kind   string
	name   string
}

func (f *storeFlags) add(cmd *cobra.Command) {
	f.config.add(cmd)
	cmd.Flags().StringVar(&f.env, "store-env", "", "environment `variable` that holds the store's DSN")
	cmd.Flags().StringVar(&f.file, "store-file", "", "`file` that holds the store's DSN")
	cmd.Flags().StringVar(&f.dsn, "store", "", "the store's `DSN` without a password, or the path of a sqlite file")
	cmd.Flags().StringVar(&f.name, "store-name", "", "which of the file's stores, if it has several: its `name`")
	cmd.Flags().StringVar(&f.kind, "store-kind", "", "`kind` of store, when the DSN does not tell: "+strings.Join(component.StoreKinds(), ", "))
	_ = cmd.RegisterFlagCompletionFunc("store-kind", words(component.StoreKinds()...)) // the flag is there
}

// where returns the store section that the flags, or the file they name,
// describe.
func (f *storeFlags) where() (config.Store, error) {
	if err := f.config.check(); err != nil {
		return config.Store{}, err
	}
	switch given := f.count(); {
	case given == 0:
		return config.Store{}, exit.Usagef("no store is given; pass -c FILE, --store DSN, --store-env NAME or --store-file FILE")
	case given > 1:
		return config.Store{}, exit.Usagef("%d of -c, --store, --store-env and --store-file are given; give exactly one", given)
	}
	if f.config.given() {
		if f.kind != "" {
			return config.Store{}, exit.Usagef("--store-kind goes without -c; set store.kind in the file")
		}
		file, err := f.config.read(false)
		if err != nil {
			return config.Store{}, err
		}
		return f.pick(file)
	}
	if f.name != "" {
		return config.Store{}, exit.Usagef("--store-name goes with -c; it is the name of one of the stores in the file")
	}
	if config.HasPassword(f.dsn) {
		return config.Store{}, exit.Usagef(
			"--store holds a password, and arguments can be seen by everyone on the machine; use --store-env or --store-file")
	}
	return config.Store{Kind: f.kind, DSN: f.dsn, DSNEnv: f.env, DSNFile: f.file}, nil
}

// count is how many of the flags that say where the store is are given.
func (f *storeFlags) count() (given int) {
	if f.config.given() {
		given++
	}
	for _, v := range []string{f.env, f.file, f.dsn} {
		if v != "" {
			given++
		}
	}
	return given
}

// pick returns the store that is meant.
func (f *storeFlags) pick(file *config.File) (config.Store, error) {
	all := file.AllStores()
	if f.name == "" && len(all) == 1 {
		for _, only := range all {
			return only, nil
		}
	}
	if s, known := all[f.name]; known && f.name != "" {
		return s, nil
	}
	if len(file.Stores) == 0 {
		return config.Store{}, exit.Usagef("--store-name names a store, but the file has only one, without a name; leave it out")
	}
	return config.Store{}, exit.Usagef("%s has several stores; name one with --store-name: %s", &f.config,
		strings.Join(slices.Sorted(maps.Keys(all)), ", "))
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
