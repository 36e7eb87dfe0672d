package record

import (
	"fmt"
	"sync"
	"testing"
	"time"
)

// Arrival is a message in the broker: the N-th of its key, from zero. The arrivals of a key stand in their order.
type Arrival struct {
	Key string
	N   int
	// Phantom says that it is a message of a transaction that did not commit.
	Phantom bool
	// From and To are when the broker stored it: the earliest and the latest that it can have been.
	From, To time.Time
	// Took is how long before that the database had stored it. Zero: that is not known.
	Took time.Duration
}

// Verdict is what a comparison found.
type Verdict struct {
	Distinct, Lost, Phantoms, Inversions int
	// Duplicates are the arrivals of a message that had arrived before.
	Duplicates []Arrival
	// Longest is the longest that a first arrival took.
	Longest time.Duration
}

func (v *Verdict) String() string {
	return fmt.Sprintf("distinct %d, lost %d, phantoms %d, inversions %d, duplicates %d", v.Distinct, v.Lost, v.Phantoms, v.Inversions, len(v.Duplicates))
}

// Judge compares what arrived with how many messages of each key were committed.
func Judge(arrivals []Arrival, committed map[string]int) *Verdict {
	v := &Verdict{}
	next, seen := map[string]int{}, map[string]map[int]bool{}
	for _, a := range arrivals {
		if a.Phantom || a.N >= committed[a.Key] {
			v.Phantoms++
			continue
		}
		if seen[a.Key] == nil {
			seen[a.Key] = map[int]bool{}
		}
		if seen[a.Key][a.N] {
			v.Duplicates = append(v.Duplicates, a)
			continue
		}
		seen[a.Key][a.N] = true
		v.Distinct++
		v.Longest = max(v.Longest, a.Took)
		if a.N != next[a.Key] {
			v.Inversions++
		}
		next[a.Key] = max(next[a.Key], a.N+1)
	}
	for key, n := range committed {
		v.Lost += n - len(seen[key])
	}
	return v
}

// Faults are what a test did to its servers and relays, and when. The zero Faults are none. Methods may be called concurrently.
type Faults struct {
	mu  sync.Mutex
	all []fault
}

// fault is something that happened to one relay: it was killed, or what it talked to was.
type fault struct {
	kind     string
	from, to time.Time
}

// Note notes a fault that began at from and ends now, once for each relay that it hits.
func (f *Faults) Note(kind string, from time.Time) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.all = append(f.all, fault{kind: kind, from: from, to: time.Now()})
}

// Count is how many were noted.
func (f *Faults) Count() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.all)
}

// Check fails the test for whatever is lost, a phantom or out of order, and for duplicates that no fault explains: each was
// stored between the beginning of a fault and slack after its end, and they are no more than inFlight a fault.
func (f *Faults) Check(t *testing.T, v *Verdict, inFlight int, slack time.Duration) {
	t.Helper()
	if v.Lost+v.Phantoms+v.Inversions != 0 {
		t.Errorf("lost %d, phantoms %d, inversions %d", v.Lost, v.Phantoms, v.Inversions)
	}
	if most := f.Count() * inFlight; len(v.Duplicates) > most {
		t.Errorf("%d duplicates; %d faults explain %d", len(v.Duplicates), f.Count(), most)
	}
	for _, a := range v.Duplicates {
		if !f.explain(a, slack) {
			t.Errorf("a duplicate that was stored at %v lies in no fault's window: %v", a.To, f.windows())
			return
		}
	}
}

func (f *Faults) explain(a Arrival, slack time.Duration) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, one := range f.all {
		if a.To.After(one.from) && a.From.Before(one.to.Add(slack)) {
			return true
		}
	}
	return false
}

func (f *Faults) windows() (out []string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, one := range f.all {
		out = append(out, fmt.Sprintf("%s %v to %v", one.kind, one.from, one.to))
	}
	return out
}
