package testserver

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
)

// pgBinEnv names the folder of PostgreSQL's programs, to test against another version than the newest installed.
const pgBinEnv = "POSTBAG_PG_BINDIR"

// pgPrograms is the folder of one PostgreSQL version's programs.
type pgPrograms struct {
	dir     string
	version string // "postgres (PostgreSQL) 15.18 (Debian 15.18-0+deb12u1)"
}

// findPostgres looks for the programs in dir, else where POSTBAG_PG_BINDIR says, else where Debian keeps them (the newest
// version first), else in PATH.
func findPostgres(ctx context.Context, dir string) (pgPrograms, error) {
	if dir == "" {
		dir = os.Getenv(pgBinEnv)
	}
	if dir == "" {
		dir = installedPostgres()
	}
	p := pgPrograms{dir: dir}
	for _, name := range []string{"postgres", "initdb", "psql", "pg_basebackup"} {
		if _, err := exec.LookPath(p.path(name)); dir == "" || err != nil {
			return p, &MissingError{
				What: fmt.Sprintf("PostgreSQL's program %s", name),
				Fix:  "run scripts/setup, or apt-get install postgresql, or set " + pgBinEnv + " to the folder that has it",
			}
		}
	}
	out, err := command{name: "postgres --version", path: p.path("postgres"), args: []string{"--version"}}.run(ctx)
	p.version = strings.TrimSpace(out)
	return p, err
}

func (p pgPrograms) path(name string) string { return filepath.Join(p.dir, name) }

func installedPostgres() string {
	best, bestVersion := "", -1
	dirs, _ := filepath.Glob("/usr/lib/postgresql/*/bin") // the pattern is well-formed
	for _, dir := range dirs {
		version, err := strconv.Atoi(filepath.Base(filepath.Dir(dir)))
		if _, missing := os.Stat(filepath.Join(dir, "postgres")); err == nil && missing == nil && version > bestVersion {
			best, bestVersion = dir, version
		}
	}
	if best != "" {
		return best
	}
	if path, err := exec.LookPath("postgres"); err == nil {
		return filepath.Dir(path)
	}
	return ""
}

// major is the first number of the version, 0 if there is none.
func (p pgPrograms) major() (n int) {
	_, _ = fmt.Sscanf(p.version, "postgres (PostgreSQL) %d", &n)
	return n
}
