package flags

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"strings"
)

// Parse reads args, which are flags and nothing else. If help is asked for it prints what there is to help, and returns
// flag.ErrHelp. Any other error names what is wrong and what to write.
func Parse(f *flag.FlagSet, args []string, help io.Writer) error {
	err := ParseFiles(f, args, help)
	if err == nil && f.NArg() > 0 {
		return fmt.Errorf("%s: %q is no flag; leave it out, or see %s -h", f.Name(), f.Arg(0), f.Name())
	}
	return err
}

// ParseFiles is Parse where names of files follow the flags: f.Args().
func ParseFiles(f *flag.FlagSet, args []string, help io.Writer) error {
	f.SetOutput(io.Discard) // it would print every flag there is behind the error
	err := f.Parse(args)
	if errors.Is(err, flag.ErrHelp) {
		f.SetOutput(help)
		f.Usage()
		return flag.ErrHelp
	}
	if err != nil {
		return fmt.Errorf("%s: %w; %s", f.Name(), err, fix(f, err))
	}
	return nil
}

// fix says what the flag takes that an error is about.
func fix(f *flag.FlagSet, err error) string {
	say := "see " + f.Name() + " -h"
	f.VisitAll(func(g *flag.Flag) {
		if strings.Contains(err.Error(), "for flag -"+g.Name+":") {
			kind, usage := flag.UnquoteUsage(g)
			if words, known := kinds[kind]; known {
				kind = words
			}
			say = fmt.Sprintf("write -%s %s (%s)", g.Name, kind, usage)
		}
	})
	return say
}

// kinds are what people call the types of flags.
var kinds = map[string]string{
	"uint":     "and a whole number, not below zero",
	"int":      "and a whole number",
	"float":    "and a number",
	"duration": "and a time like 90s or 10m",
}

// Top is the top of the checkout that the command was called in.
func Top(ctx context.Context) (string, error) {
	top, err := exec.CommandContext(ctx, "git", "rev-parse", "--show-toplevel").Output()
	if said, is := errors.AsType[*exec.ExitError](err); is {
		err = errors.New(strings.TrimSpace(string(said.Stderr)))
	}
	if err != nil {
		return "", fmt.Errorf("the top of the checkout is not found: %w; call this within a checkout", err)
	}
	return strings.TrimSpace(string(top)), nil
}

// Run has parse read the arguments of this program, and runs what it returns, until that ends or the user interrupts it. It
// returns the exit code: what run says, 0 if help was asked for, 2 if the call was wrong.
func Run(parse func(ctx context.Context, args []string, out io.Writer) (run func(context.Context) int, err error)) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	run, err := parse(ctx, os.Args[1:], os.Stdout)
	switch {
	case err == nil:
		return run(ctx)
	case errors.Is(err, flag.ErrHelp):
		return 0
	}
	_, _ = fmt.Fprintln(os.Stderr, err)
	return 2
}
