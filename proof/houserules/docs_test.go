package houserules_test

import (
	"go/ast"
	"path"
	"strings"
	"testing"
)

func TestEveryPackageSaysWhatItIs(t *testing.T) {
	t.Parallel()
	names := make(map[string]string)    // folder, package
	comments := make(map[string]string) // folder, the comment in doc.go
	for _, s := range open(t).sources {
		if s.test || s.tree.Name.Name == "main" || ast.IsGenerated(s.tree) {
			continue
		}
		dir := path.Dir(s.file)
		names[dir] = s.tree.Name.Name
		if path.Base(s.file) == "doc.go" {
			comments[dir] = s.tree.Doc.Text()
		} else if s.tree.Doc != nil {
			t.Errorf("%s has a package comment: it belongs into doc.go", s.file)
		}
	}
	const least = 80 // characters: shorter, it only repeats the name
	for dir, name := range names {
		comment, found := comments[dir]
		switch {
		case !found:
			t.Errorf("%s has no doc.go: a newcomer looks there for what the package is", dir)
		case !strings.HasPrefix(comment, "Package "+name+" "):
			t.Errorf("%s/doc.go has no comment that begins with \"Package %s\"", dir, name)
		case len(comment) < least:
			t.Errorf("%s/doc.go says too little: what is it for, how is it used, what does it promise?", dir)
		}
	}
}

func TestMainPackagesSayWhatTheyDo(t *testing.T) {
	t.Parallel()
	said := make(map[string]bool)
	for _, s := range open(t).sources {
		if dir := path.Dir(s.file); !s.test && s.tree.Name.Name == "main" {
			said[dir] = said[dir] || s.tree.Doc != nil
		}
	}
	for dir, ok := range said {
		if !ok {
			t.Errorf("the command in %s has no comment: say above \"package main\" what it does and how it is called", dir)
		}
	}
}

func TestEveryExportedNameHasAComment(t *testing.T) {
	t.Parallel()
	for _, s := range open(t).sources {
		if s.test || s.tree.Name.Name == "main" || ast.IsGenerated(s.tree) {
			continue
		}
		for _, name := range uncommented(s.tree) {
			t.Errorf("%s: %s has no comment: say what it promises", s.set.Position(name.Pos()), name.Name)
		}
	}
}

// uncommented lists the exported names of a file that have no comment of their own. In a group of constants or variables
// each has one, or the group's has to do for all.
func uncommented(file *ast.File) []*ast.Ident {
	var bare []*ast.Ident
	for _, declaration := range file.Decls {
		switch d := declaration.(type) {
		case *ast.FuncDecl:
			if d.Doc == nil && d.Name.IsExported() && (d.Recv == nil || receiverIsExported(d)) && !isWellKnown(d) {
				bare = append(bare, d.Name)
			}
		case *ast.GenDecl:
			bare = append(bare, uncommentedIn(d)...)
		}
	}
	return bare
}

func uncommentedIn(group *ast.GenDecl) []*ast.Ident {
	var bare []*ast.Ident
	for _, spec := range group.Specs {
		switch one := spec.(type) {
		case *ast.TypeSpec:
			if one.Name.IsExported() && one.Doc == nil && (group.Doc == nil || group.Lparen.IsValid()) {
				bare = append(bare, one.Name)
			}
		case *ast.ValueSpec:
			for _, name := range one.Names {
				if name.IsExported() && one.Doc == nil && one.Comment == nil && group.Doc == nil {
					bare = append(bare, name)
				}
			}
		}
	}
	return bare
}

// receiverIsExported says whether the method's type is.
func receiverIsExported(f *ast.FuncDecl) bool {
	for x := f.Recv.List[0].Type; ; {
		switch part := x.(type) {
		case *ast.StarExpr:
			x = part.X
		case *ast.IndexExpr: // a generic type
			x = part.X
		case *ast.IndexListExpr:
			x = part.X
		case *ast.Ident:
			return part.IsExported()
		default:
			return false
		}
	}
}

// isWellKnown says whether everybody knows what a method of that name does.
func isWellKnown(f *ast.FuncDecl) bool {
	known := map[string]bool{"Error": true, "Unwrap": true, "String": true, "Len": true, "Less": true, "Swap": true}
	return f.Recv != nil && known[f.Name.Name]
}
