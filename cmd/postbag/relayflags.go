package main

import (
	"net/netip"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/postbag/postbag/cmd/postbag/internal/component"
	"github.com/postbag/postbag/cmd/postbag/internal/config"
	"github.com/postbag/postbag/cmd/postbag/internal/console"
	"github.com/postbag/postbag/cmd/postbag/internal/exit"
)

// relayFlags are what may be said of a relay without a configuration file: one
// subscription and its destination.
type relayFlags struct {
	store        storeFlags
	file         config.File
	subscription config.Subscription
	destination  config.Destination
	allow        []string
	drain        bool
}

func newRelayCommand(c *console.Console) *cobra.Command {
	var f relayFlags
	cmd := &cobra.Command{
		Use:   "relay",
		Short: "Deliver messages until told to stop",
		Long: `Deliver messages until told to stop (SIGINT, SIGTERM, SIGQUIT), then hand over and end.

Everything may stand in a file (-c postbag.yaml, see docs/reference/configuration.md);
for a single subscription flags will do. The log goes to standard error.`,
		Example: `  postbag relay -c postbag.yaml
  postbag relay --store-env DATABASE_URL --to nats://127.0.0.1:4222
  postbag relay --store shop.db --create --to stdout:`,
		Args: none,
		RunE: func(cmd *cobra.Command, _ []string) error {
			file, err := f.configuration(cmd)
			if err != nil {
				return f.inFlags(err)
			}
			return f.inFlags(runRelay(cmd.Context(), c, file, f.drain))
		},
	}
	f.store.add(cmd)
	f.add(cmd)
	return cmd
}

func (f *relayFlags) add(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&f.destination.URL, "to", "", "destination `URL`: "+strings.Join(component.Schemes(), ", "))
	flags.StringVar(&f.destination.URLEnv, "to-env", "", "environment `variable` that holds the destination's URL")
	flags.StringVar(&f.destination.Stream, "stream", "", "nats: the `stream` that must store the messages")
	flags.StringSliceVar(&f.destination.SecretsEnv, "secret-env", nil, "webhook: environment `variable` that holds a signing secret")
	flags.StringSliceVar(&f.allow, "allow-private", nil, "webhook: private addresses that may be connected to, such as 10.0.0.0/8")
	flags.StringVar(&f.subscription.Box, "box", defaultBox, "`box` to read")
	flags.StringVar(&f.subscription.Name, "subscription", "default", "`name` of the subscription")
	flags.StringVar(&f.subscription.From, "from", "first", "where a new subscription begins: first, now or a `time`")
	flags.StringSliceVar(&f.subscription.Types, "types", nil, "`types` to deliver; all when left out")
	flags.StringVar(&f.subscription.Order, "order", "key", "which messages wait for each other: `key`, shard or none")
	flags.IntVar(&f.subscription.Concurrency, "concurrency", 0, "most calls at a time; 0: the default")
	flags.BoolVar(&f.file.Store.Create, "create", false, "make the schema and the box when they are missing")
	flags.StringVar(&f.file.Name, "name", "", "what people call this relay; host:pid when left out")
	flags.StringVar(&f.file.Log.Format, "log-format", "text", "text or json")
	flags.StringVar(&f.file.Log.Level, "log-level", "info", "debug, info, warn or error")
	flags.StringVar(&f.file.Admin.Listen, "admin", "", "listen at this `address` for health checks, metrics and wakes; a bare port means loopback")
	flags.BoolVar(&f.drain, "drain", false, "end when nothing is left that can be delivered now")
	_ = cmd.RegisterFlagCompletionFunc("order", words("key", "shard", "none")) // the flags are there
	_ = cmd.RegisterFlagCompletionFunc("log-format", words("text", "json"))
	_ = cmd.RegisterFlagCompletionFunc("log-level", words("debug", "info", "warn", "error"))
}

// settingFlags are the flags that say a setting.
var settingFlags = map[string]string{ //nolint:gosec // names of settings, no credential
	"subscriptions[0].box": "--box", "subscriptions[0].name": "--subscription", "subscriptions[0].from": "--from",
	"subscriptions[0].types": "--types", "subscriptions[0].order": "--order", "subscriptions[0].concurrency": "--concurrency",
	"destinations.main.url": "--to", "destinations.main.url_env": "--to-env", "destinations.main.stream": "--stream",
	"destinations.main": "--to", "destination main": "--to", "allow_private": "--allow-private", "secrets_env": "--secret-env",
	"log.format": "--log-format", "log.level": "--log-level", "admin.listen": "--admin", "create: true in the store (relay --create)": "--create",
	"store.dsn": "--store", "store.dsn_env": "--store-env", "store.dsn_file": "--store-file", "store.kind": "--store-kind",
}

// inFlags names flags in an error about a relay that flags describe.
func (f *relayFlags) inFlags(err error) error {
	if err == nil || f.store.config != "" {
		return err
	}
	return &told{err: err, text: config.InFlags(config.InSettings(err.Error()), settingFlags)}
}

// told is an error in other words.
type told struct {
	err  error
	text string
}

func (t *told) Error() string { return t.text }

func (t *told) Unwrap() error { return t.err }

// configuration makes one of the flags, or reads the file that they name.
func (f *relayFlags) configuration(cmd *cobra.Command) (*config.File, error) {
	if f.store.config != "" {
		return f.read(cmd)
	}
	where, err := f.store.where()
	if err != nil {
		return nil, err
	}
	if f.destination.URL == "" && f.destination.URLEnv == "" {
		return nil, exit.Usagef("--to is missing; name a destination, such as --to nats://127.0.0.1:4222, or use -c")
	}
	for _, text := range f.allow {
		prefix, err := netip.ParsePrefix(text)
		if err != nil {
			return nil, exit.Usagef("--allow-private is no range of addresses; write it as 10.0.0.0/8 or 127.0.0.1/32")
		}
		f.destination.AllowPrivate = append(f.destination.AllowPrivate, prefix)
	}
	where.Create = f.file.Store.Create
	file := f.file
	file.Store = where
	file.Destinations = map[string]config.Destination{"main": f.destination}
	file.Subscriptions = []config.Subscription{f.subscription}
	return &file, exit.With(exit.Usage, file.Check("the command line", component.Kinds()))
}

// read reads the file. Beside it, only flags that are about this one run are
// taken: what else they would say belongs into the file.
func (f *relayFlags) read(cmd *cobra.Command) (*config.File, error) {
	beside := []string{"config", "admin", "drain", "name", "log-format", "log-level", "json"}
	var wrong []string
	for _, flag := range changed(cmd) {
		if !slices.Contains(beside, flag) {
			wrong = append(wrong, "--"+flag)
		}
	}
	if len(wrong) > 0 {
		return nil, exit.Usagef("%s cannot go with -c; say it in the file", strings.Join(wrong, ", "))
	}
	file, err := config.Read(f.store.config, component.Kinds())
	if err != nil {
		return nil, exit.With(exit.Usage, err)
	}
	for _, flag := range changed(cmd) {
		switch flag {
		case "admin":
			file.Admin.Listen = f.file.Admin.Listen
		case "name":
			file.Name = f.file.Name
		case "log-format":
			file.Log.Format = f.file.Log.Format
		case "log-level":
			file.Log.Level = f.file.Log.Level
		}
	}
	return file, exit.With(exit.Usage, file.Check("the command line", component.Kinds()))
}
