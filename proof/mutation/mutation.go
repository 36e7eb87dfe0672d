package mutation

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Change is one change.
type Change struct {
	// Number chooses it, from one on.
	Number int
	// Place is its file and line, What the text before and after.
	Place, What string
}

// variable is the environment variable that chooses a change.
const variable = "POSTBAG_MUTATION"

// chooser is what the changed code calls, a file of its package.
const chooser = `package %s

import (
	"os"
	"strconv"
)

var postbagChange, _ = strconv.Atoi(os.Getenv("` + variable + `"))

func postbagChanged(from int, as func() bool, instead ...func() bool) bool {
	if i := postbagChange - from; i >= 0 && i < len(instead) {
		return instead[i]()
	}
	return as()
}
`

// rewriter collects the changes of a package.
type rewriter struct {
	set     *token.FileSet
	changes []Change
}

// insertion is a text to be put into a file.
type insertion struct {
	at, length int // where, and how long what it belongs to is; ends have a negative length
	text       string
}

// Rewrite makes the changed copies of files of the package in a folder, into another
// folder, and returns the overlay's replacements and all changes.
func Rewrite(folder string, files []string, into string) (map[string]string, []Change, error) {
	r := &rewriter{set: token.NewFileSet()}
	replace := map[string]string{}
	name := ""
	for _, file := range files {
		path := filepath.Join(folder, file)
		source, err := os.ReadFile(path)
		if err != nil {
			return nil, nil, err
		}
		parsed, err := parser.ParseFile(r.set, path, source, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return nil, nil, err
		}
		name = parsed.Name.Name
		copied := filepath.Join(into, name+"-"+file)
		if err := os.WriteFile(copied, r.rewrite(file, source, parsed), 0o600); err != nil { //nolint:gosec // the caller's folder
			return nil, nil, err
		}
		replace[path] = copied
	}
	copied := filepath.Join(into, name+"-chooser.go")
	replace[filepath.Join(folder, "zz_changed.go")] = copied
	return replace, r.changes, os.WriteFile(copied, fmt.Appendf(nil, chooser, name), 0o600) //nolint:gosec // the caller's folder
}

// rewrite returns a file with all its changes in it.
func (r *rewriter) rewrite(file string, source []byte, parsed *ast.File) []byte {
	var all []insertion
	offset := func(p token.Pos) int { return r.set.Position(p).Offset }
	around := func(n ast.Node, before, after string) {
		from, to := offset(n.Pos()), offset(n.End())
		all = append(all, insertion{from, to - from, before}, insertion{to, from - to, after})
	}
	text := func(from, to token.Pos) string { return string(source[offset(from):offset(to)]) }
	note := func(n ast.Node, what string) int {
		number := len(r.changes) + 1
		r.changes = append(r.changes, Change{number, fmt.Sprintf("%s:%d", file, r.set.Position(n.Pos()).Line), strings.Join(strings.Fields(what), " ")})
		return number
	}
	ast.Inspect(parsed, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.GenDecl:
			return n.Tok != token.CONST
		case *ast.BinaryExpr:
			first, alternatives := 0, ""
			for _, op := range others[n.Op] {
				number := note(n, fmt.Sprintf("%s  becomes  %s", text(n.Pos(), n.End()), op))
				if first == 0 {
					first = number
				}
				alternatives += fmt.Sprintf(", func() bool { return (%s) %s (%s) }", text(n.X.Pos(), n.X.End()), op, text(n.Y.Pos(), n.Y.End()))
			}
			if first > 0 {
				around(n, fmt.Sprintf("postbagChanged(%d, func() bool { return ", first), " }"+alternatives+")")
			}
		case *ast.UnaryExpr:
			if n.Op == token.NOT {
				number := note(n, text(n.Pos(), n.End())+"  without !")
				around(n, fmt.Sprintf("postbagChanged(%d, func() bool { return ", number), " }, func() bool { return "+text(n.X.Pos(), n.X.End())+" })")
			}
		case *ast.BlockStmt:
			r.statements(n.List, text, note, around)
		case *ast.CaseClause:
			r.statements(n.Body, text, note, around)
		}
		return true
	})
	return splice(source, all)
}

// statements have those that can be left out left out.
func (r *rewriter) statements(list []ast.Stmt, text func(from, to token.Pos) string, note func(ast.Node, string) int, around func(n ast.Node, before, after string)) {
	for _, s := range list {
		if !removable(s) {
			continue
		}
		number := note(s, text(s.Pos(), s.End())+"  is left out")
		around(s, fmt.Sprintf("if postbagChange != %d { ", number), " }")
	}
}

// removable: it can be left out, and the rest still compiles.
func removable(s ast.Stmt) bool {
	switch s := s.(type) {
	case *ast.ExprStmt:
		call, is := s.X.(*ast.CallExpr)
		if !is {
			return false
		}
		name, is := call.Fun.(*ast.Ident)
		return !is || name.Name != "panic"
	case *ast.IncDecStmt:
		return true
	case *ast.AssignStmt:
		return s.Tok != token.DEFINE && !slices.ContainsFunc(s.Lhs, func(e ast.Expr) bool {
			name, is := e.(*ast.Ident)
			return is && name.Name == "_"
		})
	}
	return false
}

// others are the operators that may stand instead of one.
var others = map[token.Token][]token.Token{
	token.LSS: {token.LEQ, token.GEQ}, token.LEQ: {token.LSS, token.GTR},
	token.GTR: {token.GEQ, token.LEQ}, token.GEQ: {token.GTR, token.LSS},
	token.EQL: {token.NEQ}, token.NEQ: {token.EQL},
	token.LAND: {token.LOR}, token.LOR: {token.LAND},
}

// splice puts all insertions into source.
func splice(source []byte, all []insertion) []byte {
	slices.SortStableFunc(all, func(a, b insertion) int {
		switch {
		case a.at != b.at:
			return a.at - b.at
		case (a.length < 0) != (b.length < 0): // what ends here, ends before anything begins
			return a.length - b.length
		default: // the outer one begins first, and ends last
			return b.length - a.length
		}
	})
	var out []byte
	from := 0
	for _, i := range all {
		out = append(append(out, source[from:i.at]...), i.text...)
		from = i.at
	}
	return append(out, source[from:]...)
}
