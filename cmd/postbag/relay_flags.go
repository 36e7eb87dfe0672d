package main

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/postbag/postbag/cmd/postbag/internal/component"
	"github.com/postbag/postbag/cmd/postbag/internal/config"
	"github.com/postbag/postbag/cmd/postbag/internal/exit"
	"github.com/postbag/postbag/cmd/postbag/internal/terminal"
)

// relayFlags are what may be said of a relay without a configuration file: one
// subscription and its destination.
type relayFlags struct {
	store        storeFlags
	file         config.File
	subscription config.Subscription
	to, toEnv    string
	shortcuts    map[string]*[]string // of settings of the destination, by flag
	settings     []string             // of the destination, as name=value
	drain        bool
}

func newRelayCommand(c *terminal.Terminal) *cobra.Command {
	var f relayFlags
	cmd := &cobra.Command{
		Use:   "relay",
		Short: "Deliver messages until told to stop",
		Long: `Deliver messages until told to stop (SIGINT, SIGTERM, SIGQUIT), then shut down gracefully.

All settings can be in a file (-c postbag.yaml, see docs/reference/configuration.md). For
a single subscription flags are enough. Sources in the file are run too: what they take in
goes to boxes, as with postbag consume. The log goes to standard error.`,
		Example: `  postbag relay -c postbag.yaml
  postbag relay --store-env DATABASE_URL --to nats://127.0.0.1:4222
  postbag relay --store shop.db --create --to stdout:`,
		Args: none,
		RunE: func(cmd *cobra.Command, _ []string) error {
			file, err := f.configuration(cmd)
			if err != nil {
				return f.inFlags(err)
			}
			if f.drain {
				file.Sources = nil // they never end by themselves
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
	flags.StringVar(&f.to, "to", "", "destination `URL`: "+strings.Join(component.Schemes(), ", "))
	flags.StringVar(&f.toEnv, "to-env", "", "environment `variable` that holds the destination's URL")
	flags.StringArrayVar(&f.settings, "to-set", nil, "a setting of the destination as `name=value`, such as prefix=events.; docs/reference/configuration.md has them")
	f.shortcuts = make(map[string]*[]string)
	for _, s := range []struct{ flag, usage string }{
		{"stream", "nats: the `stream` that must store the messages"},
		{"secret-env", "webhook: environment `variable` that holds a signing secret"},
		{"allow-private", "webhook: private addresses that may be connected to, such as 10.0.0.0/8"},
	} {
		f.shortcuts[s.flag] = flags.StringSlice(s.flag, nil, s.usage)
	}
	flags.StringVar(&f.subscription.Box, "box", defaultBox, "`box` to read")
	flags.StringVar(&f.subscription.Name, "subscription", "default", "`name` of the subscription")
	flags.StringVar(&f.subscription.From, "from", "first", "where a new subscription begins: first, now, a `time`, or how long ago (3d)")
	flags.StringSliceVar(&f.subscription.Types, "types", nil, "`types` to deliver; all when left out")
	flags.StringVar(&f.subscription.Order, "order", "key", "which messages wait for each other: `key`, shard or none")
	flags.IntVar(&f.subscription.Concurrency, "concurrency", 0, "most calls at a time; 0: the default")
	flags.BoolVar(&f.file.Store.Create, "create", false, "make the schema and the box when they are missing")
	flags.StringVar(&f.file.Name, "name", "", "what people call this relay; host:pid when left out")
	flags.StringVar(&f.file.Log.Format, "log-format", "text", "text or json")
	flags.StringVar(&f.file.Log.Level, "log-level", "info", "debug, info, warn or error")
	flags.StringVar(&f.file.Admin.Listen, "admin", "", "listen at this `address` for health checks, metrics and wakes; a bare port means loopback")
	flags.BoolVar(&f.drain, "drain", false, "end when nothing is left that can be delivered now; sources are not run")
	_ = cmd.RegisterFlagCompletionFunc("order", words("key", "shard", "none")) // the flags are there
	_ = cmd.RegisterFlagCompletionFunc("log-format", words("text", "json"))
	_ = cmd.RegisterFlagCompletionFunc("log-level", words("debug", "info", "warn", "error"))
}

// shortcutSettings are the settings of a destination that have a flag of their own.
var shortcutSettings = map[string]string{"stream": "stream", "secret-env": "secrets_env", "allow-private": "allow_private"}

// settingFlags are the flags that say a setting.
var settingFlags = map[string]string{ //nolint:gosec // names of settings, no credential
	"subscriptions[0].box": "--box", "subscriptions[0].name": "--subscription", "subscriptions[0].from": "--from",
	"subscriptions[0].types": "--types", "subscriptions[0].order": "--order", "subscriptions[0].concurrency": "--concurrency",
	"destinations.main.url": "--to", "destinations.main.url_env": "--to-env", "destinations.main.stream": "--stream",
	"destinations.main": "--to", "destination main": "--to", "allow_private": "--allow-private", "secrets_env": "--secret-env",
	"destinations.main.secrets_env": "--secret-env", "destinations.main.allow_private": "--allow-private",
	"log.format": "--log-format", "log.level": "--log-level", "admin.listen": "--admin", "create: true in the store (relay --create)": "--create",
	"store.dsn": "--store", "store.dsn_env": "--store-env", "store.dsn_file": "--store-file", "store.kind": "--store-kind",
}

// inFlags names flags in an error about a relay that flags describe.
func (f *relayFlags) inFlags(err error) error {
	if err == nil || f.store.config.given() {
		return err
	}
	text := component.Kinds().InSettings(err.Error())
	for _, kind := range component.Kinds().Destinations {
		text = strings.ReplaceAll(text, "destinations.main."+kind.Name, "destinations.main")
	}
	return &told{err: err, text: ownSetting.ReplaceAllString(config.InFlags(text, settingFlags), "--to-set $1")}
}

// ownSetting is a setting of the destination that has no flag of its own.
var ownSetting = regexp.MustCompile(`\bdestinations\.main\.([a-z_.]+)`)

// told is an error in other words.
type told struct {
	err  error
	text string
}

func (t *told) Error() string { return t.text }

func (t *told) Unwrap() error { return t.err }

// configuration makes one of the flags, or reads the file that they name.
func (f *relayFlags) configuration(cmd *cobra.Command) (*config.File, error) {
	if f.store.config.given() {
		return f.read(cmd)
	}
	where, err := f.store.where()
	if err != nil {
		return nil, err
	}
	to, err := f.destination()
	if err != nil {
		return nil, err
	}
	where.Create = f.file.Store.Create
	file := f.file
	file.Store = where
	file.Destinations = map[string]config.Destination{"main": to}
	file.Subscriptions = []config.Subscription{f.subscription}
	return &file, exit.With(exit.Usage, file.Check("the command line", component.Kinds()))
}

// destination makes one of the flags. Its kind is told by the URL.
func (f *relayFlags) destination() (config.Destination, error) {
	url, flag := f.to, "--to"
	switch {
	case f.to != "" && f.toEnv != "":
		return config.Destination{}, exit.Usagef("--to and --to-env are both given; keep one")
	case f.toEnv != "":
		var err error
		if url, err = config.FromEnv(f.toEnv); err != nil {
			return config.Destination{}, exit.Usagef("--to-env: %v", err)
		}
		flag = "the URL in --to-env"
	case f.to == "":
		return config.Destination{}, exit.Usagef("--to is missing; name a destination, such as --to nats://127.0.0.1:4222, or use -c")
	}
	d, mistake := component.Kinds().DestinationAt(url)
	if mistake != "" {
		return d, exit.Usagef("%s %s", flag, mistake)
	}
	return d, exit.With(exit.Usage, f.set(&d))
}

// set sets what the flags say of d.
func (f *relayFlags) set(d *config.Destination) error {
	type setting struct{ flag, name, value string }
	all := []setting{{"--to", "url", f.to}, {"--to-env", "url_env", f.toEnv}}
	if _, none := d.Settings.(*component.Stdout); none {
		if url := cmp.Or(f.to, "stdout:"); !strings.EqualFold(url, "stdout:") {
			return errors.New("--to: standard output has no place; write stdout: alone, and redirect the program's output")
		}
		all = nil
	}
	for _, flag := range slices.Sorted(maps.Keys(f.shortcuts)) {
		for _, value := range *f.shortcuts[flag] {
			all = append(all, setting{"--" + flag, shortcutSettings[flag], value})
		}
	}
	for _, text := range f.settings {
		name, value, ok := strings.Cut(text, "=")
		if !ok {
			return errors.New("--to-set is no setting; write it as name=value, such as max_pending=100")
		}
		all = append(all, setting{"--to-set " + config.Redact(name), name, value})
	}
	for _, s := range all {
		if s.value == "" && (s.name == "url" || s.name == "url_env") {
			continue
		}
		if err := d.Set(s.name, s.value); err != nil {
			return fmt.Errorf("%.60s %w", s.flag, err)
		}
	}
	return nil
}

// read reads the file. Beside it, only flags that are about this one run are
// taken: what else they would say belongs into the file.
func (f *relayFlags) read(cmd *cobra.Command) (*config.File, error) {
	beside := []string{"config", "profile", "admin", "drain", "name", "log-format", "log-level", "json"}
	var wrong []string
	for _, flag := range changed(cmd) {
		if !slices.Contains(beside, flag) {
			wrong = append(wrong, "--"+flag)
		}
	}
	if len(wrong) > 0 {
		return nil, exit.Usagef("%s cannot go with -c; say it in the file", strings.Join(wrong, ", "))
	}
	if err := f.store.config.check(); err != nil {
		return nil, err
	}
	file, err := f.store.config.read(false)
	if err != nil {
		return nil, err
	}
	if len(file.Subscriptions) == 0 && len(file.Sources) == 0 {
		return nil, exit.Usagef("%s has no subscription; name one", terminal.Printable(f.store.config.String()))
	}
	if len(file.Subscriptions) == 0 {
		return nil, exit.Usagef("%s has sources and no destination; name one, or run the sources alone with postbag consume", terminal.Printable(f.store.config.String()))
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
