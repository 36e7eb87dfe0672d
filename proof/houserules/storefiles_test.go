package houserules_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// The tables of CONTRIBUTING.md that say which file has which duty are true: a name that is in a table is in every folder that
// the table says, and an adapter's author finds the same thing under the same name everywhere.
func TestTheSameDutyHasTheSameFileNameInEveryStore(t *testing.T) {
	t.Parallel()
	c := open(t)
	folders := map[string][]string{
		"every database store": {"store/pgstore", "store/mysqlstore", "store/sqlitestore"},
		"pgstore":              {"store/pgstore"},
		"sqlkit":               {"store/sqlkit"},
	}
	checkDuties(t, c.root, "## To write a store\n", folders)
}

// checkDuties reads the table below a heading, whose columns are files, their duty and where they are.
func checkDuties(t *testing.T, root, heading string, folders map[string][]string) {
	t.Helper()
	page, err := os.ReadFile(filepath.Join(root, "CONTRIBUTING.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, section, found := strings.Cut(string(page), heading)
	if !found {
		t.Fatalf("CONTRIBUTING.md has no section %q", heading)
	}
	section, _, _ = strings.Cut(section, "\n## ")
	names, rows := regexp.MustCompile("`([a-z_]+\\.go)`"), 0
	for line := range strings.Lines(section) {
		cells := strings.Split(line, "|")
		if len(cells) != 5 || !strings.Contains(cells[1], "`") {
			continue
		}
		rows++
		for where := range strings.SplitSeq(cells[3], ",") {
			in, known := folders[strings.TrimSpace(where)]
			if !known {
				t.Errorf("the table says %q, which is no place", strings.TrimSpace(where))
			}
			for _, folder := range in {
				for _, name := range names.FindAllStringSubmatch(cells[1], -1) {
					if _, err := os.Stat(filepath.Join(root, filepath.FromSlash(folder), name[1])); err != nil {
						t.Errorf("%s has no %s: %s", folder, name[1], strings.TrimSpace(cells[2]))
					}
				}
			}
		}
	}
	if rows < 10 {
		t.Errorf("the table has %d rows", rows)
	}
}
