package main

import (
	"encoding/json"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

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
	Held      bool    `json:"held"`
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

// series is seeds that are played over the cores.
type series struct {
	c                   *command
	next, played, steps atomic.Uint64
	stop                atomic.Bool

	mu     sync.Mutex
	first  *finding
	broken int
}

// playAll plays seeds over the cores.
func (c *command) playAll() int {
	s := &series{c: c}
	began := time.Now()
	var wg sync.WaitGroup
	for range c.workers {
		wg.Go(s.work)
	}
	wg.Wait()
	return c.sum(s, time.Since(began))
}

// work plays seeds until there are none left.
func (s *series) work() {
	var sim simulation.Simulator
	for !s.stop.Load() {
		n := s.next.Add(1) - 1
		if n >= s.c.seeds {
			return
		}
		o := s.c.options
		o.Seed = s.c.from + n
		r, err := sim.Run(o)
		if err != nil {
			panic(err) // the options were validated
		}
		s.played.Add(1)
		s.steps.Add(uint64(r.Steps))
		if r.Violation != nil {
			s.found(&finding{options: o, result: r})
		}
	}
}

// found takes a seed that breaks a promise.
func (s *series) found(f *finding) {
	s.stop.Store(s.c.stop)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.broken++; s.first == nil || f.options.Seed < s.first.options.Seed {
		s.first = f
	}
	if !s.c.json && s.broken <= 20 {
		s.c.say(f)
	}
}

// sum says what came of all seeds.
func (c *command) sum(s *series, took time.Duration) int {
	played, seconds := s.played.Load(), took.Seconds()
	rate := float64(played) / max(seconds, 1e-9)
	code := exitHeld
	r := report{Held: true, Options: c.options.Arguments()}
	if s.first != nil {
		r, code = s.first.report(), exitViolated
	}
	r.Seeds, r.Seconds, r.Rate = played, seconds, rate
	if c.json {
		c.print(r)
		return code
	}
	_, _ = fmt.Fprintf(c.out, "%d runs, %d broken, %d steps, %.1f s, %.0f runs/s with %d workers\n", played, s.broken, s.steps.Load(), seconds, rate, c.workers)
	return code
}
