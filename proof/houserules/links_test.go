package houserules_test

import (
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var (
	fence   = regexp.MustCompile("(?ms)^```.*?^```")
	link    = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	heading = regexp.MustCompile(`(?m)^#+ (.+)$`)
)

// page is a Markdown file without its code.
func (c *checkout) page(t *testing.T, file string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(c.root, filepath.FromSlash(file)))
	if err != nil {
		t.Fatal(err)
	}
	return fence.ReplaceAllString(string(text), "")
}

// anchors are the names by which a page's headings can be linked to.
func anchors(page string) map[string]bool {
	all := make(map[string]bool)
	for _, m := range heading.FindAllStringSubmatch(page, -1) {
		name := strings.ToLower(strings.TrimSpace(m[1]))
		name = regexp.MustCompile(`[^\p{L}\p{N} _-]`).ReplaceAllString(name, "")
		all[strings.ReplaceAll(name, " ", "-")] = true
	}
	for _, m := range regexp.MustCompile(`<a id="([a-z-]+)"></a>`).FindAllStringSubmatch(page, -1) {
		all[m[1]] = true // a word of the glossary
	}
	return all
}

func TestLinksInTheDocumentationLeadSomewhere(t *testing.T) {
	t.Parallel()
	c := open(t)
	links := 0
	for _, file := range c.committed(t) {
		if path.Ext(file) != ".md" {
			continue
		}
		for _, m := range link.FindAllStringSubmatch(c.page(t, file), -1) {
			target, anchor, _ := strings.Cut(m[1], "#")
			if strings.Contains(target, "://") || strings.HasPrefix(target, "mailto:") {
				continue
			}
			links++
			to := file
			if target != "" {
				to = path.Join(path.Dir(file), target)
			}
			info, err := os.Stat(filepath.Join(c.root, filepath.FromSlash(to)))
			switch {
			case err != nil:
				t.Errorf("%s links to %s, which is not there", file, m[1])
			case anchor != "" && (info.IsDir() || !anchors(c.page(t, to))[anchor]):
				t.Errorf("%s links to %s, and that page has no such heading", file, m[1])
			}
		}
	}
	if links < 20 {
		t.Errorf("%d links were found: the test looks at the wrong place", links)
	}
}
