package release

import (
	"errors"
	"go/ast"
	"go/build"
	"go/parser"
	"go/token"
	"go/types"
	"io/fs"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// hollow imports every package as an empty one: what it declares is not known, only that it was imported.
type hollow struct{}

// majorVersion is the end of an import path that is not the name of its package.
var majorVersion = regexp.MustCompile(`/v\d+$`)

// Import implements [types.Importer].
func (hollow) Import(imported string) (*types.Package, error) {
	p := types.NewPackage(imported, path.Base(majorVersion.ReplaceAllString(imported, "")))
	p.MarkComplete()
	return p, nil
}

// undeclared returns the names that the files of a package use for a platform, and that nothing there declares or imports, if it has files
// for some platforms only. It compiles nothing, and so it is quick: it knows no more of other packages than that they are imported.
func undeclared(dir string, p Platform) (names []string, divided bool, err error) {
	b := build.Default
	b.GOOS, b.GOARCH, b.CgoEnabled = p.OS, p.Arch, false
	found, err := b.ImportDir(dir, 0)
	if _, none := errors.AsType[*build.NoGoError](err); none {
		return nil, false, nil
	}
	isSource := func(name string) bool { return !strings.HasSuffix(name, "_test.go") }
	if err != nil || !slices.ContainsFunc(found.IgnoredGoFiles, isSource) {
		return nil, false, err
	}
	set := token.NewFileSet()
	files := make([]*ast.File, len(found.GoFiles))
	for i, name := range found.GoFiles {
		if files[i], err = parser.ParseFile(set, filepath.Join(dir, name), nil, parser.SkipObjectResolution); err != nil {
			return nil, false, err
		}
	}
	check := types.Config{Importer: hollow{}, Error: func(err error) {
		if fault, ok := errors.AsType[types.Error](err); ok {
			if name, is := strings.CutPrefix(fault.Msg, "undefined: "); is && token.IsIdentifier(name) {
				names = append(names, set.Position(fault.Pos).String()+": "+name)
			}
		}
	}}
	_, _ = check.Check(dir, set, files, nil) // Error has heard of it
	return names, true, nil
}

// Packages with files for some platforms only have what they use on every platform for which the program is built: a linter and the
// tests see the files of their own platform.
func TestWhatIsForOnePlatformIsWholeOnEach(t *testing.T) {
	t.Parallel()
	top := filepath.Join("..", "..")
	divided := 0
	err := filepath.WalkDir(top, func(dir string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.IsDir() {
			return err
		}
		name := entry.Name()
		if dir != top && (strings.HasPrefix(name, ".") || name == "testdata" || name == "tmp" || slices.Contains(unshipped, name)) {
			return fs.SkipDir
		}
		for _, p := range Platforms() {
			names, is, err := undeclared(dir, p)
			if err != nil {
				return err
			}
			if is {
				divided++
			}
			for _, name := range names {
				t.Errorf("for %s on %s nothing declares or imports %s", p.OS, p.Arch, name)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if divided < 2*len(Platforms()) {
		t.Errorf("%d packages with files for some platforms were found: they are looked for in the wrong place", divided)
	}
}
