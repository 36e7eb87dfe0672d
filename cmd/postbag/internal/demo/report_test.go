package demo

import (
	"bytes"
	"strings"
	"testing"
	"time"
)

// judged is the report of a run in which orders 1 to 3 of one customer were
// committed, and those in arrived arrived, in this order.
func judged(t *testing.T, kills int, arrived ...int) (string, bool) {
	t.Helper()
	var out bytes.Buffer
	s := &scene{
		screen: newScreen(&out, false), begun: time.Now(), kills: kills,
		shop:    &shop{sold: map[[2]int]bool{{7, 1}: true, {7, 2}: true, {7, 3}: true}},
		checker: &checker{seen: make(map[[2]int]bool), last: make(map[int]int)},
	}
	for _, n := range arrived {
		s.checker.check(order{Customer: 7, N: n}, 1)
	}
	r := s.judge()
	r.show(s.screen)
	return out.String(), r.Kept
}

func TestReportSeesEveryBrokenPromise(t *testing.T) {
	t.Parallel()
	f := func(name string, kills int, good bool, line string, arrived ...int) {
		t.Helper()
		text, got := judged(t, kills, arrived...)
		if got != good || !strings.Contains(strings.Join(strings.Fields(text), " "), line) {
			t.Errorf("%s: the promises were kept: %v, want %v and %q in\n%s", name, got, good, line, text)
		}
	}
	f("all is well", 0, true, "lost 0", 1, 2, 3)
	f("one is lost", 0, false, "lost 1", 1, 2)
	f("one was never committed", 0, false, "phantoms 1", 1, 2, 3, 4)
	f("two are the wrong way round", 0, false, "out of order 1", 1, 3, 2)
	f("one is there twice without a kill", 0, false, "duplicates 1", 1, 2, 2, 3)
	f("one is there twice after a kill", 1, true, "at most 1000 for 1 kills", 1, 2, 2, 3)
	f("an old one comes again after a kill", 1, true, "out of order 0", 1, 2, 3, 1)
}

func TestARedeliveryByTheBrokerIsNotADuplicate(t *testing.T) {
	t.Parallel()
	c := &checker{seen: make(map[[2]int]bool), last: make(map[int]int)}
	c.check(order{N: 1}, 1)
	c.check(order{N: 1}, 2)
	if c.duplicates != 0 || c.distinct != 1 {
		t.Errorf("%d duplicates of %d orders, want none of 1", c.duplicates, c.distinct)
	}
}

func TestScreenDrawsOneLineOnATerminal(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	s := newScreen(&out, true)
	s.progress(50, 25, 100)
	s.sayf("hello")
	got := out.String()
	if !strings.Contains(got, "███████▒▒▒▒▒▒▒··············") || !strings.Contains(got, "committed    50  delivered    25 of 100") {
		t.Errorf("the progress is %q", got)
	}
	if !strings.HasSuffix(got, "hello\n") || !strings.Contains(got, "\r\x1b[2K  0.0s  hello") {
		t.Errorf("a line is not written over the progress: %q", got)
	}
}
