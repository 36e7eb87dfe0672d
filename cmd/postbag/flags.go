package main

import (
	"errors"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// changed returns the names of the flags that the command line sets.
func changed(cmd *cobra.Command) []string {
	var names []string
	cmd.Flags().Visit(func(f *pflag.Flag) { names = append(names, f.Name) })
	return names
}

// configFlag adds -c.
func configFlag(cmd *cobra.Command, path *string) {
	cmd.Flags().VarP((*onceFlag)(path), "config", "c", "configuration `file`")
}

// onceFlag is a text that may be given once: of two files the first would be
// ignored without a word.
type onceFlag string

// Set takes the text.
func (f *onceFlag) Set(text string) error {
	switch {
	case text == "":
		return errors.New("it is empty; name a file")
	case *f != "":
		return errors.New("it is given twice; keep one file, with everything in it")
	}
	*f = onceFlag(text)
	return nil
}

// String returns the text.
func (f *onceFlag) String() string { return string(*f) }

// Type names the kind of value.
func (*onceFlag) Type() string { return "string" }
