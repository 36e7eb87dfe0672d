// Postbag-mutants tries the bug bank (proof/mutants): it builds the
// instruments with each known mistake in the code, and says which of them is found
// by what.
//
//	postbag-mutants                     all
//	postbag-mutants -only late-rows-forgotten,seq-is-the-cursor
//	postbag-mutants -write              all, and the table goes into docs/reliability.md
//	postbag-mutants -write -only ...    some, whose rows alone are written; the others stay as they are
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
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/postbag/postbag/proof/internal/flags"
	"github.com/postbag/postbag/proof/mutants"
)

func main() {
	os.Exit(flags.Run(func(ctx context.Context, args []string, out io.Writer) (func(context.Context) int, error) {
		t, err := parse(ctx, args, out)
		return t.run, err
	}))
}

// parse reads the flags. It returns flag.ErrHelp when help was asked for and printed.
func parse(ctx context.Context, args []string, out io.Writer) (*trial, error) {
	b := &mutants.Bank{}
	t := &trial{bank: b, out: out}
	f := flag.NewFlagSet("postbag-mutants", flag.ContinueOnError)
	f.IntVar(&b.Seeds, "seeds", 10_000, "how many seeds the simulator may take")
	only := f.String("only", "", "the names of those to try, with commas between; empty: all")
	f.IntVar(&t.parallel, "parallel", 2, "how many are tried at a time")
	f.BoolVar(&t.write, "write", false, "write what was found into the table of docs/reliability.md, if all that were tried were found; rows of others stay")
	if err := flags.Parse(f, args, out); err != nil {
		return nil, err
	}
	var wrong []error
	if b.Seeds < 1 {
		wrong = append(wrong, fmt.Errorf("postbag-mutants: %d seeds; use one or more", b.Seeds))
	}
	if t.parallel < 1 {
		wrong = append(wrong, fmt.Errorf("postbag-mutants: %d at a time; use one or more", t.parallel))
	}
	var err error
	t.chosen, err = choose(*only)
	wrong = append(wrong, err)
	b.Top, err = flags.Top(ctx)
	return t, errors.Join(append(wrong, err)...)
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
			return nil, fmt.Errorf("postbag-mutants: there is no mutant %q; docs/reliability.md has a table of them", name)
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
	tried, missed := t.tryAll(ctx)
	t.sayf("%d mutants, %d not found, %.0f s\n", len(t.chosen), missed, time.Since(began).Seconds())
	if missed > 0 {
		return 1
	}
	if t.write {
		if err := mutants.WriteTable(filepath.Join(t.bank.Top, "docs", "reliability.md"), mutants.All(), tried); err != nil {
			return t.fail(err)
		}
	}
	return 0
}

// tryAll tries several at a time, and counts those that were not found.
func (t *trial) tryAll(ctx context.Context) (tried map[string]mutants.Finding, missed int) {
	tried = make(map[string]mutants.Finding, len(t.chosen))
	free := make(chan struct{}, t.parallel)
	var wg sync.WaitGroup
	for i := range t.chosen {
		m := &t.chosen[i]
		free <- struct{}{}
		wg.Go(func() {
			f, err := t.bank.Try(ctx, m)
			t.mu.Lock()
			tried[m.Name] = f
			if err != nil || !f.Caught {
				missed++
			}
			t.mu.Unlock()
			t.say(m, &f, err)
			<-free
		})
	}
	wg.Wait()
	return tried, missed
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
	return t.bank.Sound(ctx, all, t.parallel, func(by *mutants.Instrument) { t.sayf("sound     %s finds nothing in the true code\n", by) })
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
