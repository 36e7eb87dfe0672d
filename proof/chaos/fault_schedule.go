package chaos

import (
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"slices"
	"time"
)

// Blow is one entry of a schedule.
type Blow struct {
	// At is when it begins, from the beginning of the run, if those before it in its room are over by then.
	At, For time.Duration
	Fault   string
	Room    Room
	// Seed is that of its own choices.
	Seed uint64
}

// Draw makes the schedule of a run from a seed. The same faults, duration and seed give the same schedule. In each room every fault
// comes once before one comes again.
func Draw(faults []Fault, length time.Duration, seed uint64) []Blow {
	rooms := map[Room][]Fault{}
	for _, f := range faults {
		if !f.Throughout {
			rooms[f.Room] = append(rooms[f.Room], f)
		}
	}
	var all []Blow
	for i, room := range slices.Sorted(maps.Keys(rooms)) {
		all = append(all, drawRoom(rooms[room], length, rand.New(rand.NewPCG(seed, uint64(i))))...)
	}
	slices.SortStableFunc(all, func(a, b Blow) int { return int(a.At - b.At) })
	return all
}

// gapLeast and gapMost bound the time between the end of a fault and the next of its room.
const gapLeast, gapMost = 1500 * time.Millisecond, 9 * time.Second

func drawRoom(faults []Fault, length time.Duration, r *rand.Rand) (out []Blow) {
	between := func(least, most time.Duration) time.Duration {
		return (least + time.Duration(r.Int64N(int64(most-least)+1))).Round(10 * time.Millisecond)
	}
	var deck []Fault
	for at := between(gapLeast, gapMost); ; {
		if len(deck) == 0 {
			deck = slices.Clone(faults)
			r.Shuffle(len(deck), func(i, j int) { deck[i], deck[j] = deck[j], deck[i] })
		}
		f := deck[0]
		deck = deck[1:]
		b := Blow{At: at, For: between(f.Least, max(f.Least, f.Most)), Fault: f.Name, Room: f.Room, Seed: r.Uint64()}
		if b.At+b.For > length {
			return out
		}
		out = append(out, b)
		at += b.For + between(gapLeast, gapMost)
	}
}

// PrintSchedule writes a line for each blow.
func PrintSchedule(w io.Writer, all []Blow) error {
	for _, b := range all {
		if _, err := fmt.Fprintf(w, "%8.2fs %6.2fs  %-20s  %s\n", b.At.Seconds(), b.For.Seconds(), b.Room, b.Fault); err != nil {
			return err
		}
	}
	return nil
}
