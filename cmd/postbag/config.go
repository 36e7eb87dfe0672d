package main

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/postbag/postbag/cmd/postbag/internal/component"
	"github.com/postbag/postbag/cmd/postbag/internal/config"
	"github.com/postbag/postbag/cmd/postbag/internal/exit"
	"github.com/postbag/postbag/cmd/postbag/internal/terminal"
)

func newConfigCommand(c *terminal.Terminal) *cobra.Command {
	return group("config", "Look after configuration files", newConfigCheckCommand(c), newConfigSchemaCommand(c))
}

func newConfigCheckCommand(c *terminal.Terminal) *cobra.Command {
	var source configFlags
	var formOnly bool
	cmd := &cobra.Command{
		Use:   "check",
		Short: "Find every mistake in a configuration file; exit code 2 if there is one",
		Long: `Find every mistake in a configuration file, and name it with its line. It connects to
nothing. It also looks at the environment variables and files that the file names. If they
are on another machine, use --form-only.`,
		Example: `  postbag config check -c postbag.yaml`,
		Args:    none,
		RunE: func(cmd *cobra.Command, _ []string) error {
			err := source.check()
			if !source.given() {
				err = errors.New("-c is missing; name a configuration file")
			}
			if err != nil {
				return exit.With(exit.Usage, showMistakes(c, newChecked(&source, err), err))
			}
			return checkConfig(cmd.Context(), c, &source, formOnly)
		},
	}
	source.add(cmd)
	cmd.Flags().BoolVar(&formOnly, "form-only", false, "do not look at environment variables and other files")
	return cmd
}

// checked says what a configuration that is right would do, or what is wrong.
type checked struct {
	Path          string              `json:"path"`
	Right         bool                `json:"right"`
	Subscriptions []checkedDelivering `json:"subscriptions"`
	Sources       []checkedTaking     `json:"sources,omitempty"`
	Mistakes      []mistake           `json:"mistakes"`
}

// mistake is one that was found. Line is zero where it is in no line.
type mistake struct {
	Line int    `json:"line,omitempty"`
	Text string `json:"text"`
}

type checkedDelivering struct {
	Store        string `json:"store,omitempty"`
	Box          string `json:"box"`
	Subscription string `json:"subscription"`
	To           string `json:"to"`
}

type checkedTaking struct {
	Source string `json:"source"`
	From   string `json:"from"`
	Store  string `json:"store,omitempty"`
	Box    string `json:"box"`
}

// newChecked says of a configuration that it is right, or that it is not, and nothing else yet.
func newChecked(source *configFlags, err error) *checked {
	return &checked{Path: source.String(), Right: err == nil, Subscriptions: []checkedDelivering{}, Mistakes: []mistake{}}
}

func checkConfig(ctx context.Context, c *terminal.Terminal, source *configFlags, formOnly bool) error {
	file, err := source.read(formOnly)
	if err == nil && !formOnly {
		checkOutside(ctx, file)
		err = file.Err()
	}
	out := newChecked(source, err)
	if err != nil {
		return exit.With(exit.Usage, showMistakes(c, out, err))
	}
	for _, s := range file.Subscriptions {
		out.Subscriptions = append(out.Subscriptions, checkedDelivering{s.Store, s.Box, s.Name, s.To})
	}
	for _, s := range file.Sources {
		out.Sources = append(out.Sources, checkedTaking{s.Name, s.From.Kind, s.Store, s.Box})
	}
	if c.JSON {
		return c.Emit(out)
	}
	c.Sayf("%s is right", terminal.Printable(source.String()))
	for _, s := range out.Subscriptions {
		c.Sayf("  %s%s/%s goes to %s", storePrefix(s.Store), s.Box, s.Subscription, s.To)
	}
	for _, s := range out.Sources {
		c.Sayf("  source %s (%s) goes into %s%s", s.Source, s.From, storePrefix(s.Store), s.Box)
	}
	return nil
}

// storePrefix names a store before what is in it.
func storePrefix(store string) string {
	if store == "" {
		return ""
	}
	return store + ": "
}

// showMistakes writes the mistakes for programs, and returns them for people.
func showMistakes(c *terminal.Terminal, out *checked, err error) error {
	if !c.JSON {
		return err
	}
	for _, m := range config.Mistakes(err) {
		out.Mistakes = append(out.Mistakes, mistake{Line: m.Line, Text: config.Redact(component.Kinds().InSettings(m.Text))})
	}
	return errors.Join(err, c.Emit(out))
}

// checkOutside notes what is wrong in the environment and in files.
func checkOutside(ctx context.Context, file *config.File) {
	for name, s := range file.AllStores() {
		where := "store"
		if name != "" {
			where = "stores." + name
		}
		if dsn, err := component.DSN(s); err != nil {
			file.Mistakef(where, "cannot work: %v", err)
		} else if _, mistake := component.Kinds().StoreKind(s.Kind, dsn); mistake != "" {
			file.Mistakef(where, "cannot work: the DSN %s", mistake)
		}
	}
	for name, d := range file.Destinations {
		if err := component.CheckDestination(ctx, d); err != nil {
			file.Mistakef("destinations."+name+"."+d.Kind, "cannot work: %v", err)
		}
	}
	for i, s := range file.Sources {
		if err := component.CheckSource(ctx, s); err != nil {
			file.Mistakef(fmt.Sprintf("sources[%d].from.%s", i, s.From.Kind), "cannot work: %v", err)
		}
	}
}

// schema is the JSON Schema of a configuration file. It is made of the settings' types, tags
// and comments: go test -run Reference -update writes it again.
//
//go:embed postbag.schema.json
var schema string

func newConfigSchemaCommand(c *terminal.Terminal) *cobra.Command {
	return &cobra.Command{
		Use:   "schema",
		Short: "Print the JSON Schema of a configuration file, for editors and other checkers",
		Long: `Print the JSON Schema (draft 2020-12) of a configuration file. With it an editor
completes settings and shows what they mean. postbag config check finds more mistakes:
settings that do not fit together, and what is wrong in the environment.`,
		Example: `  postbag config schema > postbag.schema.json`,
		Args:    none,
		RunE: func(*cobra.Command, []string) error {
			_, err := io.WriteString(c.Out, schema)
			return err
		},
	}
}
