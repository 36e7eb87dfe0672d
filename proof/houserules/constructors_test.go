package houserules_test

import (
	"go/ast"
	"path"
	"regexp"
	"strings"
	"testing"
)

// constructor is what makes a thing that users hold.
var constructor = regexp.MustCompile(`^(New|Open|Dial)([A-Z]\w*)?$`)

// total are constructors whose options have no bad value: each has a meaning, which the options' comment says.
var total = map[string]bool{
	"store/memstore.New": true, "broker/membroker.New": true, "source/memsource.New": true, "prompostbag.NewCollector": true,
}

// shipped says whether users call what a folder has, without a promise that kits and suites do not make.
func shipped(dir string) bool {
	for part := range strings.SplitSeq(dir, "/") {
		switch part {
		case "internal", "proof", "bench", "examples", "cmd", "sqlkit", "storekit", "brokerkit", "sourcekit", "storetest", "brokertest", "sourcetest":
			return false
		}
	}
	return true
}

// A constructor with options refuses bad ones with an error, whatever it makes. Stores, brokers and sources let
// you ask the options themselves before anything is opened.
func TestAConstructorRefusesBadOptionsWithAnError(t *testing.T) {
	t.Parallel()
	looked, validated := 0, 0
	validates := map[string]bool{} // types with Validate() error, by folder
	for _, s := range open(t).sources {
		if s.test {
			continue
		}
		for _, d := range s.tree.Decls {
			if f, ok := d.(*ast.FuncDecl); ok && f.Recv != nil && f.Name.Name == "Validate" && lastIsError(f.Type) {
				validates[path.Dir(s.file)+"."+nameOf(f.Recv.List[0].Type)] = true
			}
		}
	}
	for _, s := range open(t).sources {
		dir := path.Dir(s.file)
		if s.test || !shipped(dir) {
			continue
		}
		for _, d := range s.tree.Decls {
			f, ok := d.(*ast.FuncDecl)
			if !ok || f.Recv != nil || !constructor.MatchString(f.Name.Name) {
				continue
			}
			options := optionsOf(f.Type)
			name := dir + "." + f.Name.Name
			if options == "" || total[name] {
				if total[name] && lastIsError(f.Type) {
					t.Errorf("%s returns an error: take it out of total in constructors_test.go", name)
				}
				continue
			}
			looked++
			if !lastIsError(f.Type) {
				t.Errorf("%s takes %s and returns no error: return one for what is bad, or give every value a meaning and add it to total in constructors_test.go", name, options)
			}
			if seam, _, below := strings.Cut(dir, "/"); below && (seam == "store" || seam == "broker" || seam == "source") && (options == "Options" || options == "SourceOptions") {
				validated++
				if !validates[dir+"."+options] {
					t.Errorf("%s.%s has no method Validate() error: declare it, and let %s call it first", dir, options, f.Name.Name)
				}
			}
		}
	}
	if looked < 15 || validated < 12 {
		t.Errorf("%d constructors with options were found, %d of adapters: the rule looks at the wrong place", looked, validated)
	}
}

// optionsOf is the type of the parameter that holds a constructor's options; empty if there is none.
func optionsOf(f *ast.FuncType) string {
	for _, p := range f.Params.List {
		if name := nameOf(p.Type); strings.HasSuffix(name, "Options") {
			return name
		}
	}
	return ""
}

func lastIsError(f *ast.FuncType) bool {
	return f.Results != nil && nameOf(f.Results.List[len(f.Results.List)-1].Type) == "error"
}

// nameOf is the name of a type of the same package, or of what a pointer points to.
func nameOf(of ast.Expr) string {
	if pointer, ok := of.(*ast.StarExpr); ok {
		of = pointer.X
	}
	if id, ok := of.(*ast.Ident); ok {
		return id.Name
	}
	return ""
}

// One name for one thing: what hears of faults that no call reports is OnFault.
func TestWhatHearsOfFaultsIsCalledOnFault(t *testing.T) {
	t.Parallel()
	found := 0
	for _, s := range open(t).sources {
		dir := path.Dir(s.file)
		if s.test || !shipped(dir) || !strings.HasPrefix(dir, "store/") {
			continue
		}
		ast.Inspect(s.tree, func(n ast.Node) bool {
			spec, ok := n.(*ast.TypeSpec)
			if !ok || !strings.HasSuffix(spec.Name.Name, "Options") || !spec.Name.IsExported() {
				return true
			}
			options, ok := spec.Type.(*ast.StructType)
			if !ok {
				return true
			}
			for _, field := range options.Fields.List {
				callback, ok := field.Type.(*ast.FuncType)
				if !ok || callback.Results != nil || len(callback.Params.List) != 1 || nameOf(callback.Params.List[0].Type) != "error" {
					continue
				}
				found++
				if name := field.Names[0].Name; name != "OnFault" {
					t.Errorf("%s: %s.%s hears of errors that no call reports: call it OnFault, as the other stores do", s.file, spec.Name.Name, name)
				}
			}
			return true
		})
	}
	if found < 3 {
		t.Errorf("%d fields were found: the rule looks at the wrong place", found)
	}
}
