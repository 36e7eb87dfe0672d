package houserules_test

import (
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// spokenOf is a package that a comment names: "package relay", but not "this package says" or "the packages that".
var spokenOf = regexp.MustCompile(`(?:^|(\w+)\W+)[Pp]ackages? ([a-z][a-z0-9/]*)(?: and ([a-z][a-z0-9/]*))?`)

// determiners stand before a package that is not named.
var determiners = strings.Fields("a an the this that these each every no any some one another its their our your which whose own other internal main all two by its empty missing importing those")

// followers are words behind "package" or "packages" that are no names.
var followers = strings.Fields("the that which whose of in with without for by is are has have and or before after again comment comments main than may to when as where only")

// aPath is a path in the checkout that a comment names.
var aPath = regexp.MustCompile(`(?:^|[\s("'])((?:internal|proof|cmd|store|broker|source|format|inbox|relay|scripts|docs|examples|bench)/[A-Za-z0-9_./-]*[A-Za-z0-9_])`)

// missingNames lists the packages and paths that a text names and there says are missing.
func missingNames(text string, there func(name string) bool) (missing []string) {
	for _, m := range spokenOf.FindAllStringSubmatch(text, -1) {
		if slices.Contains(determiners, strings.ToLower(m[1])) || slices.Contains(followers, m[2]) {
			continue
		}
		if !there(m[2]) {
			missing = append(missing, "package "+m[2])
		}
		if m[3] != "" && strings.Contains(m[0], "ackages ") && !there(m[3]) {
			missing = append(missing, "package "+m[3])
		}
	}
	for _, m := range aPath.FindAllStringSubmatch(text, -1) {
		if last := path.Base(m[1]); last != "before" && last != "after" && !there(m[1]) { // those are points of package failpoint
			missing = append(missing, m[1])
		}
	}
	return missing
}

func TestPackagesAndPathsNamedInCommentsExist(t *testing.T) {
	t.Parallel()
	c := open(t)
	packages := map[string]bool{"testing": true, "testing/synctest": true, "flag": true, "slog": true}
	for _, s := range c.sources {
		packages[s.tree.Name.Name], packages[path.Dir(s.file)] = true, true
	}
	read := 0
	for _, s := range c.sources {
		if path.Dir(s.file) == "proof/houserules" {
			continue
		}
		for _, group := range s.tree.Comments {
			read++
			for _, missing := range missingNames(strings.Join(strings.Fields(group.Text()), " "), func(name string) bool {
				return packages[name] || c.has(name) || c.has(path.Join(path.Dir(s.file), name)) || c.has(path.Join(c.moduleOf(s.file), name))
			}) {
				t.Errorf("%s: a comment names %s, which does not exist: say what there is", s.set.Position(group.Pos()), missing)
			}
		}
	}
	if read < 5000 {
		t.Errorf("%d comments were read: the test sees too few", read)
	}
}

// has says whether there is a file or folder of that path.
func (c *checkout) has(name string) bool {
	_, err := os.Stat(filepath.Join(c.root, filepath.FromSlash(name)))
	return err == nil
}

func TestAMissingNameInACommentIsFound(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]int{
		"See package doctor.":                                1,
		"Package relay does it, packages relay and keeper.":  1,
		"This package says so; the packages that need it.":   0,
		"It is in internal/keeper, see docs/design/gone.md.": 2,
		"See package relay, and docs/here.md.":               0,
	} {
		there := func(name string) bool { return name == "relay" || name == "docs/here.md" }
		if got := missingNames(text, there); len(got) != want {
			t.Errorf("%q: %q were missed, want %d", text, got, want)
		}
	}
}
