package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"math"
	"runtime"
	"time"

	"github.com/postbag/postbag/proof/internal/flags"
	"github.com/postbag/postbag/proof/simulation"
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
	errs    io.Writer     // progress
	every   time.Duration // it is told
}

// parse reads the flags. It returns flag.ErrHelp when help was asked for and printed.
func parse(args []string, help io.Writer) (*command, error) {
	f := flag.NewFlagSet("postbag-sim", flag.ContinueOnError)
	seed := f.Uint64("seed", 0, "play this seed alone")
	c := &command{every: time.Minute}
	f.Uint64Var(&c.seeds, "seeds", 1000, "how many seeds to play")
	f.Uint64Var(&c.from, "from", 0, "the first of them")
	mode := f.String("mode", string(simulation.Swarm), "swarm, liveness or safety")
	kind := f.String("store", "", "snapshots, ranges or serial; empty: drawn")
	relays := f.Int("relays", 0, "one to four; zero: drawn")
	messages := f.Int("messages", 0, "how many messages; zero: drawn, about 200")
	faults := f.String("faults", "", `all, none, some with commas between, or all but some: "-kills,-pauses"; empty: all, of which swarm draws some`)
	countFirst := f.Bool("count-first", false, "the destination asks for attempts to be counted before calls")
	handlers := f.Bool("handlers", false, "the destination is a handler, in a transaction with a mark of the message")
	f.IntVar(&c.workers, "workers", runtime.NumCPU(), "seeds that are played at a time, each in one thread")
	f.BoolVar(&c.stop, "stop-at-first", false, "stop at the first seed that breaks a promise")
	f.BoolVar(&c.json, "json", false, "say what came of it as JSON, a line")
	f.BoolVar(&c.trace, "trace", false, "with -seed: say what happens")
	f.BoolVar(&c.shrink, "shrink", false, "with -seed: cut the run down, and say what happens in it")
	if err := flags.Parse(f, args, help); err != nil {
		return nil, err
	}
	given := map[string]bool{}
	f.Visit(func(g *flag.Flag) { given[g.Name] = true })
	c.one = given["seed"]
	o := simulation.DefaultOptions(*seed)
	o.Mode, o.Store, o.Relays, o.Messages = simulation.Mode(*mode), simulation.Store(*kind), *relays, *messages
	o.CountFirst, o.Handlers = *countFirst, *handlers
	var wrong []error
	if *faults != "" {
		var err error
		o.Faults, err = simulation.ParseFaults(*faults)
		o.Drawn = false
		wrong = append(wrong, err)
	}
	if c.one && (given["seeds"] || given["from"]) {
		wrong = append(wrong, errors.New("postbag-sim: -seed is one seed, -seeds and -from are many; give the one or the others"))
	}
	c.options = o
	return c, errors.Join(append(wrong, c.validate(), o.Validate())...)
}

// mostWorkers is far more than any machine has a use for.
const mostWorkers = 1024

// validate says what is wrong with what is not of the simulation.
func (c *command) validate() error {
	var wrong []error
	if (c.trace || c.shrink) && !c.one {
		wrong = append(wrong, errors.New("postbag-sim: -trace and -shrink want a -seed"))
	}
	if c.workers < 1 || c.workers > mostWorkers {
		wrong = append(wrong, fmt.Errorf("postbag-sim: %d workers; use one to %d", c.workers, mostWorkers))
	}
	if c.seeds == 0 {
		wrong = append(wrong, errors.New("postbag-sim: no seeds show nothing; use one or more"))
	} else if c.from > math.MaxUint64-(c.seeds-1) {
		wrong = append(wrong, fmt.Errorf("postbag-sim: there are no %d seeds from %d on; begin lower", c.seeds, c.from))
	}
	return errors.Join(wrong...)
}
