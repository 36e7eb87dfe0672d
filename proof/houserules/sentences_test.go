package houserules_test

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// maxWords is how many words a sentence of the documentation may have; code in backquotes is one word. Longer ones are read twice.
const maxWords = 28

// unbounded pages are not held to it: the command line's page is made from the code, and a line of the changelog is one entry.
var unbounded = []string{"docs/reference/cli.md", "CHANGELOG.md"}

var (
	fenced   = regexp.MustCompile("(?s)```.*?```")
	quoted   = regexp.MustCompile("`[^`]*`")
	target   = regexp.MustCompile(`\]\([^)]*\)`)
	block    = regexp.MustCompile(`\n\s*\n|\n\s*[-*|#0-9]`)
	sentence = regexp.MustCompile(`[.!?:;][*_)"]*\s+`)
)

func TestSentencesOfTheDocumentationAreShort(t *testing.T) {
	t.Parallel()
	c := open(t)
	read := 0
	for _, file := range c.committed(t) {
		if !strings.HasSuffix(file, ".md") || slices.ContainsFunc(unbounded, func(p string) bool { return strings.HasPrefix(file, p) }) {
			continue
		}
		text, err := os.ReadFile(filepath.Join(c.root, filepath.FromSlash(file)))
		if os.IsNotExist(err) {
			continue // removed, and not yet committed
		}
		if err != nil {
			t.Fatal(err)
		}
		for _, long := range longSentences(string(text)) {
			t.Errorf("%s: say this in two sentences: %s", file, long)
		}
		read++
	}
	if read < 20 {
		t.Errorf("%d pages were read: the test looks at the wrong place", read)
	}
}

// longSentences returns the sentences of a page that have too many words. Tables and code are left out.
func longSentences(page string) (long []string) {
	page = target.ReplaceAllString(quoted.ReplaceAllString(fenced.ReplaceAllString(page, ""), "X"), "]")
	var prose []string
	for line := range strings.Lines(page) {
		if !strings.HasPrefix(strings.TrimSpace(line), "|") {
			prose = append(prose, line)
		}
	}
	for _, paragraph := range block.Split(strings.Join(prose, ""), -1) {
		for _, s := range sentence.Split(strings.Join(strings.Fields(paragraph), " ")+" ", -1) {
			if len(strings.Fields(s)) > maxWords {
				long = append(long, s)
			}
		}
	}
	return long
}

func TestALongSentenceIsFound(t *testing.T) {
	t.Parallel()
	words := strings.Repeat("word ", maxWords)
	for page, want := range map[string]int{
		"A short one. " + words + ".":               0,
		"A short one. And " + words + ".":           1,
		"```\nAnd " + words + ".\n```\n":            0,
		"| And " + words + "|\n":                    0,
		"- And " + words + "`a b c` d.\n- Short.\n": 1,
		"**A lead.** " + words + ".":                0,
		"(In brackets.) And " + words + ".":         1,
	} {
		if got := longSentences(page); len(got) != want {
			t.Errorf("%d of %d long sentences were found in %q", len(got), want, page)
		}
	}
}
