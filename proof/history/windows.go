package history

import (
	"cmp"
	"math"
	"slices"
	"time"
)

// forever is the end of what has none.
const forever = time.Duration(math.MaxInt64)

// faultTimes are the times in which faults explain duplicates, and the times in which they stop all deliveries.
type faultTimes struct {
	all       []Fault // with their ends and windows filled in, by begin
	latest    []time.Duration
	stretches []stretch // of times that faults explain without a hole, in order
	stops     []stop
	rewinds   []Fault
	slack     time.Duration
}

// stretch is a time in which faults explain duplicates without a hole.
type stretch struct {
	begin, end       time.Duration
	most, duplicates int
}

// stop is a time in which nothing can be delivered, and what came after it.
type stop struct {
	kind       string
	begin, end time.Duration
	// waited says that something was delivered that was committed before the end; next is the first of that.
	waited bool
	next   time.Duration
}

func (w *faultTimes) set(faults []Fault, o *Options) {
	w.all = append(w.all[:0], faults...)
	w.latest, w.stretches, w.stops, w.rewinds = w.latest[:0], w.stretches[:0], w.stops[:0], w.rewinds[:0]
	w.slack = o.Slack
	if len(w.all) == 0 {
		return
	}
	for i := range w.all {
		f := &w.all[i]
		if f.End < f.Begin || f.End == 0 {
			f.End = forever
		}
		if f.Window == 0 {
			f.Window = o.InFlight
		}
		if o.ExactlyOnce {
			f.Window = -1
		}
	}
	slices.SortFunc(w.all, func(a, b Fault) int { return cmp.Compare(a.Begin, b.Begin) })
	for i := range w.all {
		w.add(&w.all[i], o)
	}
}

func (w *faultTimes) add(f *Fault, o *Options) {
	if f.Rewinds {
		w.rewinds = append(w.rewinds, *f)
	}
	if f.Stops {
		w.addStop(f, o)
	}
	end, before := time.Duration(math.MinInt64), time.Duration(math.MinInt64)
	if f.Window > 0 {
		end = after(f.End, o.Slack)
		if n := len(w.stretches); n > 0 && f.Begin <= w.stretches[n-1].end {
			s := &w.stretches[n-1]
			s.end = max(s.end, end)
			s.most += f.Window
		} else {
			w.stretches = append(w.stretches, stretch{begin: f.Begin, end: end, most: f.Window})
		}
	}
	if n := len(w.latest); n > 0 {
		before = w.latest[n-1]
	}
	w.latest = append(w.latest, max(end, before))
}

// addStop takes what begins before the bound after the one before it has passed for one with it.
func (w *faultTimes) addStop(f *Fault, o *Options) {
	if n := len(w.stops); n > 0 && f.Begin <= after(w.stops[n-1].end, o.Resume) {
		s := &w.stops[n-1]
		if f.End >= s.end {
			s.kind, s.end = f.Kind, f.End
		}
		return
	}
	w.stops = append(w.stops, stop{kind: f.Kind, begin: f.Begin, end: f.End})
}

func after(t, d time.Duration) time.Duration {
	if t > forever-d {
		return forever
	}
	return t + d
}

// most is how many duplicates all faults together explain.
func (w *faultTimes) most() (n int) {
	for i := range w.stretches {
		n += w.stretches[i].most
	}
	return n
}

// explain says whether a fault can have caused a duplicate by what it did between two times, and counts it to the stretch in which
// these lie, if that is one alone.
func (w *faultTimes) explain(from, to time.Duration) bool {
	begun, _ := slices.BinarySearchFunc(w.all, to, func(f Fault, to time.Duration) int {
		if f.Begin <= to {
			return -1
		}
		return 1
	})
	if begun == 0 || w.latest[begun-1] < from {
		return false
	}
	first, _ := slices.BinarySearchFunc(w.stretches, from, func(s stretch, from time.Duration) int { return cmp.Compare(s.end, from) })
	if last := first + 1; last == len(w.stretches) || w.stretches[last].begin > to {
		w.stretches[first].duplicates++
	}
	return true
}

// undid says whether a database that went back may have undone a commit that was answered at a time.
func (w *faultTimes) undid(answered time.Duration) bool {
	for i := range w.rewinds {
		if f := &w.rewinds[i]; answered > f.RewoundTo && answered <= f.End {
			return true
		}
	}
	return false
}

// resume notes the first delivery of a message that was committed at a time.
func (w *faultTimes) resume(committed time.Duration, d *Delivery) {
	first, _ := slices.BinarySearchFunc(w.stops, committed, func(s stop, t time.Duration) int { return cmp.Compare(s.end, t) })
	for i := first; i < len(w.stops) && w.stops[i].end <= d.To; i++ {
		s := &w.stops[i]
		next := max(d.From, s.end)
		if !s.waited || next < s.next {
			s.waited, s.next = true, next
		}
	}
}
