package brokertest

import (
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/postbag/postbag/broker"
)

// Answer is what an adapter makes of one answer of its broker: a row of its error table.
type Answer struct {
	// Name is how the adapter's page names the answer, such as "MESSAGE_TOO_LARGE".
	Name    string
	Outcome broker.Outcome
	// Scope counts if Outcome is Misconfigured or Unavailable.
	Scope broker.Scope
}

// scope is how pages write what an answer concerns.
func (a Answer) scope() string {
	switch {
	case held(a.Outcome):
		return a.Scope.String()
	case a.Outcome == broker.Accepted, a.Outcome == broker.NotSent:
		return "-"
	}
	return scopeMessage
}

func (a Answer) String() string { return a.Outcome.String() + ", " + a.scope() }

const scopeMessage = "message"

// AnswersMatchPage compares the error table of an adapter with its page. The page has
// one table with the columns outcome, scope and answers, which has each answer once,
// between backquotes. Every other table of the page that has a column outcome has a
// column scope: message, topic, destination, "topic or destination", or "-" where
// nothing failed. page is the path of a Markdown file.
func AnswersMatchPage(t *testing.T, page string, answers ...Answer) {
	t.Helper()
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	for _, fault := range compareAnswers(string(text), answers) {
		t.Errorf("%s: %s", page, fault)
	}
}

// aName is a name between backquotes.
var aName = regexp.MustCompile("`([^`]+)`")

// compareAnswers returns all in which a page differs from a table.
func compareAnswers(page string, answers []Answer) (faults []string) {
	fault := func(format string, args ...any) { faults = append(faults, fmt.Sprintf(format, args...)) }
	documented := map[string]string{}
	for _, row := range outcomeRows(page) {
		if row.scope == "" || !validScope(row.outcome, row.scope) {
			fault("the scope of the row %.80q is %q, which does not fit %q: use message, topic, destination or -", row.first, row.scope, row.outcome)
		}
		for _, m := range aName.FindAllStringSubmatch(row.answers, -1) {
			if documented[m[1]] != "" {
				fault("%s is there twice; leave one", m[1])
			}
			documented[m[1]] = row.outcome + ", " + row.scope
		}
	}
	for _, a := range answers {
		switch is, there := documented[a.Name]; {
		case !there:
			fault("%s is missing; add it to the row %q", a.Name, a)
		case is != a.String():
			fault("%s is in the row %q; the code says %q", a.Name, is, a)
		}
		delete(documented, a.Name)
	}
	for _, name := range slices.Sorted(maps.Keys(documented)) {
		fault("%s is in no table of the code; remove it", name)
	}
	return faults
}

// outcomeRow is a row of a page's table that has a column outcome.
type outcomeRow struct{ first, outcome, scope, answers string }

func outcomeRows(page string) (rows []outcomeRow) {
	var columns []string
	for line := range strings.SplitSeq(page, "\n") {
		if !strings.HasPrefix(line, "|") {
			columns = nil
			continue
		}
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), "|")
		for i := range cells {
			cells[i] = strings.TrimSpace(cells[i])
		}
		if columns == nil {
			columns = cells
			continue
		}
		if strings.Trim(cells[0], "-") == "" || !slices.Contains(columns, "outcome") {
			continue
		}
		of := func(column string) string {
			if i := slices.Index(columns, column); i >= 0 && i < len(cells) {
				return cells[i]
			}
			return ""
		}
		rows = append(rows, outcomeRow{cells[0], of("outcome"), of("scope"), of("answers")})
	}
	return rows
}

// validScope says whether a scope fits what a page says of the outcome.
func validScope(outcome, scope string) bool {
	switch word, _, _ := strings.Cut(outcome, " "); strings.TrimRight(word, ",:;") {
	case "accepted", "not", "waited", "committed", "fenced":
		return scope == "-"
	case "rejected", "unknown", "unresolved", "aborted":
		return scope == scopeMessage
	case "misconfigured", "unavailable":
		return scope == "topic" || scope == "destination" || scope == "topic or destination"
	}
	return scope != ""
}
