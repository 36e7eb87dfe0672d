package suitetest

import (
	"bytes"
	"context"
	"fmt"
	"runtime/pprof"
	"strings"
	"testing"
	"time"
)

// LeavesNoGoroutine calls use, which opens something, works with it and closes it, and wants every goroutine gone
// after patience that came of it. They are known by a profiler label, which goroutines inherit, so that whatever else runs in
// the process does not matter. It calls use twice: what a harness starts once, for all cases, is started the first time.
func LeavesNoGoroutine(t *testing.T, patience time.Duration, use func(t *testing.T)) {
	t.Helper()
	t.Run("first use", use)
	label := fmt.Sprintf("%s %p", t.Name(), t)
	pprof.Do(context.Background(), pprof.Labels(leakLabel, label), func(context.Context) {
		t.Run("second use", use)
	})
	deadline := time.NewTimer(patience)
	defer deadline.Stop()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for {
		left := labelled(t, label)
		if len(left) == 0 {
			return
		}
		select {
		case <-deadline.C:
			t.Fatalf("goroutines are left after Close:\n%s", strings.Join(left, "\n\n"))
		case <-tick.C:
		}
	}
}

const leakLabel = "suitetest"

// labelled returns the stacks of the goroutines that carry the label.
func labelled(t *testing.T, label string) []string {
	t.Helper()
	var profile bytes.Buffer
	if err := pprof.Lookup("goroutine").WriteTo(&profile, 1); err != nil {
		t.Fatalf("the goroutine profile cannot be had: %v", err)
	}
	mark := fmt.Sprintf("%q:%q", leakLabel, label)
	var left []string
	for stack := range strings.SplitSeq(profile.String(), "\n\n") {
		if strings.Contains(stack, mark) {
			left = append(left, stack)
		}
	}
	return left
}
