package release

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// tagged is a checkout with a changelog and with tags.
func tagged(t *testing.T, changelog string, tags ...string) string {
	t.Helper()
	dir := t.TempDir()
	commands := [][]string{{"init", "--quiet"}, {"-c", "user.name=a", "-c", "user.email=a@example.com", "commit", "--quiet", "--allow-empty", "-m", "begin"}}
	for _, tag := range tags {
		commands = append(commands, []string{"tag", tag})
	}
	err := os.WriteFile(filepath.Join(dir, "CHANGELOG.md"), []byte(changelog), 0o600)
	for _, args := range commands {
		out, failed := exec.CommandContext(t.Context(), "git", append([]string{"-C", dir}, args...)...).CombinedOutput()
		if failed != nil {
			err = errors.Join(err, failed, errors.New(string(out)))
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

const (
	begun = "# Changelog\n\nThe form.\n\n## Unreleased\n\n### Added\n\n- New.\n\n### Changed\n\n### Fixed\n\n- Right.\n\n" +
		"## 0.1.0\n\nThe first.\n\n### Added\n\n- Begun.\n- Gone on.\n"
	between = "# Changelog\n\n## Unreleased\n\n- **Breaking:** Old is gone.\n\n## 0.1.0 - 2026-01-02\n\n- Begun.\n\n## 0.0.1\n\n- Tried.\n"
)

func TestAReleaseTakesWhatIsUnreleasedAsItsNotes(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		changelog, version string
		tags               []string
		notes, after       string
	}{
		"the first, which the changelog names already": {
			begun, "v0.1.0",
			nil,
			"The first.\n\n### Added\n\n- Begun.\n- Gone on.\n- New.\n\n### Fixed\n\n- Right.",
			"# Changelog\n\nThe form.\n\n## Unreleased\n\n## 0.1.0\n\nThe first.\n\n### Added\n\n- Begun.\n- Gone on.\n- New.\n\n### Fixed\n\n- Right.\n",
		},
		"a candidate leaves the changelog as it is": {
			between, "v0.2.0-rc.1",
			[]string{"v0.1.0", "v0.1.1-rc.1", "vote", "v0.0.1"},
			"- **Breaking:** Old is gone.",
			between,
		},
		"a candidate of what the changelog names already": {
			"# Changelog\n\n## 0.1.0\n\n- Begun.\n", "v0.1.0-rc.2",
			[]string{"v0.1.0-rc.1"},
			"- Begun.",
			"# Changelog\n\n## 0.1.0\n\n- Begun.\n",
		},
		"a fix": {
			between, "v0.1.1",
			[]string{"v0.1.0", "v0.0.1"},
			"- **Breaking:** Old is gone.",
			strings.Replace(between, "Unreleased", "Unreleased\n\n## 0.1.1", 1),
		},
		"a release behind its candidate": {
			between, "v0.2.0",
			[]string{"v0.1.0", "v0.2.0-rc.1"},
			"- **Breaking:** Old is gone.",
			strings.Replace(between, "Unreleased", "Unreleased\n\n## 0.2.0", 1),
		},
		"no version before": {
			"# Changelog\n\n## Unreleased\n\n- Begun.", "v1.0.0",
			nil,
			"- Begun.",
			"# Changelog\n\n## Unreleased\n\n## 1.0.0\n\n- Begun.\n",
		},
	} {
		dir := tagged(t, test.changelog, test.tags...)
		notes, err := Changes(t.Context(), dir, test.version)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if notes.Text != test.notes {
			t.Errorf("%s: the notes are\n%s\nwant\n%s", name, notes.Text, test.notes)
		}
		if notes.Changelog != test.after {
			t.Errorf("%s: the changelog becomes\n%s\nwant\n%s", name, notes.Changelog, test.after)
		}
	}
}

func TestAVersionThatTheChangelogAndTheTagsDoNotAllowIsRefused(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		changelog, version string
		tags               []string
		want               string
	}{
		{between, "0.1.1", nil, `"0.1.1" is no version; write it as v0.1.0`},
		{between, "v0.1.1+build", nil, "is no version"},
		{between, "v2.0.0", nil, "needs module paths that end in /v2"},
		{between, "v0.1.0", []string{"v0.1.0"}, "v0.1.0 does not come after v0.1.0, which is tagged; name a greater version"},
		{between, "v0.1.0-rc.1", []string{"v0.1.0"}, "v0.1.0-rc.1 does not come after v0.1.0, which is tagged"},
		{between, "v0.0.2", []string{"v0.0.1"}, "v0.0.2 does not come after v0.1.0, which CHANGELOG.md names; name a greater version"},
		{between, "v0.1.1", []string{"v0.0.1"}, "names v0.1.0, which is not tagged; release that first, or fetch the tags"},
		{between, "v0.3.0", []string{"v0.1.0", "v0.2.0"}, "v0.2.0 is tagged, and CHANGELOG.md does not name it; take the commit before the tag: git merge v0.2.0^"},
		{"# Changelog\n\n## Unreleased\n\n### Added\n\n### Fixed\n\n## 0.1.0\n\n- Begun.\n", "v0.1.1", []string{"v0.1.0"}, "says nothing of v0.1.1; write what changed under ## Unreleased"},
		{"# Changelog\n\n## 0.1.0\n\n- Begun.\n", "v0.1.1", []string{"v0.1.0"}, "says nothing of v0.1.1"},
		{"# Changelog\n", "v0.1.1", nil, "says nothing of v0.1.1"},
		{"# Changelog\n\n## Unreleased\n\n- A.\n\n## Unreleased\n\n- B.\n", "v0.1.0", nil, "has the heading Unreleased twice, or below a version"},
		{"# Changelog\n\n## 0.1.0\n\n- A.\n\n## Unreleased\n\n- B.\n", "v0.1.1", []string{"v0.1.0"}, "has the heading Unreleased twice, or below a version"},
		{"# Changelog\n\n## Unreleased\n\n- A.\n\n## Soon\n", "v0.1.0", nil, `has the heading "## Soon", which is neither Unreleased nor a version`},
		{"# Changelog\n\n## Unreleased\n\n- A.\n\n## 0.1\n", "v0.2.0", nil, `has the heading "## 0.1", which is neither`},
		{"# Changelog\n\n## Unreleased\n\n- A.\n\n## 0.1.0\n\n## 0.2.0\n", "v0.3.0", nil, "has 0.2.0 below 0.1.0; write the newest version first"},
	} {
		dir := tagged(t, test.changelog, test.tags...)
		if notes, err := Changes(t.Context(), dir, test.version); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s of\n%s\nthe error is %v (%v), want %s", test.version, test.changelog, err, notes, test.want)
		}
	}
	if _, err := Changes(t.Context(), t.TempDir(), "v0.1.0"); err == nil || !strings.Contains(err.Error(), "CHANGELOG.md") {
		t.Errorf("without a changelog: %v", err)
	}
}

// The changelog of this checkout must always be fit for the next release.
func TestTheChangelogOfThisCheckoutCanBeReleased(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(filepath.Join("..", "..", "CHANGELOG.md"))
	if err != nil {
		t.Fatal(err)
	}
	log, err := readChangelog(string(text))
	if err != nil {
		t.Fatal(err)
	}
	if log.open == nil {
		t.Error("CHANGELOG.md has no heading ## Unreleased")
	}
	if log.String() != string(text) {
		t.Error("CHANGELOG.md does not come back as it is: each heading of the second level needs one empty line above it and below it")
	}
	for _, s := range append(log.sections, log.open) {
		if s != nil && merge(s.body, "") != s.body {
			t.Errorf("in ## %s a heading of the third level is there twice or has no text, or an empty line is missing or too many", s.heading)
		}
	}
}
