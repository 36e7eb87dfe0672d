package houserules_test

import (
	"bytes"
	"fmt"
	"go/ast"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"
)

// committed lists the files that git knows, or in a checkout without git all that are there.
func (c *checkout) committed(t *testing.T) []string {
	t.Helper()
	cmd := exec.Command("git", "ls-files", "-z", "--cached", "--others", "--exclude-standard")
	cmd.Dir = c.root
	out, err := cmd.Output()
	if err == nil {
		return strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00")
	}
	var all []string
	err = c.walk(func(file string) error {
		all = append(all, file)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func TestFilesHoldNoPathOfTheirAuthorsMachine(t *testing.T) {
	t.Parallel()
	c := open(t)
	wrong := map[string]*regexp.Regexp{
		"a path of one machine": regexp.MustCompile(`(?:^|[\s"'` + "`" + `(=:,>])/(?:work|root|tmp/pb)(?:[/"'\s` + "`" + `]|$)`),
		"a work item":           regexp.MustCompile(`(?i)\bissues? [0-9]`),
	}
	for _, file := range c.committed(t) {
		text, err := os.ReadFile(filepath.Join(c.root, filepath.FromSlash(file)))
		if os.IsNotExist(err) {
			continue // removed, and not yet committed
		}
		if err != nil {
			t.Fatal(err)
		}
		if strings.HasSuffix(file, "houserules/words_test.go") {
			continue
		}
		for what, pattern := range wrong {
			for _, at := range pattern.FindAllIndex(text, -1) {
				line := 1 + bytes.Count(text[:at[0]], []byte("\n"))
				t.Errorf("%s:%d names %s: %q", file, line, what, bytes.TrimSpace(text[at[0]:at[1]]))
			}
		}
	}
}

// plain are words that a reader has to look up, or reads twice, behind what to say in their place.
var plain = words(
	`fix: mend mends mended mending`,
	`who, anyone: whoever whomever whosoever`,
	`up to, thing: affair affairs`,
	`so that ... not: lest`,
	`so, by this: thereby thus hence whence thence thereupon whereupon henceforth`,
	`in which, of it: wherein whereby whereof therein thereof thereto hereby herein`,
	`until now: hitherto heretofore`,
	`too, in the same way: likewise`,
	`also, and: moreover furthermore`,
	`although: albeit notwithstanding`,
	`while, among: whilst amongst betwixt`,
	`all, nothing, any: wholly naught nought whatsoever`,
	`end, stop: cease ceases ceased ceasing`,
	`use: utilize utilizes utilized utilise utilises utilised`,
	`what was named: aforementioned aforesaid`,
)

// plainInPages are words that code may say, and the pages of the documentation may not.
var plainInPages = words(
	`on, at, find: upon`,
	`again: anew`,
	`what it writes, and where: loudly`,
	`another program: stranger strangers`,
)

// phrases are the same, of several words.
var phrases = map[string]*regexp.Regexp{
	"skip":                    regexp.MustCompile(`(?i)\bpass(es|ed|ing)? over\b`),
	"because":                 regexp.MustCompile(`(?i)[,;] for (it|they|he|she|we|there|nobody|nothing|any of them) [a-z]`),
	"graceful shutdown, give": regexp.MustCompile(`(?i)\bhand(s|ed|ing)?[- ]overs?\b`),
	"if":                      regexp.MustCompile(`(?i)\bif need be\b`),
	"and the like":            regexp.MustCompile(`(?i)\band their like\b`),
	"notices":                 regexp.MustCompile(`(?i)\btakes notice\b`),
}

// words reads lines of a better word, a colon, and worse ones.
func words(lines ...string) map[string]string {
	better := make(map[string]string)
	for _, line := range lines {
		say, worse, _ := strings.Cut(line, ": ")
		for word := range strings.FieldsSeq(worse) {
			better[word] = say
		}
	}
	return better
}

// The SQL of migrations is left out: a step is never changed.
func TestTextUsesPlainWords(t *testing.T) {
	t.Parallel()
	c := open(t)
	for _, file := range c.committed(t) {
		if strings.HasSuffix(file, "houserules/words_test.go") || strings.Contains(file, "/schema/") || filepath.Base(file) == "LICENSE" || !textual(file) {
			continue
		}
		text, err := os.ReadFile(filepath.Join(c.root, filepath.FromSlash(file)))
		if os.IsNotExist(err) {
			continue // removed, and not yet committed
		}
		if err != nil {
			t.Fatal(err)
		}
		found := worse(string(text), plain)
		if isPage(file) {
			found = append(found, worseInPage(string(text))...)
		}
		for _, f := range found {
			t.Errorf("%s:%s", file, f)
		}
	}
}

// isPage says whether a file is documentation that somebody wrote for readers, and not a command.
func isPage(file string) bool {
	return filepath.Ext(file) == ".md" && !slices.ContainsFunc(unbounded, func(p string) bool { return strings.HasPrefix(file, p) })
}

// ran is the table of mutants, which a command writes. It names tests as they are.
var ran = regexp.MustCompile(`(?s)<!-- mutants: .*<!-- end of mutants -->`)

// withoutCode returns a page without its code and the table of mutants, and with all its lines.
func withoutCode(page string) string {
	for _, code := range []*regexp.Regexp{ran, fenced, quoted} {
		page = code.ReplaceAllStringFunc(page, func(code string) string { return strings.Repeat("\n", strings.Count(code, "\n")) })
	}
	return page
}

// worse lists where a text has a word for which there is a better one: the line, the word and the better one.
func worse(text string, words map[string]string) (found []string) {
	number := 0
	for line := range strings.Lines(text) {
		number++
		for word := range strings.FieldsFuncSeq(line, func(r rune) bool { return !unicode.IsLetter(r) }) {
			if better := words[strings.ToLower(word)]; better != "" {
				found = append(found, fmt.Sprintf("%d says %q: say %s", number, word, better))
			}
		}
	}
	return found
}

// worseInPage does so for the prose of a page.
func worseInPage(page string) []string {
	prose := withoutCode(page)
	found := worse(prose, plainInPages)
	for better, phrase := range phrases {
		for _, at := range phrase.FindAllStringIndex(prose, -1) {
			found = append(found, fmt.Sprintf("%d says %q: say %s", 1+strings.Count(prose[:at[0]], "\n"), prose[at[0]:at[1]], better))
		}
	}
	return found
}

func TestUnplainWordsAreFound(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]int{
		"Whoever mends it, thereby ceases.":            4,
		"Amendments, recommended; a mention, the hen.": 0,
		"It waits.\n\nLest it fall.":                   1,
	} {
		if got := worse(text, plain); len(got) != want {
			t.Errorf("%q: %q were found, want %d", text, got, want)
		}
	}
	for text, want := range map[string]int{
		"It begins anew, loudly, for it was emptied.":              3,
		"`relay: beginning anew`\n```\nupon\n```\n":                0,
		"<!-- mutants: m -->\nanew\n<!-- end of mutants -->\nupon": 1,
		"A stranger hands over.":                                   2,
		"Wait, for a second, for others.":                          0,
	} {
		if got := worseInPage(text); len(got) != want {
			t.Errorf("%q: %q were found, want %d", text, got, want)
		}
	}
}

// textual says whether people read the file.
func textual(file string) bool {
	switch filepath.Ext(file) {
	case ".go", ".md", ".sql", ".yaml", ".yml", ".sh", "":
		return true
	}
	return false
}

// A skip that gives no reason hides what is not tested.
func TestSkipsGiveTheirReason(t *testing.T) {
	t.Parallel()
	for _, s := range open(t).sources {
		ast.Inspect(s.tree, func(node ast.Node) bool {
			call, ok := node.(*ast.CallExpr)
			if !ok {
				return true
			}
			method, ok := call.Fun.(*ast.SelectorExpr)
			if ok && len(call.Args) == 0 && (method.Sel.Name == "Skip" || method.Sel.Name == "SkipNow") && isTesting(method.X) {
				t.Errorf("%s: a skip without a word: say what is missing and what to do", s.set.Position(call.Pos()))
			}
			return true
		})
	}
}

// isTesting says whether an expression is by its name a testing.T, B, F or TB.
func isTesting(x ast.Expr) bool {
	name, ok := x.(*ast.Ident)
	return ok && (name.Name == "t" || name.Name == "b" || name.Name == "f" || name.Name == "tb")
}
