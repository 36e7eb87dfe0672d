// Postbag-mutation makes small changes all over the engine core and the code of
// positions, one at a time, and says which of them the tests and the simulator do
// not notice: see proof/mutation.
//
//	postbag-mutation                    all changes
//	postbag-mutation -every 10          one in ten
//	postbag-mutation -only snapshots    of the packages whose name has this in it
//
// Its exit code is 1 if less than the least share is noticed, and 2 if it was called
// wrongly.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path"
	"strings"
	"time"

	"github.com/postbag/postbag/proof/internal/flags"
	"github.com/postbag/postbag/proof/mutation"
)

func main() {
	os.Exit(flags.Run(func(ctx context.Context, args []string, out io.Writer) (func(context.Context) int, error) {
		c, err := parse(ctx, args, out)
		return c.run, err
	}))
}

// command is what was asked for.
type command struct {
	bench   mutation.Bench
	targets []mutation.Target
	least   float64
}

// parse reads the flags. It returns flag.ErrHelp when help was asked for and printed.
func parse(ctx context.Context, args []string, out io.Writer) (*command, error) {
	c := &command{bench: mutation.Bench{Say: func(format string, about ...any) { _, _ = fmt.Fprintf(out, format, about...) }}}
	f := flag.NewFlagSet("postbag-mutation", flag.ContinueOnError)
	f.IntVar(&c.bench.Every, "every", 1, "try one change in so many")
	only := f.String("only", "", "packages whose path has this in it; empty: all")
	f.IntVar(&c.bench.Parallel, "parallel", 2, "how many are tried at a time")
	f.DurationVar(&c.bench.Patience, "patience", 10*time.Second, "how much of the processor the tests may take with a change, in whole seconds")
	f.Float64Var(&c.least, "least", 75, "the least share that must be noticed, in percent")
	if err := flags.Parse(f, args, out); err != nil {
		return nil, err
	}
	var all []string
	for _, t := range mutation.Targets() {
		name := path.Join(t.Module, t.Package)
		if all = append(all, name); strings.Contains(name, *only) {
			c.targets = append(c.targets, t)
		}
	}
	var wrong []error
	if len(c.targets) == 0 {
		wrong = append(wrong, fmt.Errorf("postbag-mutation: no package has %q in its path; there are %s", *only, strings.Join(all, ", ")))
	}
	if c.bench.Every < 1 || c.bench.Parallel < 1 {
		wrong = append(wrong, fmt.Errorf("postbag-mutation: one change in %d, %d at a time; use one or more for each", c.bench.Every, c.bench.Parallel))
	}
	if c.bench.Patience < time.Second {
		wrong = append(wrong, fmt.Errorf("postbag-mutation: a patience of %v; use a second or more", c.bench.Patience))
	}
	if !(c.least >= 0 && c.least <= 100) { // nor what is no number
		wrong = append(wrong, fmt.Errorf("postbag-mutation: a least share of %v percent; use 0 to 100", c.least))
	}
	var err error
	c.bench.Top, err = flags.Top(ctx)
	return c, errors.Join(append(wrong, err)...)
}

// run tries the changes, and returns the exit code.
func (c *command) run(ctx context.Context) (code int) {
	for i := range c.targets {
		began := time.Now()
		s, err := c.bench.Try(ctx, &c.targets[i])
		if err != nil {
			c.bench.Say("FAILED: %v\n", err)
			code = 1
			continue
		}
		share := 100 * float64(s.Changes-len(s.Survivors)) / float64(max(s.Changes, 1))
		c.bench.Say("%s: %d changes, %d not noticed, %.1f %% noticed, %.0f s\n", s.Target, s.Changes, len(s.Survivors), share, time.Since(began).Seconds())
		if share < c.least {
			code = 1
		}
	}
	return code
}
