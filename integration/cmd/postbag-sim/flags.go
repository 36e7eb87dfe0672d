package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"runtime"

	"github.com/postbag/postbag/internal/simulation"
)

// command is what was asked for.
type command struct {
	options simulation.Options
	one     bool // -seed
	from    uint64
	seeds   uint64
	workers int
	stop    bool
	json    bool
	trace   bool
	shrink  bool
	out     io.Writer
}

// parse reads the flags. It returns nil without an error when the flag package has
// said what is wrong.
func parse(args []string, errs io.Writer) (*command, error) {
	f := flag.NewFlagSet("postbag-sim", flag.ContinueOnError)
	f.SetOutput(errs)
	seed := f.Uint64("seed", 0, "play this seed alone")
	c := &command{}
	f.Uint64Var(&c.seeds, "seeds", 1000, "how many seeds to play")
	f.Uint64Var(&c.from, "from", 0, "the first of them")
	mode := f.String("mode", string(simulation.Swarm), "swarm, liveness or safety")
	kind := f.String("store", "", "snapshots, ranges or serial; empty: drawn")
	relays := f.Int("relays", 0, "one to four; zero: drawn")
	messages := f.Int("messages", 0, "how many messages; zero: drawn, about 200")
	faults := f.String("faults", "", `all, none, some with commas between, or all but some: "-kills,-pauses"; empty: all, of which swarm draws some`)
	f.IntVar(&c.workers, "workers", runtime.NumCPU(), "seeds that are played at a time, each in one thread")
	f.BoolVar(&c.stop, "stop-at-first", false, "stop at the first seed that breaks a promise")
	f.BoolVar(&c.json, "json", false, "say what came of it as JSON, a line")
	f.BoolVar(&c.trace, "trace", false, "with -seed: say what happens")
	f.BoolVar(&c.shrink, "shrink", false, "with -seed: cut the run down, and say what happens in it")
	if err := f.Parse(args); err != nil {
		return nil, nil //nolint:nilerr,nilnil // the flag package has said it
	}
	f.Visit(func(g *flag.Flag) { c.one = c.one || g.Name == "seed" })
	o := simulation.DefaultOptions(*seed)
	o.Mode, o.Store, o.Relays, o.Messages = simulation.Mode(*mode), simulation.Store(*kind), *relays, *messages
	var wrong []error
	if *faults != "" {
		var err error
		o.Faults, err = simulation.ParseFaults(*faults)
		o.Drawn = false
		wrong = append(wrong, err)
	}
	if f.NArg() > 0 {
		wrong = append(wrong, fmt.Errorf("postbag-sim: %q is no flag; see -help", f.Arg(0)))
	}
	if (c.trace || c.shrink) && !c.one {
		wrong = append(wrong, errors.New("postbag-sim: -trace and -shrink want a -seed"))
	}
	if c.workers < 1 {
		wrong = append(wrong, fmt.Errorf("postbag-sim: %d workers; use one or more", c.workers))
	}
	c.options = o
	return c, errors.Join(append(wrong, o.Validate())...)
}
