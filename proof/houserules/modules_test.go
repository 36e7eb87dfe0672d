package houserules_test

import (
	"path"
	"slices"
	"strings"
	"testing"
)

func TestEveryModuleIsInTheWorkspace(t *testing.T) {
	t.Parallel()
	c := open(t)
	var work struct{ Use []struct{ DiskPath string } }
	if err := goJSON(c.root, &work, "work", "edit", "-json", "go.work"); err != nil {
		t.Fatal(err)
	}
	var used []string
	for _, use := range work.Use {
		used = append(used, path.Clean(use.DiskPath))
	}
	for _, m := range c.modules {
		if !slices.Contains(used, m.dir) {
			t.Errorf("module %s is not in go.work: go work use ./%s", m.dir, m.dir)
		}
	}
	for _, dir := range used {
		if !slices.ContainsFunc(c.modules, func(m module) bool { return m.dir == dir }) {
			t.Errorf("go.work names %s, which has no go.mod", dir)
		}
	}
}

func TestModulesAreNamedForTheirFolders(t *testing.T) {
	t.Parallel()
	for _, m := range open(t).modules {
		if want := path.Join(home, m.dir); m.Module.Path != want {
			t.Errorf("%s/go.mod says module %s, want %s", m.dir, m.Module.Path, want)
		}
	}
}

func TestModulesAgreeOnTheVersionOfGo(t *testing.T) {
	t.Parallel()
	c := open(t)
	for _, m := range c.modules {
		if short := strings.TrimSuffix(m.Go, ".0"); short != "1.26" {
			t.Errorf("%s/go.mod says go %s, want 1.26", m.dir, m.Go)
		}
	}
}

// A checkout builds without the workspace only if each module finds its siblings by relative paths. Replace directives of
// a required module are not followed, so that a module must also replace what its siblings require.
func TestModulesFindTheirSiblingsWithoutTheWorkspace(t *testing.T) {
	t.Parallel()
	c := open(t)
	for _, m := range c.modules {
		for _, require := range m.Require {
			dir, is := ours(require.Path)
			if !is {
				continue
			}
			want := relative(m.dir, dir)
			if got := m.replacement(require.Path); strings.TrimSuffix(got, "/") != want {
				t.Errorf("%s/go.mod requires %s and replaces it with %q, want %q: go mod edit -replace %s=%s",
					m.dir, require.Path, got, want, require.Path, want)
			}
		}
		for _, replace := range m.Replace {
			if _, is := ours(replace.Old.Path); !is {
				t.Errorf("%s/go.mod replaces %s: only modules of this repository are replaced", m.dir, replace.Old.Path)
			}
		}
	}
}

func (m *module) replacement(required string) string {
	for _, replace := range m.Replace {
		if replace.Old.Path == required {
			return replace.New.Path
		}
	}
	return ""
}

// relative is the path from one folder of the repository to another, as go.mod wants it.
func relative(from, to string) string {
	up := ".."
	for range strings.Count(from, "/") {
		up += "/.."
	}
	if to == "" {
		return up
	}
	return up + "/" + to
}
