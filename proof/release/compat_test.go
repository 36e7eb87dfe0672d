package release

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/postbag/postbag/internal/testserver"
	"github.com/postbag/postbag/internal/testserver/servertest"
)

// old are modules as they were at v0.1.0: a root, two adapters and a program. The adapter that leans needs a kit, which promises
// no compatibility, and the program needs a package of internal.
var old = map[string]string{
	"CHANGELOG.md":          "# Changelog\n\n## 0.1.0\n\n- Begun.\n",
	"go.work":               "go 1.26\n\nuse (\n\t.\n\t./broker/leaning\n\t./broker/steady\n\t./cmd/bag\n)\n",
	"go.mod":                "module " + root + "\n\ngo 1.26\n",
	"bag.go":                "package bag\n\n// Kept is there.\nfunc Kept() int { return 1 }\n\n// Old is there, too.\nfunc Old() int { return 2 }\n",
	"broker/brokerkit/a.go": "package brokerkit\n\n// Lean is there.\nfunc Lean() int { return 3 }\n\n// Unused is there.\nfunc Unused() {}\n",
	"internal/work/a.go":    "package work\n\n// Do is there.\nfunc Do() {}\n",
	"broker/leaning/go.mod": "module " + root + "/broker/leaning\n\ngo 1.26\n\nrequire " + root + " v0.0.0\n\nreplace " + root + " => ../../\n",
	"broker/leaning/a.go":   "package leaning\n\nimport \"" + root + "/broker/brokerkit\"\n\n// New leans.\nfunc New() int { return brokerkit.Lean() }\n",
	"broker/steady/go.mod":  "module " + root + "/broker/steady\n\ngo 1.26\n\nrequire " + root + " v0.0.0\n\nreplace " + root + " => ../../\n",
	"broker/steady/a.go":    "package steady\n\nimport bag \"" + root + "\"\n\n// New is steady.\nfunc New() int { return bag.Kept() }\n",
	"cmd/bag/go.mod":        "module " + root + "/cmd/bag\n\ngo 1.26\n\nrequire " + root + " v0.0.0\n\nreplace " + root + " => ../../\n",
	"cmd/bag/main.go":       "package main\n\nimport \"" + root + "/internal/work\"\n\nfunc main() { work.Do() }\n",
}

// scratch is a repository of small modules.
type scratch struct {
	t   *testing.T
	dir string
}

// write writes files.
func (s *scratch) write(files map[string]string) {
	s.t.Helper()
	for name, text := range files {
		path := filepath.Join(s.dir, filepath.FromSlash(name))
		err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o600))
		if err != nil {
			s.t.Fatal(err)
		}
	}
}

func (s *scratch) git(args ...string) {
	s.t.Helper()
	cmd := exec.CommandContext(s.t.Context(), "git", append([]string{"-C", s.dir}, args...)...)
	if out, err := cmd.CombinedOutput(); err != nil {
		s.t.Fatalf("git %v: %v\n%s", args, err, out)
	}
}

// commit commits all that is there.
func (s *scratch) commit() {
	s.t.Helper()
	s.git("add", ".")
	s.git("commit", "--quiet", "-m", "go on")
}

// newScratch is a repository with the scripts of this checkout and without a release.
func newScratch(t *testing.T) *scratch {
	t.Helper()
	s := &scratch{t, t.TempDir()}
	s.write(old)
	for _, name := range []string{"compat", "say"} {
		if err := copyFile(filepath.Join("..", "..", "scripts", name), filepath.Join(s.dir, "scripts", name)); err != nil {
			t.Fatal(err)
		}
	}
	s.git("init", "--quiet")
	s.git("config", "user.name", "a")
	s.git("config", "user.email", "a@example.com")
	s.commit()
	return s
}

// release tags all modules, as scripts/release does with --write.
func (s *scratch) release(version string) {
	s.t.Helper()
	to := filepath.Join(s.t.TempDir(), "worktree")
	done, err := Worktree(s.t.Context(), s.dir, to)
	if err != nil {
		s.t.Fatal(err)
	}
	all, err := Modules(to)
	if err != nil {
		s.t.Fatal(err)
	}
	for _, m := range all {
		err = errors.Join(err, m.pin(to, version))
	}
	if err := errors.Join(err, Commit(s.t.Context(), to, version, &Notes{Text: "- Begun."}, all), done()); err != nil {
		s.t.Fatal(err)
	}
}

// compat runs scripts/compat, which fetches nothing, and returns what it says and whether it is content.
func (s *scratch) compat() (says string, content bool) {
	s.t.Helper()
	tools, err := filepath.Abs(filepath.Join("..", "..", ".tools", "bin"))
	if err != nil {
		s.t.Fatal(err)
	}
	path := tools + string(os.PathListSeparator) + os.Getenv("PATH")
	if _, err := os.Stat(filepath.Join(tools, "apidiff")); err != nil {
		if _, err := exec.LookPath("apidiff"); err != nil {
			servertest.Need(s.t, &testserver.MissingError{What: "apidiff", Fix: "run scripts/setup"})
		}
	}
	cmd := exec.CommandContext(s.t.Context(), filepath.Join(s.dir, "scripts", "compat"))
	cmd.Env = append(os.Environ(), "PATH="+path, "GOPROXY=off", "GOFLAGS=")
	out, err := cmd.CombinedOutput()
	if _, failed := errors.AsType[*exec.ExitError](err); err != nil && !failed {
		s.t.Fatal(err)
	}
	return string(out), err == nil
}

// says fails the test unless scripts/compat says all of want and nothing of not.
func (s *scratch) says(content bool, want, not []string) {
	s.t.Helper()
	says, is := s.compat()
	if is != content {
		s.t.Errorf("scripts/compat is content: %v, want %v", is, content)
	}
	for _, text := range want {
		if !strings.Contains(says, text) {
			s.t.Errorf("it does not say %q", text)
		}
	}
	for _, text := range not {
		if strings.Contains(says, text) {
			s.t.Errorf("it says %q", text)
		}
	}
	if s.t.Failed() {
		s.t.Logf("it says\n%s", says)
	}
}

// What is new breaks nobody, nor does what goes from a kit or from internal without an adapter of the last release that misses it. The
// programs of a release are installed with the root of that release.
func TestWhatIsNewIsCompatibleWithTheLastRelease(t *testing.T) {
	t.Parallel()
	s := newScratch(t)
	s.says(true, []string{"there is no release yet"}, nil)
	s.write(map[string]string{"bag.go": old["bag.go"] + "\n// Draft goes before the release.\nfunc Draft() {}\n"})
	s.commit()
	s.release("v0.1.0-rc.1")
	s.write(map[string]string{"bag.go": old["bag.go"]})
	s.commit()
	s.release(version)
	s.write(map[string]string{
		"go.mod":                "module " + root + "\n\ngo 1.26.1\n",
		"bag.go":                old["bag.go"] + "\n// New is new.\nfunc New() {}\n",
		"broker/brokerkit/a.go": "package brokerkit\n\n// Lean is there.\nfunc Lean() int { return 3 }\n",
		"internal/work/a.go":    "package work\n\n// DoAll does more.\nfunc DoAll() {}\n",
		"cmd/bag/main.go":       strings.ReplaceAll(old["cmd/bag/main.go"], "work.Do()", "work.DoAll()"),
	})
	for _, module := range []string{"broker/leaning", "broker/steady", "cmd/bag"} {
		s.write(map[string]string{module + "/go.mod": strings.ReplaceAll(old[module+"/go.mod"], "go 1.26\n", "go 1.26.1\n")})
	}
	s.says(true, []string{"compatible with v0.1.0\n"}, []string{"not compatible", "does not build", "removed", "rc.1"})
}

func TestAnExportedFunctionThatIsGoneBreaksWhatTheLastReleasePromised(t *testing.T) {
	t.Parallel()
	s := newScratch(t)
	s.release(version)
	kept, _, _ := strings.Cut(old["bag.go"], "// Old")
	s.write(map[string]string{"bag.go": kept})
	s.says(false, []string{root + " since v0.1.0:\n", "Old: removed\n", "FAILED: the change breaks what v0.1.0 promised\n", "a line with **Breaking:**"}, []string{"does not build"})
	s.write(map[string]string{"CHANGELOG.md": "# Changelog\n\n## Unreleased\n\n- **Breaking:** Old is gone.\n\n## 0.1.0\n\n- Begun.\n"})
	s.says(true, []string{"Old: removed\n", "not compatible with v0.1.0, as the changelog says"}, []string{"FAILED"})
}

// Kits may change, but not without a word while an adapter of the last release does not build with it.
func TestAnAdapterOfTheLastReleaseThatDoesNotBuildIsNamed(t *testing.T) {
	t.Parallel()
	s := newScratch(t)
	s.release(version)
	s.write(map[string]string{
		"broker/brokerkit/a.go": "package brokerkit\n\n// Lean leans on n.\nfunc Lean(n int) int { return n }\n",
		"broker/leaning/a.go":   strings.ReplaceAll(old["broker/leaning/a.go"], "Lean()", "Lean(3)"),
	})
	s.says(false, []string{
		root + "/broker/leaning v0.1.0 does not build against this root\n", "not enough arguments in call to brokerkit.Lean",
		"FAILED: the change breaks what v0.1.0 promised\n",
	}, []string{"steady v0.1.0 does not build", "cmd/bag v0.1.0 does not build", " since v0.1.0:"})
}
