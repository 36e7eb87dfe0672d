package mutants

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"time"
)

// What stands around the table in the docs.
const (
	tableBegins = "<!-- mutants: written by make mutants -->\n"
	tableEnds   = "<!-- end of mutants -->\n"
	tableHead   = "| mutant | what it does | seen in | found by | after | as |\n|---|---|---|---|---|---|\n"
)

// After says how long it took.
func (f *Finding) After() string {
	if f.Seeds > 0 {
		return fmt.Sprintf("%d seeds, %.1f s", f.Seeds, f.Took.Seconds())
	}
	return f.Took.Round(100 * time.Millisecond).String()
}

// said is what the table says of m, no matter which instrument tries it: the beginning of its row.
func (m *Mutant) said() string {
	return row("`"+m.Name+"`", m.What, m.Evidence, m.By.String())
}

// row is some cells of a row of Markdown.
func row(cells ...string) string {
	var b strings.Builder
	for _, c := range cells {
		b.WriteString("| " + strings.ReplaceAll(c, "|", `\|`) + " ")
	}
	return b.String()
}

// table is what came of all, in Markdown: of those that were tried now by what was found, of the others by the rows of the
// table before, which stay as the runs that they come from left them. A row that says something else of its mutant than the bank
// does is of another mutant.
func table(all []Mutant, tried map[string]Finding, before string) (string, error) {
	old := strings.SplitAfter(before, "\n")
	var b strings.Builder
	b.WriteString(tableHead)
	var missing []string
	for i := range all {
		m := &all[i]
		said := m.said()
		if f, is := tried[m.Name]; is {
			b.WriteString(said + row(f.After(), f.How) + "|\n")
			continue
		}
		at := slices.IndexFunc(old, func(line string) bool { return strings.HasPrefix(line, said) })
		if at < 0 {
			missing = append(missing, m.Name)
			continue
		}
		b.WriteString(old[at])
	}
	if len(missing) > 0 {
		return "", fmt.Errorf("the table lacks rows of mutants as they are now; try these too: -only %s", strings.Join(missing, ","))
	}
	return b.String(), nil
}

// WriteTable puts what came of the mutants that were tried, by their names, into the table of a file, between its two marks. all are
// those of the table, in its order. Rows of others stay; it is an error, and nothing is written, if there is none of a mutant that
// was not tried.
func WriteTable(path string, all []Mutant, tried map[string]Finding) error {
	raw, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	before, old, after, err := around(string(raw))
	if err != nil {
		return err
	}
	now, err := table(all, tried, old)
	if err != nil {
		return err
	}
	return os.WriteFile(path, []byte(before+tableBegins+now+tableEnds+after), 0o644) //nolint:gosec // a page of the docs
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
