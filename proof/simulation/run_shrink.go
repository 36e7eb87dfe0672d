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

// maxSteps bounds the steps of all runs of a shrinking together: some seconds.
const maxSteps = 20_000_000

// shrinker cuts a run down: first what its options say, then what chance drew, by
// delta debugging (A. Zeller, R. Hildebrandt, 2002) over the choices.
type shrinker struct {
	sim     Simulator
	promise string
	best    Options
	result  Result
	tries   int
	steps   int
}

// Shrink cuts the run of o down to one with fewer messages, relays, kinds of fault
// and choices that breaks the same promise. It fails if o breaks none.
func Shrink(o Options) (Shrunk, error) { return shrink(o, nil) }

func shrink(o Options, also func(*world)) (Shrunk, error) {
	s := &shrinker{sim: Simulator{record: true, also: also}}
	o.Trace = nil
	r, err := s.sim.Run(o)
	if err != nil {
		return Shrunk{}, err
	}
	if r.Violation == nil {
		return Shrunk{Options: o, Result: r}, nil
	}
	s.promise = r.Violation.Promise
	s.keep(o, r)
	s.fewer()
	s.best.Tape = s.result.Tape
	s.end()
	for before := -1; before != len(s.best.Tape) && !s.spent(); {
		before = len(s.best.Tape)
		s.flatten()
		s.cut()
		s.leaner()
	}
	var out bytes.Buffer
	last := s.best
	last.Trace = &out
	last.Brief = true
	r, err = s.sim.Run(last)
	return Shrunk{Options: s.best, Result: r, Trace: out.Bytes(), Tries: s.tries}, err
}

// keep is what was cut down so far. A run that takes much longer says nothing shorter.
func (s *shrinker) keep(o Options, r Result) {
	s.best, s.result = o, r
	s.best.Steps = 2*r.Steps + 1000
}

// try keeps o if it breaks the promise too.
func (s *shrinker) try(o Options) bool {
	if s.spent() {
		return false
	}
	s.tries++
	r, err := s.sim.Run(o)
	s.steps += r.Steps + 100
	if err != nil || r.Violation == nil || r.Violation.Promise != s.promise || r.Steps > o.Steps {
		return false
	}
	s.keep(o, r)
	return true
}

// spent says that this is enough.
func (s *shrinker) spent() bool { return s.steps >= maxSteps }

// end looks for a beginning of the tape that does: what comes after it is plain.
func (s *shrinker) end() {
	for size := len(s.best.Tape) / 2; size > 0; size /= 2 {
		for len(s.best.Tape) > size {
			o := s.best
			o.Tape = o.Tape[:len(o.Tape)-size]
			if !s.try(o) {
				break
			}
		}
	}
}

// fewer looks for options that say less, each with a few seeds, since with other
// options a seed is another run.
func (s *shrinker) fewer() {
	nearby := func(change func(*Options)) bool {
		for i := range uint64(30) {
			o := s.best
			o.Seed += i * 1_000_003
			change(&o)
			if s.try(o) {
				return true
			}
		}
		return false
	}
	for _, n := range []int{2, 4, 8, 16, 32, 64, 128} {
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

// leaner tries fewer messages with the same choices.
func (s *shrinker) leaner() {
	for n := 1; n < s.best.Messages; n++ {
		o := s.best
		o.Messages = n
		if s.try(o) {
			return
		}
	}
}

// cut takes stretches of choices out, of half the tape, then a quarter, and so on.
// What follows then comes earlier.
func (s *shrinker) cut() {
	for size := len(s.best.Tape) / 2; size > 0 && !s.spent(); size /= 2 {
		for at := 0; at < len(s.best.Tape) && !s.spent(); {
			end := min(at+size, len(s.best.Tape))
			o := s.best
			o.Tape = append(append([]uint32{}, o.Tape[:at]...), o.Tape[end:]...)
			if !s.try(o) {
				at = end
			}
		}
	}
}

// flatten makes stretches of choices plain.
func (s *shrinker) flatten() {
	for size := max(len(s.best.Tape)/2, 1); size > 0; size /= 2 {
		for at := 0; at < len(s.best.Tape) && !s.spent(); at += size {
			o := s.best
			if plain(o.Tape[at:min(at+size, len(o.Tape))]) {
				continue
			}
			o.Tape = append([]uint32{}, o.Tape...)
			clear(o.Tape[at:min(at+size, len(o.Tape))])
			s.try(o)
		}
	}
}

// plain says that all choices are zero.
func plain(tape []uint32) bool {
	for _, v := range tape {
		if v != 0 {
			return false
		}
	}
	return true
}
