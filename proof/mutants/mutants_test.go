package mutants

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/postbag/postbag/internal/testserver/servertest"
)

// top is the top of the repository.
func top(tb testing.TB) string {
	tb.Helper()
	path, err := filepath.Abs("../..")
	if err != nil {
		tb.Fatal(err)
	}
	return path
}

func TestEveryMutantStillAppliesAndIsWhole(t *testing.T) {
	t.Parallel()
	known := map[string]bool{}
	for _, m := range All() {
		if _, err := m.overlay(top(t), t.TempDir()); err != nil {
			t.Error(err)
		}
		if known[m.Name] || m.What == "" || m.Evidence == "" || len(m.Patches) == 0 {
			t.Errorf("mutant %q is there twice, or says not what it is", m.Name)
		}
		known[m.Name] = true
	}
	if len(known) < 40 {
		t.Errorf("there are %d mutants, 40 are promised", len(known))
	}
}

// What changes its code and no longer compiles finds nothing, and is seen only when somebody tries it.
func TestEveryMutantCompiles(t *testing.T) {
	t.Parallel()
	if !servertest.Full() {
		t.Skip("POSTBAG_FULL is not set: the quick mutants alone are compiled, when they are tried")
	}
	b := &Bank{Top: top(t)}
	for _, m := range All() {
		overlay, err := m.overlay(b.Top, t.TempDir())
		if err != nil {
			t.Error(err)
			continue
		}
		for _, p := range m.Patches {
			dir := filepath.Join(b.Top, filepath.Dir(filepath.FromSlash(p.File)))
			if err := b.goCommand(t.Context(), filepath.Dir(filepath.FromSlash(p.File)), "build", "-overlay", overlay, dir); err != nil {
				t.Errorf("mutant %s: %v", m.Name, err)
			}
		}
	}
}

func TestEveryInstrumentIsTestsThatItsModuleHas(t *testing.T) {
	t.Parallel()
	for _, m := range All() {
		if m.By.Package == "" {
			continue
		}
		if err := isThere(top(t), &m.By); err != nil {
			t.Errorf("mutant %s: %v", m.Name, err)
		}
	}
}

func TestAnInstrumentOfAnotherModuleOrWithoutTestsIsNamed(t *testing.T) {
	t.Parallel()
	for _, i := range []Instrument{
		coreTests("proof/history", "TestEachValidator"),
		proofTests("nowhere", "."),
		proofTests("history", "TestThatNobodyWrote"),
	} {
		if err := isThere(top(t), &i); err == nil {
			t.Errorf("nothing is said about %v", i)
		}
	}
}

// isThere is an error if i's package is not one of its module, or holds no test that i runs.
func isThere(top string, i *Instrument) error {
	module := filepath.Join(top, i.Module)
	folder := filepath.Join(module, i.Package)
	for f := folder; f != module; f = filepath.Dir(f) {
		if _, err := os.Stat(filepath.Join(f, "go.mod")); err == nil {
			return fmt.Errorf("%s belongs to the module of %s, not to that of %s", folder, f, module)
		}
	}
	files, err := filepath.Glob(filepath.Join(folder, "*_test.go"))
	if err != nil {
		return err
	}
	run, err := regexp.Compile(strings.Split(i.Run, "/")[0])
	if err != nil {
		return err
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		for _, name := range testNames.FindAllStringSubmatch(string(text), -1) {
			if run.MatchString(name[1]) {
				return nil
			}
		}
	}
	return fmt.Errorf("%s holds no test that %q matches", folder, i.Run)
}

var testNames = regexp.MustCompile(`(?m)^func (Test\w+)\(`)

func TestAPatchThatDoesNotApplyOnceNamesItsMutant(t *testing.T) {
	t.Parallel()
	for _, old := range []string{"a text that is nowhere", "package engine\n\nimport"} {
		m := Mutant{Name: "rotten", Patches: []Patch{
			{File: "internal/engine/turn_settle.go", Old: "package engine\n\nimport", New: "package engine\n\n\nimport"},
			{File: "internal/engine/turn_settle.go", Old: old, New: "x"},
		}}
		if _, err := m.overlay(top(t), t.TempDir()); err == nil || !strings.Contains(err.Error(), "rotten") {
			t.Errorf("the patch of %q gave %v, which does not name its mutant", old, err)
		}
	}
}

func TestTheDocsHaveARowForEachMutant(t *testing.T) {
	t.Parallel()
	raw, err := os.ReadFile(filepath.Join(top(t), "docs", "reliability.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, old, _, err := around(string(raw))
	if err != nil {
		t.Fatal(err)
	}
	if again, err := table(All(), nil, old); err != nil || again != old {
		t.Errorf("the table of docs/reliability.md has %d bytes, and is of %d with the mutants there are, in their order (%v): run make mutants",
			len(old), len(again), err)
	}
}

func TestANewRunReplacesOnlyItsOwnTableRows(t *testing.T) {
	t.Parallel()
	a, b := Mutant{Name: "a", What: "is wrong", By: sim()}, Mutant{Name: "b", What: "this|that", By: coreTests(".", "X|Y")}
	path := filepath.Join(t.TempDir(), "page.md")
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("before\n" + tableBegins + tableEnds + "after\n")
	first := map[string]Finding{"a": {How: "lost", Seeds: 7}, "b": {How: "TestX|Y", Took: time.Second}}
	if err := WriteTable(path, []Mutant{a, b}, first); err != nil {
		t.Fatal(err)
	}
	second := map[string]Finding{"b": {How: "TestY", Took: time.Minute}}
	if err := WriteTable(path, []Mutant{b, a}, second); err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(path)
	want := "before\n" + tableBegins + tableHead +
		"| `b` | this\\|that |  | tests of ., X\\|Y | 1m0s | TestY |\n" +
		"| `a` | is wrong |  | simulator | 7 seeds, 0.0 s | lost |\n" + tableEnds + "after\n"
	if err != nil || string(got) != want {
		t.Errorf("%v\n%s\nnot\n%s", err, got, want)
	}
	a.By = sim("-store", "ranges")
	if err := WriteTable(path, []Mutant{a, b}, second); err == nil || !strings.Contains(err.Error(), "-only a") {
		t.Errorf("the row of a mutant that is found by something else now: %v", err)
	}
	if again, err := os.ReadFile(path); err != nil || string(again) != want {
		t.Errorf("it was written nevertheless (%v): %s", err, again)
	}
}

func TestTheSimulatorFindsTheQuickMutantsAndNothingInTheTrueCode(t *testing.T) {
	if testing.Short() {
		t.Skip("it builds the simulator several times")
	}
	t.Parallel()
	b := &Bank{Top: top(t), Seeds: 2000}
	if err := b.Sound(t.Context(), []Instrument{sim()}, 1, func(*Instrument) {}); err != nil {
		t.Fatal(err)
	}
	tried := 0
	for _, m := range All() {
		if !m.Quick {
			continue
		}
		tried++
		switch f, err := b.Try(t.Context(), &m); {
		case err != nil:
			t.Error(err)
		case !f.Caught:
			t.Errorf("%s survives: %s", m.Name, f.After())
		default:
			t.Logf("%s: found after %s: %s", m.Name, f.After(), f.How)
		}
	}
	if tried == 0 {
		t.Error("no mutant is marked quick")
	}
}

func TestTheFindingNamesTheFirstBrokenPromise(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		report string
		want   Finding
	}{
		{`{"history": {"verdicts": [{"promise": "lost", "held": true, "broken": 0}]}, "failures": null}`, Finding{How: "nothing"}},
		{
			`{"history": {"verdicts": [{"promise": "lost", "held": true, "broken": 0}, {"promise": "order", "held": false, "broken": 3}]}, "failures": ["x"]}`,
			Finding{Caught: true, How: "order is broken 3 times"},
		},
		{
			`{"history": {"verdicts": [{"promise": "lost", "held": true, "broken": 0}]}, "failures": ["the backlog does not drain: 7 wait"]}`,
			Finding{Caught: true, How: "the backlog does not drain"},
		},
	} {
		var r harnessReport
		if err := json.Unmarshal([]byte(c.report), &r); err != nil {
			t.Fatal(err)
		}
		if got := r.broken(); got != c.want {
			t.Errorf("of %s: %+v, not %+v", c.report, got, c.want)
		}
	}
}

func TestAMutantWithoutEffectSurvives(t *testing.T) {
	t.Parallel()
	b := &Bank{Top: top(t), Seeds: 20}
	m := Mutant{Name: "harmless", By: sim(), Patches: []Patch{{File: "internal/engine/turn_settle.go", Old: "package engine\n\nimport", New: "package engine\n\n\nimport"}}}
	if f, err := b.Try(t.Context(), &m); err != nil || f.Caught || f.Seeds != 20 {
		t.Errorf("it gave %+v, %v: a survivor of 20 seeds was expected", f, err)
	}
	m.Patches[0].New = "package motor\n\nimport"
	if _, err := b.Try(t.Context(), &m); err == nil || !strings.Contains(err.Error(), "harmless does not build") {
		t.Errorf("one that does not compile gave %v", err)
	}
}

func TestTheTestRunStopsAtTheFirstFailure(t *testing.T) {
	t.Parallel()
	stopped := 0
	w := &witness{stop: func() { stopped++ }}
	for _, said := range []string{
		"\x16=== RUN   TestStore\n--- FAIL is no line of its", " own\n\x16--- PASS: TestStore/one (0.01s)\n\x16--- FA", "IL: TestStore/two (1.00s)\n",
		"\x16--- FAIL: TestStore (1.01s)\n",
	} {
		if _, err := w.Write([]byte(said)); err != nil {
			t.Fatal(err)
		}
	}
	if w.failed != "TestStore/two" || stopped != 1 {
		t.Errorf("the first is %q, and the tests were stopped %d times", w.failed, stopped)
	}
}
