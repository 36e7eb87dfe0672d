package houserules_test

import (
	"os/exec"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"
)

// subjectForm is an area, a colon, and a sentence that begins small and ends without a full stop.
var subjectForm = regexp.MustCompile(`^[a-z0-9][a-zA-Z0-9/._, -]*: [a-z0-9].*[^.]$`)

// badSubject says what is wrong with the subject of a commit, or nothing.
func badSubject(subject string) string {
	switch {
	case utf8.RuneCountInString(subject) > 72:
		return "has more than 72 characters"
	case !subjectForm.MatchString(subject):
		return `is not of the form "area: imperative verb ..."`
	}
	return ""
}

func TestSubjectsOfCommitsAreShortAndNameTheirArea(t *testing.T) {
	t.Parallel()
	out, err := exec.CommandContext(t.Context(), "git", "log", "--no-merges", "--format=%h %s", "-n", "200").Output()
	if err != nil {
		t.Skipf("this is no checkout with a history: %v", err)
	}
	for line := range strings.Lines(string(out)) {
		id, subject, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		if fault := badSubject(subject); fault != "" {
			t.Errorf("the subject of %s %s: %s", id, fault, subject)
		}
	}
}

func TestABadSubjectIsFound(t *testing.T) {
	t.Parallel()
	for subject, bad := range map[string]bool{
		"pgstore: read pg_locks once per statement": false,
		"cmd/postbag, docs: name the flag":          false,
		"engine: " + strings.Repeat("x", 72):        true,
		"Fix the engine":                            true,
		"engine: Fix it":                            true,
		"engine: fix it.":                           true,
		"engine fix it":                             true,
	} {
		if got := badSubject(subject) != ""; got != bad {
			t.Errorf("%q is bad: %v, want %v", subject, got, bad)
		}
	}
}
