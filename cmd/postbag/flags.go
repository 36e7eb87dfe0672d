package main

import (
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/postbag/postbag/cmd/postbag/internal/component"
	"github.com/postbag/postbag/cmd/postbag/internal/config"
	"github.com/postbag/postbag/cmd/postbag/internal/exit"
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
	cmd.Flags().StringArrayVarP(&f.paths, "config", "c", nil, "configuration `file`; of several, what a later one says takes the place of what an earlier one says")
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
