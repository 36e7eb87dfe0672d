package houserules_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// home is the import path of the root package, and the prefix of all others.
const home = "github.com/postbag/postbag"

// module is one module of the checkout, as "go mod edit -json" shows it.
type module struct {
	dir     string // relative to the root, "." for the root module
	Module  struct{ Path string }
	Go      string
	Require []struct {
		Path     string
		Indirect bool
	}
	Replace []struct {
		Old struct{ Path string }
		New struct{ Path string }
	}
}

// source is one Go file.
type source struct {
	file string // relative to the root, with slashes
	pkg  string // import path of its folder
	test bool
	tree *ast.File
	set  *token.FileSet
	text []byte
}

// checkout is what the rules look at.
type checkout struct {
	root    string
	modules []module
	sources []source
}

// theCheckout is the one that this test lies in, read once.
var theCheckout = sync.OnceValues(func() (*checkout, error) {
	root, err := filepath.Abs(filepath.Join("..", ".."))
	if err != nil {
		return nil, err
	}
	c := &checkout{root: root}
	return c, errors.Join(c.readModules(), c.readSources())
})

// open returns the checkout.
func open(t *testing.T) *checkout {
	t.Helper()
	c, err := theCheckout()
	if err != nil {
		t.Fatal(err)
	}
	if len(c.modules) < 2 || len(c.sources) < 20 {
		t.Fatalf("%d modules and %d files were found: the rules look at the wrong place", len(c.modules), len(c.sources))
	}
	return c
}

// skipped says which folders hold no source of ours.
func skipped(name string) bool {
	return name != "." && (strings.HasPrefix(name, ".") || strings.HasPrefix(name, "_") || name == "testdata" || name == "node_modules" || name == "tmp")
}

// walk calls f for each file, with its path relative to the root.
func (c *checkout) walk(f func(file string) error) error {
	return fs.WalkDir(os.DirFS(c.root), ".", func(file string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && skipped(entry.Name()):
			return fs.SkipDir
		case entry.Type().IsRegular():
			return f(file)
		default:
			return nil
		}
	})
}

func (c *checkout) readModules() error {
	return c.walk(func(file string) error {
		if path.Base(file) != "go.mod" {
			return nil
		}
		m := module{dir: path.Dir(file)}
		err := goJSON(c.root, &m, "mod", "edit", "-json", file)
		c.modules = append(c.modules, m)
		return err
	})
}

// readSources parses all Go files. One with a fault in its syntax is an error, and does not hinder the others.
func (c *checkout) readSources() error {
	var faults error
	err := c.walk(func(file string) error {
		if path.Ext(file) != ".go" {
			return nil
		}
		text, err := os.ReadFile(filepath.Join(c.root, filepath.FromSlash(file)))
		if err != nil {
			return err
		}
		s := source{
			file: file, pkg: path.Join(home, path.Dir(file)), test: strings.HasSuffix(file, "_test.go"),
			set: token.NewFileSet(), text: text,
		}
		if s.tree, err = parser.ParseFile(s.set, file, text, parser.ParseComments); err != nil {
			faults = errors.Join(faults, fmt.Errorf("%w: fix the syntax", err))
			return nil
		}
		c.sources = append(c.sources, s)
		return nil
	})
	return errors.Join(err, faults)
}

// moduleOf is the folder of the module that a file belongs to.
func (c *checkout) moduleOf(file string) string {
	best := "."
	for _, m := range c.modules {
		if strings.HasPrefix(file, m.dir+"/") && len(m.dir) > len(best) {
			best = m.dir
		}
	}
	return best
}

// goJSON runs the go command and decodes what it prints.
func goJSON(dir string, into any, args ...string) error {
	cmd := exec.Command("go", args...)
	cmd.Dir = dir
	out, err := cmd.Output()
	if err == nil {
		err = json.Unmarshal(out, into)
	}
	if err != nil {
		err = fmt.Errorf("go %s: %w", strings.Join(args, " "), err)
	}
	return err
}
