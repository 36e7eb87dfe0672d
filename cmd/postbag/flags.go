package main

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"os"
	"os/user"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/cmd/postbag/internal/component"
	"github.com/postbag/postbag/cmd/postbag/internal/config"
	"github.com/postbag/postbag/cmd/postbag/internal/duration"
	"github.com/postbag/postbag/cmd/postbag/internal/exit"
	"github.com/postbag/postbag/internal/operations"
	"github.com/postbag/postbag/store"
)

// profileVariable names the profile where --profile does not.
const profileVariable = "POSTBAG_PROFILE"

// changed returns the names of the flags that the command line sets.
func changed(cmd *cobra.Command) []string {
	var names []string
	cmd.Flags().Visit(func(f *pflag.Flag) { names = append(names, f.Name) })
	return names
}

// configFlags say which configuration a command reads.
type configFlags struct {
	paths   []string
	profile string
}

func (f *configFlags) add(cmd *cobra.Command) {
	cmd.Flags().StringArrayVarP(&f.paths, "config", "c", nil, "configuration `file`; may be repeated: a later file replaces settings of an earlier one")
	cmd.Flags().StringVar(&f.profile, "profile", "", "`name` of one of the profiles in the configuration; "+profileVariable+" when left out")
}

// given says whether there is a file.
func (f *configFlags) given() bool { return len(f.paths) > 0 }

// String names the files.
func (f *configFlags) String() string { return strings.Join(f.paths, ", ") }

// check refuses a profile of no file, and a file without a name.
func (f *configFlags) check() error {
	if f.profile != "" && !f.given() {
		return exit.Usagef("--profile goes with -c; it is the name of one of the profiles in the file")
	}
	if slices.Contains(f.paths, "") {
		return exit.Usagef("-c is empty; name a file")
	}
	return nil
}

// read reads the configuration. One that is for elsewhere may name variables that are not set here.
func (f *configFlags) read(elsewhere bool) (*config.File, error) {
	source := config.Source{Paths: f.paths, Profile: f.profile, Elsewhere: elsewhere}
	if source.Profile == "" {
		source.Profile = os.Getenv(profileVariable)
	}
	file, err := source.Read(component.Kinds())
	return file, exit.With(exit.Usage, err)
}

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
	server serverFlags
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
		if os.Getenv(serverVariable) != "" {
			return config.Store{}, exit.Usagef("no store is given, and a console (%s) has nothing like this command; pass -c FILE, --store DSN, --store-env NAME or --store-file FILE", serverVariable)
		}
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

// boxName checks the name of a box, which --box gives.
func boxName(box string) error {
	if err := postbag.ValidBox(box); err != nil {
		return exit.Usagef("--box: %s", strings.TrimPrefix(err.Error(), "postbag: "))
	}
	return nil
}

// refFlags name a subscription of a box.
type refFlags struct{ box, subscription string }

func (f *refFlags) add(cmd *cobra.Command, subscription string) {
	usage := "`name` of the subscription"
	if subscription == "" {
		usage += "; all when left out"
	}
	cmd.Flags().StringVar(&f.box, "box", defaultBox, "`name` of the box")
	cmd.Flags().StringVar(&f.subscription, "subscription", subscription, usage)
}

// ref checks the names. An empty subscription stands for all.
func (f *refFlags) ref() (store.Ref, error) {
	if err := boxName(f.box); err != nil {
		return store.Ref{}, err
	}
	if f.subscription != "" {
		if err := postbag.ValidSubscription(f.subscription); err != nil {
			return store.Ref{}, exit.With(exit.Usage, err)
		}
	}
	return store.Ref{Box: f.box, Subscription: f.subscription}, nil
}

// one returns the subscription that a command is about, and who gives it.
func (f *refFlags) one(a *auditFlags) (store.Ref, store.Audit, error) {
	if f.subscription == "" {
		return store.Ref{}, store.Audit{}, exit.Usagef("--subscription is empty; a command is about one subscription, name it")
	}
	ref, err := f.ref()
	if err != nil {
		return ref, store.Audit{}, err
	}
	audit, err := a.audit()
	return ref, audit, err
}

// operate opens the store for what do does.
func (f *storeFlags) operate(ctx context.Context, do func(operations.Store) error) (err error) {
	s, err := f.open(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	return do(s.Operations())
}

// auditFlags say who gives a command and why.
type auditFlags struct{ who, why string }

func (f *auditFlags) add(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.who, "who", "", "`who` does this; the user of the system when left out")
	cmd.Flags().StringVar(&f.why, "why", "", "`why`, for the audit log; required")
}

func (f *auditFlags) audit() (store.Audit, error) {
	a := store.Audit{Who: strings.TrimSpace(f.who), Why: strings.TrimSpace(f.why)}
	if a.Who == "" {
		a.Who = systemUser()
	}
	switch err := operations.ValidAudit(a); {
	case errors.Is(err, operations.ErrNoReason):
		return a, exit.Usagef("--why is missing; say why, for the audit log")
	case err != nil:
		return a, exit.Usagef("--who or --why is no text of at most %d bytes; shorten it", operations.MaxAuditText)
	}
	return a, nil
}

// systemUser is user@host, as far as the system knows them.
func systemUser() string {
	name := os.Getenv("USER")
	if u, err := user.Current(); err == nil {
		name = u.Username
	}
	host, _ := os.Hostname() // empty if unknown
	return cmp.Or(name, "unknown") + "@" + cmp.Or(host, "unknown")
}

// editFlags are those of commands that change what a box holds.
type editFlags struct {
	store storeFlags
	audit auditFlags
	box   string
}

func (f *editFlags) add(cmd *cobra.Command) {
	f.store.add(cmd)
	f.audit.add(cmd)
	cmd.Flags().StringVar(&f.box, "box", defaultBox, "`name` of the box")
}

// edit opens the store, and has do change it.
func (f *editFlags) edit(ctx context.Context, do func(operations.Store, store.Audit) error) error {
	if err := boxName(f.box); err != nil {
		return err
	}
	audit, err := f.audit.audit()
	if err != nil {
		return err
	}
	return f.store.operate(ctx, func(s operations.Store) error { return do(s, audit) })
}

// moment reads a time: RFC 3339, a date, or a span such as 90s, 2h, 7d or P7D from
// now, in the direction of sign.
func moment(flag, text string, now time.Time, sign int) (time.Time, error) {
	for _, form := range []string{time.RFC3339, time.DateOnly} {
		if t, err := time.Parse(form, text); err == nil {
			return t, nil
		}
	}
	span, err := duration.Parse(text)
	if err != nil || span < 0 {
		return time.Time{}, exit.Usagef("--%s is no time; write 2026-01-31T12:00:00Z, 2026-01-31, or a span such as 90s, 2h, 7d or P7D", flag)
	}
	return now.Add(time.Duration(sign) * span), nil
}
