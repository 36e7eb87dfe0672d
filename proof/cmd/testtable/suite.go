package main

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
)

// suite is what one test that runs a conformance suite came to.
type suite struct {
	on string // "store suite: PostgreSQL 15.18"
	counts
}

// suites lists the conformance suites that ran, by the attribute that storetest and brokertest give their tests.
func (t *tally) suites() []suite {
	var all []suite
	for _, p := range t.packages {
		for name, one := range p.tests {
			if one.conforms != "" {
				all = append(all, suite{on: one.conforms, counts: p.below(name)})
			}
		}
	}
	return all
}

// below counts the test and what is below it.
func (p *packageTally) below(name string) counts {
	part := &packageTally{status: "pass", tests: make(map[string]*testTally)}
	for other, one := range p.tests {
		if other == name || strings.HasPrefix(other, name+"/") {
			part.tests[other] = one
		}
	}
	return part.counts()
}

// printSuites prints what each conformance suite ran on. Runs on the same thing are one line.
func printSuites(out io.Writer, rows map[string]*row) {
	sums := make(map[string]*counts)
	width := 0
	for _, r := range rows {
		for _, s := range r.suites {
			if sums[s.on] == nil {
				sums[s.on] = &counts{}
			}
			sums[s.on].plus(s.counts)
			width = max(width, len(s.on))
		}
	}
	if len(sums) == 0 {
		return
	}
	_, _ = fmt.Fprintf(out, "\n%-*s    passed    failed   skipped\n", width, "conformance")
	for _, on := range slices.Sorted(maps.Keys(sums)) {
		c := sums[on]
		_, _ = fmt.Fprintf(out, "%-*s  %8d  %8d  %8d\n", width, on, c.passed, c.failed, c.skipped)
	}
}
