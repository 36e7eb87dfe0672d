package houserules_test

import (
	"bytes"
	"go/ast"
	"testing"
)

const (
	mostFileLines     = 600
	mostFunctionLines = 60
)

func TestFilesAreShort(t *testing.T) {
	t.Parallel()
	for _, s := range open(t).sources {
		if lines := bytes.Count(s.text, []byte("\n")); !s.test && !ast.IsGenerated(s.tree) && lines > mostFileLines {
			t.Errorf("%s has %d lines, more than %d: give a part of it a file of its own", s.file, lines, mostFileLines)
		}
	}
}

func TestFunctionsAreShort(t *testing.T) {
	t.Parallel()
	for _, s := range open(t).sources {
		if s.test || ast.IsGenerated(s.tree) {
			continue
		}
		for _, declaration := range s.tree.Decls {
			f, ok := declaration.(*ast.FuncDecl)
			if !ok || f.Body == nil {
				continue
			}
			lines := s.set.Position(f.Body.Rbrace).Line - s.set.Position(f.Body.Lbrace).Line - 1
			if lines > mostFunctionLines {
				t.Errorf("%s: %s has %d lines, more than %d: name its parts", s.set.Position(f.Pos()), f.Name.Name,
					lines, mostFunctionLines)
			}
		}
	}
}
