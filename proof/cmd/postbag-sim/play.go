package main

import (
	"encoding/json"
	"fmt"

	"github.com/postbag/postbag/proof/simulation"
)

// playOne plays one seed.
func (c *command) playOne() int {
	var s simulation.Simulator
	o := c.options
	if c.trace && !c.shrink {
		o.Trace = c.out
	}
	r, err := s.Run(o)
	if err != nil {
		return c.usage(err)
	}
	found := finding{options: o, result: r}
	if c.shrink && r.Violation != nil {
		found.shrunk, err = simulation.Shrink(o)
		if err != nil {
			return c.usage(err)
		}
	}
	if c.json {
		c.print(found.report())
	} else {
		c.say(&found)
	}
	if r.Violation != nil {
		return exitViolated
	}
	return exitHeld
}

func (c *command) usage(err error) int {
	_, _ = fmt.Fprintln(c.out, err)
	return exitUsage
}

// finding is a seed and what came of it.
type finding struct {
	options simulation.Options
	result  simulation.Result
	shrunk  simulation.Shrunk
}

// report is a finding as JSON.
type report struct {
	Held      bool    `json:"held"` // by the seeds that were played
	Seed      uint64  `json:"seed"`
	Promise   string  `json:"promise,omitempty"`
	What      string  `json:"what,omitempty"`
	Options   string  `json:"options"`
	Drawn     string  `json:"drawn,omitempty"` // all options, of one seed
	Replay    string  `json:"replay"`          // the command, in the folder proof
	Trace     string  `json:"trace,omitempty"` // of what was cut down, with CutDown as its options
	CutDown   string  `json:"cut_down,omitempty"`
	Steps     int     `json:"steps"`
	Simulated string  `json:"simulated"`
	Hash      string  `json:"hash"`
	Seeds     uint64  `json:"seeds"`
	Seconds   float64 `json:"seconds"`
	Rate      float64 `json:"runs_per_second"`
	Ended     bool    `json:"ended_early,omitempty"` // by a signal: Seeds is not all
}

func (f *finding) report() report {
	r := report{
		Held: f.result.Violation == nil, Seed: f.options.Seed, Options: f.options.Arguments(),
		Replay: "go run ./cmd/postbag-sim " + f.options.Arguments() + " -trace", Steps: f.result.Steps,
		Simulated: f.result.Time.String(), Hash: fmt.Sprintf("%016x", f.result.Hash), Seeds: 1,
		Drawn: f.result.Drawn, Trace: string(f.shrunk.Trace), CutDown: f.shrunk.Result.Drawn,
	}
	if v := f.result.Violation; v != nil {
		r.Promise, r.What = v.Promise, v.What
	}
	return r
}

func (c *command) print(r report) {
	line, err := json.Marshal(r)
	if err != nil {
		panic(err) // a struct of strings and numbers
	}
	_, _ = fmt.Fprintf(c.out, "%s\n", line)
}

func (c *command) say(f *finding) {
	r := f.report()
	if len(r.Trace) > 0 {
		_, _ = fmt.Fprintf(c.out, "%scut down to: %s\n", r.Trace, r.CutDown)
	}
	if r.Held {
		_, _ = fmt.Fprintf(c.out, "seed %d: every promise held, %d steps, %s, hash %s\n", r.Seed, r.Steps, r.Simulated, r.Hash)
		return
	}
	_, _ = fmt.Fprintf(c.out, "seed %d: %v\n  drawn:  %s\n  steps:  %d, hash %s\n  replay: %s   (in the folder proof)\n", r.Seed, f.result.Violation, f.result.Drawn, r.Steps, r.Hash, r.Replay)
}
