package mutants

import (
	"encoding/json"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// Mutant is one mistake.
type Mutant struct {
	// Name is short and unique, with hyphens.
	Name string
	// What is wrong, in a sentence.
	What string
	// Evidence is who made the mistake, or how it was measured.
	Evidence string
	Patches  []Patch
	// By is the instrument that must find it.
	By Instrument
	// Quick ones are tried in continuous integration too: one or two of each kind, as each takes a build of its own. What finds them does so
	// within seconds.
	Quick bool
}

// Patch replaces a text that a file holds exactly once.
type Patch struct {
	// File is its path from the top of the repository.
	File     string
	Old, New string
}

// Instrument is what finds a mutant: tests if there is a Package, the fault harness
// if there is a Pair, else the simulator.
type Instrument struct {
	// Arguments go to the simulator.
	Arguments []string
	// Module is the folder of the module whose tests are run, Package the package in
	// it, Run the tests.
	Module, Package, Run string
	// Pair goes through the fault harness with the faults Only, for as long as For.
	Pair string
	Only []string
	For  time.Duration
}

// String names the instrument in the table.
func (i Instrument) String() string {
	switch {
	case i.Pair != "":
		return fmt.Sprintf("fault harness, %s for %s: %s", i.Pair, i.For, strings.Join(i.Only, ", "))
	case i.Package == "":
		return strings.Join(append([]string{"simulator"}, i.Arguments...), " ")
	case i.Module == ".":
		return "tests of " + i.Package + ", " + i.Run
	case i.Package != ".":
		return "tests of " + path.Join(i.Module, i.Package) + ", " + i.Run
	default:
		return "tests of " + i.Module + ", " + i.Run
	}
}

// kind is the same of all instruments that are one program.
func (i Instrument) kind() string {
	if i.Pair != "" {
		return "harness"
	}
	return i.Module + " " + i.Package
}

// sim is the simulator, with arguments.
func sim(arguments ...string) Instrument { return Instrument{Arguments: arguments} }

// tests are those of a module's main package.
func tests(module, run string) Instrument {
	return Instrument{Module: module, Package: ".", Run: run}
}

// coreTests are those of a package of the root module.
func coreTests(folder, run string) Instrument {
	if folder != "." {
		folder = "./" + folder
	}
	return Instrument{Module: ".", Package: folder, Run: run}
}

// faketime are the runs of the relay in fake time: Faults or Restarts.
func faketime(kind string) Instrument {
	runs := map[string]string{"Faults": "TestTheRelayKeepsItsPromisesThroughFaults", "Restarts": "TestRestartsOfRelaysRepeatNothing"}
	return proofTests("faketime", runs[kind])
}

// proofTests are those of a package of the module proof.
func proofTests(folder, run string) Instrument {
	return Instrument{Module: "proof", Package: "./" + folder, Run: run}
}

// harness is the fault harness.
func harness(pair string, long time.Duration, only ...string) Instrument {
	return Instrument{Pair: pair, For: long, Only: only}
}

// All returns every mutant, in the order of the table.
func All() []Mutant {
	return slices.Concat(sending, timing, parking, holding, settling, rating, pausing, owning, finding, lanes, outliving, naive, storing, reading, passing, leasing, retrying, burying, telling, retaining, superseding, keeping, blocking, enduring, publishing, answering, classing, adapting, receiving, consuming, marking, handling, pages, operating, living, planning, tuning, numbering, routing, shell, deciding, judging, replaying, longOperations, tokens)
}

// overlay writes the patched files of m into a folder, and the file that tells the
// go command of them, whose path it returns.
func (m *Mutant) overlay(top, folder string) (string, error) {
	texts := map[string]string{}
	for _, p := range m.Patches {
		path := filepath.Join(top, filepath.FromSlash(p.File))
		text, known := texts[path]
		if !known {
			raw, err := os.ReadFile(path)
			if err != nil {
				return "", fmt.Errorf("mutant %s: %w; say where the code is now", m.Name, err)
			}
			text = string(raw)
		}
		if n := strings.Count(text, p.Old); n != 1 {
			return "", fmt.Errorf("mutant %s: %s holds the text it replaces %d times, not once; fix the patch:\n%s", m.Name, p.File, n, p.Old)
		}
		texts[path] = strings.Replace(text, p.Old, p.New, 1)
	}
	replace := map[string]string{}
	for path, text := range texts {
		copied := filepath.Join(folder, fmt.Sprintf("%d-%s", len(replace), filepath.Base(path)))
		if err := os.WriteFile(copied, []byte(text), 0o600); err != nil {
			return "", err
		}
		replace[path] = copied
	}
	raw, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return "", err
	}
	file := filepath.Join(folder, "overlay.json")
	return file, os.WriteFile(file, raw, 0o600)
}
