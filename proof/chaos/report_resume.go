package chaos

import (
	"slices"
	"time"

	"github.com/postbag/postbag/proof/history"
)

// When a fault ends that stopped everything, deliveries must go on soon. The consumer keeps the times at which something was stored,
// and the first after each end says how long that took.

// arrivalGrain is how exact these times are.
const arrivalGrain = 10 * time.Millisecond

// arrivals are times at which something was stored, in order but for what came from several places at once.
type arrivals []time.Time

// note adds a time, if it is another one than the last.
func (a *arrivals) note(at time.Time) {
	if n := len(*a); n == 0 || at.Sub((*a)[n-1]).Abs() >= arrivalGrain {
		*a = append(*a, at)
	}
}

// resumesOf is how long it took after each fault that stopped deliveries, and that no other one followed before there were any. Where
// it took longer than it may, the time until what else was broken works again is not counted.
func resumesOf(happened []Happening, came arrivals) (all []gap) {
	slices.SortFunc(came, time.Time.Compare)
	for i, h := range happened {
		if !h.Stops || h.Throughout {
			continue
		}
		next, _ := slices.BinarySearchFunc(came, h.To, time.Time.Compare)
		if next == len(came) {
			continue // all had been delivered
		}
		g := gap{of: h.Fault, from: h.To, to: came[next]}
		others := slices.Concat(happened[:i], happened[i+1:])
		if slices.ContainsFunc(others, func(o Happening) bool { return o.Stops && o.From.Before(g.to) && o.To.After(g.from) }) {
			continue // it had not really ended
		}
		if g.to.Sub(g.from) > resume {
			g = g.calmed(disturbances(death{}, nil, others))
		}
		all = append(all, g)
	}
	return all
}

// noteResumes writes them down.
func (e *events) noteResumes(all []gap) {
	for _, g := range all {
		e.Wait(history.Gap{Kind: history.Resume, Of: g.of, Begin: e.clock.At(g.from), End: e.clock.At(g.to)})
	}
}
