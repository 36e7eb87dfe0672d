package mutation

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// A package of three statements, and tests that look at one of them.
const (
	code = `package small

var calls int

func Larger(a, b int) bool {
	if a < b {
		return false
	}
	note()
	return !(a == b)
}

func note() { calls++ }
`
	tests = `package small

import "testing"

func TestLargerIsTrueOfTheLargerNumberOnly(t *testing.T) {
	if Larger(1, 2) || !Larger(2, 1) || Larger(1, 1) {
		t.Error("it is not the larger one")
	}
}
`
)

func TestDetectedChangesAreToldFromSurvivors(t *testing.T) {
	t.Parallel()
	top := t.TempDir()
	for name, text := range map[string]string{"go.mod": "module small\n\ngo 1.26\n", "small.go": code, "small_test.go": tests} {
		if err := os.WriteFile(filepath.Join(top, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	b := &Bench{Top: top, Every: 1, Parallel: 2, Patience: time.Minute, Say: func(string, ...any) {}}
	score, err := b.Try(t.Context(), &Target{Module: ".", Package: ".", Files: []string{"small.go"}})
	if err != nil {
		t.Fatal(err)
	}
	var survivors []string
	for _, s := range score.Survivors {
		survivors = append(survivors, s.Place+" "+s.What)
	}
	slices.Sort(survivors)
	// Moved by one, the comparison makes no difference; that calls are counted, nobody looks at.
	want := []string{"small.go:13 calls++ is left out", "small.go:6 a < b becomes <=", "small.go:9 note() is left out"}
	if !slices.Equal(survivors, want) || score.Changes != 6 {
		t.Errorf("of %d changes, want 6, nobody noticed %q, want %q", score.Changes, survivors, want)
	}
	raw, err := os.ReadFile(filepath.Join(top, "small.go"))
	if err != nil || string(raw) != code {
		t.Error("the tree was changed")
	}
}

// What stands on both sides of an operator stays together when the operator is another one.
func TestAnOperatorIsReplacedWithoutRegroupingItsOperands(t *testing.T) {
	t.Parallel()
	top := t.TempDir()
	for name, text := range map[string]string{
		"go.mod":        "module small\n\ngo 1.26\n",
		"small.go":      "package small\n\nfunc Any(a, b, c bool) bool { return a || b || c }\n",
		"small_test.go": "package small\n\nimport \"testing\"\n\nfunc TestAny(t *testing.T) {\n\tif !Any(true, false, false) {\n\t\tt.Error(\"none\")\n\t}\n}\n",
	} {
		if err := os.WriteFile(filepath.Join(top, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	b := &Bench{Top: top, Every: 1, Parallel: 2, Patience: time.Minute, Say: func(string, ...any) {}}
	score, err := b.Try(t.Context(), &Target{Module: ".", Package: ".", Files: []string{"small.go"}})
	if err != nil || score.Changes != 2 || len(score.Survivors) > 0 {
		t.Errorf("of %d changes, want 2, nobody noticed %v, error %v", score.Changes, score.Survivors, err)
	}
}

func TestTestsThatFailWithoutAChangeAreRefused(t *testing.T) {
	t.Parallel()
	top := t.TempDir()
	for name, text := range map[string]string{"go.mod": "module small\n\ngo 1.26\n", "small.go": code, "small_test.go": strings.Replace(tests, "Larger(1, 2) ||", "!Larger(1, 2) ||", 1)} {
		if err := os.WriteFile(filepath.Join(top, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	b := &Bench{Top: top, Every: 1, Parallel: 1, Patience: time.Minute, Say: func(string, ...any) {}}
	if _, err := b.Try(t.Context(), &Target{Module: ".", Package: ".", Files: []string{"small.go"}}); err == nil || !strings.Contains(err.Error(), "fail without a change") {
		t.Errorf("it gave %v", err)
	}
}

func TestEveryTargetCanBeRewritten(t *testing.T) {
	t.Parallel()
	top, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	for _, target := range Targets() {
		_, changes, err := Rewrite(filepath.Join(top, target.Module, target.Package), target.Files, t.TempDir())
		if err != nil || len(changes) < 20 {
			t.Errorf("%s/%s: %d changes, %v", target.Module, target.Package, len(changes), err)
		}
	}
}
