package houserules_test

import (
	"go/ast"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// The race detector is left out where there is nothing for it to find.
func TestWhatIsTestedWithoutTheRaceDetectorStartsNoGoroutine(t *testing.T) {
	t.Parallel()
	c := open(t)
	script, err := os.ReadFile(filepath.Join(c.root, "scripts", "test"))
	if err != nil {
		t.Fatal(err)
	}
	named := regexp.MustCompile(`(?m)^without_goroutines='/proof/\(([a-z|]+)\)\$'$`).FindSubmatch(script)
	if named == nil {
		t.Fatal("scripts/test has no line without_goroutines='/proof/(NAME|NAME)$'")
	}
	packages := []string{home + "/internal/core", home + "/internal/engine", home + "/internal/lane"} // what the simulator runs
	for name := range strings.SplitSeq(string(named[1]), "|") {
		packages = append(packages, home+"/proof/"+name)
	}
	seen := make(map[string]bool)
	for _, s := range c.sources {
		if !slices.Contains(packages, s.pkg) {
			continue
		}
		seen[s.pkg] = true
		ast.Inspect(s.tree, func(n ast.Node) bool {
			if startsGoroutine(n) {
				t.Errorf("%s starts a goroutine: take the package out of without_goroutines in scripts/test", s.set.Position(n.Pos()))
			}
			return true
		})
	}
	for _, p := range packages {
		if !seen[p] {
			t.Errorf("there is no package %s, which scripts/test or this test names", p)
		}
	}
}

// startsGoroutine says whether a node is a go statement, or a call of a method Go, as that of sync.WaitGroup.
func startsGoroutine(n ast.Node) bool {
	if call, is := n.(*ast.CallExpr); is {
		method, is := call.Fun.(*ast.SelectorExpr)
		return is && (method.Sel.Name == "Go" || method.Sel.Name == "AfterFunc")
	}
	_, is := n.(*ast.GoStmt)
	return is
}
