package simulation

import (
	"bytes"
)

// Shrunk is a run that was cut down and still breaks the same promise.
type Shrunk struct {
	// Options make it again: they have a tape.
	Options Options
	Result  Result
	// Trace is what happens in it.
	Trace []byte
	// Tries is how many runs that took.
	Tries int
}

// maxTries bounds the runs of a shrinking.
const maxTries = 1000

// shrinker cuts a run down: first what its options say, then what chance drew, by
// delta debugging (A. Zeller, R. Hildebrandt, 2002) over the choices.
type shrinker struct {
	sim     Simulator
	promise string
	best    Options
	result  Result
	tries   int
}

// Shrink cuts the run of o down to one with fewer messages, relays, kinds of fault
// and choices that breaks the same promise. It fails if o breaks none.
func Shrink(o Options) (Shrunk, error) {
	s := &shrinker{sim: Simulator{record: true}}
	o.Trace = nil
	r, err := s.sim.Run(o)
	if err != nil {
		return Shrunk{}, err
	}
	if r.Violation == nil {
		return Shrunk{Options: o, Result: r}, nil
	}
	s.promise, s.best, s.result = r.Violation.Promise, o, r
	s.best.Steps = 2*r.Steps + 1000 // what takes longer says nothing shorter
	s.fewer()
	s.best.Tape = s.result.Tape
	s.cut()
	s.flatten()
	var out bytes.Buffer
	last := s.best
	last.Trace = &out
	r, err = s.sim.Run(last)
	return Shrunk{Options: s.best, Result: r, Trace: out.Bytes(), Tries: s.tries}, err
}

// try keeps o if it breaks the promise too.
func (s *shrinker) try(o Options) bool {
	if s.tries >= maxTries {
		return false
	}
	s.tries++
	r, err := s.sim.Run(o)
	if err != nil || r.Violation == nil || r.Violation.Promise != s.promise || r.Steps > o.Steps {
		return false
	}
	s.best, s.result = o, r
	return true
}

// fewer looks for options that say less, each with a few seeds, since with other
// options a seed is another run.
func (s *shrinker) fewer() {
	nearby := func(change func(*Options)) bool {
		for i := range uint64(20) {
			o := s.best
			o.Seed += i * 1_000_003
			change(&o)
			if s.try(o) {
				return true
			}
		}
		return false
	}
	for _, n := range []int{5, 10, 20, 40, 80, 160} {
		if nearby(func(o *Options) { o.Messages = n }) {
			break
		}
	}
	for n := 1; n < 4; n++ {
		if nearby(func(o *Options) { o.Relays = n }) {
			break
		}
	}
	s.best.Faults.each(func(_ int, k Faults) {
		nearby(func(o *Options) { o.Faults &^= k })
	})
}

// cut takes stretches of choices out, of half the tape, then a quarter, and so on.
// What follows then comes earlier.
func (s *shrinker) cut() {
	for size := len(s.best.Tape) / 2; size > 0; size /= 2 {
		for at := 0; at < len(s.best.Tape); {
			end := min(at+size, len(s.best.Tape))
			o := s.best
			o.Tape = append(append([]uint32{}, o.Tape[:at]...), o.Tape[end:]...)
			if !s.try(o) {
				at = end
			}
			if s.tries >= maxTries {
				return
			}
		}
	}
}

// flatten makes stretches of choices plain.
func (s *shrinker) flatten() {
	for size := max(len(s.best.Tape)/2, 1); size > 0; size /= 2 {
		for at := 0; at < len(s.best.Tape); at += size {
			o := s.best
			o.Tape = append([]uint32{}, o.Tape...)
			clear(o.Tape[at:min(at+size, len(o.Tape))])
			s.try(o)
			if s.tries >= maxTries {
				return
			}
		}
	}
}
