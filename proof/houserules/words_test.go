package houserules_test

import (
	"bytes"
	"go/ast"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// committed lists the files that git knows, or in a checkout without git all that are there.
func (c *checkout) committed(t *testing.T) []string {
	t.Helper()
	cmd := exec.Command("git", "ls-files", "-z", "--cached", "--others", "--exclude-standard")
	cmd.Dir = c.root
	out, err := cmd.Output()
	if err == nil {
		return strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00")
	}
	var all []string
	err = c.walk(func(file string) error {
		all = append(all, file)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func TestFilesTellNothingOfTheMachineTheyWereMadeOn(t *testing.T) {
	t.Parallel()
	c := open(t)
	wrong := map[string]*regexp.Regexp{
		"a path of one machine": regexp.MustCompile(`(?:^|[\s"'` + "`" + `(=:,>])/(?:work|root|tmp/pb)(?:[/"'\s` + "`" + `]|$)`),
		"a work item":           regexp.MustCompile(`(?i)\bissues? [0-9]`),
	}
	for _, file := range c.committed(t) {
		text, err := os.ReadFile(filepath.Join(c.root, filepath.FromSlash(file)))
		if os.IsNotExist(err) {
			continue // removed, and not yet committed
		}
		if err != nil {
			t.Fatal(err)
		}
		if strings.HasSuffix(file, "houserules/words_test.go") {
			continue
		}
		for what, pattern := range wrong {
			for _, at := range pattern.FindAllIndex(text, -1) {
				line := 1 + bytes.Count(text[:at[0]], []byte("\n"))
				t.Errorf("%s:%d names %s: %q", file, line, what, bytes.TrimSpace(text[at[0]:at[1]]))
			}
		}
	}
}

// Words that a reader has to look up, or reads twice. The SQL of migrations is left out: a step is never changed.
func TestTextUsesThePlainWord(t *testing.T) {
	t.Parallel()
	c := open(t)
	plain := map[string]*regexp.Regexp{
		`"fix"`:            regexp.MustCompile(`(?i)\bmend(s|ed|ing)?\b`),
		`"who", "anyone"`:  regexp.MustCompile(`(?i)\bwhoever\b`),
		`"up to", "thing"`: regexp.MustCompile(`(?i)\baffairs?\b`),
	}
	for _, file := range c.committed(t) {
		if strings.HasSuffix(file, "houserules/words_test.go") || strings.Contains(file, "/schema/") || !textual(file) {
			continue
		}
		text, err := os.ReadFile(filepath.Join(c.root, filepath.FromSlash(file)))
		if os.IsNotExist(err) {
			continue // removed, and not yet committed
		}
		if err != nil {
			t.Fatal(err)
		}
		for better, pattern := range plain {
			for _, at := range pattern.FindAllIndex(text, -1) {
				line := 1 + bytes.Count(text[:at[0]], []byte("\n"))
				t.Errorf("%s:%d says %q: say %s", file, line, text[at[0]:at[1]], better)
			}
		}
	}
}

// textual says whether people read the file.
func textual(file string) bool {
	switch filepath.Ext(file) {
	case ".go", ".md", ".sql", ".yaml", ".yml", ".sh", "":
		return true
	}
	return false
}

// A skip that gives no reason hides what is not tested.
func TestSkipsGiveTheirReason(t *testing.T) {
	t.Parallel()
	for _, s := range open(t).sources {
		ast.Inspect(s.tree, func(node ast.Node) bool {
			call, ok := node.(*ast.CallExpr)
			if !ok {
				return true
			}
			method, ok := call.Fun.(*ast.SelectorExpr)
			if ok && len(call.Args) == 0 && (method.Sel.Name == "Skip" || method.Sel.Name == "SkipNow") && isTesting(method.X) {
				t.Errorf("%s: a skip without a word: say what is missing and what to do", s.set.Position(call.Pos()))
			}
			return true
		})
	}
}

// isTesting says whether an expression is by its name a testing.T, B, F or TB.
func isTesting(x ast.Expr) bool {
	name, ok := x.(*ast.Ident)
	return ok && (name.Name == "t" || name.Name == "b" || name.Name == "f" || name.Name == "tb")
}
