//go:build postbag_failpoints

package failpoint_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/postbag/postbag/internal/failpoint"
)

const envChild = "POSTBAG_TEST_FAILPOINT_CHILD"

func TestMain(m *testing.M) {
	if os.Getenv(envChild) != "" {
		if failpoint.Hit("one") != nil || failpoint.Hit("other") != nil || failpoint.Hit("one") != nil {
			os.Exit(3)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// child runs three hits with the points armed by the environment.
func child(t *testing.T, points string) error {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0])
	cmd.Env = append(os.Environ(), envChild+"=1", "POSTBAG_FAILPOINTS="+points)
	return cmd.Run()
}

func TestAFailpointKillsTheProcessAtItsHit(t *testing.T) {
	t.Parallel()
	if err := child(t, "one=kill@3"); err != nil {
		t.Errorf("two hits of three ended with %v", err)
	}
	exit, ok := errors.AsType[*exec.ExitError](child(t, "one=kill@2"))
	if status, is := exit.Sys().(syscall.WaitStatus); !ok || !is || status.Signal() != syscall.SIGKILL {
		t.Errorf("the second hit of two ended with %v", exit)
	}
}

func TestAFailpointIsArmedByAFileWhileTheProgramRuns(t *testing.T) {
	file := filepath.Join(t.TempDir(), "points")
	t.Setenv("POSTBAG_FAILPOINTS_FILE", file)
	t.Setenv("POSTBAG_FAILPOINTS_PAUSE", "1ms")
	if err := failpoint.Hit("late"); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte("late=error slow=pause"), 0o600); err != nil {
		t.Fatal(err)
	}
	for deadline := time.Now().Add(time.Minute); !errors.Is(failpoint.Hit("late"), failpoint.ErrHit); <-time.After(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("the file is not read")
		}
	}
	if err := failpoint.Hit("late"); err != nil {
		t.Errorf("the point was hit twice: %v", err)
	}
	if err := failpoint.Hit("slow"); err != nil {
		t.Errorf("a pause is no error: %v", err)
	}
}
