package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/postbag/postbag/proof/simulation"
)

// series is seeds that are played over the cores.
type series struct {
	c                   *command
	began               time.Time
	next, played, steps atomic.Uint64
	stop                atomic.Bool

	mu     sync.Mutex
	first  *finding
	broken int
}

// playAll plays seeds over the cores, until all are played or a signal ends it.
func (c *command) playAll() int {
	ctx, forget := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer forget()
	s := &series{c: c, began: time.Now()}
	defer context.AfterFunc(ctx, func() {
		s.stop.Store(true)
		forget() // the next signal ends the process at once
	})()
	over := make(chan struct{})
	var work, telling sync.WaitGroup
	telling.Go(func() { s.tell(over) })
	for range c.workers {
		work.Go(s.work)
	}
	work.Wait()
	close(over)
	telling.Wait()
	return c.sum(s, ctx.Err() != nil)
}

// work plays seeds until there are none left. It finishes what it has begun, so that those that were
// played are the first ones.
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
	if s.c.stop {
		s.stop.Store(true)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.broken++; s.first == nil || f.options.Seed < s.first.options.Seed {
		s.first = f
	}
	if !s.c.json && s.broken <= 20 {
		s.c.say(f)
	}
}

// tell says now and then how far it is.
func (s *series) tell(over <-chan struct{}) {
	tick := time.NewTicker(s.c.every)
	defer tick.Stop()
	for {
		select {
		case <-over:
			return
		case <-tick.C:
			_, _ = fmt.Fprintln(s.c.errs, s.progress())
		}
	}
}

// progress is how far it is.
func (s *series) progress() string {
	s.mu.Lock()
	broken := s.broken
	s.mu.Unlock()
	played := s.played.Load()
	return fmt.Sprintf("%d of %d seeds played, %d broken, %.0f seeds/s", played, s.c.seeds, broken, rate(played, time.Since(s.began)))
}

// rate is how many a second.
func rate(n uint64, took time.Duration) float64 { return float64(n) / max(took.Seconds(), 1e-9) }

// sum says what came of all seeds that were played. If a signal ended it before it had played all, it
// says how to go on.
func (c *command) sum(s *series, signalled bool) int {
	took, played := time.Since(s.began), s.played.Load()
	early := signalled && played < c.seeds
	code := exitHeld
	r := report{Held: true, Options: c.options.Arguments()}
	switch {
	case s.first != nil:
		r, code = s.first.report(), exitViolated
	case early:
		code = exitIncomplete
	}
	r.Seeds, r.Seconds, r.Rate, r.Ended = played, took.Seconds(), rate(played, took), early
	if c.json {
		c.print(r)
	} else {
		_, _ = fmt.Fprintf(c.out, "%d runs, %d broken, %d steps, %.1f s, %.0f runs/s with %d workers\n", played, s.broken, s.steps.Load(), r.Seconds, r.Rate, c.workers)
	}
	if early {
		_, _ = fmt.Fprintf(c.errs, "ended early: %s; go on with -from %d -seeds %d\n", s.progress(), c.from+played, c.seeds-played)
	}
	return code
}
