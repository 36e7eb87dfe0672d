package mutants

import (
	"fmt"
	"os"
	"strings"
	"time"
)

// What stands around the table in the docs.
const (
	tableBegins = "<!-- mutants: written by make mutants -->\n"
	tableEnds   = "<!-- end of mutants -->\n"
)

// After says how long it took.
func (f *Finding) After() string {
	if f.Seeds > 0 {
		return fmt.Sprintf("%d seeds, %.1f s", f.Seeds, f.Took.Seconds())
	}
	return f.Took.Round(100 * time.Millisecond).String()
}

// Table is what came of all, in Markdown.
func Table(all []Mutant, findings []Finding) string {
	var b strings.Builder
	b.WriteString("| mutant | what it does | seen in | found by | after | as |\n|---|---|---|---|---|---|\n")
	for i := range all {
		m, f := &all[i], &findings[i]
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s | %s | %s |\n", m.Name, m.What, m.Evidence, m.By, f.After(), strings.ReplaceAll(f.How, "|", "/"))
	}
	return b.String()
}

// WriteTable puts the table into a file, between its two marks.
func WriteTable(path string, all []Mutant, findings []Finding) error {
	raw, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	before, _, after, err := around(string(raw))
	if err != nil {
		return err
	}
	return os.WriteFile(path, []byte(before+tableBegins+Table(all, findings)+tableEnds+after), 0o644) //nolint:gosec // a page of the docs
}

// around splits a page at the table.
func around(page string) (before, table, after string, err error) {
	before, rest, found := strings.Cut(page, tableBegins)
	table, after, ends := strings.Cut(rest, tableEnds)
	if !found || !ends {
		return "", "", "", fmt.Errorf("the page has no lines %q and %q: write them where the table is to be", tableBegins, tableEnds)
	}
	return before, table, after, nil
}
