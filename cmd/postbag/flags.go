package main

import (
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// changed returns the names of the flags that the command line sets.
func changed(cmd *cobra.Command) []string {
	var names []string
	cmd.Flags().Visit(func(f *pflag.Flag) { names = append(names, f.Name) })
	return names
}
