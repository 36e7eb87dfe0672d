package main

import (
	"encoding/json"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/postbag/postbag/internal/simulation"
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
		_, _ = fmt.Fprintf(c.out, "%s", found.shrunk.Trace)
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
	Replay    string  `json:"replay"`
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
		Replay: "postbag-sim " + f.options.Arguments() + " -trace", Steps: f.result.Steps,
		Simulated: f.result.Time.String(), Hash: fmt.Sprintf("%016x", f.result.Hash), Seeds: 1,
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
	if r.Held {
		_, _ = fmt.Fprintf(c.out, "seed %d: every promise held, %d steps, %s, hash %s\n", r.Seed, r.Steps, r.Simulated, r.Hash)
		return
	}
	_, _ = fmt.Fprintf(c.out, "seed %d: %v\n  drawn:  %s\n  steps:  %d, hash %s\n  replay: %s\n", r.Seed, f.result.Violation, f.result.Drawn, r.Steps, r.Hash, r.Replay)
}

// playAll plays seeds over the cores.
func (c *command) playAll() int {
	var next, played, steps atomic.Uint64
	var stop atomic.Bool
	var mu sync.Mutex
	var first *finding
	broken := 0
	began := time.Now()
	var wg sync.WaitGroup
	for range c.workers {
		wg.Go(func() {
			var s simulation.Simulator
			for !stop.Load() {
				n := next.Add(1) - 1
				if n >= c.seeds {
					return
				}
				o := c.options
				o.Seed = c.from + n
				r, err := s.Run(o)
				if err != nil {
					panic(err) // the options were validated
				}
				played.Add(1)
				steps.Add(uint64(r.Steps))
				if r.Violation == nil {
					continue
				}
				stop.Store(c.stop)
				f := &finding{options: o, result: r}
				mu.Lock()
				if broken++; first == nil || o.Seed < first.options.Seed {
					first = f
				}
				if !c.json && broken <= 20 {
					c.say(f)
				}
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	return c.sum(first, broken, played.Load(), steps.Load(), time.Since(began))
}

// sum says what came of all seeds.
func (c *command) sum(first *finding, broken int, played, steps uint64, took time.Duration) int {
	seconds := took.Seconds()
	rate := float64(played) / max(seconds, 1e-9)
	code := exitHeld
	r := report{Held: true, Options: c.options.Arguments()}
	if first != nil {
		r, code = first.report(), exitViolated
	}
	r.Seeds, r.Seconds, r.Rate = played, seconds, rate
	if c.json {
		c.print(r)
		return code
	}
	_, _ = fmt.Fprintf(c.out, "%d runs, %d broken, %d steps, %.1f s, %.0f runs/s with %d workers\n", played, broken, steps, seconds, rate, c.workers)
	return code
}
