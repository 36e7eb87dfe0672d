package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// errFailed says that tests failed. The table has said so: nothing more is printed.
var errFailed = errors.New("something failed")

// row is a module's line in the table.
type row struct {
	counts

	seconds float64
	wrong   []string // checks that failed
	skips   []string // tests that were skipped, with their reasons
	suites  []suite
}

// table prints what the folder's files say, and fails if anything failed.
func table(logs fs.FS, out io.Writer) error {
	rows, err := collect(logs)
	if err != nil {
		return err
	}
	if len(rows) == 0 {
		return errors.New("no results were found: run \"make test\"")
	}
	var sum row
	names := slices.Sorted(maps.Keys(rows))
	for _, name := range names {
		sum.plus(rows[name].counts)
		sum.seconds += rows[name].seconds
		sum.wrong = append(sum.wrong, rows[name].wrong...)
		for _, skip := range rows[name].skips {
			_, _ = fmt.Fprintln(out, "skipped:", skip)
		}
	}
	printSuites(out, rows)
	width := len(slices.MaxFunc(names, func(a, b string) int { return len(a) - len(b) }))
	_, _ = fmt.Fprintf(out, "\n%-*s  packages    passed    failed   skipped   seconds  checks\n", width, "module")
	for _, name := range names {
		rows[name].print(out, width, name)
	}
	sum.print(out, width, "all")
	_, _ = fmt.Fprintf(out, "\n%d passed, %d failed, %d skipped\n", sum.passed, sum.failed, sum.skipped)
	if sum.failed > 0 {
		return errFailed
	}
	return nil
}

func (r *row) print(out io.Writer, width int, name string) {
	checks := "ok"
	if len(r.wrong) > 0 {
		slices.Sort(r.wrong)
		checks = strings.Join(slices.Compact(r.wrong), ", ") + " failed"
	}
	_, _ = fmt.Fprintf(out, "%-*s  %8d  %8d  %8d  %8d  %8.1f  %s\n",
		width, name, r.packages, r.passed, r.failed, r.skipped, r.seconds, checks)
}

// collect reads all files of the folder.
func collect(logs fs.FS) (map[string]*row, error) {
	rows := make(map[string]*row)
	files, err := fs.Glob(logs, "*.json")
	if err != nil {
		return nil, err
	}
	for _, file := range files {
		name := strings.ReplaceAll(strings.TrimSuffix(file, ".json"), "+", "/")
		if err := readTests(logs, file, rowOf(rows, name)); err != nil {
			return nil, err
		}
	}
	return rows, readChecks(logs, rows)
}

func rowOf(rows map[string]*row, module string) *row {
	if rows[module] == nil {
		rows[module] = &row{}
	}
	return rows[module]
}

// readChecks reads checks.tsv. A failed check counts as a failed test. The check "test" is go test itself: it says nothing new
// if tests are known to have failed.
func readChecks(logs fs.FS, rows map[string]*row) error {
	text, err := fs.ReadFile(logs, "checks.tsv")
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	for line := range strings.Lines(string(text)) {
		field := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		if len(field) != 4 {
			return fmt.Errorf("checks.tsv holds %q: four fields were expected", line)
		}
		seconds, err := strconv.ParseFloat(field[3], 64)
		if err != nil {
			return fmt.Errorf("checks.tsv holds %q: %w", line, err)
		}
		r := rowOf(rows, field[0])
		r.seconds += seconds
		if field[2] != "ok" && (field[1] != "test" || r.failed == 0) {
			r.failed++
			r.wrong = append(r.wrong, field[1])
		}
	}
	return nil
}

// readTests reads the output of go test for one module.
func readTests(logs fs.FS, name string, r *row) error {
	file, err := logs.Open(name)
	if err != nil {
		return err
	}
	defer func() { _ = file.Close() }() // it was only read
	t := newTally()
	if err := readEvents(file, t.add); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	r.plus(t.counts())
	r.skips = append(r.skips, t.skips()...)
	r.suites = append(r.suites, t.suites()...)
	return nil
}

// skips lists the tests that were skipped.
func (t *tally) skips() []string {
	var all []string
	for path, p := range t.packages {
		for name, one := range p.tests {
			if one.status == "skip" {
				all = append(all, fmt.Sprintf("%s %s: %s", path, name, one.reason()))
			}
		}
	}
	slices.Sort(all)
	return all
}
