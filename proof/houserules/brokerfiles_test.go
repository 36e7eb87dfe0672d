package houserules_test

import (
	"go/ast"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// duty is a row of the table "To write a broker" in CONTRIBUTING.md: a file, and what of an
// adapter's declarations lies there if it has them.
type duty struct {
	file  string
	names []string // "Dial", or "Destination.Probe" for a method
}

var (
	dutyRow  = regexp.MustCompile("^\\| `([a-z_]+\\.go)` \\|[^|]*\\|([^|]*)\\|")
	dutyName = regexp.MustCompile("`([A-Za-z.]+)`")
)

// duties reads the table below a heading of CONTRIBUTING.md.
func duties(t *testing.T, heading string) []duty {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(open(t).root, "CONTRIBUTING.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, below, found := strings.Cut(string(text), "\n"+heading+"\n")
	if !found {
		t.Fatalf("CONTRIBUTING.md has no %q", heading)
	}
	below, _, _ = strings.Cut(below, "\n## ")
	var all []duty
	for line := range strings.Lines(below) {
		row := dutyRow.FindStringSubmatch(line)
		if row == nil {
			continue
		}
		d := duty{file: row[1]}
		for _, name := range dutyName.FindAllStringSubmatch(row[2], -1) {
			d.names = append(d.names, name[1])
		}
		all = append(all, d)
	}
	if len(all) < 5 {
		t.Fatalf("the table below %q has %d rows", heading, len(all))
	}
	return all
}

// declared lists what a file declares, as the table names it.
func declared(file *ast.File) []string {
	var names []string
	for _, d := range file.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			if d.Recv == nil {
				names = append(names, d.Name.Name)
				continue
			}
			of := d.Recv.List[0].Type
			if pointer, ok := of.(*ast.StarExpr); ok {
				of = pointer.X
			}
			if id, ok := of.(*ast.Ident); ok {
				names = append(names, id.Name+"."+d.Name.Name)
			}
		case *ast.GenDecl:
			for _, spec := range d.Specs {
				switch s := spec.(type) {
				case *ast.TypeSpec:
					names = append(names, s.Name.Name)
				case *ast.ValueSpec:
					for _, id := range s.Names {
						names = append(names, id.Name)
					}
				}
			}
		}
	}
	return names
}

func TestTheSameDutyHasTheSameFileNameInEveryBroker(t *testing.T) {
	t.Parallel()
	sameFiles(t, "broker", duties(t, "## To write a broker"), "brokertest", "brokerkit")
}

// sameFiles holds every adapter below a seam to the table: what it declares of what the table names lies in the file
// that the table says, and the files without which there is no adapter are there.
func sameFiles(t *testing.T, seam string, table []duty, but ...string) {
	t.Helper()
	where := map[string]string{}
	for _, d := range table {
		for _, name := range d.names {
			where[name] = d.file
		}
	}
	files := map[string]map[string]bool{}
	for _, s := range open(t).sources {
		dir, file := path.Split(s.file)
		adapter := path.Base(dir)
		if path.Dir(path.Clean(dir)) != seam || slices.Contains(but, adapter) {
			continue
		}
		if files[adapter] == nil {
			files[adapter] = map[string]bool{}
		}
		files[adapter][file] = true
		if s.test {
			continue
		}
		for _, name := range declared(s.tree) {
			if want := where[name]; want != "" && want != file {
				t.Errorf("%s declares %s: move it to %s, where every %s has it, or change the table in CONTRIBUTING.md", s.file, name, want, seam)
			}
		}
	}
	if len(files) < 3 {
		t.Fatalf("%d adapters were found below %s: the rule looks at the wrong place", len(files), seam)
	}
	for adapter, has := range files {
		for _, file := range []string{"doc.go", "conformance_test.go"} {
			if !has[file] {
				t.Errorf("%s/%s has no %s", seam, adapter, file)
			}
		}
	}
}
