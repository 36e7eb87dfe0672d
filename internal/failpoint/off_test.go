//go:build !postbag_failpoints

package failpoint_test

import (
	"os/exec"
	"strings"
	"testing"

	"github.com/postbag/postbag/internal/failpoint"
)

func TestAProgramWithoutTheBuildTagHasNoFailpoints(t *testing.T) {
	t.Setenv("POSTBAG_FAILPOINTS", "here=error")
	if err := failpoint.Hit("here"); err != nil {
		t.Errorf("a point was hit: %v", err)
	}
}

// The other half of the package has its tests under the tag; they run here too.
func TestAProgramWithTheBuildTagHasFailpoints(t *testing.T) {
	t.Parallel()
	cmd := exec.CommandContext(t.Context(), "go", "test", "-count=1", "-v", "-tags", "postbag_failpoints", ".")
	out, err := cmd.CombinedOutput()
	if err != nil || !strings.Contains(string(out), "--- PASS: TestAFailpointKillsTheProcessAtItsHit") {
		t.Errorf("with the tag: %v\n%s", err, out)
	}
}
