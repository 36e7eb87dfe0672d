package mutants

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// What the harness does with a mutant is always the same: the load and the schedule of one seed. Servers start, backlogs drain
// and files are judged within its patience.
const (
	harnessSeed     = "1"
	harnessRate     = "600"
	harnessPatience = 8 * time.Minute
)

// harm has a pair go through the fault harness and sees which promise was broken.
func (b *Bank) harm(ctx context.Context, program string, by *Instrument) (Finding, error) {
	ctx, cancel := context.WithTimeout(ctx, by.For+harnessPatience)
	defer cancel()
	dir, err := os.MkdirTemp("", "postbag-mutant-harness-*")
	if err != nil {
		return Finding{}, err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	if err := os.Chmod(dir, 0o755); err != nil { //nolint:gosec // servers under other accounts look into it
		return Finding{}, err
	}
	c := exec.CommandContext(ctx, program, "-pair", by.Pair, "-for", by.For.String(), "-seed", harnessSeed, "-rate", harnessRate,
		"-only", strings.Join(by.Only, ","), "-dir", dir)
	c.Cancel = func() error { return c.Process.Signal(syscall.SIGTERM) } // it ends its servers
	c.WaitDelay = time.Minute
	out, err := c.CombinedOutput()
	var exit *exec.ExitError
	switch {
	case err == nil:
		return Finding{How: "nothing"}, nil
	case ctx.Err() != nil:
		return Finding{How: "nothing in " + (by.For + harnessPatience).String()}, nil
	case !errors.As(err, &exit), exit.ExitCode() != 1:
		return Finding{}, fmt.Errorf("%w\n%s", err, out)
	}
	raw, err := os.ReadFile(filepath.Join(dir, "report.json"))
	if err != nil {
		return Finding{}, err
	}
	var r harnessReport
	if err := json.Unmarshal(raw, &r); err != nil {
		return Finding{}, err
	}
	return r.broken(), nil
}

// harnessReport is what matters of the report that the harness writes.
type harnessReport struct {
	History struct {
		Verdicts []struct {
			Promise string `json:"promise"`
			Held    bool   `json:"held"`
			Broken  int    `json:"broken"`
		} `json:"verdicts"`
	} `json:"history"`
	Failures []string `json:"failures"`
}

// broken is the first promise that a run of the harness saw broken.
func (r *harnessReport) broken() Finding {
	for _, v := range r.History.Verdicts {
		if !v.Held {
			return Finding{Caught: true, How: fmt.Sprintf("%s is broken %d times", v.Promise, v.Broken)}
		}
	}
	if len(r.Failures) > 0 {
		return Finding{Caught: true, How: numbers.ReplaceAllString(r.Failures[0], "$1")}
	}
	return Finding{How: "nothing"}
}
