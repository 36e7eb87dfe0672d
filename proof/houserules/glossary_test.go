package houserules_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// glossed are the words that mean something of their own here: where a page first uses one in running text, it links to the
// glossary's entry.
var glossed = map[string]*regexp.Regexp{
	"box":      word(`box(es)?`),
	"slot":     word(`slots?`),
	"settle":   word(`settle(s|d|ments?)?|settling`),
	"parked":   word(`park(s|ed|ing)?`),
	"position": word(`positions?`),
	"token":    word(`tokens?`),
	"lane":     word(`lanes?`),
}

func word(forms string) *regexp.Regexp {
	return regexp.MustCompile(`(?i)(^|[^\w.-])(` + forms + `)($|[^\w-])`)
}

// otherwise are the pages on which such a word means something else, and those that a command writes.
var otherwise = map[string]string{
	"docs/reference/nats.md token":        "credentials",
	"docs/reference/webhook.md token":     "a token of HTTP",
	"docs/reference/redis.md slot":        "a slot of a cluster",
	"docs/guides/adopt.md position":       "a connector's",
	"docs/design/071-sources.md position": "a broker's",
	"docs/design/071-sources.md token":    "there is none",
	"docs/reference/cli.md":               "made from the commands' help",
	"docs/reference/configuration.md":     "made from the configuration",
	"docs/reference/metrics.md":           "made from the metrics",
	"docs/concepts.md":                    "the glossary itself",
}

// said is what a line says itself: no code, no text in quotation marks, and no links but those to the glossary, which leave
// a mark.
func said(line, entry string) string {
	line = regexp.MustCompile("`[^`]*`|\"[^\"]*\"").ReplaceAllString(line, " ")
	return regexp.MustCompile(`!?\[[^\]]*\]\([^)]*\)`).ReplaceAllStringFunc(line, func(l string) string {
		if strings.HasSuffix(l, "concepts.md#"+entry+")") {
			return "\x00"
		}
		return " "
	})
}

// unlinked returns the line on which a page uses a word of the glossary before it links to it; empty if none does.
func unlinked(page, entry string, rule *regexp.Regexp) string {
	for line := range strings.Lines(fence.ReplaceAllString(page, "")) {
		text := strings.TrimSpace(line)
		if text == "" || strings.ContainsAny(text[:1], "#<|") {
			continue
		}
		text = said(text, entry)
		at := rule.FindStringIndex(text)
		mark := strings.IndexByte(text, 0)
		switch {
		case at != nil && (mark < 0 || at[0] < mark):
			return strings.TrimSpace(line)
		case mark >= 0:
			return ""
		}
	}
	return ""
}

func TestAPageLinksToTheGlossaryWhereItFirstUsesAWordOfIt(t *testing.T) {
	t.Parallel()
	c := open(t)
	read := 0
	for _, file := range c.committed(t) {
		if file != "README.md" && (!strings.HasPrefix(file, "docs/") || filepath.Ext(file) != ".md") {
			continue
		}
		if otherwise[file] != "" {
			continue
		}
		text, err := os.ReadFile(filepath.Join(c.root, filepath.FromSlash(file)))
		if err != nil {
			t.Fatal(err)
		}
		read++
		for entry, rule := range glossed {
			if otherwise[file+" "+entry] != "" {
				continue
			}
			if line := unlinked(string(text), entry, rule); line != "" {
				t.Errorf("%s: link to concepts.md#%s: %s", file, entry, line)
			}
		}
	}
	if read < 20 {
		t.Errorf("%d pages were read: the test looks at the wrong place", read)
	}
}

func TestTheGlossaryRuleFindsMissingLinks(t *testing.T) {
	t.Parallel()
	for page, want := range map[string]bool{
		"Make a box first.": true,
		"Make a [box](../concepts.md#box), then fill the box.": false,
		"A box, see [box](concepts.md#box).":                   true,
		"```\nbox\n```\n| a box |\n# Box\nA `box`.":            false,
		"An outbox, a sandbox.":                                false,
		"Two boxes.":                                           true,
	} {
		if got := unlinked(page, "box", glossed["box"]) != ""; got != want {
			t.Errorf("%q: %v", page, got)
		}
	}
}
