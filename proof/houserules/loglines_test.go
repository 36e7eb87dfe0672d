package houserules_test

import (
	"go/ast"
	"go/token"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// Each line that a relay, an inbox or the daemon logs is in the page that says what it means and what to do.
func TestEveryLogLineIsInTroubleshooting(t *testing.T) {
	t.Parallel()
	c := open(t)
	page, err := os.ReadFile(filepath.Join(c.root, "docs", "operations", "troubleshooting.md"))
	if err != nil {
		t.Fatal(err)
	}
	lines := 0
	for _, s := range c.sources {
		if dir := path.Dir(s.file); s.test || dir != "relay" && dir != "inbox" && dir != "cmd/postbag" && !strings.HasPrefix(dir, "cmd/postbag/internal/") {
			continue
		}
		for _, line := range logLines(s.tree) {
			lines++
			if !strings.Contains(string(page), "`"+line+"`") {
				t.Errorf("%s logs %q, and docs/operations/troubleshooting.md does not say what to do then", s.file, line)
			}
		}
	}
	if lines < 30 {
		t.Errorf("the relay and the daemon log %d lines: the test sees too few", lines)
	}
}

// logLines returns the messages that a file's functions log by slog's methods: texts, and variables that they give a text.
func logLines(file *ast.File) (lines []string) {
	for _, decl := range file.Decls {
		ast.Inspect(decl, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok || len(call.Args) == 0 {
				return true
			}
			method, ok := call.Fun.(*ast.SelectorExpr)
			if !ok || method.Sel.Name != "Info" && method.Sel.Name != "Warn" && method.Sel.Name != "Error" {
				return true
			}
			switch message := call.Args[0].(type) {
			case *ast.BasicLit:
				lines = append(lines, textOf(message))
			case *ast.Ident:
				lines = append(lines, textsOf(decl, message.Name)...)
			}
			return true
		})
	}
	return lines
}

// textsOf returns the texts that a declaration gives a variable.
func textsOf(in ast.Node, variable string) (texts []string) {
	ast.Inspect(in, func(n ast.Node) bool {
		if set, ok := n.(*ast.AssignStmt); ok && len(set.Lhs) == 1 {
			name, named := set.Lhs[0].(*ast.Ident)
			if text, ok := set.Rhs[0].(*ast.BasicLit); ok && named && name.Name == variable && text.Kind == token.STRING {
				texts = append(texts, textOf(text))
			}
		}
		return true
	})
	return texts
}

func textOf(l *ast.BasicLit) string {
	text, err := strconv.Unquote(l.Value)
	if err != nil {
		return l.Value
	}
	return text
}
