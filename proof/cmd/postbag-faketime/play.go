package main

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/postbag/postbag/proof/faketime"
)

// progress is after how many runs a line says how far it has come: a run that ends the program is one of those behind it.
const progress = 500

// series is runs that are played over the cores.
type series struct {
	c *command

	mu     sync.Mutex
	next   uint64
	played uint64
	broken int
	counts faketime.Counts
	began  time.Time
}

// play plays all runs, and returns the exit code.
func (c *command) play(t *testing.T) int {
	t.Helper()
	s := &series{c: c, began: time.Now()}
	var workers sync.WaitGroup
	for range c.workers {
		workers.Go(func() {
			for o, more := s.take(); more; o, more = s.take() {
				t.Run(fmt.Sprintf("%s %d", o.Kind, o.Seed), func(t *testing.T) { s.took(o, faketime.Run(t, o)) })
			}
		})
	}
	workers.Wait()
	s.sayf("%d runs, %d broken, %.1f s: %s", s.played, s.broken, time.Since(s.began).Seconds(), &s.counts)
	if s.broken > 0 {
		return exitViolated
	}
	return exitHeld
}

// take returns the next run to be played: of each seed every kind, as often as was asked for.
func (s *series) take() (o faketime.Options, more bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	kinds := uint64(len(s.c.kinds))
	n := s.next / kinds
	if n/s.c.times >= s.c.seeds || s.c.stop && s.broken > 0 {
		return o, false
	}
	o = faketime.Options{Seed: s.c.from + n/s.c.times, Kind: s.c.kinds[s.next%kinds]}
	s.next++
	return o, true
}

// took takes what came of a run.
func (s *series) took(o faketime.Options, r faketime.Result) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.played++
	s.counts.Add(r.Counts)
	if len(r.Failures) > 0 {
		s.broken++
		s.sayf("seed %d, %s: %s\n  drawn:  %s\n  replay: go run ./cmd/postbag-faketime -seed %d -kind %s -times 100   (in the folder proof)",
			o.Seed, o.Kind, strings.Join(r.Failures, "\n"), r.Drawn, o.Seed, o.Kind)
	}
	if s.played%progress == 0 {
		s.sayf("%d runs, %d broken, %.0f s; the next seed is %d", s.played, s.broken, time.Since(s.began).Seconds(), s.c.from+s.next/uint64(len(s.c.kinds))/s.c.times)
	}
}

func (s *series) sayf(format string, args ...any) { _, _ = fmt.Fprintf(s.c.out, format+"\n", args...) }
