package release

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/mod/semver"
)

const unreleased = "Unreleased"

// Notes are what the changelog says of one release.
type Notes struct {
	// Text is what changed.
	Text string
	// Changelog is CHANGELOG.md as the release has it: what was unreleased stands under the version. A version such as v0.2.0-rc.1
	// leaves it as it is.
	Changelog string
}

// Changes reads the notes of a version from the changelog of the checkout at dir: what is unreleased, and what stands
// under the version already. It is an error if nothing does, if the version does not come after the last one, or if
// the changelog cannot be understood. It changes nothing.
func Changes(ctx context.Context, dir, version string) (*Notes, error) {
	if err := checkVersion(version); err != nil {
		return nil, err
	}
	text, err := os.ReadFile(filepath.Join(dir, "CHANGELOG.md"))
	if err != nil {
		return nil, fmt.Errorf("release: %w", err)
	}
	out, err := exec.CommandContext(ctx, "git", "-C", dir, "tag", "--list", "v[0-9]*").Output()
	if err != nil {
		return nil, fmt.Errorf("release: git tag: %w; run it in a checkout", err)
	}
	log, err := readChangelog(string(text))
	if err != nil {
		return nil, err
	}
	return log.notes(version, slices.DeleteFunc(strings.Fields(string(out)), func(tag string) bool { return !semver.IsValid(tag) }))
}

// checkVersion refuses what no release can have as its version.
func checkVersion(version string) error {
	if !semver.IsValid(version) || semver.Canonical(version) != version {
		return fmt.Errorf("release: %.40q is no version; write it as v0.1.0", version)
	}
	if major := semver.Major(version); major != "v0" && major != "v1" {
		return fmt.Errorf("release: %s needs module paths that end in /%s", version, major)
	}
	return nil
}

// changelog is CHANGELOG.md in its parts.
type changelog struct {
	head     string
	open     *section   // what is unreleased; nil if there is no such heading
	sections []*section // of versions, the newest first
}

// section is what the changelog says of one version.
type section struct {
	version string // such as v0.1.0; empty: unreleased
	heading string
	body    string
}

// readChangelog takes a changelog apart. Versions must stand below each other from the newest to the oldest.
func readChangelog(text string) (*changelog, error) {
	log := new(changelog)
	head, rest, found := strings.Cut(text, "\n## ")
	log.head = head
	for found {
		var one string
		one, rest, found = strings.Cut(rest, "\n## ")
		heading, body, _ := strings.Cut(one, "\n")
		s := &section{heading: heading, body: strings.TrimSpace(body)}
		if heading == unreleased {
			if log.open != nil || len(log.sections) > 0 {
				return nil, fmt.Errorf("release: CHANGELOG.md has the heading %s twice, or below a version; keep one, above all versions", unreleased)
			}
			log.open = s
			continue
		}
		name, _, _ := strings.Cut(heading, " ")
		if s.version = "v" + name; !semver.IsValid(s.version) || semver.Canonical(s.version) != s.version {
			return nil, fmt.Errorf("release: CHANGELOG.md has the heading %.60q, which is neither %s nor a version; write it as ## 0.1.0", "## "+heading, unreleased)
		}
		if n := len(log.sections); n > 0 && semver.Compare(log.sections[n-1].version, s.version) <= 0 {
			return nil, fmt.Errorf("release: CHANGELOG.md has %s below %s; write the newest version first, and each once", name, log.sections[n-1].heading)
		}
		log.sections = append(log.sections, s)
	}
	return log, nil
}

// notes returns those of a version, where tags have been released.
func (c *changelog) notes(version string, tags []string) (*Notes, error) {
	if err := c.follows(version, tags); err != nil {
		return nil, err
	}
	named, below := new(section), c.sections
	if len(below) > 0 && !slices.Contains(tags, below[0].version) {
		named, below = below[0], below[1:]
	}
	more := ""
	if c.open != nil {
		more = c.open.body
	}
	text := merge(named.body, more)
	if text == "" {
		return nil, fmt.Errorf("release: CHANGELOG.md says nothing of %s; write what changed under ## %s", version, unreleased)
	}
	if semver.Prerelease(version) != "" {
		return &Notes{Text: text, Changelog: c.String()}, nil
	}
	heading := named.heading
	if heading == "" {
		heading = strings.TrimPrefix(version, "v")
	}
	after := &changelog{head: c.head, open: &section{heading: unreleased}}
	after.sections = append([]*section{{version: version, heading: heading, body: text}}, below...)
	return &Notes{Text: text, Changelog: after.String()}, nil
}

// follows refuses a version that does not come after all that was released, and a changelog that does not say what was.
func (c *changelog) follows(version string, tags []string) error {
	last := "" // the newest release that is no candidate
	for _, tag := range tags {
		if semver.Compare(version, tag) <= 0 {
			return fmt.Errorf("release: %s does not come after %s, which is tagged; name a greater version", version, tag)
		}
		if semver.Prerelease(tag) == "" && semver.Compare(tag, last) > 0 {
			last = tag
		}
	}
	is := func(s *section) bool { return s.version == last }
	if last != "" && !slices.ContainsFunc(c.sections, is) {
		return fmt.Errorf("release: %s is tagged, and CHANGELOG.md does not name it; take the commit before the tag: git merge %s^", last, last)
	}
	if len(c.sections) == 0 {
		return nil
	}
	newest := c.sections[0].version
	final := strings.TrimSuffix(version, semver.Prerelease(version))
	switch tagged := slices.Contains(tags, newest); {
	case semver.Compare(final, newest) < 0, tagged && final == newest:
		return fmt.Errorf("release: %s does not come after %s, which CHANGELOG.md names; name a greater version", version, newest)
	case !tagged && final != newest:
		return fmt.Errorf("release: CHANGELOG.md names %s, which is not tagged; release that first, or fetch the tags: git fetch --tags", newest)
	}
	return nil
}

// String is the text of the changelog.
func (c *changelog) String() string {
	all := c.sections
	if c.open != nil {
		all = append([]*section{c.open}, all...)
	}
	var text strings.Builder
	text.WriteString(strings.TrimRight(c.head, "\n") + "\n")
	for _, s := range all {
		text.WriteString("\n## " + s.heading + "\n")
		if s.body != "" {
			text.WriteString("\n" + s.body + "\n")
		}
	}
	return text.String()
}

// merge puts what more says below what old says, each under its heading of the third level. Headings without a text go.
func merge(old, more string) string {
	var titles []string
	texts := make(map[string][]string)
	for _, body := range []string{old, more} {
		for i, part := range strings.Split("\n"+body, "\n### ") {
			title, text := "", part
			if i > 0 {
				title, text, _ = strings.Cut(part, "\n")
			}
			if text = strings.TrimSpace(text); text == "" {
				continue
			}
			if texts[title] == nil {
				titles = append(titles, title)
			}
			texts[title] = append(texts[title], text)
		}
	}
	var parts []string
	for _, title := range titles {
		if title != "" {
			parts = append(parts, "### "+title)
		}
		parts = append(parts, strings.Join(texts[title], "\n"))
	}
	return strings.Join(parts, "\n\n")
}
