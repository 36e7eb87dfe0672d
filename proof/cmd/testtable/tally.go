package main

import (
	"maps"
	"slices"
	"strings"
)

// tally is what is known of the tests of one module.
type tally struct {
	packages map[string]*packageTally
	builds   map[string]string // compiler's words by import path, of builds that failed
}

// packageTally is what is known of one package.
type packageTally struct {
	status  string // "", "pass", "fail" or "skip" (no tests)
	seconds float64
	words   []string // output that belongs to no test
	tests   map[string]*testTally
}

// testTally is what is known of one test or sub-test.
type testTally struct {
	status string // "", "pass", "fail" or "skip"
	words  []string
	// conforms is what the test runs a conformance suite on, or empty: "store suite: SQLite".
	conforms string
}

func newTally() *tally {
	return &tally{packages: make(map[string]*packageTally), builds: make(map[string]string)}
}

// add takes one event.
func (t *tally) add(e event) {
	switch e.Action {
	case "build-output":
		t.builds[e.ImportPath] += e.Output
		return
	case "build-fail": // the packages that needed it fail too
		return
	}
	p := t.packages[e.Package]
	if p == nil {
		p = &packageTally{tests: make(map[string]*testTally)}
		t.packages[e.Package] = p
	}
	if e.Test == "" {
		p.add(e)
		return
	}
	one := p.tests[e.Test]
	if one == nil {
		one = &testTally{}
		p.tests[e.Test] = one
	}
	one.add(e)
}

func (p *packageTally) add(e event) {
	switch e.Action {
	case "output":
		p.words = append(p.words, e.Output)
	case "pass", "fail", "skip":
		p.status, p.seconds = e.Action, e.Elapsed
	}
}

func (t *testTally) add(e event) {
	switch e.Action {
	case "attr":
		if e.Key == "conformance" {
			t.conforms = e.Value
		}
	case "output":
		t.words = append(t.words, e.Output)
	case "pass", "fail", "skip":
		t.status = e.Action
	}
}

// counts are the sums of a module or a package.
type counts struct {
	packages, passed, failed, skipped int
}

func (c *counts) plus(other counts) {
	c.packages += other.packages
	c.passed += other.passed
	c.failed += other.failed
	c.skipped += other.skipped
}

// counts sums the module.
func (t *tally) counts() counts {
	var sum counts
	for _, p := range t.packages {
		sum.plus(p.counts())
	}
	return sum
}

// counts looks at the leaves: tests without sub-tests. A test that failed although none of its sub-tests did counts too,
// and so does a package that failed or did not end without any test of its own failing: it did not build, crashed, or
// ran out of time.
func (p *packageTally) counts() counts {
	var c counts
	if len(p.tests) > 0 || p.status != "skip" {
		c.packages = 1
	}
	names := slices.Sorted(maps.Keys(p.tests))
	for _, name := range names {
		switch status := p.tests[name].status; {
		case status == "fail" && !p.hasBelow(names, name, "fail"):
			c.failed++
		case p.hasBelow(names, name, ""):
		case status == "pass":
			c.passed++
		case status == "skip":
			c.skipped++
		}
	}
	if c.failed == 0 && p.status != "pass" && p.status != "skip" {
		c.failed = 1
	}
	return c
}

// hasBelow says whether the test has a sub-test of that status, or of any if status is empty.
func (p *packageTally) hasBelow(names []string, name, status string) bool {
	at, _ := slices.BinarySearch(names, name+"/")
	for _, other := range names[at:] {
		if !strings.HasPrefix(other, name+"/") {
			return false
		}
		if status == "" || p.tests[other].status == status {
			return true
		}
	}
	return false
}

// tellFailures returns the output of what failed, package by package.
func (p *packageTally) tellFailures() string {
	var text strings.Builder
	names := slices.Sorted(maps.Keys(p.tests))
	told := false
	for _, name := range names {
		one := p.tests[name]
		unfinished := one.status == "" && p.status == "fail"
		if one.status == "fail" || unfinished && !p.hasBelow(names, name, "") {
			text.WriteString(strings.Join(one.words, ""))
			told = true
		}
	}
	if !told || p.counts().failed == 0 {
		text.WriteString(strings.Join(p.words, ""))
	}
	return text.String()
}

// reason is the word that a skipped test gave.
func (t *testTally) reason() string {
	for _, line := range slices.Backward(t.words) {
		line = strings.TrimSpace(line)
		if line != "" && !strings.HasPrefix(line, "---") && !strings.HasPrefix(line, "===") {
			return line
		}
	}
	return "no reason given"
}
