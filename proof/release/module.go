package release

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/mod/modfile"
)

// root is the module that all others stand under.
const root = "github.com/postbag/postbag"

// unshipped are the folders of modules that nobody fetches: they measure, show and prove.
var unshipped = []string{"bench", "examples", "proof"}

// Module is one of the repository's modules.
type Module struct {
	// Dir is its folder in the repository; "." is the root.
	Dir string
	// Path is its module path.
	Path string

	file *modfile.File
}

// Tag is the name of the tag of its release, by the Go Modules Reference, "Mapping versions to commits".
func (m *Module) Tag(version string) string {
	if m.Dir == "." {
		return version
	}
	return m.Dir + "/" + version
}

// ours are the modules of this repository that m needs.
func (m *Module) ours() (paths []string) {
	for _, r := range m.file.Require {
		if r.Mod.Path == root || strings.HasPrefix(r.Mod.Path, root+"/") {
			paths = append(paths, r.Mod.Path)
		}
	}
	return paths
}

// Modules returns the modules that are shipped, each behind those that it needs.
func Modules(dir string) ([]*Module, error) {
	text, err := os.ReadFile(filepath.Join(dir, "go.work"))
	if err != nil {
		return nil, fmt.Errorf("release: %w", err)
	}
	work, err := modfile.ParseWork("go.work", text, nil)
	if err != nil {
		return nil, fmt.Errorf("release: %w", err)
	}
	all := make(map[string]*Module)
	for _, use := range work.Use {
		folder := filepath.ToSlash(filepath.Clean(use.Path))
		if slices.Contains(unshipped, folder) {
			continue
		}
		m, err := readModule(dir, folder)
		if err != nil {
			return nil, err
		}
		all[m.Path] = m
	}
	return sorted(all)
}

func readModule(dir, folder string) (*Module, error) {
	path := filepath.Join(dir, folder, "go.mod")
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("release: %w", err)
	}
	file, err := modfile.Parse(path, text, nil)
	if err != nil {
		return nil, fmt.Errorf("release: %w", err)
	}
	return &Module{Dir: folder, Path: file.Module.Mod.Path, file: file}, nil
}

// sorted puts each module behind those that it needs.
func sorted(all map[string]*Module) ([]*Module, error) {
	var out []*Module
	state := make(map[string]int) // 1: begun, 2: in out
	var visit func(path, by string) error
	visit = func(path, by string) error {
		m := all[path]
		switch {
		case m == nil:
			return fmt.Errorf("release: %s requires %s, which is not shipped; take it out, or ship it", by, path)
		case state[path] == 1:
			return fmt.Errorf("release: %s and %s require each other", by, path)
		case state[path] == 2:
			return nil
		}
		state[path] = 1
		for _, needs := range m.ours() {
			if err := visit(needs, path); err != nil {
				return err
			}
		}
		state[path] = 2
		out = append(out, m)
		return nil
	}
	paths := make([]string, 0, len(all))
	for path := range all {
		paths = append(paths, path)
	}
	slices.Sort(paths)
	for _, path := range paths {
		if err := visit(path, ""); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// pin writes the module's go.mod as a release has it: ours by version, and no replacement.
func (m *Module) pin(dir, version string) error {
	for _, path := range m.ours() {
		if err := m.file.AddRequire(path, version); err != nil {
			return fmt.Errorf("release: %s: %w", m.Path, err)
		}
	}
	for _, r := range slices.Clone(m.file.Replace) {
		if err := m.file.DropReplace(r.Old.Path, r.Old.Version); err != nil {
			return fmt.Errorf("release: %s: %w", m.Path, err)
		}
	}
	m.file.Cleanup()
	text, err := m.file.Format()
	if err != nil {
		return fmt.Errorf("release: %s: %w", m.Path, err)
	}
	return os.WriteFile(filepath.Join(dir, m.Dir, "go.mod"), text, 0o644)
}

// Copy puts what git knows of the checkout at from, with what is not committed yet, into the folder to.
func Copy(ctx context.Context, from, to string) error {
	cmd := exec.CommandContext(ctx, "git", "ls-files", "-z", "--cached", "--others", "--exclude-standard")
	cmd.Dir = from
	out, err := cmd.Output()
	if err != nil {
		return fmt.Errorf("release: git ls-files in %s: %w; run it in a checkout", from, err)
	}
	for name := range strings.SplitSeq(strings.TrimSuffix(string(out), "\x00"), "\x00") {
		if err := copyFile(filepath.Join(from, name), filepath.Join(to, name)); err != nil && !errors.Is(err, os.ErrNotExist) {
			return fmt.Errorf("release: %w", err)
		}
	}
	return nil
}

func copyFile(from, to string) error {
	info, err := os.Lstat(from)
	if err != nil || !info.Mode().IsRegular() {
		return err
	}
	text, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		return err
	}
	return os.WriteFile(to, text, info.Mode().Perm())
}
