// Postbag-mutants tries the bug bank (integration/mutants): it builds the
// instruments with each known mistake in the code, and says which of them is found
// by what.
//
//	postbag-mutants                     all
//	postbag-mutants -only late-rows-forgotten,seq-is-the-cursor
//	postbag-mutants -write              all, and the table goes into docs/reliability.md
//
// Its exit code is 1 if one is not found, or cannot be tried, and 2 if it was called
// wrongly.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/postbag/postbag/integration/mutants"
)

func main() {
	seeds := flag.Int("seeds", 10_000, "how many seeds the simulator may take")
	only := flag.String("only", "", "the names of those to try, with commas between; empty: all")
	parallel := flag.Int("parallel", 2, "how many are tried at a time")
	write := flag.Bool("write", false, "write the table into docs/reliability.md, if all were found")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	chosen, err := choose(*only)
	top, topErr := exec.CommandContext(ctx, "git", "rev-parse", "--show-toplevel").Output()
	if err = errors.Join(err, topErr); err != nil || flag.NArg() > 0 || *parallel < 1 || *seeds < 1 {
		fmt.Fprintln(os.Stderr, "postbag-mutants: called wrongly; see -help:", err)
		os.Exit(2)
	}
	b := &mutants.Bank{Top: strings.TrimSpace(string(top)), Seeds: *seeds}
	t := &trial{bank: b, chosen: chosen, parallel: *parallel, write: *write && *only == "", out: os.Stdout}
	code := t.run(ctx)
	stop()
	os.Exit(code)
}

// choose returns the mutants of these names.
func choose(only string) ([]mutants.Mutant, error) {
	all := mutants.All()
	if only == "" {
		return all, nil
	}
	var out []mutants.Mutant
	for name := range strings.SplitSeq(only, ",") {
		i := slices.IndexFunc(all, func(m mutants.Mutant) bool { return m.Name == name })
		if i < 0 {
			return nil, fmt.Errorf("there is no mutant %q", name)
		}
		out = append(out, all[i])
	}
	return out, nil
}

// trial is one run of the command.
type trial struct {
	bank     *mutants.Bank
	chosen   []mutants.Mutant
	parallel int
	write    bool

	mu  sync.Mutex
	out io.Writer
}

// run tries the mutants, and returns the exit code.
func (t *trial) run(ctx context.Context) int {
	began := time.Now()
	if err := t.sound(ctx); err != nil {
		return t.fail(err)
	}
	findings, missed := t.tryAll(ctx)
	t.sayf("%d mutants, %d not found, %.0f s\n", len(t.chosen), missed, time.Since(began).Seconds())
	if missed > 0 {
		return 1
	}
	if t.write {
		if err := mutants.WriteTable(filepath.Join(t.bank.Top, "docs", "reliability.md"), t.chosen, findings); err != nil {
			return t.fail(err)
		}
	}
	return 0
}

// tryAll tries several at a time, and counts those that were not found.
func (t *trial) tryAll(ctx context.Context) (findings []mutants.Finding, missed int) {
	findings = make([]mutants.Finding, len(t.chosen))
	free := make(chan struct{}, t.parallel)
	var wg sync.WaitGroup
	for i := range t.chosen {
		free <- struct{}{}
		wg.Go(func() {
			f, err := t.bank.Try(ctx, &t.chosen[i])
			findings[i] = f
			t.mu.Lock()
			if err != nil || !f.Caught {
				missed++
			}
			t.mu.Unlock()
			t.say(&t.chosen[i], &f, err)
			<-free
		})
	}
	wg.Wait()
	return findings, missed
}

func (t *trial) sayf(format string, about ...any) {
	t.mu.Lock()
	defer t.mu.Unlock()
	_, _ = fmt.Fprintf(t.out, format, about...)
}

func (t *trial) fail(err error) int {
	t.sayf("FAILED: %v\n", err)
	return 1
}

// sound makes sure that the instruments find nothing in the true code.
func (t *trial) sound(ctx context.Context) error {
	var all []mutants.Instrument
	for i := range t.chosen {
		by := t.chosen[i].By
		if !slices.ContainsFunc(all, func(o mutants.Instrument) bool { return o.String() == by.String() }) {
			all = append(all, by)
		}
	}
	return t.bank.Sound(ctx, all, func(by *mutants.Instrument) { t.sayf("sound     %s finds nothing in the true code\n", by) })
}

// say prints what came of one.
func (t *trial) say(m *mutants.Mutant, f *mutants.Finding, err error) {
	switch {
	case err != nil:
		t.sayf("FAILED    %v\n", err)
	case !f.Caught:
		t.sayf("SURVIVES  %-52s %s, %s: %s\n", m.Name, m.By, f.After(), f.How)
	default:
		t.sayf("found     %-52s %s, after %s: %s\n", m.Name, m.By, f.After(), f.How)
	}
}
