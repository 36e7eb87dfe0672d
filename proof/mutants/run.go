package mutants

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"sync"
	"time"
)

// Bank tries mutants on the tree at Top.
type Bank struct {
	// Top is the top of the repository.
	Top string
	// Seeds is how many seeds the simulator plays of one at most.
	Seeds int
}

// Finding is what came of one.
type Finding struct {
	// Caught says that the instrument found it; How by which promise, or test.
	Caught bool
	How    string
	// Seeds were played, and it took so long without the build; Seeds is zero if the instrument
	// is not the simulator.
	Seeds int
	Took  time.Duration
}

// Try builds the instrument with m in it, and sees whether that finds it. An error
// says that it could not be tried.
func (b *Bank) Try(ctx context.Context, m *Mutant) (Finding, error) {
	folder, err := os.MkdirTemp("", "postbag-mutant-*")
	if err != nil {
		return Finding{}, err
	}
	defer func() { _ = os.RemoveAll(folder) }()
	overlay, err := m.overlay(b.Top, folder)
	if err != nil {
		return Finding{}, err
	}
	program := filepath.Join(folder, "instrument")
	if err := b.build(ctx, &m.By, overlay, program); err != nil {
		return Finding{}, fmt.Errorf("mutant %s does not build: %w", m.Name, err)
	}
	f, err := b.look(ctx, program, &m.By)
	if err == nil && f.Caught && f.Seeds > 0 {
		err = b.replay(ctx, folder, &m.By, f.Seeds-1)
	}
	if err != nil {
		err = fmt.Errorf("mutant %s could not be tried: %w", m.Name, err)
	}
	return f, err
}

// replay is an error if the simulator finds something in the true code too, with the seed that found a mutant: then it is not the mutant
// that was found.
func (b *Bank) replay(ctx context.Context, folder string, by *Instrument, seed int) error {
	none := Mutant{Name: "none"}
	overlay, err := none.overlay(b.Top, folder)
	if err != nil {
		return err
	}
	program := filepath.Join(folder, "true")
	if err := b.build(ctx, by, overlay, program); err != nil {
		return err
	}
	one := Bank{Top: b.Top, Seeds: 1}
	return one.silent(ctx, program, &Instrument{Arguments: append([]string{"-from", strconv.Itoa(seed)}, by.Arguments...)})
}

// build builds an instrument, without what a debugger needs: to link that takes as long as the rest.
func (b *Bank) build(ctx context.Context, by *Instrument, overlay, program string) error {
	switch {
	case by.Pair != "":
		return b.goCommand(ctx, "proof", "build", "-tags", "postbag_failpoints", "-overlay", overlay, "-o", program, "./cmd/postbag-chaos")
	case by.Package == "":
		return b.goCommand(ctx, "proof", "build", "-ldflags=-s -w", "-overlay", overlay, "-o", program, "./cmd/postbag-sim")
	}
	return b.goCommand(ctx, by.Module, "test", "-c", "-vet=off", "-ldflags=-s -w", "-overlay", overlay, "-o", program, by.Package)
}

// look has an instrument look for what is wrong.
func (b *Bank) look(ctx context.Context, program string, by *Instrument) (f Finding, err error) {
	began := time.Now()
	switch {
	case by.Pair != "":
		f, err = b.harm(ctx, program, by)
	case by.Package == "":
		f, err = b.simulate(ctx, program, by.Arguments)
	default:
		f, err = b.test(ctx, program, by)
	}
	f.Took = time.Since(began)
	return f, err
}

func (b *Bank) goCommand(ctx context.Context, module string, arguments ...string) error {
	c := exec.CommandContext(ctx, "go", arguments...)
	c.Dir = filepath.Join(b.Top, module)
	c.Env = append(os.Environ(), "GOWORK=off")
	if out, err := c.CombinedOutput(); err != nil {
		return fmt.Errorf("%w\n%s", err, out)
	}
	return nil
}

// Patience is how long an instrument may take. One that hangs has found nothing: it
// could not have said what.
const patience = 4 * time.Minute

// simulate plays seeds until one breaks a promise.
func (b *Bank) simulate(ctx context.Context, program string, arguments []string) (Finding, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	arguments = append([]string{"-seeds", strconv.Itoa(b.Seeds), "-workers", "1", "-stop-at-first", "-json"}, arguments...)
	c := exec.CommandContext(ctx, program, arguments...)
	var errs bytes.Buffer
	c.Stderr = &errs
	out, err := c.Output()
	if ctx.Err() != nil {
		return Finding{How: "nothing in " + patience.String()}, nil
	}
	if crash := panicked.FindStringSubmatch(errs.String()); crash != nil {
		return Finding{Caught: true, How: "panic: " + crash[1]}, nil
	}
	var said struct {
		Held    bool   `json:"held"`
		Promise string `json:"promise"`
		What    string `json:"what"`
		Seeds   int    `json:"seeds"`
	}
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		return Finding{}, err
	}
	if json.Unmarshal(out, &said) != nil {
		return Finding{}, fmt.Errorf("the simulator said %q and %q", out, errs.String())
	}
	f := Finding{Caught: !said.Held, Seeds: said.Seeds, How: "nothing"}
	if f.Caught {
		f.How = said.Promise + ": " + numbers.ReplaceAllString(said.What, "$1")
	}
	return f, nil
}

var (
	panicked = regexp.MustCompile(`(?m)^panic: (.*)$`)
	// What a message says beyond its first clause is of one run only.
	numbers = regexp.MustCompile(`(?s)^([^,(:]*).*$`)
	failed  = regexp.MustCompile(`^\x16?\s*--- FAIL: (\S+)`)
)

// test runs tests until the first failure is told, and no longer: what comes after it may wait for minutes for what the mutant has lost.
func (b *Bank) test(ctx context.Context, program string, by *Instrument) (Finding, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	// In this form, made for programs, the end of each case is told when it comes.
	c := exec.CommandContext(ctx, program, "-test.v=test2json", "-test.run", by.Run, "-test.count", "1", "-test.failfast", "-test.timeout", (patience - 10*time.Second).String())
	c.Dir = filepath.Join(b.Top, by.Module, by.Package)
	c.Env = append(os.Environ(), "POSTBAG_REQUIRE_SERVERS=1")
	c.WaitDelay = 10 * time.Second
	w := &witness{stop: cancel}
	c.Stdout, c.Stderr = w, w
	err := c.Run()
	out := w.all.Bytes()
	var exit *exec.ExitError
	switch {
	case w.failed != "":
		return Finding{Caught: true, How: w.failed}, nil
	case err == nil && bytes.Contains(out, []byte("no tests to run")):
		return Finding{}, fmt.Errorf("%s has no test %s", by.Module, by.Run)
	case err == nil:
		return Finding{How: "nothing"}, nil
	case bytes.Contains(out, []byte("panic: test timed out")), ctx.Err() != nil:
		return Finding{How: "nothing in " + patience.String()}, nil
	case errors.As(err, &exit) && panicked.Match(out):
		return Finding{Caught: true, How: "panic: " + string(panicked.FindSubmatch(out)[1])}, nil
	default:
		return Finding{}, fmt.Errorf("%w\n%s", err, out)
	}
}

// witness keeps what tests say, and stops them when the first failure is told: that of the innermost case.
type witness struct {
	stop   func()
	all    bytes.Buffer
	line   int // where the last line begins
	failed string
}

func (w *witness) Write(p []byte) (int, error) {
	w.all.Write(p)
	for w.failed == "" {
		line, _, whole := bytes.Cut(w.all.Bytes()[w.line:], []byte("\n"))
		if !whole {
			break
		}
		w.line += len(line) + 1
		if name := failed.FindSubmatch(line); name != nil {
			w.failed = string(name[1])
			w.stop()
		}
	}
	return len(p), nil
}

// Sound makes sure that instruments find nothing in the true code, several at a time. It tells of each.
func (b *Bank) Sound(ctx context.Context, all []Instrument, parallel int, say func(*Instrument)) error {
	folder, err := os.MkdirTemp("", "postbag-mutant-*")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(folder) }()
	none := Mutant{Name: "none"}
	overlay, err := none.overlay(b.Top, folder)
	if err != nil {
		return err
	}
	short := *b
	short.Seeds = min(b.Seeds, 40) // the simulator's own tests play more
	var wg sync.WaitGroup
	free, faults := make(chan struct{}, parallel), make([]error, len(all))
	built := map[string]string{}
	for i := range all {
		by := &all[i]
		program, known := built[by.kind()]
		if !known {
			program = filepath.Join(folder, fmt.Sprintf("instrument-%d", len(built)))
			if faults[i] = b.build(ctx, by, overlay, program); faults[i] != nil {
				break
			}
			built[by.kind()] = program
		}
		free <- struct{}{}
		wg.Go(func() {
			defer func() { <-free }()
			if faults[i] = short.silent(ctx, program, by); faults[i] == nil {
				say(by)
			}
		})
	}
	wg.Wait()
	return errors.Join(faults...)
}

// silent is an error if an instrument finds something in the true code.
func (b *Bank) silent(ctx context.Context, program string, by *Instrument) error {
	f, err := b.look(ctx, program, by)
	if err == nil && f.Caught {
		err = fmt.Errorf("%s finds %s in the true code: fix that first", by, f.How)
	}
	return err
}
