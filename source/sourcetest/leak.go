package sourcetest

import (
	"bytes"
	"context"
	"fmt"
	"runtime/pprof"
	"strings"
	"testing"
	"time"
)

// leavesNoGoroutine uses a fixture, closes everything of it, and wants every
// goroutine gone that came of it. They are known by a profiler label, which
// goroutines inherit, so that whatever else runs in the process does not matter.
func leavesNoGoroutine(t *testing.T, h Harness) {
	t.Helper()
	use := func(t *testing.T) {
		t.Helper()
		s := newScene(t, h).open()
		src := s.join()
		s.send(5)
		s.ack(src, 0, s.fetch(src, 5)...)
		s.nothing(src)
		s.close(src)
	}
	// What the harness starts once, for all cases, is started here.
	t.Run("first use", use)
	label := fmt.Sprintf("%s %p", t.Name(), t)
	pprof.Do(context.Background(), pprof.Labels(leakLabel, label), func(context.Context) {
		t.Run("second use", use)
	})
	deadline := time.NewTimer(h.patience())
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

const leakLabel = "sourcetest"

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
