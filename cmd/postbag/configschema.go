package main

import (
	_ "embed"
	"io"

	"github.com/spf13/cobra"

	"github.com/postbag/postbag/cmd/postbag/internal/console"
)

// schema is the JSON Schema of a configuration file. It is made of the settings' types, tags
// and comments: go test -run Reference -update writes it anew.
//
//go:embed postbag.schema.json
var schema string

func newConfigSchemaCommand(c *console.Console) *cobra.Command {
	return &cobra.Command{
		Use:   "schema",
		Short: "Print the JSON Schema of a configuration file, for editors and other checkers",
		Long: `Print the JSON Schema (draft 2020-12) of a configuration file. An editor that knows it
completes settings and shows their texts. postbag config check finds more mistakes: those
of several settings together, and of the environment.`,
		Example: `  postbag config schema > postbag.schema.json`,
		Args:    none,
		RunE: func(*cobra.Command, []string) error {
			_, err := io.WriteString(c.Out, schema)
			return err
		},
	}
}
