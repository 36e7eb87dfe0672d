package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"math"
	"runtime"

	"github.com/postbag/postbag/proof/faketime"
	"github.com/postbag/postbag/proof/internal/flags"
)

// command is what was asked for.
type command struct {
	kinds   []faketime.Kind
	from    uint64
	seeds   uint64
	times   uint64 // each seed
	workers int
	stop    bool
	out     io.Writer
}

// mostWorkers is far more than any machine has a use for.
const mostWorkers = 1024

// parse reads the flags. It returns flag.ErrHelp when help was asked for and printed.
func parse(args []string, help io.Writer) (*command, error) {
	f := flag.NewFlagSet("postbag-faketime", flag.ContinueOnError)
	c := &command{}
	seed := f.Uint64("seed", 0, "play this seed alone")
	f.Uint64Var(&c.seeds, "seeds", 1000, "how many seeds to play")
	f.Uint64Var(&c.from, "from", 0, "the first of them")
	f.Uint64Var(&c.times, "times", 1, "how often each is played: goroutines interleave in another way each time")
	kind := f.String("kind", "", "faults or restarts; empty: both")
	f.IntVar(&c.workers, "workers", runtime.NumCPU(), "runs at a time")
	f.BoolVar(&c.stop, "stop-at-first", false, "stop at the first run that breaks a promise")
	if err := flags.Parse(f, args, help); err != nil {
		return nil, err
	}
	given := map[string]bool{}
	f.Visit(func(g *flag.Flag) { given[g.Name] = true })
	var wrong []error
	if given["seed"] {
		if given["seeds"] || given["from"] {
			wrong = append(wrong, errors.New("postbag-faketime: -seed is one seed, -seeds and -from are many; give the one or the others"))
		}
		c.from, c.seeds = *seed, 1
	}
	c.kinds = faketime.Kinds()
	if *kind != "" {
		c.kinds = []faketime.Kind{faketime.Kind(*kind)}
	}
	for _, k := range c.kinds {
		o := faketime.Options{Kind: k}
		wrong = append(wrong, o.Validate())
	}
	return c, errors.Join(append(wrong, c.validate())...)
}

// validate says what is wrong with the numbers.
func (c *command) validate() error {
	var wrong []error
	if c.workers < 1 || c.workers > mostWorkers {
		wrong = append(wrong, fmt.Errorf("postbag-faketime: %d workers; use one to %d", c.workers, mostWorkers))
	}
	if c.seeds == 0 || c.times == 0 {
		wrong = append(wrong, errors.New("postbag-faketime: no runs show nothing; use one seed or more, and one time or more"))
	} else if c.from > math.MaxUint64-(c.seeds-1) {
		wrong = append(wrong, fmt.Errorf("postbag-faketime: there are no %d seeds from %d on; begin lower", c.seeds, c.from))
	}
	return errors.Join(wrong...)
}
