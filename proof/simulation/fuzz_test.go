package simulation_test

import (
	"encoding/binary"
	"testing"

	"github.com/postbag/postbag/proof/simulation"
)

// FuzzThePromises has the fuzzer decide what happens, choice by choice; after the
// last one all is plain.
func FuzzThePromises(f *testing.F) {
	for n := range 8 {
		tape := make([]byte, 256<<n)
		for i := range tape {
			tape[i] = byte(i * (n + 37))
		}
		f.Add(tape)
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		tape := make([]uint32, len(raw)/2)
		for i := range tape {
			tape[i] = uint32(binary.LittleEndian.Uint16(raw[2*i:]))
		}
		o := simulation.DefaultOptions(0)
		o.Tape = tape
		var s simulation.Simulator
		r, err := s.Run(o)
		if err != nil {
			t.Fatal(err)
		}
		if r.Violation != nil {
			t.Errorf("%v\n%s", r.Violation, r.Drawn)
		}
	})
}
