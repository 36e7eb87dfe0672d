package demo

import (
	"bytes"
	"errors"
	"strings"
	"testing"
	"time"
)

// run is a run in which orders 1 to 3 of one customer were committed.
type run struct {
	kills           int
	arrived, billed []int // in this order
	owed            int   // beyond the sum of the invoices
}

// judged is the report of a run.
func judged(t *testing.T, what run) (string, bool) {
	t.Helper()
	var out bytes.Buffer
	s := &scene{
		screen: newScreen(&out, false), begun: time.Now(), kills: what.kills,
		shop:    &shop{sold: map[[2]int]bool{{7, 1}: true, {7, 2}: true, {7, 3}: true}},
		checker: &checker{seen: make(map[[2]int]bool), last: make(map[int]int)},
	}
	var err error
	if s.books, err = openBooks(t.Context(), t.TempDir()); err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := s.books.close(); err != nil {
			t.Error(err)
		}
	}()
	for _, n := range what.arrived {
		s.checker.check(order{Customer: 7, N: n}, 1)
	}
	for _, n := range what.billed {
		tx, err := s.books.db.BeginTx(t.Context(), nil)
		if err == nil {
			err = errors.Join(bill(t.Context(), tx, order{Customer: 7, N: n, Cents: 100}), tx.Commit())
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if _, err := s.books.db.ExecContext(t.Context(), `update owed set cents = cents + ? where customer = 7`, what.owed); err != nil {
		t.Fatal(err)
	}
	r, err := s.judge(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	r.show(s.screen)
	return out.String(), r.Kept
}

func TestReportSeesEveryBrokenPromise(t *testing.T) {
	t.Parallel()
	all := []int{1, 2, 3}
	f := func(name string, what run, good bool, line string) {
		t.Helper()
		text, got := judged(t, what)
		if got != good || !strings.Contains(strings.Join(strings.Fields(text), " "), line) {
			t.Errorf("%s: the promises were kept: %v, want %v and %q in\n%s", name, got, good, line, text)
		}
	}
	f("all is well", run{arrived: all, billed: all}, true, "lost 0")
	f("one is lost", run{arrived: []int{1, 2}, billed: all}, false, "lost 1")
	f("one was never committed", run{arrived: []int{1, 2, 3, 4}, billed: all}, false, "phantoms 1")
	f("two are the wrong way round", run{arrived: []int{1, 3, 2}, billed: all}, false, "out of order 1")
	f("one is there twice without a kill", run{arrived: []int{1, 2, 2, 3}, billed: all}, false, "duplicates 1")
	f("one is there twice after a kill", run{kills: 1, arrived: []int{1, 2, 2, 3}, billed: all}, true, "at most 1000 for 1 kills")
	f("an old one comes again after a kill", run{kills: 1, arrived: []int{1, 2, 3, 1}, billed: all}, true, "out of order 0")
	f("one is not billed", run{arrived: all, billed: []int{1, 3}}, false, "applied 2")
	f("one is billed twice", run{arrived: all, billed: []int{1, 2, 3, 3}}, false, "applied twice 1")
	f("one is billed behind a later one", run{arrived: all, billed: []int{1, 3, 2}}, false, "applied out of order 1")
	f("a sum is no sum of invoices", run{arrived: all, billed: all, owed: 5}, false, "wrong sums 1")
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
	s.progress(50, 40, 25, 100)
	s.sayf("hello")
	got := out.String()
	if !strings.Contains(got, "█████▒▒▒▒▒··········") || !strings.Contains(got, "sold    50  delivered    40  applied    25 of 100") {
		t.Errorf("the progress is %q", got)
	}
	if !strings.HasSuffix(got, "hello\n") || !strings.Contains(got, "\r\x1b[2K  0.0s  hello") {
		t.Errorf("a line is not written over the progress: %q", got)
	}
}
