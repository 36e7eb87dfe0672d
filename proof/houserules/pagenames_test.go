package houserules_test

import (
	"go/ast"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// aTest is a test's name where pages put it: between backquotes.
var aTest = regexp.MustCompile("`(Test[A-Z][A-Za-z0-9_]*)`")

func TestTestsNamedInPagesExist(t *testing.T) {
	t.Parallel()
	c := open(t)
	there := map[string]bool{}
	for _, s := range c.sources {
		for _, d := range s.tree.Decls {
			if f, ok := d.(*ast.FuncDecl); ok && s.test {
				there[f.Name.Name] = true
			}
		}
	}
	named := map[string]string{}
	err := c.walk(func(file string) error {
		if path.Ext(file) != ".md" {
			return nil
		}
		text, err := os.ReadFile(filepath.Join(c.root, filepath.FromSlash(file)))
		for _, m := range aTest.FindAllStringSubmatch(string(text), -1) {
			named[m[1]] = file
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for name, file := range named {
		if !there[name] {
			t.Errorf("%s names %s, which is no test: fix the page", file, name)
		}
	}
	for _, s := range c.sources {
		for _, d := range s.tree.Decls {
			f, ok := d.(*ast.FuncDecl)
			if ok && strings.HasPrefix(s.file, "proof/survival/") && strings.HasPrefix(f.Name.Name, "Test") && f.Name.Name != "TestMain" && named[f.Name.Name] == "" {
				t.Errorf("%s is not in docs/operations/survival.md: add what it shows", f.Name.Name)
			}
		}
	}
}

// aPackage is a package's name where pages and comments say "package `x`" or "package x".
var aPackage = regexp.MustCompile("\\b[Pp]ackages? `([a-z][a-z0-9/]*)`")

func TestPackagesNamedInPagesExist(t *testing.T) {
	t.Parallel()
	c := open(t)
	there := map[string]bool{"testing/synctest": true, "slog": true}
	for _, s := range c.sources {
		there[s.tree.Name.Name], there[path.Dir(s.file)] = true, true
	}
	err := c.walk(func(file string) error {
		if path.Ext(file) != ".md" || file == "CHANGELOG.md" {
			return nil
		}
		text, err := os.ReadFile(filepath.Join(c.root, filepath.FromSlash(file)))
		for _, m := range aPackage.FindAllStringSubmatch(string(text), -1) {
			if !there[m[1]] {
				t.Errorf("%s speaks of package %s, which does not exist: leave it out until it does", file, m[1])
			}
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}
