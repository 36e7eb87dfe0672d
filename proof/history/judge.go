package history

import (
	"fmt"
	"time"
)

// judge is what all stages of a check share: the options, the report that they fill, and the few records that are looked at as
// a whole. Only its report outlives a check.
type judge struct {
	o      Options
	report *Report
	faults faultTimes

	counts  [promises]counts
	lookups int // that are left
}

// counts are counts of one promise while they are being made. Each promise has few, by numbers of its own.
type counts [4]int

// What is counted of each promise beside what was judged and what was broken.
var countNames = [promises][len(counts{})]string{
	Sound:        {"transactions without a certain end", "undone by a fault", "torn ends of files"},
	Lost:         {"delivered", "excused", "not looked up", "that only a look found in the broker"},
	Rest:         {"parked or dead"},
	Phantom:      {"of unknown transactions", "never published", "rolled back", "cancelled"},
	Order:        {"within a transaction", "across transactions", "in two places"},
	Duplicates:   {"duplicates", "faults", "explained by them at most", "without a time"},
	Bytes:        {"not recorded"},
	Attempts:     {"refusals", "of messages that are always refused", "looks at the store"},
	Takeovers:    {"longest in ms", "allowed in ms"},
	Resumes:      {"longest in ms", "allowed in ms"},
	Transactions: {"longest in ms", "allowed in ms"},
	Locks:        {"longest in ms", "allowed in ms"},
	Applied:      {"effects", "beyond the first", "excused", "out of order"},
}

// The numbers of the counts.
const (
	unended, undone, torn                          = 0, 1, 2
	delivered, excused, notLooked, missed          = 0, 1, 2, 3
	parked                                         = 0
	ofUnknown, unpublished, rolledBack, wasRemoved = 0, 1, 2, 3
	within, across, spread                         = 0, 1, 2
	repeated, faultCount, mostExplained, timeless  = 0, 1, 2, 3
	unrecorded                                     = 0
	refusals, alwaysRefused, asked                 = 0, 1, 2
	longest, allowed                               = 0, 1
	effected, beyond, unneeded, disordered         = 0, 1, 2, 3
)

// begin makes the judge ready for another history.
func (j *judge) begin(o Options, faults []Fault) {
	o.setDefaults()
	j.o, j.report, j.lookups = o, &Report{}, o.Lookups
	j.counts = [promises]counts{}
	j.faults.set(faults, &j.o)
}

// end completes the report.
func (j *judge) end(gaps []Gap, watches []Watch) *Report {
	j.judgeDuplicates()
	j.judgeGaps(gaps)
	j.judgeWatches(watches)
	for p := range Promise(promises) {
		v := j.report.Of(p)
		v.Promise, v.Held = p, v.Broken == 0
		for i, n := range j.counts[p] {
			if n != 0 {
				v.Counts = append(v.Counts, Count{Of: countNames[p][i], N: n})
			}
		}
	}
	return j.report
}

// breach counts a breach of a promise and returns where to describe it; nil if there are enough examples.
func (j *judge) breach(p Promise) *Example {
	v := j.report.Of(p)
	v.Broken++
	if len(v.Examples) >= j.o.Examples {
		return nil
	}
	v.Examples = append(v.Examples, Example{})
	return &v.Examples[len(v.Examples)-1]
}

// saw counts something that a promise could have been broken by, whether it was or not.
func (j *judge) saw(p Promise) { j.report.Of(p).Seen++ }

// mine says whether a record is of the subscription that is judged.
func (j *judge) mine(subscription string) bool {
	return j.o.Subscription == "" || subscription == "" || j.o.Subscription == subscription
}

// judgeDuplicates compares their number with what the faults explain. That each has a fault was seen before.
func (j *judge) judgeDuplicates() {
	v, c, w := j.report.Of(Duplicates), &j.counts[Duplicates], &j.faults
	c[faultCount], c[mostExplained] = len(w.all), w.most()
	for _, s := range w.stretches {
		over := s.duplicates - s.most
		if over <= 0 {
			continue
		}
		if e := j.breach(Duplicates); e != nil {
			e.Why = fmt.Sprintf("%d duplicates between %v and %v; the faults of that time explain %d", s.duplicates, s.begin, s.end, s.most)
		}
		v.Broken += over - 1
	}
	if over := c[repeated] - w.most(); v.Broken < over {
		if e := j.breach(Duplicates); e != nil {
			e.Why = fmt.Sprintf("%d duplicates; %d faults explain %d at most", c[repeated], len(w.all), w.most())
		}
		v.Broken = over
	}
}

// judgeGaps looks at the gaps that were measured, and at those that the deliveries show after each fault that stopped them.
func (j *judge) judgeGaps(gaps []Gap) {
	for i := range gaps {
		j.judgeGap(&gaps[i])
	}
	for i := range j.faults.stops {
		s := &j.faults.stops[i]
		if s.waited && s.end < forever {
			j.judgeGap(&Gap{Kind: Resume, Of: s.kind, Begin: s.end, End: s.next})
		}
	}
}

func (j *judge) judgeGap(g *Gap) {
	p, bound := Takeovers, j.o.Takeover
	if g.Kind == Resume {
		p, bound = Resumes, j.o.Resume
	}
	if bound == 0 {
		return
	}
	j.saw(p)
	took := j.took(p, g.Begin, g.End, bound)
	if took >= 0 && took <= bound {
		return
	}
	if e := j.breach(p); e != nil {
		e.Gap = clone(g)
		e.Why = fmt.Sprintf("nothing was delivered for %v; the bound is %v", took, bound)
		if took < 0 {
			e.Why = fmt.Sprintf("nothing was delivered any more; the bound is %v", bound)
		}
	}
}

func (j *judge) judgeWatches(watches []Watch) {
	for i := range watches {
		j.judgeWatch(&watches[i])
	}
}

func (j *judge) judgeWatch(w *Watch) {
	if w.Kind == BurnedAttempts {
		j.saw(Attempts)
		j.counts[Attempts][asked]++
		return
	}
	p, bound, what := Transactions, j.o.OpenTransaction, "a relay's transaction was open during network I/O for"
	if w.Kind == LockWait {
		p, bound, what = Locks, j.o.LockWait, "a producer waited for a relay's lock for"
	}
	j.saw(p)
	if took := j.took(p, w.Begin, w.End, bound); took > bound {
		if e := j.breach(p); e != nil {
			e.Watch = clone(w)
			e.Why = fmt.Sprintf("%s %v; the bound is %v", what, took, bound)
		}
	}
}

// took is how long something lasted that a bound is for. The longest of each promise is told.
func (j *judge) took(p Promise, begin, end, bound time.Duration) time.Duration {
	took, c := end-begin, &j.counts[p]
	c[longest], c[allowed] = max(c[longest], int(took/time.Millisecond)), int(bound/time.Millisecond)
	return took
}

func clone[T any](v *T) *T {
	c := *v
	return &c
}
