package servertest_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/postbag/postbag/internal/testserver"
	"github.com/postbag/postbag/internal/testserver/servertest"
)

var shared = servertest.SharedPostgres{Options: testserver.PostgresOptions{NoSync: true}}

func TestMain(m *testing.M) { os.Exit(shared.Run(m)) }

// judge is a testing.TB that notes how a test would have ended.
type judge struct {
	testing.TB

	verdict, words string
}

func (j *judge) Helper() {}

func (j *judge) Skip(args ...any) { j.end("skip", args) }

func (j *judge) Fatal(args ...any) { j.end("fail", args) }

func (j *judge) end(verdict string, args []any) {
	j.verdict, j.words = verdict, fmt.Sprintln(args...)
	runtime.Goexit()
}

// need runs Need as a test would.
func need(err error) *judge {
	j := &judge{verdict: "go on"}
	done := make(chan struct{})
	go func() {
		defer close(done)
		servertest.Need(j, err)
	}()
	<-done
	return j
}

func TestNeedSkipsOnALaptopAndFailsInContinuousIntegration(t *testing.T) {
	missing := &testserver.MissingError{What: "the server", Fix: "install it"}
	for _, c := range []struct {
		name, ci, require string
		err               error
		want              string
	}{
		{"nothing is wrong", "true", "1", nil, "go on"},
		{"missing on a laptop", "", "", missing, "skip"},
		{"missing, among others", "", "", errors.Join(missing, errors.New("mount: denied")), "skip"},
		{"missing in CI", "true", "", missing, "fail"},
		{"missing and required", "", "1", missing, "fail"},
		{"broken on a laptop", "", "", errors.New("it does not start"), "fail"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Setenv("CI", c.ci)
			t.Setenv("POSTBAG_REQUIRE_SERVERS", c.require)
			j := need(c.err)
			if j.verdict != c.want {
				t.Errorf("the test would %s, want %s", j.verdict, c.want)
			}
			if c.err != nil && !strings.Contains(j.words, c.err.Error()) {
				t.Errorf("the word is %q, which does not hold %q", j.words, c.err)
			}
		})
	}
}

func TestSharedPostgresGivesEachTestADatabaseOfItsOwn(t *testing.T) {
	t.Parallel()
	seen := make(map[string]bool)
	t.Run("while it runs", func(t *testing.T) {
		for range 3 {
			dsn := shared.Database(t)
			if seen[dsn] {
				t.Error("a database was given twice")
			}
			seen[dsn] = true
			if out, err := exec.Command(filepath.Join(shared.Server(t).BinDir(), "psql"), "-XAtd", dsn, "-c", "SELECT 1").Output(); err != nil ||
				string(out) != "1\n" {
				t.Errorf("SELECT 1 is %q, %v", out, err)
			}
		}
	})
	left, err := shared.Server(t).Exec(t.Context(), "postgres", "SELECT count(*) FROM pg_database WHERE datname LIKE 'test_%'")
	if err != nil || left != "0" {
		t.Errorf("%s databases are left, %v", left, err)
	}
}
