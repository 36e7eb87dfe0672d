package houserules_test

import (
	"go/ast"
	"path"
	"testing"
)

// A method that comes with an embedded type of another package is missing from "go doc" of the store that has it. So a
// store declares every method of the interfaces that it says it implements, also where it only calls what stores share.
func TestAStoreDeclaresAllItsMethods(t *testing.T) {
	t.Parallel()
	interfaces := map[string][]string{} // of package store
	implements := map[string][]string{} // by folder, from lines such as "_ store.Store = (*Store)(nil)"
	methods := map[string]map[string]bool{}
	for _, s := range open(t).sources {
		dir := path.Dir(s.file)
		switch {
		case s.test:
		case dir == "store":
			interfacesOf(s.tree, interfaces)
		case path.Dir(dir) == "store":
			implements[dir] = append(implements[dir], claims(s.tree)...)
			if methods[dir] == nil {
				methods[dir] = map[string]bool{}
			}
			for _, name := range declared(s.tree) {
				methods[dir][name] = true
			}
		}
	}
	looked := 0
	for dir, claimed := range implements {
		for _, name := range claimed {
			for _, method := range interfaces[name] {
				looked++
				if !methods[dir]["Store."+method] {
					t.Errorf("%s implements store.%s and declares no method %s: go doc does not show what is embedded; declare it", dir, name, method)
				}
			}
		}
	}
	if looked < 60 {
		t.Errorf("%d methods were looked for: the rule looks at the wrong place", looked)
	}
}

func interfacesOf(file *ast.File, into map[string][]string) {
	ast.Inspect(file, func(n ast.Node) bool {
		if spec, ok := n.(*ast.TypeSpec); ok {
			if i, ok := spec.Type.(*ast.InterfaceType); ok {
				for _, m := range i.Methods.List {
					for _, name := range m.Names {
						into[spec.Name.Name] = append(into[spec.Name.Name], name.Name)
					}
				}
			}
		}
		return true
	})
}

// claims are the interfaces of package store that a file's blank variables say something implements.
func claims(file *ast.File) (names []string) {
	ast.Inspect(file, func(n ast.Node) bool {
		if spec, ok := n.(*ast.ValueSpec); ok && len(spec.Names) == 1 && spec.Names[0].Name == "_" {
			if of, ok := spec.Type.(*ast.SelectorExpr); ok {
				if pkg, ok := of.X.(*ast.Ident); ok && pkg.Name == "store" {
					names = append(names, of.Sel.Name)
				}
			}
		}
		return true
	})
	return names
}
